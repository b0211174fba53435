"""What a changed release would come to, once more from the definitions: rows with labels, regrouped and judged.

A release is a list with the released tuple of each row, None where it is left out. Nothing is shared with the package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from oracles import lattice_oracle as oracle
from oracles.lattice_oracle import WHOLE_TABLE, Label, Node, Table

Cells = tuple[Label, ...]
Release = Sequence[Cells | None]
Classes = Mapping[Cells, list[int]]
SUPERSET_CLOSED = (
    "k-anonymity",
    "p-sensitive",
    "p-alpha-sensitive",
    "p-plus-alpha-sensitive",
    "distinct-l-diversity",
    "k-e",
)
CLOSED_FOR_PEOPLE = ("k-anonymity", "p-sensitive", "distinct-l-diversity", "k-e")


@dataclass(frozen=True)
class Told:
    """What is to be told of a candidate release."""

    failures: list[tuple[str, str | None, int, int]]
    """For each model that classes fail with nothing left out: its name and column, and how many classes and records."""
    failing: dict[Cells, set[tuple[str, str | None]]]
    """The models that each class fails."""
    satisfied: bool
    left_out: int
    whole: set[tuple[str, str | None]]
    """The models whose condition on the whole fails on what remains."""
    dropped_for: dict[Cells, set[tuple[str, str | None]]]
    """For each class that is left out, the models that it fails when it is."""


def name(spec: Mapping[str, object]) -> tuple[str, str | None]:
    column = spec.get("sensitive")
    return str(spec["model"]), None if column is None else str(column)


def classes_of(release: Release) -> dict[Cells, list[int]]:
    found: dict[Cells, list[int]] = {}
    for row, cells in enumerate(release):
        if cells is not None:
            found.setdefault(cells, []).append(row)
    return found


def tell(table: Table, classes: Classes, allowed: int) -> Told:
    """Judge classes as a search does: what fails is left out, models on the whole are tested again on the rest."""
    failures, failing = [], {cells: set() for cells in classes}
    for spec in table.models:
        good, _ = oracle.passes(table, [spec], classes)
        bad = [cells for cells in classes if not good[cells]]
        for cells in bad:
            failing[cells].add(name(spec))
        if bad:
            failures.append((*name(spec), len(bad), sum(len(classes[cells]) for cells in bad)))
    dropped: dict[Cells, set[tuple[str, str | None]]] = {}
    kept = dict(classes)
    specs = [spec for spec in table.models if spec["model"] not in WHOLE_TABLE]
    whole = [spec for spec in table.models if spec["model"] in WHOLE_TABLE]
    while True:
        bad = {}
        for spec in specs:
            good, _ = oracle.passes(table, [spec], kept)
            for cells in kept:
                if not good[cells]:
                    bad.setdefault(cells, set()).add(name(spec))
        dropped |= bad
        kept = {cells: rows for cells, rows in kept.items() if cells not in bad}
        if specs is whole and not bad:
            break
        specs = whole
    left_out = sum(len(classes[cells]) for cells in dropped)
    failed = {name(spec) for spec in whole if kept and not oracle.passes(table, [spec], kept)[1]}
    return Told(failures, failing, bool(kept) and left_out <= allowed and not failed, left_out, failed, dropped)


def lower(node: Node, column: int) -> Node:
    return (*node[:column], node[column] - 1, *node[column + 1 :])


def child(table: Table, column: int, leaf: Label, label: Label) -> Label:
    """What stands one step below a label on the way down to a leaf."""
    path = table.columns[column].paths[leaf]
    return path[path.index(label) - 1]


def cheapest(table: Table, row: int, metric: str) -> Fraction | None:
    """The least mean cell cost of a box around a row whose records, of the row's block, satisfy together."""
    mine, columns = table.rows[row], table.columns
    caps = tuple(column.cap(leaf) for column, leaf in zip(columns, mine, strict=True))
    block = [
        other
        for other, cells in enumerate(table.rows)
        if tuple(column.cap(leaf) for column, leaf in zip(columns, cells, strict=True)) == caps
    ]
    ways = [
        column.paths[leaf][: column.paths[leaf].index(cap) + 1]
        for column, leaf, cap in zip(columns, mine, caps, strict=True)
    ]
    closed_models = SUPERSET_CLOSED if table.person is None else CLOSED_FOR_PEOPLE
    closed = [spec for spec in table.models if spec["model"] in closed_models]
    best = None
    for box in product(*ways):
        inside = [
            other
            for other in block
            if all(
                label in column.paths[leaf] for column, leaf, label in zip(columns, table.rows[other], box, strict=True)
            )
        ]
        good, _ = oracle.passes(table, closed, {box: inside})
        cost = cost_of(table, box, metric)
        if good[box] and (best is None or cost < best):
            best = cost
    return best


def cost_of(table: Table, box: Cells, metric: str) -> Fraction:
    """Mean cell cost; of measures that are no sums of cells the NCP."""
    cell = oracle.CELLS.get(metric, oracle.CELLS["ncp"])
    return sum((cell(column, label) for column, label in zip(table.columns, box, strict=True)), Fraction(0)) / len(box)
