"""Whether two released labels can stand for the same value, told by the declared hierarchies alone.

Two releases of the same people may generalize a column in different ways. Without the original there are no values to
try. Where one label is a value, its chain in the other hierarchy tells; listed values, numbers and masked codes are
compared by what they hold. Where nothing is known two labels can stand for the same value: the answer errs to yes only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.attacks.fits import Cover
from shoal.hierarchies.labels import NumberSpan, read_number_or_interval
from shoal.verification.canonical_text import Label
from shoal.verification.intervals import IntervalLabels
from shoal.verification.labels import ROOT, Labels, ListedLabels, MaskLabels
from shoal.verification.ranges import RangeLabels


def overlap_cover(one: Labels, labels: Sequence[Label], other: Labels, beside: Sequence[Label]) -> Cover:
    """For each of some labels those of the other release that can stand for the same value.

    Values find their partners by their chains, so that pairs are compared only where both are groups or ranges.
    """
    groups, others = _groups(one, labels), _groups(other, beside)
    found = _by_chain(one, labels, other, beside, others)
    found |= {(i, j) for j, i in _by_chain(other, beside, one, labels, groups)}
    for i in groups:
        found |= {(i, j) for j in others if may_overlap(one, labels[i], labels, other, beside[j], beside)}
    ends = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    return Cover.of((ends[:, 0], ends[:, 1]), len(labels))


def _groups(kind: Labels, labels: Sequence[Label]) -> list[int]:
    """The places of labels that are no values."""
    return [place for place, label in enumerate(labels) if label is not None and kind.level(label, labels) > 0]


def _by_chain(
    one: Labels, labels: Sequence[Label], other: Labels, beside: Sequence[Label], groups: Sequence[int]
) -> set[tuple[int, int]]:
    """The partners of values: equal ones, the groups in their chains, the ranges that hold them, and the root."""
    place = {label: j for j, label in enumerate(beside)}
    inner = set(_groups(one, labels))
    values = [i for i in range(len(labels)) if i not in inner]
    loose = [j for j in groups if beside[j] == ROOT or (isinstance(other, RangeLabels) and other.range_of(beside[j]))]
    found = set()
    for i, chain in zip(values, other.chains([labels[i] for i in values]), strict=True):
        found |= {(i, place[label]) for label in (labels[i], *chain) if label in place}
        found |= {(i, j) for j in loose if may_overlap(one, labels[i], labels, other, beside[j], beside)}
    return found


def may_overlap(
    one: Labels, label: Label, labels: Sequence[Label], other: Labels, second: Label, beside: Sequence[Label]
) -> bool:
    """Whether two labels can stand for the same value; True where that is not known."""
    if label == second or ROOT in {label, second}:
        return True
    if (numeric := _numbers(one, label, other, second)) is not None:
        return numeric
    if label is None or one.level(label, labels) == 0:
        return second in other.chains([label])[0]
    if second is None or other.level(second, beside) == 0:
        return label in one.chains([second])[0]
    for compare in (_listed, _masks):
        answer = compare(one, label, other, second)
        if answer is not None:
            return answer
    return True


def _listed(one: Labels, label: Label, other: Labels, second: Label) -> bool | None:
    """Declared values under both."""
    if not isinstance(one, ListedLabels) or not isinstance(other, ListedLabels):
        return None
    first = {value for value, chain in one.declared.items() if label in chain}
    return any(second in chain for value, chain in other.declared.items() if value in first)


def _numbers(one: Labels, label: Label, other: Labels, second: Label) -> bool | None:
    """Numbers in both."""
    first, last = _interval(one, label), _interval(other, second)
    if first is None or last is None:
        return None
    low, high = max(first[0], last[0]), min(first[1], last[1])
    closed = all(low < ends[1] or ends[2] for ends in (first, last))
    return low < high or (low == high and closed)


def _interval(kind: Labels, label: Label) -> NumberSpan | None:
    """The ends of a number, interval or range, and whether the upper one is in it."""
    if label is None or not isinstance(kind, IntervalLabels | RangeLabels):
        return None
    if isinstance(kind, RangeLabels) and (found := kind.range_of(label)) is not None:
        return NumberSpan(found.low, found.high, True)
    return read_number_or_interval(label)


def _masks(one: Labels, label: Label, other: Labels, second: Label) -> bool | None:
    """Characters in the same places that both show."""
    if not isinstance(one, MaskLabels) or not isinstance(other, MaskLabels) or label is None or second is None:
        return None
    same = all(a == b or ROOT in {a, b} for a, b in zip(label, second, strict=False))
    return len(label) == len(second) and same
