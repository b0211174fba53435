"""Which values a released label stands for, and whether two labels can stand for the same value.

Labels are read by their declaration where the policy they were released by is at hand. Where only a fingerprint of it
is left, intervals, ranges, masked codes and dates explain themselves; labels of a tree, of a table of levels or of an
order are read by the new policy's declaration, if that is still the same or at least knows all the labels.

Without the original there are no values to try, and labels of two releases are compared with each other: a value by its
chain in the other hierarchy, listed values, numbers and masked codes by what they hold. Where nothing is known two
labels can stand for the same value: the answer errs to yes only.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.class_fit import CodePairs
from shoal.attacks.registry.signature import ReleasedQuasi, hierarchy_fingerprint, hierarchy_kind
from shoal.attacks.released_classes import LISTED
from shoal.errors import PolicyError, PolicyProblem
from shoal.formatting import listing
from shoal.hierarchies import HIERARCHY_KINDS
from shoal.hierarchies.base_intervals import RUN_SIGN, Periods, base_intervals
from shoal.hierarchies.dates import UNITS
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.mask import MASK
from shoal.hierarchies.numbers_as_text import (
    NumberSpan,
    range_ends,
    read_interval,
    read_number,
    read_number_or_interval,
    read_range,
)
from shoal.hierarchies.problems import quoted
from shoal.hierarchies.ranges import with_ranges, with_runs
from shoal.policy import Policy
from shoal.verification.canonical_text import ROOT, Label
from shoal.verification.dates import DateLabels
from shoal.verification.declared_labels import labels_of, released_labels
from shoal.verification.intervals import IntervalLabels
from shoal.verification.labels import Labels, ListedLabels, MaskLabels
from shoal.verification.ranges import RangeLabels
from shoal.verification.runs import RunLabels
from shoal.verification.stated_policy import stated

_LISTED = frozenset(kind.key for kind in HIERARCHY_KINDS.values() if kind.listed)  # labels mean what the policy lists
_DATES = DateLabels(("hour", "day", "week", "month", "quarter", "half", "year", "decade", "century"), None)


class UnreadableError(Exception):
    """Labels or categories of an earlier release whose meaning is lost; ``facts`` has a code and which they are."""

    def __init__(self, code: str, column: str, **facts: Any) -> None:
        self.facts = {"code": code, "column": column, **facts}
        super().__init__(code)


def label_nodes(
    hierarchy: Hierarchy, labels: Sequence[Label], name: str, policy: Policy
) -> tuple[Hierarchy, NDArray[np.int32]]:
    """The node of each released label, ranges added where the policy asks for them; -1 for a label not found."""
    nodes = np.array([hierarchy.by_label.get(label, -1) for label in labels], dtype=np.int32)
    where, base = (
        f"columns.{name}.hierarchy",
        base_intervals(policy.range_form(name), hierarchy.labels[: hierarchy.n_leaves]),
    )
    if base is not None:
        read = {index: base.read(labels[index] or "") for index in np.flatnonzero(nodes < 0).tolist()}
        runs = {index: run for index, run in read.items() if run is not None}
        hierarchy, node_of = with_runs(hierarchy, base, list(runs.values()), where)
        nodes[list(runs)] = [node_of[run] for run in runs.values()]
        return hierarchy, nodes
    ends: dict[int, tuple[int, int]] = {}
    for index in np.flatnonzero(nodes < 0).tolist() if name in policy.algorithm.ranges else ():
        first, last = (hierarchy.by_label.get(end, -1) for end in range_ends(labels[index]) or ("", ""))
        if 0 <= first < last < hierarchy.n_leaves:
            ends[index] = first, last
    if ends:
        pairs = np.array(list(ends.values()), dtype=np.int32)
        hierarchy, nodes[list(ends)] = with_ranges(hierarchy, pairs, where)
    return hierarchy, nodes


def values_of_labels(
    released: ReleasedQuasi, values: Sequence[Label], policy: Policy, *, own: bool = False
) -> CodePairs:
    """For each of some values the released labels that can stand for it; `UnreadableError` where that is not known.

    ``values`` are texts as the policy's hierarchy writes them; ``own``: the labels were released by ``policy``.
    """
    index = {label: number for number, label in enumerate(released.labels)}
    if own or released.kind in _LISTED:
        chains = _declared(released, values, policy, own=own)
    else:
        chains = [_self_explained(released.kind, value) for value in values]
    pairs = {(value, index[label]) for value, chain in enumerate(chains) for label in chain if label in index}
    pairs |= {*_numbers(released, values), *_runs(released, values, policy)}
    return CodePairs.of_set(pairs, len(values))


def reads_as_now(released: ReleasedQuasi, policy: Policy) -> bool:
    """Whether labels are read by a declaration that is not the one they were released by."""
    return released.kind in _LISTED and hierarchy_fingerprint(policy, released.name) != released.fingerprint


def _self_explained(kind: str, value: Label) -> tuple[Label, ...]:
    """The labels that a value may have become by the labels alone, apart from numbers in intervals and ranges."""
    between: Sequence[Label] = ()
    if value is not None and kind == "mask" and len(value) > 1:  # one character is never masked
        masks = [MASK * number for number in range(1, len(value) + 1)]
        between = [text for mask in masks for text in (value[: -len(mask)] + mask, mask + value[len(mask) :])]
    elif value is not None and kind == "dates":  # a month or a year stands for its first day
        between = _DATES.chains([value + {4: "-01-01", 7: "-01"}.get(len(value), "")])[0]
    return (value, *between, ROOT)


def _declared(
    released: ReleasedQuasi, values: Sequence[Label], policy: Policy, *, own: bool
) -> list[tuple[Label, ...]]:
    """The same by the declaration of a policy; `PolicyError` for values that the labels' own policy does not know."""
    name = released.name
    if name not in policy.names("quasi") or (hierarchy_kind(policy, name) not in _LISTED and not own):
        raise UnreadableError("hierarchy-gone", name, kind=released.kind)
    kind = labels_of(stated(policy), name)
    ranged = _run_labels(released, policy) if released.ranged else None
    unknown = [
        label
        for label in released.labels
        if not (label is None or kind.knows(label) or (released.ranged and (read_range(label) or read_interval(label))))
        and not (ranged is not None and ranged.run_of(label))
    ]
    if unknown and not own:
        raise UnreadableError("labels-gone", name, kind=released.kind, labels=unknown)
    chains = kind.chains(values)
    strays = [quoted(value) for value, chain in zip(values, chains, strict=True) if not chain]
    if strays and own:
        message = f"does not know {listing(strays, LISTED)}, which the original has."
        fix = "Give the earlier release the policy that it was made by."
        problem = PolicyProblem(f"columns.{name}.hierarchy", message, fix, code="earlier-policy-values")
        raise PolicyError([problem], policy.source)
    return chains


