"""Which published classes a new record may join.

A full-domain recoding gives each record one combination of labels, that of the published levels, whether it is there
already or not. For a local recoding the classes are those that are published: a record may join each whose labels cover
its values, none of them beyond its boundary. Of several the one that was raised least comes first (levels raised over
the height of the hierarchy, summed over the columns: Sun et al. 2008, the distortion ratio), then that of the least
loss, then the first by its labels. The first of these does not depend on which other records are new.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.class_fit import CodePairs, fitting_pairs
from shoal.attacks.released_labels import label_nodes
from shoal.encode.resolve import QuasiColumn
from shoal.hierarchies.hierarchy import Hierarchy, IntArray
from shoal.hierarchies.ranges import RangedHierarchy
from shoal.pipeline.apply.encode_new import NewRecords
from shoal.pipeline.apply.published import Base
from shoal.search.extension import ClassCandidates
from shoal.table.encoded import combine_codes, spans

_DECIMAL_PLACES = 12


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
    hierarchies, published, released = [], [], []
    for j, (name, column) in enumerate(new.records.quasi.items()):
        hierarchy, ladder, level = column.hierarchy, new.resolved.problem.ladders[j], base.levels[name]
        # the node of each leaf at the published level, its boundary respected; the published root is the root
        steps = [step for step, nominal in enumerate(ladder.nominal) if level >= min(nominal, base.heights[name])]
        released.append(ladder.nodes[steps[-1]][column.codes])
        known = np.array([hierarchy.by_label.get(label, -1) for label in base.rows.labels[j]], dtype=np.int32)
        published.append(known[base.rows.cells[j]])
        hierarchies.append(hierarchy)
    both = [np.concatenate(columns) for columns in zip(published, released, strict=True)]
    keys, _ = combine_codes([nodes + 1 for nodes in both], [len(hierarchy.labels) + 1 for hierarchy in hierarchies])
    before = base.rows.cells.shape[1]
    key_index = np.unique(keys, return_inverse=True)[1]
    fresh = np.setdiff1d(key_index[before:], key_index[:before])
    class_at = np.empty(len(keys), dtype=np.int64)
    class_at[key_index[:before]] = np.arange(before)
    class_at[fresh] = before + np.arange(len(fresh))
    wanted = class_at[key_index[before:]]
    nodes = np.empty((before + len(fresh), len(both)), dtype=np.int32)
    nodes[np.concatenate([np.arange(before), wanted])] = np.stack(both, axis=1)
    readable = new.reason < 0
    starts = np.concatenate([[0], np.cumsum(readable)]).astype(np.int64)
    return Fitting(ClassCandidates(starts, wanted[readable]), tuple(hierarchies), nodes)


def _local(new: NewRecords, base: Base) -> Fitting:
    """The published classes that cover a record, best first."""
    hierarchies, covers, nodes = [], [], []
    raised, loss = np.zeros(base.rows.cells.shape[1]), np.zeros(base.rows.cells.shape[1])
    for j, (name, column) in enumerate(new.records.quasi.items()):
        hierarchy, of_label = label_nodes(column.hierarchy, base.rows.labels[j], name, base.policy)
        hierarchies.append(hierarchy)
        covers.append(_cover(column, hierarchy, of_label))
        shown = of_label[base.rows.cells[j]]
        nodes.append(shown)
        share = np.minimum(hierarchy.node_levels / max(base.heights[name], 1), 1.0)  # of the way to the published root
        share[hierarchy.root] = 1.0
        raised += share[shown]
        loss += hierarchy.loss[shown]
    table = new.records.problem.table
    item, cls = fitting_pairs(table.codes, base.rows.cells, covers)
    order = np.lexsort((cls, np.round(loss[cls], _DECIMAL_PLACES), np.round(raised[cls], _DECIMAL_PLACES), item))
    of_tuple = np.searchsorted(item[order], np.arange(table.n_tuples + 1))
    first, length = of_tuple[:-1][table.row_tuple], np.diff(of_tuple)[table.row_tuple]
    length = np.where(new.reason < 0, length, 0)
    starts = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    candidates = ClassCandidates(starts, cls[order][spans(first, length)])
    return Fitting(candidates, tuple(hierarchies), np.stack(nodes, axis=1))


def _cover(column: QuasiColumn, hierarchy: Hierarchy, of_label: IntArray) -> CodePairs:
    """For each leaf the published labels that it may become: at or below its boundary."""
    tree, pairs = column.hierarchy, []
    code_of = {int(node): code for code, node in enumerate(of_label.tolist()) if 0 <= node < len(tree.labels)}
    for leaf in range(tree.n_leaves):
        for node in tree.path(leaf):
            if node in code_of:
                pairs.append((leaf, code_of[node]))
            if node == column.caps[leaf]:
                break
    for code, node in enumerate(of_label.tolist()):
        if node >= len(tree.labels):  # a range: its leaf's boundary must hold all of it
            low, high = int(hierarchy.first[node]), int(hierarchy.last[node])
            caps = column.caps[low : high + 1]
            right = (tree.first[caps] <= low) & (tree.last[caps] >= high)
            right &= _holds_run(hierarchy, node, caps)
            pairs += [(leaf, code) for leaf in (low + np.flatnonzero(right)).tolist()]
    return CodePairs.of_set(pairs, tree.n_leaves)


def _holds_run(hierarchy: Hierarchy, node: int, caps: IntArray) -> NDArray[np.bool_]:
    """For each of some boundaries whether it holds all that a run says, also what no new record has."""
    base, label = hierarchy.base if isinstance(hierarchy, RangedHierarchy) else None, hierarchy.labels[node]
    run = None if base is None else base.read(label or "")
    if base is None or run is None:
        return np.ones(len(caps), dtype=np.bool_)
    held = {
        cap: cap == hierarchy.root or all(base.lies_in(end, hierarchy.labels[cap]) for end in run)
        for cap in np.unique(caps).tolist()
    }
    return np.array([held[cap] for cap in caps.tolist()], dtype=np.bool_)
