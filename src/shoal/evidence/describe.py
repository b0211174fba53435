"""The evidence of a release, and the facts in it that follow from a recoding: models, classes, columns and measures."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import numpy as np

from shoal.attacks.battery import AttackReport
from shoal.attacks.exposure import Exposure, homogeneity, similarity
from shoal.attacks.released_classes import Rows
from shoal.encode.resolve import QuasiColumn
from shoal.encode.result import Result, release_columns, release_stats
from shoal.evidence.distribution import distribution
from shoal.evidence.evidence import (
    EVIDENCE_VERSION,
    BoundFacts,
    ColumnFacts,
    Evidence,
    ModelFacts,
    OtherFacts,
    QuasiFacts,
    SensitiveFacts,
    UnknownFacts,
    WeakestClass,
    sealed,
)
from shoal.evidence.machine import peak_memory_bytes, versions
from shoal.evidence.people import describe_people, describe_sizes
from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.metrics import METRICS, CellMetric, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.models.base import Model
from shoal.models.near_numbers import warnings_of
from shoal.policy import Policy
from shoal.table.classes import ClassStats, ClassView, Counts
from shoal.table.recoding import Recoding
from shoal.verification import Verification

_SAME = 1e-9  # A class is at its limit when its figure differs from it by no more than this
_DECIMAL_PLACES = (
    12  # figures of classes that differ by less than rounding to this many decimal places are equally weak
)
_LOCATIONS = frozenset({"path", "sheet", "unpacked"})
"""The keys of ``data`` that name the input, or say how large it is."""


def make_evidence(
    result: Result,
    verification: Verification,
    seconds: dict[str, float],
    release_sha256: str | None,
    utility: Mapping[str, Any] | None,
    attacks: AttackReport,
    not_done: Mapping[str, str],
) -> Evidence:
    """The evidence of a release and its verification, of what attackers got, and what it is worth for a task.

    ``seconds`` are those of each stage so far; those of describing are added.
    """
    start = time.perf_counter()
    policy, recoding, resolved = result.policy, result.recoding, result.resolved
    stats = release_stats(resolved, recoding)
    violations = count_violations(recoding, (each.codes for each in resolved.quasi.values()), resolved.problem.caps)
    summary = ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows, violations)
    measures, models = measure(summary), describe_models(resolved.problem.models, stats, recoding)
    columns = describe_columns(policy, summary, recoding, resolved.quasi, stats) | describe_sensitive(policy, stats)
    seconds["evidence"] = time.perf_counter() - start
    return sealed(
        Evidence(
            evidence_version=EVIDENCE_VERSION,
            verified=verification.passed,
            records=recoding.n_rows,
            released=recoding.n_rows - recoding.suppressed,
            suppressed=recoding.suppressed,
            classes=recoding.n_classes,
            levels=dict(recoding.levels) if recoding.levels is not None else None,
            measures=measures,
            bound=BoundFacts(**result.bound.facts(measures["ncp"])) if result.bound is not None else None,
            models=models,
            algorithm=policy.algorithm.name,
            seed=policy.algorithm.seed,
            search=dict(result.search),
            columns=columns,
            not_released=tuple(sorted(set(result.names) - set(release_columns(policy, list(result.names))))),
            not_named=tuple(sorted(set(result.names) - set(policy.columns))),
            class_sizes=describe_sizes(recoding),
            exposure=describe_exposure(stats),
            attacks=attacks.attacks,
            attack_seed=attacks.seed,
            utility=utility,
            not_done=not_done or None,
            people=describe_people(policy, resolved, recoding, stats),
            warnings=warnings_of(resolved.problem.models, stats) or None,
            checks=verification.checks,
            policy=describe_policy(policy),
            policy_sha256=policy.sha256,
            release_sha256=release_sha256,
            evidence_sha256="",
            versions=versions(),
            seconds=sum(seconds.values()),
            seconds_by_stage=dict(seconds),
            peak_memory_bytes=peak_memory_bytes(),
        )
    )


def describe_models(
    models: Sequence[Model], stats: ClassStats, recoding: Recoding | None = None
) -> tuple[ModelFacts, ...]:
    """Each model as asked and what the release reaches; with the recoding also the weakest class of each parameter."""
    described = []
    for model in models:
        shown = [each.showing(model.column).view(model.column) for each in stats.judged]
        described.append(
            ModelFacts(
                model=model.name,
                sensitive=model.column,
                asked={each.name: getattr(model, each.name) for each in fields(model) if each.name != "sensitive"},
                reached={name: figure(value) for name, value in _reached(model, shown).items()},
                holds=all(bool(model.holds(view).all()) and model.table_holds(view) for view in shown),
                weakest=None if recoding is None else dict(_weakest(model, stats, recoding)),
            )
        )
    return tuple(described)


def _reached(model: Model, views: Sequence[ClassView]) -> dict[str, float]:
    """The strongest value of each parameter that every class reaches and, where records are linked, linked class."""
    found, at_least = dict[str, float](), dict[str, bool]()
    for view in views:
        at_least |= {name: strength.at_least for name, strength in model.strengths(view).items()}
        for name, value in model.reached(view).items():
            worse = min if at_least[name] else max
            found[name] = worse(value, found.get(name, value))
    return found


def _weakest(model: Model, stats: ClassStats, recoding: Recoding) -> Iterator[tuple[str, WeakestClass]]:
    """For each parameter that is about classes, the class that satisfies it least.

    Of several the smallest, of equally small ones the first by its labels, so that no order of classes decides.
    """
    limits = {name: limit.value for name, limit in model.single_limits().items()}
    view, shown = stats.view(model.column), stats.shows(model.column)
    for parameter, strength in model.strengths(view).items():
        if not strength.of_class or not shown.any():
            continue
        figures = np.round(strength.per_class, _DECIMAL_PLACES)
        least = figures[shown].min() if strength.at_least else figures[shown].max()
        weakest = np.flatnonzero((figures == least) & shown)
        index = _first(weakest, view.sizes, recoding)
        limit = limits.get(parameter, math.nan)
        at_limit = (np.abs(strength.per_class - limit) <= _SAME * max(1.0, abs(limit))) & shown
        columns = zip(recoding.quasi, recoding.hierarchies, recoding.nodes[index].tolist(), strict=True)
        yield (
            parameter,
            WeakestClass(
                strength=figure(float(figures[index])),
                size=int(view.records[index]),
                people=int(view.sizes[index]) if view.counts_people else None,
                labels={name: hierarchy.labels[node] for name, hierarchy, node in columns},
                classes=len(weakest),
                classes_at_limit=int(np.count_nonzero(at_limit)),
            ),
        )


def _first(classes: Counts, sizes: Counts, recoding: Recoding) -> int:
    """The smallest of some classes; of equally small ones the first by its labels, the missing label last."""
    left = classes[sizes[classes] == sizes[classes].min()]
    for j, hierarchy in enumerate(recoding.hierarchies):
        nodes = recoding.nodes[left, j]
        labels = {node: hierarchy.labels[node] for node in np.unique(nodes).tolist()}
        left = left[nodes == min(labels, key=lambda node: (labels[node] is None, labels[node] or ""))]
    return int(left[0])


def figure(value: float) -> float | int | None:
    """A figure of a model: whole numbers as such, None where no finite value is reached."""
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else value


@dataclass(frozen=True)
class _Labels:
    """As much of a hierarchy as a release shows."""

    labels: tuple[Label, ...]


def shown_recoding(rows: Rows) -> Recoding:
    """As much of a recoding as released records show: their classes, and labels instead of hierarchies."""
    hierarchies = tuple(cast("Hierarchy", _Labels(labels)) for labels in rows.labels)
    return Recoding(rows.quasi, hierarchies, rows.owner.astype(np.int32), rows.cells.T, weights=rows.weights)


def describe_exposure(stats: ClassStats) -> dict[str, dict[str, Exposure]]:
    """Records, and people, open to the homogeneity and the similarity attack, by sensitive column."""
    found = {}
    people = None if stats.people is None else stats.people.rows()
    for name in stats.histograms:
        view = stats.by_record.view(name)
        counted = {"homogeneity": homogeneity(view, people), "similarity": similarity(view, people)}
        found[name] = {attack: each for attack, each in counted.items() if each is not None}
    return found


def describe_sensitive(policy: Policy, stats: ClassStats) -> dict[str, SensitiveFacts]:
    """For each sensitive column what is published of it, and what is unknown, in records."""
    found, counted = {}, stats.by_record
    for name in stats.histograms:
        column, stats = policy.columns[name], counted.showing(name)
        every = stats.histograms[name]
        known = np.array([value not in column.unknown_marks for value in stats.domains[name].values], dtype=np.bool_)
        of_known = every.of_values(known)
        records = of_known.per_class_sum(of_known.weights) // stats.view(name).unit  # of people: who has a known value
        unknown = int(stats.sizes.sum() - records.sum())
        facts = UnknownFacts(
            counted=bool(column.unknown_counts),
            records=unknown,
            known_records=int(records.sum()),
            classes_without_known=int(np.count_nonzero(records == 0)),
            fewest_values=int(of_known.distinct.min(initial=len(known))),
            fewest_values_if_counted=int(every.distinct.min(initial=len(known))),
            single_value_records=int(records[of_known.distinct == 1].sum()),
            single_value_records_if_counted=int(stats.sizes[every.distinct == 1].sum()),
        )
        shown = facts if unknown else None
        found[name] = SensitiveFacts("sensitive", policy.published(name), unknown=shown, relative=column.relative)
    return found


def measure(summary: ReleaseSummary) -> dict[str, float]:
    """Every measure of a release."""
    return {name: metric.of(summary) for name, metric in METRICS.items()}


def least_hidden_records(policy: Policy, stats: ClassStats) -> int:
    """How many records a group of a distribution hides at least, if it hides any and every record is somebody's."""
    asked = [model.least_records for model in policy.models() if model.only_counts and model.column is None]
    return max(2, max(asked, default=int(stats.sizes.min(initial=2))))