def _numbers(released: ReleasedQuasi, values: Sequence[Label]) -> Iterator[tuple[int, int]]:
    """Pairs of a value and the index of an interval or range that it lies in."""
    if released.kind != "intervals" and not released.ranged:
        return
    read = [(None if value is None else read_number(value), index) for index, value in enumerate(values)]
    order = sorted((number, index) for number, index in read if number is not None)
    numbers = [number for number, _ in order]
    for label, text in enumerate(released.labels):
        ends = read_range(text) if released.ranged else None
        if ends is None and released.kind == "intervals":
            ends = read_number_or_interval(text)
        elif ends is None and released.kind in _LISTED:  # a run of numbers that a list has
            ends = read_interval(text)
        if ends is not None:
            stop = (bisect_right if ends[2] else bisect_left)(numbers, ends[1])
            yield from ((index, label) for _, index in order[bisect_left(numbers, ends[0]) : stop])


def _run_labels(released: ReleasedQuasi, policy: Policy) -> RunLabels | None:
    """How a policy divides the column, if it does."""
    if released.name not in policy.names("quasi"):
        return None
    kind = released_labels(stated(policy), released.name)
    return kind if isinstance(kind, RunLabels) else None


def _runs(released: ReleasedQuasi, values: Sequence[Label], policy: Policy) -> Iterator[tuple[int, int]]:
    """Pairs of a value and the index of a run of periods or listed values that it lies in.

    Periods explain themselves; a list is that of the policy.
    """
    kind = _run_labels(released, policy) if released.ranged and released.kind not in {"intervals", "dates"} else None
    for label, text in enumerate(released.labels if released.ranged else ()):
        if kind is not None and (run := kind.run_of(text)) is not None:
            cells = ((index, kind.cell_of(value)) for index, value in enumerate(values))
        elif released.kind == "dates" and RUN_SIGN in (text or ""):
            read = ((unit, Periods(unit).read(text or "")) for unit in UNITS)
            unit, run = next(((unit, run) for unit, run in read if run is not None), ("", (1, 0)))
            cells = ((index, Periods(unit).index(value or "")) for index, value in enumerate(values) if unit)
        else:
            continue
        yield from ((index, label) for index, cell in cells if cell is not None and run[0] <= cell <= run[1])


