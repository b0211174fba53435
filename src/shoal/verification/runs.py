"""Runs of base intervals, ``[20, 35)`` in steps of 5, which a policy may ask for beside the labels of a hierarchy.

A run is a label only if both its ends lie on the grid that the policy states: multiples of a step, periods of the
calendar, or values of an ordered list. It stands for everything between its ends and never for a missing value. It is
in no chain, but lies under those labels that hold all of it by what they say; a value may be released as it when the
value's boundary is one of these.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any

from shoal.verification.canonical_text import ROOT, Chain, Label, scalar_text
from shoal.verification.dates import HOURS, LENGTHS, MONTHS, DateLabels, period, period_label, period_start
from shoal.verification.intervals import IntervalLabels, decimal_text, ends_in, exact, number_in
from shoal.verification.labels import FlatLabels, Labels, ListedLabels
from shoal.verification.ranges import StretchLabels

Run = tuple[int, int]  # its first and last base interval, both in it
_INTERVAL = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)\)", re.ASCII)
_STEP = re.compile(r"\s*(\d+\s+)?([a-z]+)\s*", re.ASCII)
_MANY_UNITS = 10_000  # of a longer run only the ends of its periods, and of boundaries in it, are looked at


class Grid:
    """Base intervals, numbered in their order."""

    def run_of(self, label: str) -> Run | None:
        """The run that a label is; None for other labels, also for one with an end that is not on the grid."""
        raise NotImplementedError

    def cell_of(self, value: str, base: Labels) -> int | None:
        """The base interval that a value of the column lies in."""
        raise NotImplementedError

    def held(self, run: Run, label: Label, base: Labels) -> bool:
        """Whether a label of the hierarchy holds all of a run; the root does."""
        raise NotImplementedError

    def chains(self, run: Run, boundary: Collection[Label], base: Labels) -> list[Chain]:
        """Chains of values that can lie in the run: one for each boundary that such a value can have."""
        raise NotImplementedError


@dataclass(frozen=True)
class NumberGrid(Grid):
    """Multiples of a step from an origin."""

    step: Fraction
    origin: Fraction

    def _ends(self, run: Run) -> tuple[Fraction, Fraction]:
        return self.origin + run[0] * self.step, self.origin + (run[1] + 1) * self.step

    def run_of(self, label: str) -> Run | None:
        """``[low, high)`` with both ends on the grid, written without needless zeros."""
        match = _INTERVAL.fullmatch(label)
        ends = [number_in(text) for text in match.groups()] if match else []
        if match is None or any(
            end is None or decimal_text(end) != text for end, text in zip(ends, match.groups(), strict=True)
        ):
            return None
        low, high = ((end - self.origin) / self.step for end in ends if end is not None)
        return (int(low), int(high) - 1) if low < high and low.denominator == high.denominator == 1 else None

    def cell_of(self, value: str, base: Labels) -> int | None:  # noqa: ARG002 - see Grid
        """By the number that it is."""
        number = number_in(value)
        return None if number is None else (number - self.origin) // self.step

    def held(self, run: Run, label: Label, base: Labels) -> bool:
        """By the ends of an interval, or by the values that a list has under the label."""
        if isinstance(base, ListedLabels):
            return _held_by_list(self, run, label, base)
        if label == ROOT or label is None or number_in(label) is not None:
            return label == ROOT
        (low, high), ends = self._ends(run), ends_in(label)
        return isinstance(base, IntervalLabels) and len(ends) == 2 and ends[0] <= low and high <= ends[1]

    def chains(self, run: Run, boundary: Collection[Label], base: Labels) -> list[Chain]:
        """Of numbers at, between and beside all that divides the run."""
        if isinstance(base, ListedLabels):
            return _listed_in(self, run, base)
        low, high = self._ends(run)
        points = base.points(low, high, boundary) if isinstance(base, IntervalLabels) else [low]
        return [chain for chain in base.chains([decimal_text(at) for at in points if low <= at < high]) if chain]


@dataclass(frozen=True)
class PeriodGrid(Grid):
    """A number of units of the calendar each, counted from the year 0, days and weeks from the year 1."""

    unit: str
    count: int

    def _position(self, moment: datetime.datetime) -> int:
        """How many units lie before a moment's own."""
        if self.unit in MONTHS:
            return (moment.year * 12 + moment.month - 1) // MONTHS[self.unit]
        hours = moment.toordinal() * 24 + moment.hour
        return (hours - 24) // 168 if self.unit == "week" else hours // HOURS[self.unit]

    def run_of(self, label: str) -> Run | None:
        """One unit, or the first and the last of several."""
        ends = label.split("..")
        starts = [period_start(end, self.unit) for end in ends]
        if len(ends) > 2 or None in starts:
            return None
        first, last = (self._position(starts[index] or datetime.datetime.min) for index in (0, -1))  # noqa: DTZ901
        if first % self.count or (last + 1) % self.count or first > last or (len(ends) == 1) != (first == last):
            return None
        return first // self.count, last // self.count

    def cell_of(self, value: str, base: Labels) -> int | None:
        """By the date, if it tells the unit."""
        assert isinstance(base, DateLabels), "periods divide dates"
        moment, finest = base.moment(value), base.finest(value)
        if moment is None or (finest is not None and LENGTHS[self.unit] < LENGTHS[finest]):
            return None
        return self._position(moment) // self.count

    def _labels(self, run: Run) -> tuple[str, str]:
        """The first and the last unit of a run."""
        first, last = run[0] * self.count, (run[1] + 1) * self.count - 1
        return self._label(first), self._label(last)

    def _label(self, position: int) -> str:
        if self.unit in MONTHS:
            year, month = divmod(position * MONTHS[self.unit], 12)
            return period_label(datetime.datetime(max(year, 1), month + 1, 1), self.unit)  # noqa: DTZ001 - zoneless
        hour = position * HOURS[self.unit] + (24 if self.unit == "week" else 0)
        moment = datetime.datetime.fromordinal(hour // 24) + datetime.timedelta(hours=hour % 24)
        return period_label(moment, self.unit)

    def held(self, run: Run, label: Label, base: Labels) -> bool:
        """By the hours of both."""
        if label == ROOT or label is None or not isinstance(base, DateLabels):
            return label == ROOT
        first, last = (period(each, self.unit) for each in self._labels(run))
        outer = next((found for unit in base.units if (found := period(label, unit)) is not None), None)
        return first is not None and last is not None and outer is not None and (
            outer[0] <= first[0] and last[1] <= outer[1]
        )  # fmt: skip

    def chains(self, run: Run, boundary: Collection[Label], base: Labels) -> list[Chain]:
        """Of the first moments of its units, and of boundaries in it."""
        first, last = run[0] * self.count, (run[1] + 1) * self.count - 1
        inside = range(first, last + 1) if last - first < _MANY_UNITS else (first, last)
        firsts = [self._label(position) for position in inside] + [label for label in boundary if label is not None]
        found = [chain for label in firsts for chain in base.examples(label, ()) if chain and chain[0] is not None]
        return [chain for chain in found if self._lies_in(run, chain)]

    def _lies_in(self, run: Run, chain: Chain) -> bool:
        """Whether the value that a chain begins with lies in a run."""
        start = next(filter(None, (period_start(str(chain[0]), unit) for unit in ("day", "month", "year"))), None)
        if start is None:
            start = datetime.datetime.fromisoformat(str(chain[0]))
        return run[0] <= self._position(start) // self.count <= run[1]


@dataclass(frozen=True)
class ListGrid(Grid):
    """The values of an ordered list, some of whose runs have names."""

    values: tuple[Label, ...]
    names: Mapping[str, tuple[str, str]]

    def run_of(self, label: str) -> Run | None:
        """A name, or ``first..last`` of a run without a name."""
        at = {value: index for index, value in enumerate(self.values) if value is not None}
        pairs = [self.names[label]] if label in self.names else []
        for index in range(len(label)):
            ends = (label[:index], label[index + 2 :])
            if label.startswith("..", index) and ends not in self.names.values():
                pairs.append(ends)
        runs = [(at[one], at[other]) for one, other in pairs if one in at and other in at]
        return next((run for run in runs if run[0] < run[1]), None)

    def cell_of(self, value: str, base: Labels) -> int | None:  # noqa: ARG002 - see Grid
        """Its position."""
        return self.values.index(value) if value in self.values else None

    def held(self, run: Run, label: Label, base: Labels) -> bool:
        """By the values that the list has under the label."""
        return _held_by_list(self, run, label, base) if isinstance(base, ListedLabels) else label == ROOT

    def chains(self, run: Run, boundary: Collection[Label], base: Labels) -> list[Chain]:  # noqa: ARG002 - see Grid
        """Of all its values."""
        return [chain for chain in base.chains(self.values[run[0] : run[1] + 1]) if chain]


def _listed_in(grid: Grid, run: Run, base: ListedLabels) -> list[Chain]:
    """The chains of the declared values in a run."""
    cells = ((chain, None if value is None else grid.cell_of(value, base)) for value, chain in base.declared.items())
    return [chain for chain, cell in cells if cell is not None and run[0] <= cell <= run[1]]


def _held_by_list(grid: Grid, run: Run, label: Label, base: ListedLabels) -> bool:
    """Whether every declared value in a run lies under a label; a label that is a value holds no run."""
    chains = _listed_in(grid, run, base)
    return label not in base.declared and bool(chains) and all(label in chain for chain in chains)


@dataclass(frozen=True)
class RunLabels(StretchLabels):
    """The labels of a hierarchy, and runs of the base intervals of a grid."""

    base: Labels
    grid: Grid
    _held: dict[tuple[Run, Label], bool] = field(default_factory=dict, repr=False, compare=False)

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """Those of the hierarchy; runs are in none."""
        return self.base.chains(values)

    def examples(self, label: str, boundary: Collection[Label]) -> list[Chain]:
        """Those of the hierarchy."""
        return self.base.examples(label, boundary)

    def run_of(self, label: Label) -> Run | None:
        """The run that a label is; None for other labels, and for those that the hierarchy has as well."""
        return None if label is None or self._of_base(label) else self.grid.run_of(label)

    def _of_base(self, label: str) -> bool:
        """Whether the hierarchy has a label; one without groups has the values of the order."""
        if isinstance(self.base, FlatLabels):
            return label == ROOT or self.grid.cell_of(label, self.base) is not None
        return self.base.knows(label)

    def cell_of(self, value: Label) -> int | None:
        """The base interval of a value; None for a missing one."""
        return None if value is None else self.grid.cell_of(value, self.base)

    def holds(self, run: Run, label: Label) -> bool:
        """Whether a label of the hierarchy holds all of a run."""
        if (run, label) not in self._held:
            self._held[run, label] = self.grid.held(run, label, self.base)
        return self._held[run, label]

    def stands_at(self, label: str, released: Sequence[Label]) -> int | None:
        """For a run the lowest level at which one label holds all of it."""
        if self._of_base(label):
            return self.base.stands_at(label, released)
        run = self.grid.run_of(label)
        if run is None:
            return None
        levels = [
            next((level for level, each in enumerate(chain) if self.holds(run, each)), len(chain) - 1)
            for chain in self.grid.chains(run, (), self.base)
        ]
        return min(levels, default=None)

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """For a run whether no value in it has a boundary that holds all of it, as far as the declaration tells."""
        run = self.run_of(label)
        if run is None:
            return self.base.covered(label, boundary)
        chains = self.grid.chains(run, boundary, self.base)
        caps = [next((each for each in chain if each in boundary), chain[-1]) for chain in chains]
        return bool(caps) and not any(self.holds(run, cap) for cap in caps)

    def _stretches(
        self, values: Sequence[Label], chains: Sequence[Chain], released: Sequence[Label]
    ) -> tuple[list[int], list[list[tuple[int, int]]]]:
        """As of ranges: a run is right for a value when the end of its chain holds all of the run."""
        capped: dict[Label, list[tuple[int, int]]] = {}
        for index, (value, chain) in enumerate(zip(values, chains, strict=True)):
            cell = self.cell_of(value)
            if chain and cell is not None:
                capped.setdefault(chain[-1], []).append((cell, index))
        lines = {cap: sorted(cells) for cap, cells in capped.items()}
        begins = dict(zip(lines, accumulate(map(len, lines.values()), initial=0), strict=False))
        stretches: list[list[tuple[int, int]]] = [[] for _ in released]
        for label, some in zip(released, stretches, strict=True):
            run = self.run_of(label)
            for cap, line in lines.items() if run is not None else ():
                if run is None or not self.holds(run, cap):
                    continue
                first, last = bisect_left(line, (run[0],)), bisect_left(line, (run[1] + 1,))
                if first < last:
                    some.append((begins[cap] + first, begins[cap] + last))
        return [index for line in lines.values() for _, index in line], stretches


def stated_grid(form: Mapping[str, Any], base: Labels) -> Grid:
    """The grid that a policy states for a column under ``ranges``."""
    if "step" in form and not isinstance(form["step"], str):
        return NumberGrid(exact(form["step"]), exact(form.get("origin", 0)))
    if "step" in form:
        count, unit = (_STEP.fullmatch(form["step"].lower()) or re.match(r"()(.*)", form["step"])).groups()  # type: ignore[union-attr]
        named = {f"{each}s": each for each in LENGTHS} | {"halves": "half", "centuries": "century"}
        return PeriodGrid(named.get(unit, unit), int(count or 1))
    names = {name: (ends[0], ends[1]) for name, ends in (form.get("names") or {}).items()}
    if isinstance(form["order"], str):
        return ListGrid(tuple(_in_tree_order(base)), names)
    return ListGrid(tuple(scalar_text(value) for value in form["order"]), names)


def _in_tree_order(base: Labels) -> list[Label]:
    """The declared values, those of a group side by side, else as they are listed."""
    assert isinstance(base, ListedLabels), "only a list has an order"
    seen: dict[tuple[int, Label], int] = {}
    for chain in base.declared.values():
        for level, label in enumerate(reversed(chain)):
            seen.setdefault((level, label), len(seen))
    return sorted(
        base.declared,
        key=lambda value: [seen[level, label] for level, label in enumerate(reversed(base.declared[value]))],
    )
