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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, share, tried
from shoal.attacks.linkable_records import linkable_records
from shoal.attacks.released_classes import Ints, Released
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.numbers_as_text import parse_decimal, range_ends
from shoal.table.classes import Floats, Mask
from shoal.table.encoded import combine_codes


class _Column(NamedTuple):
    """One column of ranges: what could be read off."""

    ranged: Mask  # which classes show a range
    value: Ints  # for each class the index of its value among ``texts``; -1 where it was not found
    texts: tuple[str, ...]
    guess: Floats  # for each class the chance to guess its value among those that the group shows within the range


class Inversion(Attack):
    """Reads exact values off the ranges."""

    name = "inversion"
    title = "Undoing the range method"
    attacker = "Somebody who knows how the range method works; nothing else is needed than the release."
    attempt = (
        "Sorts the ends of the ranges that each group shows and assigns each range to the value between its ends. A "
        "success is a record with an exact value found, out of those that show a range."
    )
    baseline = "guessing one of the values that the group shows within the range"
    position = 60
    promise = True
    stopped_by_full_domain = True
    stopped_by_option = "safe"

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Records with a range whose exact value can be read off."""
        asked, released = scene.policy.algorithm, scene.released
        if not asked.group:  # only the range method has groups
            return not_applicable("not-range-method")
        groups = [released.quasi.index(name) for name in asked.group]
        indices = [released.quasi.index(name) for name in asked.ranges]
        columns = {j: _invert(released, groups, j, safe=asked.safe) for j in indices}
        ranged = np.logical_or.reduce([each.ranged for each in columns.values()])
        exposed = np.logical_or.reduce([each.value >= 0 for each in columns.values()])
        records, of = int(released.sizes[exposed].sum()), int(released.sizes[ranged].sum())
        guess = np.maximum.reduce([each.guess for each in columns.values()])
        return tried(
            records=records,
            of=of,
            classes=int(np.count_nonzero(exposed)),
            baseline=share(float((guess * released.sizes)[ranged].sum()), of),
            leak=bool(records),
            certain=records,
            by_column={released.quasi[j]: int(released.sizes[each.value >= 0].sum()) for j, each in columns.items()},
            safe=asked.safe,
            **_consistent_records(scene, columns),
        )


def _invert(released: Released, groups: Sequence[int], column: int, *, safe: bool) -> _Column:
    """Read the values of one column off its ranges; ``groups`` are the columns that make the groups."""
    (low, high, texts), cells = _ends(released.labels[column]), released.cells[column]
    ranged = low[cells] < high[cells]
    keys, _ = combine_codes([released.cells[j] for j in groups], [len(released.labels[j]) for j in groups])
    group = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    shows, width = np.flatnonzero(ranged), len(texts)
    lower, upper = group[shows] * width + low[cells[shows]], group[shows] * width + high[cells[shows]]
    held = np.unique(np.concatenate([lower, upper]))
    first, last = np.searchsorted(held, lower), np.searchsorted(held, upper)
    value, guess = np.full(len(cells), -1, dtype=np.int64), np.zeros(len(cells))
    guess[shows] = 1.0 / (last - first + 1)
    if len(held) and not safe:
        below, above, members = _neighbours(_blocks(first, last, len(held)))
        order = np.argsort(below * len(held) + above, kind="stable")
        wanted, given = (below * len(held) + above)[order], first * len(held) + last
        at = np.minimum(np.searchsorted(wanted, given), len(wanted) - 1)
        found = (wanted[at] == given) & (members[order[at]] >= 3)
        value[shows[found]] = held[order[at[found]]] % width
    return _Column(ranged, value, texts, guess)


def _ends(labels: Sequence[Label]) -> tuple[Ints, Ints, tuple[str, ...]]:
    """The lower and the upper end of each label as ranks among all ends, and the texts of the ends; -1 without any."""
    texts: dict[Decimal, str] = {}
    ends: dict[int, tuple[Decimal, Decimal]] = {}
    for index, label in enumerate(labels):
        low, high = range_ends(label) or ("", "")
        lower, upper = parse_decimal(low), parse_decimal(high)
        if lower is not None and upper is not None and lower < upper:
            texts |= {lower: low, upper: high}
            ends[index] = lower, upper
    order = sorted(texts)
    rank = {number: index for index, number in enumerate(order)}
    lows, highs = np.full((2, len(labels)), -1, dtype=np.int64)
    for index, (lower, upper) in ends.items():
        lows[index], highs[index] = rank[lower], rank[upper]
    return lows, highs, tuple(texts[number] for number in order)


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
    index = np.arange(len(block), dtype=np.int64)
    order = np.lexsort((index, block))
    same = block[order][1:] == block[order][:-1]
    below, above = index.copy(), index.copy()
    below[order[1:][same]] = order[:-1][same]
    above[order[:-1][same]] = order[1:][same]
    return below, above, np.bincount(block, minlength=len(block))[block]


def _consistent_records(scene: Scene, columns: Mapping[int, _Column]) -> dict[str, Any]:
    """With how many released records an original one is consistent, as released and after inversion."""
    released, original = scene.released, scene.original
    if original is None:
        return {}
    nodes, labels, cells = list(original.nodes), list(released.labels), released.cells.copy()
    for j, column in columns.items():
        leaves = [original.hierarchies[j].by_label.get(text, -1) for text in column.texts]
        known = column.value >= 0
        cells[j, known] = len(labels[j]) + column.value[known]
        labels[j] = (*labels[j], *column.texts)
        nodes[j] = np.append(nodes[j], leaves).astype(np.int32)
    inverted = replace(released, labels=tuple(labels), cells=cells)
    after = linkable_records(inverted, replace(original, nodes=tuple(nodes)), scene.seed)
    return {
        name: {"least": found.fewest, "mean": found.mean()}
        for name, found in (("consistent_records", scene.linkable), ("consistent_records_after_inversion", after))
    }