def overlapping_labels(one: Labels, labels: Sequence[Label], other: Labels, others: Sequence[Label]) -> CodePairs:
    """For each of some labels those of another release that can stand for the same value.

    Values find their partners by their chains, so that pairs are compared only where both are groups or ranges.
    """
    groups, other_groups = _groups(one, labels), _groups(other, others)
    found = _by_chain(one, labels, other, others, other_groups)
    found |= {(i, j) for j, i in _by_chain(other, others, one, labels, groups)}
    for i in groups:
        found |= {(i, j) for j in other_groups if may_overlap(one, labels[i], labels, other, others[j], others)}
    return CodePairs.of_set(found, len(labels))


def _groups(kind: Labels, labels: Sequence[Label]) -> list[int]:
    """The indices of labels that are not values."""
    return [index for index, label in enumerate(labels) if label is not None and kind.level(label, labels) > 0]


def _by_chain(
    one: Labels, labels: Sequence[Label], other: Labels, others: Sequence[Label], groups: Sequence[int]
) -> set[tuple[int, int]]:
    """The partners of values: equal ones, the groups in their chains, the ranges that hold them, and the root."""
    index = {label: j for j, label in enumerate(others)}
    inner = set(_groups(one, labels))
    values = [i for i in range(len(labels)) if i not in inner]
    loose = [j for j in groups if others[j] == ROOT or _between_ends(other, others[j])]
    found = set()
    for i, chain in zip(values, other.chains([labels[i] for i in values]), strict=True):
        found |= {(i, index[label]) for label in (labels[i], *chain) if label in index}
        found |= {(i, j) for j in loose if may_overlap(one, labels[i], labels, other, others[j], others)}
    return found


def _between_ends(kind: Labels, label: Label) -> bool:
    """Whether a label is a range or a run, which is in no chain."""
    if isinstance(kind, RunLabels):
        return kind.run_of(label) is not None
    return isinstance(kind, RangeLabels) and kind.range_of(label) is not None


def may_overlap(
    one: Labels, label: Label, labels: Sequence[Label], other: Labels, second: Label, others: Sequence[Label]
) -> bool:
    """Whether two labels can stand for the same value; True where that is not known."""
    if label == second or ROOT in {label, second}:
        return True
    first, last = _span(one, label), _span(other, second)
    if first is not None and last is not None:
        low, high = max(first[0], last[0]), min(first[1], last[1])
        return low < high or (low == high and all(low < ends[1] or ends[2] for ends in (first, last)))
    if _between_ends(one, label) or _between_ends(other, second):
        return _runs_overlap(one, label, labels, other, second, others)
    if label is None or one.level(label, labels) == 0:
        return second in other.chains([label])[0]
    if second is None or other.level(second, others) == 0:
        return label in one.chains([second])[0]
    if isinstance(one, ListedLabels) and isinstance(other, ListedLabels):
        under = {value for value, chain in one.declared.items() if label in chain}
        return any(second in chain for value, chain in other.declared.items() if value in under)
    if isinstance(one, MaskLabels) and isinstance(other, MaskLabels):
        same = all(a == b or ROOT in {a, b} for a, b in zip(label, second, strict=False))
        return len(label) == len(second) and same
    return True


def _runs_overlap(
    one: Labels, label: Label, labels: Sequence[Label], other: Labels, second: Label, others: Sequence[Label]
) -> bool:
    """The same where one of two labels is a run: told for two runs of one grid, and for a value."""
    for kind, run_label, value_kind, value, all_values in (
        (one, label, other, second, others),
        (other, second, one, label, labels),
    ):
        run = kind.run_of(run_label) if isinstance(kind, RunLabels) else None
        if isinstance(kind, RunLabels) and run is not None and (
            value is None or (value_kind.level(value, all_values) == 0 and not _between_ends(value_kind, value))
        ):  # fmt: skip
            cell = kind.cell_of(value)
            return cell is not None and run[0] <= cell <= run[1]
    if isinstance(one, RunLabels) and isinstance(other, RunLabels) and one.grid == other.grid:
        first, last = one.run_of(label), other.run_of(second)
        if first is not None and last is not None:
            return max(first[0], last[0]) <= min(first[1], last[1])
    return True


def _span(kind: Labels, label: Label) -> NumberSpan | None:
    """The ends of a number, interval or range of a hierarchy of numbers."""
    if isinstance(kind, RunLabels):
        return read_number_or_interval(label) if isinstance(kind.base, IntervalLabels) else None
    if not isinstance(kind, IntervalLabels | RangeLabels):
        return None
    if isinstance(kind, RangeLabels) and (found := kind.range_of(label)) is not None:
        return NumberSpan(found.low, found.high, True)
    return None if label is None else read_number_or_interval(label)
