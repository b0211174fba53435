"""Bins of a sensitive column of numbers: what is published, and judged by models, in place of the numbers.

``bins: 1000`` are intervals ``[0, 1000)``, ``[1000, 2000)``, … that begin at multiples of the width; ``bins: [2000,
5000]`` are ``(-inf, 2000)``, ``[2000, 5000)`` and ``[5000, inf)``. No end comes from the data.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from shoal.hierarchies.hierarchy import BuiltHierarchy, Label
from shoal.hierarchies.intervals import Intervals
from shoal.hierarchies.numbers_as_text import NumberSpan, read_interval, read_number_or_interval

Bins = float | list[float]  # a width, or cut points


def built_bins(bins: Bins, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
    """The numbers and, one level up, their bins; `HierarchyError` for wrong bins and for values that are no numbers."""
    if not isinstance(bins, list):
        return Intervals(widths=(bins,)).build(values, counts, where)
    return Intervals(cuts=([-math.inf, *bins, math.inf],)).build(values, counts, where)


def bin_labels(bins: Bins, values: Sequence[Label], counts: Sequence[int], where: str) -> list[Label]:
    """The bin of each value; the missing value stays missing."""
    built = built_bins(bins, values, counts, where)
    hierarchy = built.hierarchy
    return [hierarchy.labels[node] for node in hierarchy.levels[1][built.codes].tolist()]


def in_order(labels: Sequence[Label]) -> tuple[Label, ...]:
    """Different bins in the order of their numbers, the missing value last."""
    low = {label: read_interval(label) for label in dict.fromkeys(labels)}
    return tuple(sorted(low, key=lambda label: math.inf if (span := low[label]) is None else span.low))


def overlapping(labels: Sequence[Label], values: Sequence[Label]) -> list[list[Label]]:
    """For each number or bin of one release those of another that it may be, where bins are cut differently or only
    one has any; itself where there is none, and for what is neither."""
    spans = {value: span for value in values if (span := read_number_or_interval(value)) is not None}
    ordered = sorted(spans, key=lambda value: spans[value][:2])
    lows, highs = [spans[value].low for value in ordered], [spans[value].high for value in ordered]
    found = []
    for label in labels:
        span = read_number_or_interval(label)
        if span is None:
            found.append([label])
            continue
        near = ordered[bisect_left(highs, span.low) : bisect_right(lows, span.high)]
        found.append([value for value in near if _meet(span, spans[value])] or [label])
    return found


def _meet(one: NumberSpan, other: NumberSpan) -> bool:
    """Whether two numbers or bins have a number in common."""
    first, second = sorted((one, other), key=lambda span: span.low)
    return second.low < first.high or (second.low == first.high and first.closed)
