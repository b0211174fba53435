"""The risk of a table once more, record by record: tuples of values, fractions, and every subset from scratch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations

Row = tuple[object, ...]
Places = tuple[int, ...]


def part(row: Row, places: Iterable[int]) -> Row:
    return tuple(row[j] for j in places)


def class_sizes(rows: Sequence[Row], places: Places) -> list[int]:
    """For each record, how many agree with it in these columns."""
    counted = Counter(part(row, places) for row in rows)
    return [counted[part(row, places)] for row in rows]


def uniques(rows: Sequence[Row], places: Places) -> set[int]:
    return {place for place, size in enumerate(class_sizes(rows, places)) if size == 1}


def minimal_uniques(rows: Sequence[Row], places: Places) -> set[int]:
    """The records unique on these columns and on no proper part of them, the empty one included."""
    smaller = [rest for size in range(len(places)) for rest in combinations(places, size)]
    return uniques(rows, places) - set().union(*(uniques(rows, rest) for rest in smaller))


def contribution(rows: Sequence[Row], column: int, width: int, most: int) -> Fraction:
    """Mean over sizes of the mean over subsets of that size of what the column adds to the uniques."""
    means = []
    for size in range(most):
        added = [
            len(uniques(rows, (*rest, column))) - len(uniques(rows, rest))
            for rest in combinations([j for j in range(width) if j != column], size)
        ]
        means.append(Fraction(sum(added), len(added)))
    return sum(means, Fraction(0)) / most


def shapley(rows: Sequence[Row], column: int, width: int) -> Fraction:
    """What the column adds to the uniques of those before it, averaged over every order of the columns."""
    orders = list(permutations(range(width)))
    added = 0
    for order in orders:
        before = order[: order.index(column)]
        added += len(uniques(rows, (*before, column))) - len(uniques(rows, before))
    return Fraction(added, len(orders))


def risks(sizes: Sequence[int], threshold: Fraction) -> tuple[Fraction, Fraction, int]:
    """Highest and average risk, and the records above the threshold, when each record hides among so many."""
    each = [Fraction(1, size) for size in sizes]
    return max(each), sum(each, Fraction(0)) / len(each), sum(risk > threshold for risk in each)
