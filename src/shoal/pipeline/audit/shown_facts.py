"""The facts that a release file shows again: what its evidence should say of them."""

from pathlib import Path
from typing import Any

import numpy as np

from shoal.attacks.released_classes import Rows, histograms_in, released_scene, rows_of_release
from shoal.attacks.released_labels import label_nodes
from shoal.encode.resolve import Resolved, resolve, used_columns
from shoal.encode.result import release_columns
from shoal.evidence.describe import (
    column_ncp,
    describe_exposure,
    describe_models,
    describe_sensitive,
    least_hidden_records,
    measure,
    shown_recoding,
)
from shoal.evidence.distribution import distribution
from shoal.evidence.evidence import Distribution
from shoal.evidence.formulas import formula_cells
from shoal.evidence.people import describe_sizes
from shoal.io.source import read_distinct
from shoal.metrics import ReleaseSummary
from shoal.models.near_numbers import warnings_of
from shoal.policy import Policy
from shoal.table.classes import ClassStats
from shoal.table.distinct_rows import DistinctRows
from shoal.table.recoding import Recoding
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.stated_policy import stated

_ANY_LEVEL = 1000  # above every height: without the original no more is known than the height that is recorded


def shown_facts(
    release: Path, policy: Policy, original: Any = None, *, suppressed: int | None = None
) -> dict[str, Any]:
    """The facts that the file and the policy tell, and the hierarchies that the original's values build, if given.

    ``possible_levels`` are those that a column may have.
    """
    rows = rows_of_release(release, policy, suppressed=suppressed)
    columns: dict[str, dict[str, Any]] = {name: {"role": column.role} for name, column in policy.columns.items()}
    for name, labels in zip(rows.quasi, rows.labels, strict=True):
        columns[name]["labels_released"] = len(labels)
    more: dict[str, Any] = {}
    if original is None:
        recoding, stats = shown_recoding(rows), released_scene(rows, policy).stats
        models = [model for model in policy.models() if not model.needs_order]
        kinds = quasi_labels(stated(policy))  # by labels alone: from the level on at which each of them stands
        possible_levels = {
            name: list(range(max(kinds[name].level(label, labels) for label in labels), _ANY_LEVEL))
            for name, labels in zip(rows.quasi, rows.labels, strict=True)
        }
    else:
        people, names, _ = read_distinct(original, policy, used_columns(policy))
        resolved = resolve(policy, people)
        recoding = _recoding(rows, policy, resolved)
        domains = {name: secret.domain for name, secret in resolved.sensitive.items()}
        stats = ClassStats(recoding.sizes, histograms_in(rows, domains, recoding.n_classes), domains)
        models, possible_levels = list(resolved.problem.models), {}
        records = resolved.problem.table.n_rows
        summary = ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, records)
        more = {"records": records, "measures": measure(summary)}
        for index, (name, hierarchy) in enumerate(zip(recoding.quasi, recoding.hierarchies, strict=True)):
            ncp = column_ncp(summary, index)
            columns[name] |= {"height": hierarchy.height, "hierarchy_values": hierarchy.n_leaves, "ncp": ncp}
            if (
                not suppressed
                and not policy.person_columns
                and len(resolved.problem.hierarchies[index].labels) == len(hierarchy.labels)
            ):
                columns[name]["distribution"] = _distribution(policy, resolved, people, recoding, stats, index)
            released, levels = np.unique(recoding.nodes[:, index]), enumerate(hierarchy.levels)
            possible_levels[name] = [level for level, nodes in levels if np.isin(released, nodes, kind="sort").all()]
        if set(policy.columns) <= set(names):  # else the original is not all of the data
            more["not_released"] = sorted(set(names) - set(release_columns(policy, names)))
            more["not_named"] = sorted(set(names) - set(policy.columns))
    for name, secret in describe_sensitive(policy, stats).items():
        columns[name] |= secret
    return {
        "class_sizes": describe_sizes(recoding),
        "exposure": describe_exposure(stats),
        "models": describe_models([model for model in models if not model.needs_people], stats, recoding),
        "columns": columns,
        "warnings": (*warnings_of(policy.models(), stats), *formula_cells(rows, policy)) or None,
        "possible_levels": possible_levels,
        "seed": policy.algorithm.seed,
        "attack_seed": abs(policy.algorithm.seed),
        **more,
    }


def _distribution(
    policy: Policy, resolved: Resolved, original: DistinctRows, recoding: Recoding, stats: ClassStats, index: int
) -> Distribution | None:
    """The distribution of a quasi-identifier where every record is released, so that their values are known."""
    name, hierarchy = recoding.quasi[index], recoding.hierarchies[index]
    before = np.bincount(resolved.quasi[name].codes, weights=original.counts, minlength=hierarchy.n_leaves)
    after = np.bincount(recoding.nodes[:, index], weights=recoding.sizes, minlength=len(hierarchy.labels))
    least_hidden = least_hidden_records(policy, stats)
    return distribution(hierarchy, before.astype(np.int64), after.astype(np.int64), least_hidden=least_hidden)


def _recoding(rows: Rows, policy: Policy, resolved: Resolved) -> Recoding:
    """The release as classes of nodes; every label is known, since the verifier has passed it beside the original."""
    hierarchies, nodes = [], []
    for j, (name, hierarchy) in enumerate(zip(rows.quasi, resolved.problem.hierarchies, strict=True)):
        extended, of_label = label_nodes(hierarchy, rows.labels[j], name, policy)
        hierarchies.append(extended)
        nodes.append(of_label[rows.cells[j]])
    of_class = np.array(nodes, dtype=np.int32).T
    return Recoding(rows.quasi, tuple(hierarchies), rows.owner.astype(np.int32), of_class, weights=rows.weights)
