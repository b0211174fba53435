"""The labels around a released one as the policy declares them: those above it, and those one step finer.

An attacker without the original has no values to build a hierarchy from. Trees, tables of levels and orders list all of
their values; intervals follow from their widths or cut points. Where the finer labels of a label are not listed (the
numbers of an interval, masks, dates, the values under ``*`` of a column without a hierarchy), only that is known of
them which other records show.

A column that shows no missing value is taken to have none: who attacks a release knows what its columns are about.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from shoal.hierarchies.numbers_as_text import read_number_or_interval
from shoal.policy import Policy
from shoal.verification.canonical_text import ROOT, Label
from shoal.verification.declared_labels import labels_of, released_labels
from shoal.verification.intervals import IntervalLabels, decimal_text
from shoal.verification.labels import FlatLabels, Labels, ListedLabels, MaskLabels
from shoal.verification.ranges import RangeLabels
from shoal.verification.runs import RunLabels
from shoal.verification.stated_policy import stated

MOST_LISTED = (
    256  # intervals that are listed below one: a class would have to be larger than most for its counts to follow
)


@dataclass(frozen=True)
class LabelSurroundings:
    """A released label: what lies above it and below it."""

    path: tuple[Label, ...]  # itself and the labels above, as far as known
    finer: tuple[Label, ...] | None  # the labels one step below, all of them; None where they cannot be listed
    is_value: bool  # whether it is a value, of which nothing is hidden
    is_range: bool = False  # whether a value at either end is in its class: at each base interval there, for a run

    @property
    def at_most_two(self) -> bool:
        """Whether no more than two finer labels can be in a class."""
        return self.is_value or (self.finer is not None and len(self.finer) <= 2)


def surroundings(policy: Policy, name: str, labels: Sequence[Label]) -> list[LabelSurroundings]:
    """What surrounds each released label of a quasi-identifier."""
    asked = stated(policy)
    kind = labels_of(asked, name)
    ranges = released_labels(asked, name)
    listed = _Listed(kind) if isinstance(kind, ListedLabels) else None
    found = []
    for label in labels:
        run = ranges.run_of(label) if isinstance(ranges, RunLabels) else None
        if run is not None and run[0] == run[1]:  # which of its values occur is not told
            found.append(LabelSurroundings((label,), None, is_value=False))
        elif run is not None or (isinstance(ranges, RangeLabels) and ranges.range_of(label) is not None):
            found.append(LabelSurroundings((label,), None, is_value=False, is_range=True))
        elif listed is not None:
            found.append(listed.surroundings(label))
        else:
            found.append(_surroundings(kind, label, labels))
    return [_with_missing(each) for each in found] if None in labels else found


def _with_missing(given: LabelSurroundings) -> LabelSurroundings:
    """With the missing value below the root, where it hangs unless the declaration says otherwise."""
    if given.finer is None or len(given.path) > 1 or None in given.finer:
        return given
    return replace(given, finer=(*given.finer, None))


class _Listed:
    """A declaration that lists every value: each label with its path and its children, gathered once."""

    def __init__(self, kind: ListedLabels) -> None:
        self._paths: dict[Label, tuple[Label, ...]] = {}
        self._children: dict[Label, dict[Label, None]] = {}
        self._levels: dict[Label, set[int]] = {}
        for chain in kind.declared.values():
            steps = list(dict.fromkeys(chain))
            for index, label in enumerate(steps):
                self._paths.setdefault(label, tuple(steps[index:]))
                self._levels.setdefault(label, set()).add(chain.index(label))
                if index:
                    self._children.setdefault(label, {})[steps[index - 1]] = None

    def surroundings(self, label: Label) -> LabelSurroundings:
        """What surrounds a label; that it is one is all that is known of one that is not listed.

        Where a label stands on different levels above its values, lowering its column does not divide it at once: its
        children are then not counted.
        """
        children = self._children.get(label)
        even = children is not None and len(self._levels[label]) == 1
        return LabelSurroundings(
            self._paths.get(label, (label,)), tuple(children or ()) if even else None, is_value=children is None
        )


def _surroundings(kind: Labels, label: Label, released: Sequence[Label]) -> LabelSurroundings:
    """The same by the form of a label."""
    if label is None:
        return LabelSurroundings((None,), None, is_value=True)
    if isinstance(kind, FlatLabels):
        return LabelSurroundings((label, ROOT) if label != ROOT else (ROOT,), None, is_value=label != ROOT)
    is_value = kind.level(label, released) == 0
    finer = _finer_intervals(kind, label) if isinstance(kind, IntervalLabels) else None
    return LabelSurroundings(_path(kind, label), finer, is_value)


def _path(kind: Labels, label: str) -> tuple[Label, ...]:
    """A label and those above it; of a mask only itself and the masks of the same length."""
    if isinstance(kind, MaskLabels):
        length, stars = len(label), label.count(ROOT)
        steps = sorted(range(1, length) if kind.steps is None else kind.steps)
        masks = [(ROOT * step, length - step) for step in steps if stars < step < length]
        right = kind.side == "right"
        return (label, *(label[:kept] + mask if right else mask + label[-kept:] for mask, kept in masks))
    chain = next((chain for chain in kind.examples(label, ()) if label in chain), (label,))
    return tuple(dict.fromkeys(chain[chain.index(label) :]))


def _finer_intervals(kind: IntervalLabels, label: str) -> tuple[Label, ...] | None:
    """The intervals that an interval of the next level consists of; numbers cannot be listed."""
    level = kind.stands_at(label, [label]) or 0
    if level < 2:
        return None
    points = _cut_points(kind, level) if kind.cuts else _multiples(kind, label, kind.widths[level - 2])
    chains = [chain for chain in kind.chains([decimal_text(point) for point in points]) if label in chain]
    return tuple(dict.fromkeys(chain[chain.index(label) - 1] for chain in chains)) or None


def _cut_points(kind: IntervalLabels, level: int) -> list[Fraction]:
    """A number of each interval one level below, where intervals lie between cut points."""
    points = [cut for cut in kind.cuts[level - 2] if isinstance(cut, Fraction)]
    return [points[0] - 1, *points] if points else [Fraction(0)]


def _multiples(kind: IntervalLabels, label: str, width: Fraction) -> list[Fraction]:
    """A number of each interval of a width within an interval; none where there are too many to list."""
    span = read_number_or_interval(label)
    ends = kind.bounds if span is None else (Fraction(span.low), Fraction(span.high))
    if ends is None or (ends[1] - ends[0]) / width > MOST_LISTED:
        return []
    low, high = ends
    first = kind.origin + (low - kind.origin) // width * width
    return [low, *(first + index * width for index in range(1, int((high - first) / width) + 1)), high]
