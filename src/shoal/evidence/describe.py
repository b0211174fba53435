"""Facts of a release that follow from its recoding: models, classes, columns and measures; the policy without paths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.exposure import Exposure, homogeneity, similarity
from shoal.attacks.missing import smallest_if_missing_matches
from shoal.evidence.distribution import distribution
from shoal.evidence.evidence import (
    ClassSizes,
    ColumnFacts,
    ModelFacts,
    OtherFacts,
    QuasiFacts,
    SensitiveFacts,
    WeakestClass,
)
from shoal.metrics import METRICS, CellMetric, ReleaseSummary
from shoal.models.base import Model
from shoal.models.parameters import limit_name
from shoal.policy import Policy
from shoal.table.classes import ClassStats, ClassView, Counts
from shoal.table.recoding import Recoding

Codes = NDArray[np.int32]
_SAME = 1e-9  # A class is at its limit when its figure differs from it by no more than this
_PLACES = 12  # figures of classes that differ by less than rounding to so many places are equally weak
_LOCATIONS = frozenset({"path", "sheet"})
"""The keys of ``data`` that name the input."""


def describe_models(
    models: Sequence[Model], stats: ClassStats, recoding: Recoding | None = None
) -> tuple[ModelFacts, ...]:
    """Each model as asked and what the release reaches; with the recoding also the weakest class of each parameter."""
    described = []
    for model in models:
        view = stats.view(model.column)
        described.append(
            ModelFacts(
                model=model.name,
                sensitive=model.column,
                asked={each.name: getattr(model, each.name) for each in fields(model) if each.name != "sensitive"},
                reached={name: _figure(value) for name, value in model.reached(view).items()},
                holds=bool(model.holds(view).all() and model.table_holds(view)),
                weakest=None if recoding is None else dict(_weakest(model, view, recoding)),
            )
        )
    return tuple(described)


def _weakest(model: Model, view: ClassView, recoding: Recoding) -> Iterator[tuple[str, WeakestClass]]:
    """For each parameter that is about classes, the class that satisfies it least.

    Of several the smallest, of equally small ones the first by its labels, so that no order of classes decides.
    """
    limits = dict(asked_limits(model))
    for parameter, strength in model.strengths(view).items():
        if not strength.of_class or not len(strength.per_class):
            continue
        figures = np.round(strength.per_class, _PLACES)
        weakest = np.flatnonzero(figures == (figures.min() if strength.at_least else figures.max()))
        index = _first(weakest, view.sizes, recoding)
        limit = limits.get(parameter, math.nan)
        at_limit = np.abs(strength.per_class - limit) <= _SAME * max(1.0, abs(limit))
        columns = zip(recoding.quasi, recoding.hierarchies, recoding.nodes[index].tolist(), strict=True)
        yield (
            parameter,
            WeakestClass(
                strength=_figure(float(figures[index])),
                size=int(view.sizes[index]),
                labels={name: hierarchy.labels[node] for name, hierarchy, node in columns},
                classes=len(weakest),
                classes_at_limit=int(np.count_nonzero(at_limit)),
            ),
        )


def asked_limits(model: Model) -> Iterator[tuple[str, float]]:
    """Each number of a model under the name that its strength has: ``k``, ``alpha[HIV]``, ``dif[HIV]``."""
    for each in fields(model):
        value = getattr(model, each.name)
        if isinstance(value, Mapping):
            for key, limit in value.items():
                if isinstance(limit, Mapping):
                    yield from ((limit_name(part, key), float(number)) for part, number in limit.items())
                else:
                    yield limit_name(each.name, key), float(limit)
        elif isinstance(value, (int, float)):
            yield each.name, float(value)


def _first(classes: Counts, sizes: Counts, recoding: Recoding) -> int:
    """The smallest of some classes; of equally small ones the first by its labels, the missing label last."""
    left = classes[sizes[classes] == sizes[classes].min()]
    for j, hierarchy in enumerate(recoding.hierarchies):
        nodes = recoding.nodes[left, j]
        labels = {node: hierarchy.labels[node] for node in np.unique(nodes).tolist()}
        left = left[nodes == min(labels, key=lambda node: (labels[node] is None, labels[node] or ""))]
    return int(left[0])


def _figure(value: float) -> float | int | None:
    """A figure of a model: whole numbers as such, None where no finite value is reached."""
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else value


def describe_sizes(recoding: Recoding) -> ClassSizes | dict[str, Any]:
    """The distribution of class sizes; nothing where no class is released."""
    return class_sizes(recoding.sizes, smallest_if_missing_matches(recoding)) if len(recoding.sizes) else {}


def class_sizes(sizes: Counts, smallest_if_missing_matches_anything: int) -> ClassSizes:
    """Extremes, quartiles, and how many classes have each size."""
    distinct, classes = np.unique(sizes, return_counts=True)
    low, median, high = np.percentile(sizes, [25, 50, 75]).tolist()
    return ClassSizes(
        smallest=int(sizes.min()),
        smallest_if_missing_matches_anything=smallest_if_missing_matches_anything,
        largest=int(sizes.max()),
        mean=float(sizes.mean()),
        quartiles=(low, median, high),
        classes_by_size={str(size): int(count) for size, count in zip(distinct, classes, strict=True)},
    )


def describe_exposure(stats: ClassStats) -> dict[str, dict[str, Exposure]]:
    """Records open to the homogeneity and the similarity attack, by sensitive column."""
    found = {}
    for name in stats.histograms:
        view = stats.view(name)
        counted = {"homogeneity": homogeneity(view), "similarity": similarity(view)}
        found[name] = {attack: each for attack, each in counted.items() if each is not None}
    return found


def measure(summary: ReleaseSummary) -> dict[str, float]:
    """Every measure of a release."""
    return {name: metric.of(summary) for name, metric in METRICS.items()}


def describe_columns(
    policy: Policy, summary: ReleaseSummary, recoding: Recoding, codes: Mapping[str, Codes]
) -> dict[str, ColumnFacts]:
    """For each column of the policy its role and, for quasi-identifiers, what generalizing cost and what is left.

    ``codes`` are the leaf codes of each quasi-identifier, one per row.
    """
    asked = [model.least_records for model in policy.models() if model.only_counts and model.column is None]
    least_hidden = max(2, max(asked, default=int(recoding.sizes.min(initial=2))))
    released = recoding.row_class >= 0
    weights = None if recoding.weights is None else recoding.weights[released]
    columns: dict[str, ColumnFacts] = {}
    for name, column in policy.columns.items():
        if column.role == "sensitive":
            columns[name] = SensitiveFacts("sensitive", policy.published(name))
        elif column.role == "quasi":
            index = recoding.quasi.index(name)
            hierarchy = recoding.hierarchies[index]
            before = np.bincount(codes[name][released], weights=weights, minlength=hierarchy.n_leaves)
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
            )
        else:
            columns[name] = OtherFacts(column.role)
    return columns


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