def describe_columns(
    policy: Policy, summary: ReleaseSummary, recoding: Recoding, quasi: Mapping[str, QuasiColumn], stats: ClassStats
) -> dict[str, ColumnFacts]:
    """For each column of the policy its role and, for quasi-identifiers, what generalizing cost and what is left."""
    least_hidden = least_hidden_records(policy, stats)
    if stats.people is not None:  # as many records as only so many people can have together
        _, person, counts = stats.people.class_records()
        per_person = np.bincount(person, weights=counts)
        del person, counts  # there may be many rows
        least_hidden = 1 + int(np.sort(per_person)[::-1][: least_hidden - 1].sum())
    released = recoding.row_class >= 0
    weights = _row_records(recoding)
    columns: dict[str, ColumnFacts] = {}
    for name, column in policy.columns.items():
        if column.role == "sensitive":
            columns[name] = SensitiveFacts("sensitive", policy.published(name))  # more of it in `describe_sensitive`
        elif column.role == "quasi":
            index = recoding.quasi.index(name)
            hierarchy = recoding.hierarchies[index]
            before = np.bincount(quasi[name].codes[released], weights=weights, minlength=hierarchy.n_leaves)
            after = np.bincount(recoding.nodes[:, index], weights=recoding.sizes, minlength=len(hierarchy.labels))
            columns[name] = QuasiFacts(
                role="quasi",
                height=hierarchy.height,
                hierarchy_values=hierarchy.n_leaves,
                labels_released=len(np.unique(recoding.nodes[:, index])),
                ncp=column_ncp(summary, index),
                distribution=distribution(
                    hierarchy, before.astype(np.int64), after.astype(np.int64), least_hidden=least_hidden
                ),
                relative=column.relative,
            )
        else:
            columns[name] = OtherFacts(column.role, column.relative)
    return columns


