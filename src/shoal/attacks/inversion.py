"""Inversion of the range method: who knows how it works reads the exact values off its ranges.

The range method (Mahesh & Meyyappan, section 3) rewrites the i-th of the distinct values v₁ < … < v_m of a group as the
range from v_{i-1} to v_{i+1}, the ends of the list standing for themselves. Every end of a range is thus a value of
the group, and of three values or more no two share a range: sort the ends that a group shows, and the range that
runs from the neighbour below a value to the one above is that value's. Two values share the range ``v₁<=v₂`` and cannot
be told apart; a single value is shown as it is. Boundaries split a group into blocks that share no value, and the
ranges of a block hang together by their ends, so blocks are told apart without knowing the boundaries.

In the safe form all records of a group share one range from the smallest to the largest value: no record can be told
from another, and nothing is inverted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.estimate import Estimate, counted, not_applicable
from shoal.attacks.linkage import crowds
from shoal.attacks.scene import Ints, Population, Released
from shoal.hierarchies.decimals import parse_decimal
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.labels import range_ends
from shoal.table.encoded import combine_codes

NAME = "inversion"
ATTACKER = "Somebody who knows how the range method works; nothing else is needed than the release."


@dataclass(frozen=True)
class RangeMethod:
    """How the policy asks for the range method: the columns that make the groups, those released as ranges."""

    group: tuple[int, ...]
    ranges: tuple[int, ...]
    safe: bool


@dataclass(frozen=True, eq=False)
class _Column:
    """One column of ranges: what could be read off."""

    ranged: NDArray[np.bool_]
    """Which classes show a range."""
    value: Ints
    """For each class the place of its value among ``texts``; -1 where it was not found."""
    texts: tuple[str, ...]
    guess: NDArray[np.float64]
    """For each class the chance to guess its value among those that the group shows within the range."""


def inversion(released: Released, method: RangeMethod | None, population: Population | None, seed: int) -> Estimate:
    """Records with a range whose exact value can be read off."""
    if method is None:
        return not_applicable(NAME, ATTACKER, "the policy does not ask for the range method.")
    columns = {j: _invert(released, method, j) for j in method.ranges}
    ranged = np.logical_or.reduce([column.ranged for column in columns.values()])
    exposed = np.logical_or.reduce([column.value >= 0 for column in columns.values()])
    records, of = int(released.sizes[exposed].sum()), int(released.sizes[ranged].sum())
    guess = np.maximum.reduce([column.guess for column in columns.values()])
    details: dict[str, Any] = {
        "by_column": {released.quasi[j]: int(released.sizes[column.value >= 0].sum()) for j, column in columns.items()}
    }
    if population is not None:
        details |= _ambiguity(released, population, columns, seed)
    names = ", ".join(released.quasi[j] for j in method.ranges)
    if records:
        verdict = f"The exact {names} of {counted(records, 'record')} can be read off the ranges: they hide nothing."
    elif method.safe:
        verdict = f"All records of a group share one range of {names}: there is nothing to tell them apart by."
    else:
        verdict = f"No range of {names} gives its value away: no group shows three values or more."
    return Estimate(
        name=NAME,
        status="tried",
        attacker=ATTACKER,
        tried=f"Sorted the ends that each group shows of {names} and assigned each range to the value between its "
        "ends; a success is a record with an exact value found, of those that show a range.",
        records=records,
        of=of,
        classes=int(np.count_nonzero(exposed)),
        rate=records / of if of else 0.0,
        baseline=float((guess * released.sizes)[ranged].sum()) / of if of else 0.0,
        baseline_is="guessing one of the values that the group shows within the range",
        leak=bool(records),
        verdict=verdict,
        details=details,
    )


def _invert(released: Released, method: RangeMethod, column: int) -> _Column:
    """Read the values of one column off its ranges."""
    low, high, texts = _ends(released.labels[column])
    cells = released.cells[column]
    ranged = low[cells] < high[cells]
    parts = [released.cells[j] for j in method.group]
    keys, _ = combine_codes(parts, [len(released.labels[j]) for j in method.group])
    group = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    shows = np.flatnonzero(ranged)
    width = len(texts)
    lower, upper = group[shows] * width + low[cells[shows]], group[shows] * width + high[cells[shows]]
    held = np.unique(np.concatenate([lower, upper]))
    first, last = np.searchsorted(held, lower), np.searchsorted(held, upper)
    value, guess = np.full(len(cells), -1, dtype=np.int64), np.zeros(len(cells))
    guess[shows] = 1.0 / (last - first + 1)
    if len(held) and not method.safe:
        below, above, members = _neighbours(_blocks(first, last, len(held)))
        order = np.argsort(below * len(held) + above, kind="stable")
        wanted, given = (below * len(held) + above)[order], first * len(held) + last
        at = np.minimum(np.searchsorted(wanted, given), len(wanted) - 1)
        found = (wanted[at] == given) & (members[order[at]] >= 3)
        value[shows[found]] = held[order[at[found]]] % width
    return _Column(ranged, value, texts, guess)


def _ends(labels: Sequence[Label]) -> tuple[Ints, Ints, tuple[str, ...]]:
    """The lower and the upper end of each label as ranks among all ends, and the texts of the ends; -1 without any."""
    pairs = [_pair(label) for label in labels]
    numbers: dict[Decimal, str] = {number: text for pair in pairs if pair for text, number in pair}
    order = sorted(numbers)
    rank = {number: place for place, number in enumerate(order)}
    low = np.array([rank[pair[0][1]] if pair else -1 for pair in pairs], dtype=np.int64)
    high = np.array([rank[pair[1][1]] if pair else -1 for pair in pairs], dtype=np.int64)
    return low, high, tuple(numbers[number] for number in order)


def _pair(label: Label) -> tuple[tuple[str, Decimal], tuple[str, Decimal]] | None:
    """The ends of a range with their numbers; None for another label."""
    low, high = range_ends(label) or ("", "")
    lower, upper = parse_decimal(low), parse_decimal(high)
    return None if lower is None or upper is None or lower >= upper else ((low, lower), (high, upper))


def _blocks(first: Ints, last: Ints, n: int) -> Ints:
    """The block of each value: values that are ends of one range are in one block."""
    block = np.arange(n, dtype=np.int64)
    while True:
        before = block.copy()
        low = np.minimum(block[first], block[last])
        np.minimum.at(block, first, low)
        np.minimum.at(block, last, low)
        block = block[block]
        if np.array_equal(block, before):
            return block


def _neighbours(block: Ints) -> tuple[Ints, Ints, Ints]:
    """For each value the next smaller and the next larger one of its block, itself where there is none; block sizes."""
    place = np.arange(len(block), dtype=np.int64)
    order = np.lexsort((place, block))
    same = block[order][1:] == block[order][:-1]
    below, above = place.copy(), place.copy()
    below[order[1:][same]] = order[:-1][same]
    above[order[:-1][same]] = order[1:][same]
    return below, above, np.bincount(block, minlength=len(block))[block]


def _ambiguity(released: Released, population: Population, columns: dict[int, _Column], seed: int) -> dict[str, Any]:
    """With how many released records an original one is consistent, as released and after inversion."""
    nodes, labels, cells = list(population.nodes), list(released.labels), released.cells.copy()
    for j, column in columns.items():
        hierarchy = population.hierarchies[j]
        leaves = [hierarchy.by_label.get(text, -1) for text in column.texts]
        known = column.value >= 0
        cells[j, known] = len(labels[j]) + column.value[known]
        labels[j] = (*labels[j], *column.texts)
        nodes[j] = np.append(nodes[j], leaves).astype(np.int32)
    inverted = replace(released, labels=tuple(labels), cells=cells)
    after = crowds(inverted, replace(population, nodes=tuple(nodes)), seed)
    before = crowds(released, population, seed)
    return {
        name: {"least": found.smallest, "mean": round(float(found.mean()), 6)}
        for name, found in (("consistent_records", before), ("consistent_records_after_inversion", after))
    }
