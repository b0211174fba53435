"""Which published classes a new record may join.

A full-domain recoding gives each record one combination of labels, that of the published levels, whether it is there
already or not. For a local recoding the classes are those that are published: a record may join each whose labels cover
its values, none of them beyond its boundary. Of several the one that was raised least comes first (levels raised over
the height of the hierarchy, summed over the columns: Sun et al. 2008, the distortion ratio), then that of the least
loss, then the first by its labels. The first of these does not depend on which other records are new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.attacks.fitting import CodePairs, fitting_pairs
from shoal.attacks.original import label_nodes
from shoal.encode.resolve import QuasiColumn
from shoal.hierarchies.boundaries import Ladder
from shoal.hierarchies.hierarchy import Hierarchy, IntArray
from shoal.pipeline.apply.encode_new import NewRecords
from shoal.pipeline.apply.published import Base
from shoal.search.extension.extend import ClassCandidates
from shoal.table.encoded import combine_codes

_PLACES = 12


@dataclass(frozen=True, eq=False)
class Fitting:
    """The classes that new records may join."""

    candidates: ClassCandidates
    hierarchies: tuple[Hierarchy, ...]  # with the published ranges as nodes
    nodes: IntArray
    """``nodes[c, j]``: what class ``c`` shows in quasi-identifier ``j``; -1 where no new record lies under it."""


def fitting(new: NewRecords, base: Base) -> Fitting:
    """Find the classes that each new record may join; those not published yet come after those that are."""
    return _full_domain(new, base) if base.levels is not None else _local(new, base)


def _full_domain(new: NewRecords, base: Base) -> Fitting:
    """One combination of labels per record."""
    assert base.levels is not None
    columns = list(new.records.quasi.items())
    released = [
        _at_level(ladder, base.levels[name], base.heights[name])[column.codes]
        for (name, column), ladder in zip(columns, new.resolved.problem.ladders, strict=True)
    ]
    hierarchies = tuple(column.hierarchy for _, column in columns)
    known = [_nodes(hierarchy, labels) for hierarchy, labels in zip(hierarchies, base.rows.labels, strict=True)]
    published = np.stack([nodes[cells] for nodes, cells in zip(known, base.rows.cells, strict=True)], axis=1)
    both = np.concatenate([published, np.stack(released, axis=1)]) + 1  # a label that is no node counts as 0
    keys, _ = combine_codes(list(both.T.astype(np.int32)), [len(hierarchy.labels) + 1 for hierarchy in hierarchies])
    fresh = np.unique(keys[len(published) :][~np.isin(keys[len(published) :], keys[: len(published)])])
    usable = (published >= 0).all(axis=1)
    order = np.concatenate([keys[: len(published)][usable], fresh])
    number = np.concatenate([np.flatnonzero(usable), len(published) + np.arange(len(fresh))])
    sort = np.argsort(order)
    wanted = number[sort][np.searchsorted(order[sort], keys[len(published) :])]
    readable = new.reason < 0
    starts = np.concatenate([[0], np.cumsum(readable)]).astype(np.int64)
    nodes = np.full((len(published) + len(fresh), len(hierarchies)), -1, dtype=np.int32)
    nodes[: len(published)] = published
    nodes[wanted] = both[len(published) :] - 1
    return Fitting(ClassCandidates(starts, wanted[readable].astype(np.int64)), hierarchies, nodes)


def _at_level(ladder: Ladder, level: int, height: int) -> IntArray:
    """The node of each leaf at a published level, its boundary respected; the published root is the root."""
    steps = [step for step, nominal in enumerate(ladder.nominal) if nominal <= level or level >= height]
    found: IntArray = ladder.nodes[steps[-1]]
    return found


def _nodes(hierarchy: Hierarchy, labels: tuple[str | None, ...]) -> IntArray:
    return np.array([hierarchy.by_label.get(label, -1) for label in labels], dtype=np.int32)


def _local(new: NewRecords, base: Base) -> Fitting:
    """The published classes that cover a record, best first."""
    hierarchies, covers, nodes = [], [], []
    raised, loss = np.zeros(base.rows.cells.shape[1]), np.zeros(base.rows.cells.shape[1])
    for place, (name, column) in enumerate(new.records.quasi.items()):
        hierarchy, of_label = label_nodes(column.hierarchy, base.rows.labels[place], name, base.policy)
        hierarchies.append(hierarchy)
        covers.append(_cover(column, hierarchy, of_label))
        shown = of_label[base.rows.cells[place]]
        nodes.append(shown)
        share = np.minimum(hierarchy.node_levels / max(base.heights[name], 1), 1.0)  # of the way to the published root
        share[hierarchy.root] = 1.0
        raised += share[shown]
        loss += hierarchy.loss[shown]
    table = new.records.problem.table
    item, cls = fitting_pairs(table.codes, base.rows.cells, covers)
    order = np.lexsort((cls, np.round(loss[cls], _PLACES), np.round(raised[cls], _PLACES), item))
    of_tuple = np.searchsorted(item[order], np.arange(table.n_tuples + 1))
    first, length = of_tuple[:-1][table.row_tuple], np.diff(of_tuple)[table.row_tuple]
    length = np.where(new.reason < 0, length, 0)
    starts = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    places = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, length)
    return Fitting(ClassCandidates(starts, cls[order][places]), tuple(hierarchies), np.stack(nodes, axis=1))


def _cover(column: QuasiColumn, hierarchy: Hierarchy, of_label: IntArray) -> CodePairs:
    """For each leaf the published labels that it may become: at or below its boundary."""
    tree, pairs = column.hierarchy, []
    place_of = {int(node): place for place, node in enumerate(of_label.tolist()) if 0 <= node < len(tree.labels)}
    for leaf in range(tree.n_leaves):
        for node in tree.path(leaf):
            if node in place_of:
                pairs.append((leaf, place_of[node]))
            if node == column.caps[leaf]:
                break
    for place, node in enumerate(of_label.tolist()):
        if node >= len(tree.labels):  # a range: its leaf's boundary must hold all of it
            low, high = int(hierarchy.first[node]), int(hierarchy.last[node])
            caps = column.caps[low : high + 1]
            right = (tree.first[caps] <= low) & (tree.last[caps] >= high)
            pairs += [(leaf, place) for leaf in (low + np.flatnonzero(right)).tolist()]
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return CodePairs.of((ends[:, 0], ends[:, 1]), tree.n_leaves)
