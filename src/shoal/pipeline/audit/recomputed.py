"""What a release shows of itself, as facts of its evidence.

From the file and the policy alone: sizes of classes, exposure, models and their weakest classes, labels. With the
original also the measures and the columns. What follows from neither - how the search went, bounds, distributions over
values that are not released - is not computed, and `NEVER` and `BY_ORIGINAL` say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from shoal.attacks.original import label_nodes
from shoal.attacks.released_classes import Rows, released_scene, rows_of_release
from shoal.encode.resolve import Resolved, resolve, used_columns
from shoal.evidence.describe import column_ncp, describe_exposure, describe_models, describe_sizes, measure
from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.io.source import read_distinct
from shoal.metrics import ReleaseSummary
from shoal.policy import Policy
from shoal.table.classes import ClassStats, Histogram
from shoal.table.recoding import Recoding
from shoal.verification.ranges import quasi_labels
from shoal.verification.stated_policy import stated

NEVER = ("the bound but for what is reached", "distributions", "search", "seed", "utility", "composition", "versions")
"""What is compared with nothing: only making the release again would tell."""
BY_ORIGINAL = ("records", "measures", "heights, values and ncp of columns", "columns of the data", "bound")
"""What only the original tells."""


@dataclass(frozen=True)
class _Shown:
    """As much of a hierarchy as a release shows: its labels."""

    labels: tuple[Label, ...]


def shown_by_release(release: Path, policy: Policy) -> dict[str, Any]:
    """The facts that the file and the policy tell; ``wrong_levels`` are those that a column cannot have."""
    rows = rows_of_release(release, policy)
    scene = released_scene(rows, policy)
    hierarchies = tuple(cast("Hierarchy", _Shown(labels)) for labels in rows.labels)
    recoding = Recoding(rows.quasi, hierarchies, rows.owner.astype(np.int32), rows.cells.T, weights=rows.weights)
    models = [model for model in policy.models() if not model.needs_order]
    return {
        "class_sizes": describe_sizes(recoding),
        "exposure": describe_exposure(scene.stats),
        "models": describe_models(models, scene.stats, recoding),
        "columns": _roles(policy, rows),
        "wrong_levels": _least_levels(policy, rows),
    }


def shown_beside_original(release: Path, policy: Policy, original: Any) -> dict[str, Any]:
    """The same facts and more, from the hierarchies that the original's values build."""
    rows = rows_of_release(release, policy)
    people, names, _ = read_distinct(original, policy, used_columns(policy))
    resolved = resolve(policy, people)
    records = resolved.problem.table.n_rows
    recoding = _recoding(rows, policy, resolved)
    summary = ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, records)
    stats = _stats(rows, resolved, recoding)
    columns = _roles(policy, rows)
    for index, (name, hierarchy) in enumerate(zip(recoding.quasi, recoding.hierarchies, strict=True)):
        ncp = column_ncp(summary, index)
        columns[name] |= {"height": hierarchy.height, "hierarchy_values": hierarchy.n_leaves, "ncp": ncp}
    left_out = {
        "not_released": sorted(set(names) - set(used_columns(policy))),
        "not_named": sorted(set(names) - set(policy.columns)),
    }
    return {
        "records": records,
        "class_sizes": describe_sizes(recoding),
        "exposure": describe_exposure(stats),
        "models": describe_models(resolved.problem.models, stats, recoding),
        "measures": measure(summary),
        "columns": columns,
        "wrong_levels": _wrong_levels(recoding),
        **(left_out if set(policy.columns) <= set(names) else {}),  # else the original is not all of the data
    }


def _roles(policy: Policy, rows: Rows) -> dict[str, dict[str, Any]]:
    """What labels tell of columns."""
    columns: dict[str, dict[str, Any]] = {name: {"role": column.role} for name, column in policy.columns.items()}
    for name in policy.names("sensitive"):
        columns[name]["published"] = policy.published(name)
    for name, labels in zip(rows.quasi, rows.labels, strict=True):
        columns[name]["labels_released"] = len(labels)
    return columns


def _least_levels(policy: Policy, rows: Rows) -> dict[str, list[int]]:
    """The levels that a column cannot have, by its labels alone: those below the level at which one first stands."""
    kinds = quasi_labels(stated(policy))
    return {
        name: list(range(max(kinds[name].level(label, labels) for label in labels)))
        for name, labels in zip(rows.quasi, rows.labels, strict=True)
    }


def _wrong_levels(recoding: Recoding) -> dict[str, list[int]]:
    """The levels that a column cannot have: those at which not all of its labels stand."""
    wrong: dict[str, list[int]] = {}
    for place, (name, hierarchy) in enumerate(zip(recoding.quasi, recoding.hierarchies, strict=True)):
        released = np.unique(recoding.nodes[:, place])
        wrong[name] = [
            level for level, nodes in enumerate(hierarchy.levels) if not np.isin(released, nodes, kind="sort").all()
        ]
    return wrong


def _recoding(rows: Rows, policy: Policy, resolved: Resolved) -> Recoding:
    """The release as classes of nodes; every label is known, since the verifier has passed it beside the original."""
    hierarchies, nodes = [], []
    for place, (name, hierarchy) in enumerate(zip(rows.quasi, resolved.problem.hierarchies, strict=True)):
        extended, of_label = label_nodes(hierarchy, rows.labels[place], name, policy)
        hierarchies.append(extended)
        nodes.append(of_label[rows.cells[place]])
    of_class = np.array(nodes, dtype=np.int32).T
    return Recoding(rows.quasi, tuple(hierarchies), rows.owner.astype(np.int32), of_class, weights=rows.weights)


def _stats(rows: Rows, resolved: Resolved, recoding: Recoding) -> ClassStats:
    histograms, domains = {}, {}
    for name, (values, codes) in rows.sensitive.items():
        domain = resolved.sensitive[name].domain
        place: Mapping[Label, int] = {value: code for code, value in enumerate(domain.values)}
        number = np.array([place[value] for value in values], dtype=np.int32)
        width = len(domain.values)
        histograms[name] = Histogram.of(rows.owner, number[codes], recoding.n_classes, width, rows.weights)
        domains[name] = domain
    return ClassStats(recoding.sizes, histograms, domains)
