"""Hierarchies as text again: a table of levels, or nested groups for a policy file."""

from __future__ import annotations

import re

from shoal.errors import PolicyProblem
from shoal.hierarchies.hierarchy import ROOT_LABEL, Hierarchy
from shoal.hierarchies.problems import refuse

Nested = dict[str, object] | list[object]


def to_levels_csv(hierarchy: Hierarchy) -> str:
    """A table of levels, separated by semicolons, that `read_levels` reads; the missing value is an empty field."""
    if "" in hierarchy.labels:
        message = "the empty text is a value, and a table of levels cannot distinguish it from the missing value."
        fix = "Declare empty text as missing, or write the nested form."
        refuse([PolicyProblem("", message, fix, code="empty-text-as-value")])
    fields = ["" if label is None else _field(label) for label in hierarchy.labels]
    return "".join(";".join([fields[node] for node in column]) + "\n" for column in hierarchy.levels.T.tolist())


def to_nested(hierarchy: Hierarchy) -> Nested:
    """Nested mappings and lists that `Tree` reads.

    A node that stays the same for several levels stands under itself (``{Other: {Other: [...]}}``) where the depth of
    the nesting must tell the level; a leaf does so only where otherwise no leaf would show the full height.
    """
    below = _children(hierarchy, hierarchy.height, 0, hierarchy.n_leaves - 1)
    root = hierarchy.labels[hierarchy.root]
    sole_group = isinstance(below, dict) and len(below) == 1 and next(iter(below.values())) is not None
    if root == ROOT_LABEL and not sole_group:
        return below
    return {str(root): below}


def _field(label: str) -> str:
    """A label as a field, quoted where it would be read otherwise (the csv module leaves a lone CR bare)."""
    return '"' + label.replace('"', '""') + '"' if re.search(r'[;"\r\n]', label) else label


def _children(hierarchy: Hierarchy, level: int, first: int, last: int) -> Nested:
    """What stands under the node of one level that covers a range of leaves."""
    entries: list[tuple[str | None, Nested | None]] = []
    leaf = first
    while leaf <= last:
        node = int(hierarchy.levels[level - 1, leaf])
        end = int(hierarchy.last[node])
        ends_here = level == 1 or (node < hierarchy.n_leaves and not _shows_height(hierarchy, leaf))
        entries.append((hierarchy.labels[node], None if ends_here else _children(hierarchy, level - 1, leaf, end)))
        leaf = end + 1
    if all(below is None for _, below in entries):
        return [label for label, _ in entries]
    if all(label is not None for label, _ in entries):
        return {str(label): below for label, below in entries}
    return [label if below is None else {str(label): below} for label, below in entries]


def _shows_height(hierarchy: Hierarchy, leaf: int) -> bool:
    """Whether this leaf is written as deep as the table: the first one, when every leaf repeats itself at level 1."""
    return leaf == 0 and hierarchy.labels[0] is not None and bool((hierarchy.levels[0] == hierarchy.levels[1]).all())
