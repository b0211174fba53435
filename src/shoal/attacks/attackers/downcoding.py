"""Downcoding: a released label that tells more than it says, because the other labels leave less to it.

A. Cohen, "Attacks on deidentification's defenses", 2022, undoes generalization: from a release and knowledge about the
population to labels further down the hierarchy. Here the attacker does not know anybody's quasi-identifiers, but how
many people have each value of a column (public statistics: how many live in each district). Everybody is released
under a label above their value, or left out. If ten people live in the USA and ten records show ``USA``, a record that
shows ``America`` is none of them.

**Definition.** For one column, an assignment of people to labels is possible if every record gets a person under its
label and every person goes to one label above their value, or is suppressed. A cell is *tightened* when the values that
it has in any possible assignment have a common ancestor below its label. **Solution.** Of the people under a node u of
the tree as many are released above u, or not at all, as are left when the records that show u or something below it
are served: surplus(u) = people under u - records that show labels under u. So value v may be behind label N exactly
if every node from v up to the one below N has a surplus; whose surplus passes a node can be chosen freely. One walk up
the tree answers for all cells.

A label of which only one branch has any people is narrowed down by the attacker's own totals, whatever the other
records show: ``0****`` where all codes begin with 021. That is the baseline and counted apart, unless a single value is
left: then the label hides nothing. Exposed are cells that other records narrow down, or that come down to one value.

Columns with ranges among their labels are left out: their labels do not nest (see `inversion.py`). Not covered: what
several columns tell together, and the choices of a particular algorithm.
"""

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, tried
from shoal.attacks.original_people import Original
from shoal.attacks.released_classes import Codes, Ints, Released
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import RangedHierarchy, ancestors
from shoal.table.classes import Mask


class Downcoding(Attack):
    """Compares the records that labels show with the people under them, column by column."""

    name = "downcoding"
    title = "Narrowing down labels"
    attacker = (
        "Somebody who knows the declared hierarchies and how many people have each value of a column, but nobody's own "
        "values."
    )
    attempt = (
        "Compares, column by column, the records that each label shows with the people under it. A success is a record "
        "with a cell that must lie under a lower label because of the other records, or that has one value left."
    )
    baseline = "records with a label that the totals of its column narrow down without the other records"
    position = 70
    grave_if_certain = False
    stopped_by_full_domain = True
    needs_original = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Records with a cell that can be narrowed down."""
        released, original = scene.released, scene.original
        assert original is not None
        exposed, by_totals, certain = np.zeros((3, len(released.sizes)), dtype=np.bool_)
        columns, left_out = {}, []
        for j, name in enumerate(released.quasi):
            if isinstance(original.hierarchies[j], RangedHierarchy):
                left_out.append(name)
                continue
            open_cells, by_total, one_value = _open_cells(released, original, j)
            exposed |= open_cells
            certain |= one_value
            by_totals |= by_total & ~open_cells
            if open_cells.any():
                labels = len(np.unique(released.cells[j][open_cells]))
                columns[name] = {"records": int(released.sizes[open_cells].sum()), "labels": labels}
        if len(left_out) == len(released.quasi):
            return not_applicable("only-ranges")
        records = int(released.sizes[exposed].sum())
        apart = int(released.sizes[by_totals & ~exposed].sum())
        return tried(
            records=records,
            of=released.records,
            classes=int(np.count_nonzero(exposed)),
            rate=(records + apart) / released.records,
            baseline=apart / released.records,
            certain=int(released.sizes[certain].sum()),
            by_column=columns,
            records_with_branches_without_people=apart,
            columns_left_out_for_ranges=left_out,
        )


def tightened(hierarchy: Hierarchy, people: Ints, records: Ints) -> Codes:
    """For each node the lowest one that holds all values that may be behind it; itself where nothing is gained.

    ``people`` counts the original records by leaf, ``records`` the released ones by node.
    """
    parents, depth = hierarchy.parents, _depths(hierarchy)
    shown_under = np.array(records, dtype=np.int64)  # records that show a node or one below it
    for level in range(int(depth.max(initial=0)), 0, -1):
        nodes = np.flatnonzero(depth == level)
        np.add.at(shown_under, parents[nodes], shown_under[nodes])
    before = np.concatenate([[0], np.cumsum(people)])
    surplus = before[hierarchy.last + 1] - before[hierarchy.first] - shown_under
    top = np.arange(hierarchy.n_leaves, dtype=np.int32)  # of each leaf the first node on its way up without a surplus
    while (rising := np.flatnonzero((surplus[top] > 0) & (parents[top] >= 0))).size:
        top[rising] = parents[top[rising]]
    result = np.arange(len(hierarchy.labels), dtype=np.int32)
    shown = np.flatnonzero(records)
    for node in shown[shown >= hierarchy.n_leaves].tolist():
        low, high = int(hierarchy.first[node]), int(hierarchy.last[node])
        left = low + np.flatnonzero(depth[top[low : high + 1]] <= depth[node]).astype(np.int32)
        if len(left):
            result[node] = ancestors(hierarchy, left[:1], left[-1:])[0]
    return result


def _depths(hierarchy: Hierarchy) -> Codes:
    """Steps from the root to each node."""
    depth, node = np.zeros(len(hierarchy.parents), dtype=np.int32), hierarchy.parents.copy()
    while (inside := np.flatnonzero(node >= 0)).size:
        depth[inside] += 1
        node[inside] = hierarchy.parents[node[inside]]
    return depth


def _open_cells(released: Released, original: Original, column: int) -> tuple[Mask, Mask, Mask]:
    """Which classes have a cell that other records tighten or that has one value left, which one that is tightened by
    the people of its branches alone, and in which other records leave one value."""
    hierarchy, node = original.hierarchies[column], original.nodes[column][released.cells[column]]
    people = np.bincount(original.codes[column], original.counts, hierarchy.n_leaves).astype(np.int64)
    records = np.bincount(node, released.sizes, len(hierarchy.labels)).astype(np.int64)
    found, alone = tightened(hierarchy, people, records), _holding_people(hierarchy, people, np.unique(node))
    single = (found[node] < hierarchy.n_leaves) & (node >= hierarchy.n_leaves)
    by_others = found[node] != alone[node]
    return by_others | single, alone[node] != node, by_others & single


def _holding_people(hierarchy: Hierarchy, people: Ints, nodes: Codes) -> Codes:
    """For some nodes the lowest one that holds all people under it."""
    result = np.arange(len(hierarchy.labels), dtype=np.int32)
    present = np.flatnonzero(people)
    low = present[np.minimum(np.searchsorted(present, hierarchy.first[nodes]), len(present) - 1)]
    high = present[np.maximum(np.searchsorted(present, hierarchy.last[nodes], side="right") - 1, 0)]
    held = (low <= hierarchy.last[nodes]) & (high >= hierarchy.first[nodes])
    result[nodes[held]] = ancestors(hierarchy, low[held].astype(np.int32), high[held].astype(np.int32))
    return result
