"""Releases of tables that lie in a cluster: made, written, and what is given back."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.attacks.scene_setup import rows_of_recoding
from shoal.errors import InputError, OutputError
from shoal.evidence import Evidence
from shoal.io import Kind, Staged
from shoal.pipeline.registry_options import Keeping
from shoal.pipeline.release import Release
from shoal.pipeline.run import Clock, composed_with
from shoal.pipeline.spark.output import Target
from shoal.pipeline.spark.run import SparkMade, make_spark, spark_evidence, told
from shoal.pipeline.spark.verify import Checked
from shoal.policy import Policy
from shoal.search.problem import Progress, no_progress

if TYPE_CHECKING:
    from shoal.pipeline.write import Published


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease(Release):
    """A verified release of a table in a cluster; its rows are computed when they are used."""

    made: SparkMade | None = field(default=None, repr=False)

    @property
    def data(self) -> Any:
        """The released rows as a DataFrame of Spark, in the order of a release."""
        assert self.made is not None, "made with what it was made from"
        return self.made.released().public()

    @property
    def table(self) -> Any:
        """The released table as Arrow, all of it on the driver."""
        assert self.made is not None, "made with what it was made from"
        with told():
            return self.made.released().collect()

    def write(
        self, path: str | Path, *, force: bool = False, as_of: str | datetime.date | None = None
    ) -> Mapping[str, Any]:
        """Write release, evidence and report, verified as written: a folder, or ``spark:FORMAT:…``; the paths."""
        assert self.made is not None, "made with what it was made from"
        keeping = Keeping.none()
        if self.registry is not None:
            keeping = Keeping.of(self.policy, registry=self.registry, as_of=as_of)
        target = Target.of(self.policy, path, force=force)
        return publish_made(self.made, target, keeping, Clock(), no_progress).paths


def anonymize_spark(data: Any, policy: Policy, *, registry: str | Path | None, progress: Progress) -> SparkRelease:
    """Turn a table in a cluster into one that may be published; verified on a count of all its released rows."""
    clock = Clock()
    keeping = Keeping.of(policy, registry=registry)
    made = make_spark(data, policy, clock, progress)
    progress("verifying", 0.0)
    with told(), clock.stage("verify"):
        checked = made.check(made.released().public(), files=False)
    checked.verification.raise_if_failed()
    evidence = _evidence(made, checked, keeping, clock, progress, written=False)
    folder = None if keeping.registry is None else keeping.registry.path
    return _release(made, evidence, folder)


def _release(made: SparkMade, evidence: Evidence, registry: Path | None) -> SparkRelease:
    held = Path()  # the rows lie in the cluster
    found = made.searched
    return SparkRelease(
        made.policy, held, found.recoding, evidence, Kind.ARROW, found.search, None, registry, made=made
    )


def _evidence(
    made: SparkMade, checked: Checked, keeping: Keeping, clock: Clock, progress: Progress, *, written: bool
) -> Evidence:
    with clock.stage("attack"):
        attacks = made.attacked(progress)
    composed = composed_with(keeping, made.searched.as_new, clock, progress)
    return spark_evidence(made, checked, clock, attacks=attacks, composed=composed, written=written)


def publish_spark(
    policy: Policy,
    *,
    data: Any = None,
    out: str | Path | None = None,
    evidence: str | Path | None = None,
    force: bool = False,
    recoding: bool = False,
    registry: str | Path | None = None,
    as_of: str | datetime.date | None = None,
    replaces: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Published:
    """Anonymize a table in a cluster and write the release: verified as written, or nothing is left."""
    if recoding or policy.recoding:
        raise InputError(
            "a recoding names the file that was published, and Spark writes folders and tables. Leave recoding out."
        )
    keeping = Keeping.of(policy, registry=registry, as_of=as_of, replaces=replaces, fail_on=fail_on)
    target, clock = Target.of(policy, out, force=force), Clock()
    about_paths(policy, target, evidence)
    made = make_spark(data, policy, clock, progress)
    return publish_made(made, target, keeping, clock, progress, evidence)


def publish_made(
    made: SparkMade,
    target: Target,
    keeping: Keeping,
    clock: Clock,
    progress: Progress,
    evidence: str | Path | None = None,
) -> Published:
    """Write what was made: aside, verified there, then put in place with its evidence and report."""
    from shoal.pipeline.write import Published, policy_files, write_about  # noqa: PLC0415 - write.py calls this file

    policy, paths = made.policy, about_paths(made.policy, target, evidence)
    with (
        Staged(list(paths.values()), inputs=policy_files(policy), force=target.force) as stage,
        _written(made, target, clock, progress) as (checked, put),
    ):
        facts = _evidence(made, checked, keeping, clock, progress, written=True)
        keeping.refuse(facts["attacks"])
        write_about(stage, paths, policy, facts)
        found = made.searched
        rows = rows_of_recoding(found.policy, found.cells, found.resolved, found.recoding)
        with keeping.adding(policy, rows, target.stem, checked.sha256) as kept:
            stage.commit(put)
    release = _release(made, facts, None if keeping.registry is None else keeping.registry.path)
    return Published(release, {"release": Path(target.place.path or str(target.place)), **paths, **kept})


_Aside = tuple[Checked, Callable[[], None]]
"""What the check of a release found, and how to put it in place."""


def _written(made: SparkMade, target: Target, clock: Clock, progress: Progress) -> AbstractContextManager[_Aside]:
    """The release written aside, or ready to be written where it commits by itself."""
    return _as_files(made, target, clock, progress) if target.is_files else _as_table(made, target, clock, progress)


@contextmanager
def _as_files(made: SparkMade, target: Target, clock: Clock, progress: Progress) -> Iterator[_Aside]:
    """A folder of files under a hidden name, verified as it stands there."""
    with target.hidden() as hidden:
        progress("writing", 0.0)
        with told(OutputError), clock.stage("write"):
            target.write(made.released(as_text=target.as_text), hidden)
        progress("verifying", 0.0)
        with told(), clock.stage("verify"):
            checked = made.check(target.read(made.given.frame.session, hidden), files=True)
        checked.verification.raise_if_failed()
        yield checked, lambda: target.put(hidden)


@contextmanager
def _as_table(made: SparkMade, target: Target, clock: Clock, progress: Progress) -> Iterator[_Aside]:
    """A table that commits by itself: verified before it is written, and again as it stands there."""
    released = made.released(as_text=target.as_text)
    progress("verifying", 0.0)
    with told(), clock.stage("verify"):
        checked = made.check(released.public(), files=False)
    checked.verification.raise_if_failed()

    def put() -> None:
        progress("writing", 0.0)
        with told(OutputError), clock.stage("write"):
            target.write(released, target.place)
        with told(OutputError), clock.stage("verify"):
            again = made.check(target.read(made.given.frame.session, target.place), files=False)
        if again.sha256 != checked.sha256:
            raise OutputError(f"{target.place} does not hold what was written to it. Do not publish it: remove it.")

    yield checked, put


def about_paths(policy: Policy, target: Target, evidence: str | Path | None) -> dict[str, Path]:
    """Where evidence and report go: beside a local release, else beside the policy, or as said."""
    if evidence is None:
        folder = target.folder if target.folder is not None else policy.path(".")
        return {"evidence": folder / f"{target.stem}.evidence.json", "report": folder / f"{target.stem}.report.html"}
    path = Path(evidence)
    if path.suffix.lower() != ".json":
        raise OutputError(f"{path} is no name for evidence, which is JSON. Let it end in .json.")
    stem = path.name.removesuffix(path.suffix).removesuffix(".evidence")
    return {"evidence": path, "report": path.with_name(f"{stem}.report.html")}
