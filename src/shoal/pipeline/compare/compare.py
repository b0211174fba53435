"""`compare`: run a grid of algorithms and parameters, point by point, and set risk against utility.

The table is read and encoded once; the points differ in what is searched for. A run that is stopped goes on where it
was: finished points are kept as long as their policy, the data and the version of Shoal are the same.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.encode.pseudonyms import key_problems
from shoal.errors import InputError, OutputError, PolicyError, did_you_mean
from shoal.evidence.evidence import to_json
from shoal.io import DatabaseTable, canonical_text, check_outputs, in_order_of_content
from shoal.io.multiple_files import data_files, is_many
from shoal.io.sink import input_files, policy_files
from shoal.io.source import TableSource, data_source, load_table
from shoal.io.staging import writing
from shoal.metrics import METRICS
from shoal.pipeline.compare.comparison_folder import ComparisonFolder, file_hash, write_files
from shoal.pipeline.compare.grid import GridPoint, Values, axes_of, points_of, read_algorithms
from shoal.pipeline.compare.result import RISKS, Comparison, run_point
from shoal.pipeline.prepare import prepare
from shoal.pipeline.run import as_policy
from shoal.policy import Policy
from shoal.present.comparison import write_comparison
from shoal.search.problem import Progress, no_progress


@dataclass(frozen=True, eq=False)
class Plan:
    """What a comparison is going to do."""

    policy: Policy
    data: TableSource | Path | None
    folder: ComparisonFolder
    points: tuple[GridPoint, ...]
    finished: Mapping[str, dict[str, Any]]  # results of an earlier run that still stand, by point
    releases: bool
    comparison: Comparison  # without its points

    @property
    def open_points(self) -> tuple[GridPoint, ...]:
        """The points that have to be computed."""
        return tuple(point for point in self.points if point.name not in self.finished)

    def done_by_now(self) -> int:
        """How many points have a result that a next run will keep."""
        return len(self.folder.finished(self.points, self.comparison.inputs_sha256, release=self.releases))


def compare(
    policy: Policy | str | Path | Mapping[str, Any],
    algorithms: str | Sequence[str],
    *,
    data: Any = None,
    k: Values | None = None,
    p: Values | None = None,
    l: Values | None = None,  # noqa: E741 - the parameter's name
    t: Values | None = None,
    alpha: Values | None = None,
    settings: Mapping[str, Values] | None = None,
    metric: str | None = None,
    risk: str = "average",
    out: str | Path | None = None,
    releases: bool = False,
    force: bool = False,
    progress: Progress = no_progress,
) -> Comparison:
    """Run every algorithm with every combination of parameters and compare what comes out.

    Parameters are numbers, lists, or texts such as ``"2..10"``; ``settings`` has others by name, such as
    ``{"t-closeness.t": [0.1, 0.2]}``. The policy, the result and, with ``releases``, the release of each point go to
    the folder ``out``, where a run that was stopped goes on. Raises `InputError` for a grid that the policy cannot
    have.
    """
    plan = plan_comparison(
        policy,
        algorithms,
        data=data,
        short={"k": k, "p": p, "l": l, "t": t, "alpha": alpha},
        settings=settings or {},
        metric=metric,
        risk=risk,
        out=out,
        releases=releases,
        force=force,
    )
    return run_comparison(plan, progress=progress)


def plan_comparison(
    policy: Policy | str | Path | Mapping[str, Any],
    algorithms: str | Sequence[str],
    *,
    data: Any = None,
    short: Mapping[str, Values | None],
    settings: Mapping[str, Values],
    metric: str | None = None,
    risk: str = "average",
    out: str | Path | None = None,
    releases: bool = False,
    force: bool = False,
) -> Plan:
    """Everything that can be known before the first point: the grid, and what is finished already."""
    asked = as_policy(policy)
    names, measure = read_algorithms(algorithms, asked), asked.algorithm.metric if metric is None else metric
    if measure not in METRICS:
        raise InputError(f"unknown measure {measure!r}. {did_you_mean(measure, METRICS)}", code="unknown-measure")
    _check_risk(risk, asked)
    if problems := key_problems(asked):
        raise PolicyError(problems, asked.source)
    axes = axes_of(asked, short, settings)
    folder = ComparisonFolder(_target(asked, out))
    source = data_source(asked, data) if data is None or isinstance(data, (str, Path, DatabaseTable)) else None
    path = source.path if source is not None and source.database is None else None
    loaded = load_table(data, asked) if path is None else None
    table = source.database if source is not None else None
    if loaded is not None and table is not None:  # a database gives its rows in any order
        loaded = replace(loaded, table=in_order_of_content(loaded.table))
    points = points_of(asked, names, axes, metric=measure, folder=folder.points, data=table or path)
    inputs = _hashes(asked, path, loaded)
    folder.check(points, policy_files(asked) if path is None else input_files(asked, path), force=force)
    done = {} if force else folder.finished(points, inputs, release=releases)
    comparison = Comparison(
        folder=folder.path,
        algorithms=names,
        axes={axis.name: axis.values for axis in axes},
        metric=measure,
        risk=risk,
        points=(),
        policy_sha256=asked.sha256,
        inputs_sha256=inputs,
    )
    plan = Plan(asked, loaded or path, folder, points, done, releases, comparison)
    if releases and not force and folder.points.is_dir():
        folder.check_releases(plan.open_points)
        check_outputs([folder.release(point) for point in plan.open_points])
    return plan


def run_comparison(plan: Plan, *, progress: Progress = no_progress) -> Comparison:
    """Run the points that are open, one by one, and write the comparison."""
    folder, results = plan.folder, dict(plan.finished)
    if plan.open_points:  # the table is read and encoded once
        progress("reading", 0.0)
        ready = prepare(plan.data, plan.policy.changed(utility=None))
    with writing(folder.points):
        folder.points.mkdir(parents=True, exist_ok=True)
    for index, point in enumerate(plan.open_points):
        within = _within(progress, point.name, index, len(plan.open_points))
        path, release = folder.policy(point), folder.release(point) if plan.releases else None
        write_files({path: point.text})
        result = run_point(point, path, ready, release=release, progress=within)
        result |= {"inputs_sha256": dict(plan.comparison.inputs_sha256), "shoal": version("shoal")}
        write_files({folder.result(point): to_json(result)})
        results[point.name] = result
    comparison = replace(plan.comparison, points=tuple(results[point.name] for point in plan.points))
    content = comparison.to_dict()
    texts = {"json": to_json(content), "csv": comparison.to_csv(), "html": write_comparison(content)}
    write_files({folder.outputs[kind]: text for kind, text in texts.items()})
    return comparison


def _within(progress: Progress, name: str, index: int, size: int) -> Progress:
    """Progress of one point as progress of the whole; it never goes back."""
    reached = 0.0

    def report_progress(stage: str, share: float) -> None:
        nonlocal reached
        reached = max(reached, min(max(share, 0.0), 1.0))
        progress(f"{index + 1} of {size}: {name}, {stage}", (index + reached) / size)

    return report_progress


def _check_risk(risk: str, policy: Policy) -> None:
    if risk not in RISKS:
        raise InputError(f"unknown risk {risk!r}. {did_you_mean(risk, RISKS)}", code="unknown-risk")
    secrets = policy.names("sensitive")
    if risk == "homogeneity" and not secrets:
        message = "the homogeneity risk needs a sensitive column, and the policy has none."
        raise InputError(message, code="no-sensitive-column")
    if risk == "similarity" and not any(policy.columns[name].categories for name in secrets):
        message = "the similarity risk needs categories, and no sensitive column of the policy has any."
        raise InputError(message, code="no-categories")


def _target(policy: Policy, out: str | Path | None) -> Path:
    """The folder: as given, else beside the policy file and named after it."""
    source = Path(policy.source)
    named = source.with_name(f"{source.stem}-comparison") if source.is_file() else Path("comparison")
    target = Path(out) if out is not None else named
    if target.exists() and not target.is_dir():
        message = f"{target} is a file, and a comparison needs a folder. Choose another name with --out."
        raise OutputError(message, code="file-not-folder")
    return target


def _hashes(policy: Policy, path: Path | None, loaded: TableSource | None) -> dict[str, str]:
    """The hashes of everything that a point is made from besides its policy."""
    found = {}
    if loaded is not None:  # a table's values, whatever types they are kept in
        digest = hashlib.sha256()
        for name in sorted(loaded.table.column_names):
            digest.update(repr((name, canonical_text(loaded.table.column(name)).to_pylist())).encode())
        found["data"] = digest.hexdigest()
    elif path is not None and is_many(path):  # of several files their hashes, whatever the files are called
        hashes = sorted(file_hash(each) for each in data_files(path))
        found["data"] = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    elif path is not None:
        found["data"] = file_hash(path)
    for name, column in policy.columns.items():
        declared = column.hierarchy
        if declared is not None and declared.file is not None:
            found[f"columns.{name}.hierarchy"] = file_hash(policy.path(declared.file))
    return found
