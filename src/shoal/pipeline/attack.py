"""`attack`: a release attacked by its own maker, before others do."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.attacks.battery import RULED_OUT, AttackReport, attack_rows, check_options
from shoal.attacks.registry.people import EarlierRelease
from shoal.attacks.released_classes import rows_of_release
from shoal.attacks.verdict.rules import decide
from shoal.encode.resolve import Resolved, resolve, unknown_columns, used_columns
from shoal.encode.result import with_chosen
from shoal.errors import InfeasibleError, PolicyError
from shoal.io import sha256_of
from shoal.io.sink import output_paths
from shoal.io.source import read_distinct
from shoal.pipeline.run import as_policy
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.search.engine import LocalEngine
from shoal.search.problem import Progress, no_progress
from shoal.table.distinct_rows import DistinctRows

__all__ = ["AttackReport", "attack"]


def attack(
    release: Any,
    policy: Policy | str | Path,
    *,
    original: Any = None,
    earlier: Sequence[tuple[Any, Policy | str | Path]] = (),
    seed: int = 0,
    ruled_out: int = RULED_OUT,
    suppressed: int | None = None,
    progress: Progress = no_progress,
) -> AttackReport:
    """Attack a release as those would who want to know a secret.

    ``release`` is the path of a CSV or Parquet file, or a pandas, polars or Arrow table; ``original`` a path, read as
    the policy's ``data`` says, or a table: without it, attacks that need it are reported as not tried. ``earlier`` are
    releases of the same people, each with its policy. Samples and halves are drawn from ``seed``; ``ruled_out`` is how
    many values an attacker with background knowledge can rule out, and ``suppressed`` how many rows of ``*`` stand for
    suppressed records, if that is known; the verifier finds it out by the original. The release is also verified, for
    the verdict.

    Raises `DataError` or `PolicyError` for input that cannot be read, or that does not belong together.
    """
    asked = as_policy(policy)
    check_options(seed, ruled_out)
    progress("reading", 0.0)
    before = [EarlierRelease.read(f"earlier release {n}", *each) for n, each in enumerate(earlier, start=1)]
    known = _known(asked, original, before)
    progress("verifying", 0.0)
    verification = verify(release, asked, original, suppressed=suppressed)
    rows = rows_of_release(release, asked, suppressed=verification.suppressed)
    made_by = _made_by(asked, release, known[1])
    report = attack_rows(made_by, rows, *known, earlier=before, seed=seed, ruled_out=ruled_out, progress=progress)
    failed = [check.name for check in verification.failures]
    judged = verification.people_counted is not False
    return replace(report, verdict=decide(asked, report.attacks, failed=failed, models_judged=judged))


def _made_by(asked: Policy, release: Any, original: Resolved | None) -> Policy:
    """The policy with the algorithm that made the release, where one chose among several.

    That is what the evidence beside the release records, else what is chosen for the original once more.
    """
    if not asked.search_algorithm.chooses:
        return asked
    search = _recorded_search(release)
    if search is None and original is not None:
        problem = original.problem
        engine = LocalEngine(problem.table, problem.ladders, problem.domains)
        with contextlib.suppress(InfeasibleError):
            search = asked.search_algorithm.run(problem, engine).search
    try:
        return with_chosen(asked, search or {})
    except PolicyError:  # evidence of another version
        return asked


def _recorded_search(release: Any) -> Mapping[str, Any] | None:
    """The facts of the search in the evidence beside a release file; None where there is none of this file."""
    if not isinstance(release, (str, Path)) or not Path(release).is_file():
        return None
    try:
        content = json.loads(output_paths(Path(release))["evidence"].read_bytes())
        return dict(content["search"]) if content["release_sha256"] == sha256_of(Path(release)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def attack_again(
    release: Any, asked: Policy, original: Any, *, seed: int, suppressed: int | None, progress: Progress
) -> AttackReport:
    """The attacks of a run once more, without a verdict; ``suppressed`` is what the verifier found."""
    rows = rows_of_release(release, asked, suppressed=suppressed)
    return attack_rows(asked, rows, *_known(asked, original), seed=seed, progress=progress)


def _known(
    asked: Policy, original: Any, earlier: Sequence[EarlierRelease] = ()
) -> tuple[DistinctRows | None, Resolved | None]:
    """The original's records; `PolicyError` where it lacks a column. Earlier releases may show more columns of it."""
    if original is None:
        return None, None
    wanted = {*used_columns(asked), *(quasi.name for each in earlier for quasi in each.signature.quasi)}
    people, names, hint = read_distinct(original, asked, sorted(wanted))
    lacking = unknown_columns({name: asked.columns[name] for name in used_columns(asked)}, names, hint)
    if lacking:
        raise PolicyError(lacking, asked.source)
    return people, resolve(asked, people)