def _row_records(recoding: Recoding) -> Counts | None:
    """The records of each released row; None where each is one."""
    return None if recoding.weights is None else recoding.weights[recoding.row_class >= 0]


def column_ncp(summary: ReleaseSummary, index: int) -> float:
    """Share of the detail of one quasi-identifier that was lost."""
    ncp = METRICS["ncp"]
    assert isinstance(ncp, CellMetric)
    return ncp.column_mean(summary, index)


def describe_policy(policy: Policy) -> dict[str, Any]:
    """The policy without what names the input, the output or a folder: the evidence may travel with the release."""
    content = policy.to_dict()
    for key in ("output", "registry"):
        content.pop(key, None)
    for column in content.get("columns", {}).values():
        for key in ("same", "different", "key"):  # spellings that no released record may have, and where a key is
            column.pop(key, None)
    if isinstance(content.get("data"), dict):
        content["data"] = {key: value for key, value in content["data"].items() if key not in _LOCATIONS}
    if isinstance(content.get("engine"), dict):
        content["engine"].pop("settings", None)  # they name machines and may hold keys to them
    for column in content.get("columns", {}).values():
        declared = column.get("hierarchy")
        if isinstance(declared, dict):
            if isinstance(declared.get("tree"), str):
                declared["tree"] = Path(declared["tree"]).name
            if isinstance(declared.get("levels"), dict):
                declared["levels"]["path"] = Path(declared["levels"]["path"]).name
    return content
