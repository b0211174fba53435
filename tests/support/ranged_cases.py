"""Problems whose quasi-identifiers are numbers in the order of their trees, so that they can be released as ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from oracles.lattice_oracle import Label
from support.search_cases import ROOT, Case, cases


@st.composite
def ranged_cases(draw: st.DrawFn, **keys: Any) -> Case:
    """Random small problems with ranges asked for in one column or more, missing values among the numbers."""
    case = draw(cases(**keys))
    names = draw(st.lists(st.sampled_from(case.names), min_size=1, unique=True))
    first = draw(st.booleans())
    for j, name in enumerate(case.names):
        if name in names:
            case = in_numbers(case, j, missing_first=first)
    return replace(case, options={**case.options, "ranges": names}, weights=())


def in_numbers(case: Case, column: int, *, missing_first: bool = False) -> Case:
    """The case with ascending numbers for the leaves of a column; a missing value is the first or the last leaf."""
    leaves: dict[Label, Label] = {}

    def named(nested: Mapping[Label, Any]) -> dict[Label, Any]:
        result: dict[Label, Any] = {}
        for label, under in nested.items():
            if under is not None:
                result[label] = named(under)
            elif label is None:
                leaves[None] = None
            else:
                leaves[label] = str(3 * len(leaves) - 4)  # from below zero, so that text and number order differ
                result[leaves[label]] = None
        return result

    groups = named(case.trees[column][ROOT])
    missing: dict[Label, Any] = {None: None} if None in leaves else {}
    tree = {ROOT: {**missing, **groups} if missing_first else {**groups, **missing}}
    bound = case.bounds[column]
    if isinstance(bound, tuple):
        bound = tuple(leaves.get(label, label) for label in bound)
    rows = tuple((*row[:column], leaves[row[column]], *row[column + 1 :]) for row in case.rows)
    trees = (*case.trees[:column], tree, *case.trees[column + 1 :])
    return replace(case, trees=trees, rows=rows, boundaries=(*case.bounds[:column], bound, *case.bounds[column + 1 :]))
