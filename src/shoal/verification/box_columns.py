"""What a quasi-identifier can be released as, what each label costs in a measure, and which values it may stand for.

A *box* is one label for each quasi-identifier. Labels, boundaries and costs are worked out here from the chains of the
declared hierarchies, by the measures' definitions, and not from what the search has in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.verification.canonical_text import ROOT, Chain, Label
from shoal.verification.declared_labels import labels_of
from shoal.verification.intervals import number_in
from shoal.verification.labels import Labels, ListedLabels, MaskLabels
from shoal.verification.original_checks import capped
from shoal.verification.stated_policy import StatedPolicy

Floats = NDArray[np.float64]
_ALL_RANGES = 40  # numbers of a column up to which every range between two of them is looked at


@dataclass(frozen=True, eq=False)
class BoxColumn:
    """The labels that the values of one column may be released as, in rungs of labels that have no value in common."""

    name: str
    labels: tuple[Label, ...]
    costs: Floats  # of a cell that is released as each label, from 0 to 1
    rungs: NDArray[np.int32]  # ``rungs[rung, value]`` is the label of a value on a rung; -1 where it has none there
    weight: float = 1.0


def box_column(policy: StatedPolicy, name: str, values: Sequence[Label], measure: str) -> BoxColumn:
    """A column by its distinct original values.

    Of labels that may stand for the same values of the original, only the cheapest is kept: a box with another of them
    holds the same records and costs no less.
    """
    kind = labels_of(policy, name)
    chains = kind.chains(values)
    tree = _Tree.of(kind, values, chains)
    cost_of = CELL_COSTS[measure](tree)
    under: dict[Label, list[int]] = {}
    for value, chain in enumerate(capped(chains, policy, name)):
        for label in dict.fromkeys(chain):
            under.setdefault(label, []).append(value)
    offered = [(tuple(held), cost_of[label], label) for label, held in under.items()]
    if name in policy.ranges and measure in BY_VALUES:
        steps = max(BY_VALUES[measure](tree.spans[tree.root]), 1.0)
        windows = _windows(tree, chains) if _divides_numbers(policy.ranges[name]) else _any_run(values)
        offered += [(tuple(window.values), window.span / steps, window.label) for window in windows]
    cheapest: dict[tuple[int, ...], tuple[float, Label]] = {}
    for held, cost, label in offered:
        if held not in cheapest or cost < cheapest[held][0]:
            cheapest[held] = cost, label
    order = sorted(cheapest, key=lambda held: (len(held), held))
    rungs = list[NDArray[np.int32]]()
    for number, members in enumerate(order):  # on the first rung where none of its values has a label yet
        places = np.array(members)
        free = next((rung for rung in rungs if (rung[places] < 0).all()), None)
        if free is None:
            free = np.full(len(values), -1, dtype=np.int32)
            rungs.append(free)
        free[places] = number
    labels = tuple(cheapest[held][1] for held in order)
    costs = np.array([cheapest[held][0] for held in order], dtype=np.float64)
    rungs.sort(key=lambda rung: float(costs[rung[rung >= 0]].min()))
    table = np.array(rungs, dtype=np.int32).reshape(len(rungs), len(values))
    weight = float(tree.levels[tree.root]) if measure == "distortion_ratio" else 1.0
    return BoxColumn(name, labels, costs, table, weight)


def free_column(name: str, values: Sequence[Label]) -> BoxColumn:
    """A column that tells nothing apart and costs nothing: as if it were not there."""
    return BoxColumn(name, (ROOT,), np.zeros(1), np.zeros((1, len(values)), dtype=np.int32))


class _Window(NamedTuple):
    """Numbers that ranges of one size can hold, and the shortest of these ranges."""

    label: Label
    values: list[int]
    span: float  # steps from its smallest to its largest number


def _divides_numbers(form: Mapping[str, Any] | None) -> bool:
    """Whether a column is released as ranges of numbers, free or in steps; else in runs of periods or of a list."""
    return form is None or "step" in form


def _any_run(values: Sequence[Label]) -> Iterator[_Window]:
    """One window for all runs: of two values or more, none costs less than one step."""
    yield _Window("..", list(range(len(values))), 1.0)


def _windows(tree: _Tree, chains: Sequence[Chain]) -> Iterator[_Window]:
    """Every range of up to so many numbers of the original; longer ones, of similar lengths and starts, as one window.

    A range never costs less than the one between the outermost numbers that it is released for, so others need not be
    looked at. A window holds all numbers of the ranges that it stands for, and costs as much as the cheapest of them.
    Boundaries, which allow fewer ranges, are left out of account.
    """
    by_number = sorted((number, leaf) for leaf in tree.leaves if (number := number_in(leaf or "")) is not None)
    place: dict[Label, int] = {leaf: index for index, (_, leaf) in enumerate(by_number)}
    held: dict[Label, list[int]] = {}
    for value, chain in enumerate(chains):
        if chain and chain[0] in place:
            held.setdefault(chain[0], []).append(value)
    numbers = sorted(held, key=lambda number: place[number])
    places = np.array([place[number] for number in numbers])
    shorter = 1
    while shorter < len(numbers):  # ranges of more than `shorter` and at most `longer` numbers
        longer = shorter + 1 if len(numbers) <= _ALL_RANGES else max(shorter + 1, shorter * 5 // 4)
        step = 1 if longer == shorter + 1 else max(1, shorter // 4)
        spans = places[shorter:] - places[:-shorter]  # of the shortest of these ranges from each number on
        for start in range(0, len(spans), step):
            inside = numbers[start : start + longer + step - 1]
            values = sorted(value for number in inside for value in held[number])
            label = f"{inside[0]}<={inside[-1]}"
            yield _Window(label, values, float(spans[start : start + step].min()))
        shorter = longer


@dataclass(frozen=True, eq=False)
class _Tree:
    """The figures of a hierarchy that measures are made of, by label."""

    spans: Mapping[Label, float]  # how many values of the domain a label stands for
    levels: Mapping[Label, int]  # the lowest level that a label is on
    heights: Mapping[Label, int]  # the most different labels on the way up to a label
    root: Label
    leaves: Collection[Label]

    @staticmethod
    def of(kind: Labels, values: Sequence[Label], chains: Sequence[Chain]) -> _Tree:
        """By all values that are declared where the declaration lists them, else by those of the original."""
        leaves = {chain[0]: chain for chain in chains if chain}
        if isinstance(kind, ListedLabels):
            leaves = {**kind.declared, **leaves}
        spans: dict[Label, float] = {}
        levels: dict[Label, int] = {}
        heights: dict[Label, int] = {}
        root: Label = ROOT
        for chain in leaves.values():
            root = chain[-1]
            for label in dict.fromkeys(chain):
                spans[label] = spans.get(label, 0) + 1
                levels[label] = min(chain.index(label), levels.get(label, len(chain)))
            for height, (label, _) in enumerate(groupby(chain)):
                heights[label] = max(height, heights.get(label, 0))
        if isinstance(kind, MaskLabels) and kind.letters is not None:
            size, texts = float(kind.letters), [text for text in values if text is not None]
            spans = {label: 1.0 if label is None or len(label) < 2 else size ** label.count(ROOT) for label in spans}
            spans[ROOT] = sum(size**length for length in {len(text) for text in texts}) + (None in values)
        return _Tree(spans, levels, heights, root, leaves.keys())

    def by_values(self, measure: str) -> dict[Label, float]:
        """(Values - 1) over a figure of the domain; 0 where this has no more than one value."""
        below = BY_VALUES[measure](self.spans.get(self.root, 0.0))
        return {label: (span - 1) / below if below > 0 else 0.0 for label, span in self.spans.items()}

    def by_levels(self) -> dict[Label, float]:
        """Levels raised, over those up to the root."""
        height = max(self.levels.get(self.root, 0), 1)
        return {label: level / height for label, level in self.levels.items()}

    def by_heights(self) -> dict[Label, float]:
        """Height of the subtree, over that of the tree."""
        height = max(self.heights.get(self.root, 0), 1)
        return {label: under / height for label, under in self.heights.items()}


BY_VALUES: Final[Mapping[str, Callable[[float], float]]] = {
    "ncp": lambda domain: domain - 1,
    "wang_loss": lambda domain: domain,
}
"""Measures that count values, and what they divide by. To the others, a range is the lowest label that holds it."""
CELL_COSTS: Final[Mapping[str, Callable[[_Tree], dict[Label, float]]]] = {
    "ncp": lambda tree: tree.by_values("ncp"),
    "wang_loss": lambda tree: tree.by_values("wang_loss"),
    "distortion_ratio": _Tree.by_levels,
    "precision": _Tree.by_levels,
    "ntil": _Tree.by_heights,
}
"""What a cell costs in the measures that are weighted means over cells; `precision` is one minus its mean."""
