"""Utility by the definitions: expectations over the values under a label, counted one by one in exact fractions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

Cell = Collection[str | None]
"""The values that a cell may be."""


def expected_count(records: Sequence[Mapping[str, Cell]], wanted: Mapping[str, Collection[str | None]]) -> Fraction:
    """How many records are asked for, when each is equally likely to be any combination of its cells' values."""
    total = Fraction(0)
    for record in records:
        chance = Fraction(1)
        for column, values in wanted.items():
            inside = [value for value in record[column] if value in values]
            chance *= Fraction(len(inside), len(record[column]))
        total += chance
    return total


def expected_indicators(cell: Cell, values: Sequence[str | None]) -> list[Fraction]:
    """The share of each value among those that a cell may be."""
    return [Fraction(int(value in cell), len(cell)) for value in values]


def expected_number(cell: Cell, numbers: Mapping[str, float]) -> float:
    """The mean of the numbers that a cell may be."""
    return sum(numbers[str(value)] for value in cell) / len(cell)


def area(figures: Sequence[float], of_class: Sequence[bool]) -> Fraction:
    """The share of pairs, one of the class and one not, in which the first has the higher figure; ties count half."""
    yes = [figure for figure, one in zip(figures, of_class, strict=True) if one]
    no = [figure for figure, one in zip(figures, of_class, strict=True) if not one]
    won = sum(2 * (one > other) + (one == other) for one in yes for other in no)
    return Fraction(won, 2 * len(yes) * len(no))


def undominated(points: Sequence[tuple[float, float]]) -> list[int]:
    """The points that no other point beats: is no worse in both figures and better in one."""
    return [
        place
        for place, (x, y) in enumerate(points)
        if not any(ox <= x and oy <= y and (ox < x or oy < y) for ox, oy in points)
    ]
