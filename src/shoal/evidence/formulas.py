"""Released cells that a spreadsheet program would run instead of showing them (formula injection, CWE-1236).

A spreadsheet takes a cell of a text file for a formula if it starts with ``=``, ``+``, ``-`` or ``@``, and some drop a
tab or a line break before that. Shoal never changes a value, so such cells are released as they are, and counted here:
labels and values, also generalized ones, and the names of columns. Numbers are no formulas.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from shoal.attacks.released_classes import Codes, Rows, sensitive_domain
from shoal.evidence.people import Count
from shoal.facts import Facts
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.policy import Policy

_SIGNS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True, eq=False)
class FormulaCells(Facts):
    """A warning: a released column has cells that a spreadsheet program may run."""

    code: Literal["formula-cells"]
    column: str
    cells: Count
    """Released cells, or records that have one."""
    in_name: bool
    """Whether the name of the column is such a text."""


def is_formula(text: Label) -> bool:
    """Whether a spreadsheet may take a text for a formula; a number or a single sign is none."""
    return text is not None and len(text) > 1 and text.startswith(_SIGNS) and parse_decimal(text) is None


def formula_cells(rows: Rows, policy: Policy) -> tuple[FormulaCells, ...]:
    """A warning for each released column with such cells, in the order of the release's columns."""
    found = []
    for name, labels, codes in _columns(rows, policy):
        suspicious = np.array([is_formula(label) for label in labels], dtype=np.bool_)
        cells = int(rows.weights[suspicious[codes]].sum()) if suspicious.any() else 0
        if cells or is_formula(name):
            found.append(FormulaCells("formula-cells", name, cells, is_formula(name)))
    order = {name: index for index, name in enumerate(policy.columns)}
    return tuple(sorted(found, key=lambda each: order.get(each.column, len(order))))


def _columns(rows: Rows, policy: Policy) -> Iterator[tuple[str, Sequence[Label], Codes]]:
    """Every column that was read with its labels, and the label of each row."""
    for name, labels, cells in zip(rows.quasi, rows.labels, rows.cells, strict=True):
        yield name, labels, cells[rows.owner]
    for name, (values, codes) in (*rows.sensitive.items(), *rows.insensitive.items()):
        yield name, values, codes
        if name in rows.sensitive and policy.published(name) == "both":
            domain = sensitive_domain(name, tuple(values), policy)
            if len(domain.category_of):
                yield f"{name}_category", (*domain.categories, None), domain.category_of[codes]
