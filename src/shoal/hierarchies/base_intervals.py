"""Base intervals, of which runs of neighbours are released: ``[20, 35)`` are three neighbours of width 5.

Each kind divides a scale once and for all: numbers in steps from an origin, dates in periods of the calendar, an
ordered list in its values. No end of a base interval comes from the data. Base intervals are numbered in their order; a
run is given by the numbers of its first and last one, and is known by its label alone.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any

from shoal.hierarchies.dates import LABELS, UNITS
from shoal.hierarchies.hierarchy import Label, scalar_text
from shoal.hierarchies.numbers_as_text import fraction_text, read_interval, read_number

Run = tuple[int, int]  # the first and the last base interval, both in it
RUN_SIGN = ".."  # between the ends of a run of periods or of listed values
FREE = "free"  # what a policy writes for tight ranges, whose ends are values of the data


class BaseIntervals(ABC):
    """A scale that is divided into base intervals."""

    keeps_names = False  # whether a node of the hierarchy with the same values as a run names it better

    @abstractmethod
    def index(self, value: str) -> int | None:
        """The base interval of a value, as the leaves of a hierarchy write it; None for what is none."""

    @abstractmethod
    def label(self, run: Run) -> str:
        """A run as released."""

    @abstractmethod
    def read(self, label: str) -> Run | None:
        """The run that a label is; None for other labels."""

    def lies_in(self, index: int, group: Label) -> bool:  # noqa: ARG002 - see subclasses
        """Whether a base interval lies in what the label of a group says by itself; True where it says nothing."""
        return True


@dataclass(frozen=True)
class NumberSteps(BaseIntervals):
    """Numbers in steps of one width, counted from the origin: ``[20, 25)`` is the fourth of width 5 after 0."""

    step: Fraction
    origin: Fraction = Fraction(0)

    def index(self, value: str) -> int | None:
        """The step that a number lies in."""
        number = read_number(value)
        return None if number is None else (number - self.origin) // self.step

    def label(self, run: Run) -> str:
        """The lower end of the first step and the upper end of the last, which is not in it."""
        low, high = (fraction_text(self.origin + end * self.step) for end in (run[0], run[1] + 1))
        return f"[{low}, {high})"

    def read(self, label: str) -> Run | None:
        """Both ends must be multiples of the step, written as they are released."""
        span = read_interval(label)
        if span is None or not isinstance(span.low, Fraction) or not isinstance(span.high, Fraction):
            return None
        run = (span.low - self.origin) // self.step, (span.high - self.origin) // self.step - 1
        return run if run[0] <= run[1] and self.label(run) == label else None

    def lies_in(self, index: int, group: Label) -> bool:
        """Whether a step lies between the ends of an interval."""
        span = read_interval(group)
        low = self.origin + index * self.step
        return span is None or (span.low <= low and low + self.step <= span.high)


_SPELLED_STEP = re.compile(r"\s*(?:(?P<count>[1-9]\d{0,5})\s+)?(?P<unit>[a-z]+?)\s*", re.ASCII)
_PLURALS = {"halves": "half", "centuries": "century"}
_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
_FORMS = {
    "hour": r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)T(?P<h>\d\d)",
    "day": r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)",
    "week": r"(?P<y>\d{4})-W(?P<w>\d\d)",
    "month": r"(?P<y>\d{4})-(?P<m>\d\d)",
    "quarter": r"(?P<y>\d{4})-Q(?P<q>[1-4])",
    "half": r"(?P<y>\d{4})-H(?P<f>[12])",
    "year": r"(?P<y>\d{4})",
    "decade": r"(?P<y>\d{3}0)s",
    "century": r"(?P<y>\d\d00)-\d\d99",
}
_TOLD_BY_DATES = ("day", "month", "year")  # the finest unit of a leaf that is no time of day


@dataclass(frozen=True)
class Periods(BaseIntervals):
    """Periods of the calendar, a number of units each, counted from the year 0 (days and weeks from the year 1)."""

    unit: str
    count: int = 1

    @staticmethod
    def of_text(text: str) -> Periods | None:
        """What ``month``, ``1 month`` or ``2 weeks`` says; None for what is no step of the calendar."""
        match = _SPELLED_STEP.fullmatch(text.lower())
        if match is None:
            return None
        unit = _PLURALS.get(match["unit"], match["unit"])
        unit = unit if unit in UNITS else unit.removesuffix("s")
        return Periods(unit, int(match["count"] or 1)) if unit in UNITS else None

    def index(self, value: str) -> int | None:
        """The period of a date or time as ISO text; None for what tells no more than a longer unit."""
        moment = _moment(value)
        return None if moment is None or not self._tells(value) else self._position(moment, self.unit) // self.count

    def _tells(self, value: str) -> bool:
        """Whether a leaf is fine enough: a month does not tell its day."""
        if len(value) > len("2020-01-01"):
            return True
        finest = _TOLD_BY_DATES[{10: 0, 7: 1}.get(len(value), 2)]
        return self.unit != "hour" and (finest == "day" or self.unit in _MONTHS) and (
            finest != "year" or _MONTHS[self.unit] >= _MONTHS["year"]
        )  # fmt: skip

    @staticmethod
    def _position(moment: datetime, unit: str) -> int:
        """How many units lie before the one of a moment."""
        day = moment.toordinal()
        if unit in _MONTHS:
            return (moment.year * 12 + moment.month - 1) // _MONTHS[unit]
        return {"hour": day * 24 + moment.hour, "day": day, "week": (day - 1) // 7}[unit]

    @staticmethod
    def _begin(position: int, unit: str) -> datetime:
        """The first moment of a unit, within the years 1 to 9999."""
        if unit in _MONTHS:
            year, month = divmod(position * _MONTHS[unit], 12)
            return datetime.max if year > datetime.max.year else datetime(max(year, 1), month + 1, 1)  # noqa: DTZ001, DTZ901 - zoneless
        days = {"hour": position // 24, "day": position, "week": position * 7 + 1}[unit]
        if not 1 <= days <= datetime.max.toordinal():  # noqa: DTZ901 - zoneless
            return datetime.min if days < 1 else datetime.max  # noqa: DTZ901 - zoneless
        return datetime.fromordinal(days) + timedelta(hours=position % 24 if unit == "hour" else 0)

    def label(self, run: Run) -> str:
        """The first and the last unit, as date hierarchies write them; one alone by its own name."""
        first, last = run[0] * self.count, (run[1] + 1) * self.count - 1
        one, other = (LABELS[self.unit](self._begin(position, self.unit)) for position in (first, last))
        return one if first == last else f"{one}{RUN_SIGN}{other}"

    def read(self, label: str) -> Run | None:
        """Both ends must be units at the ends of base intervals, written as they are released."""
        ends = label.split(RUN_SIGN)
        periods = [_begin_of(end, self.unit) for end in (ends[0], ends[-1])]
        if len(ends) > 2 or periods[0] is None or periods[1] is None:
            return None
        first, last = (self._position(begin, self.unit) // self.count for begin in periods if begin is not None)
        return (first, last) if first <= last and self.label((first, last)) == label else None

    def lies_in(self, index: int, group: Label) -> bool:
        """Whether a base interval lies in a period of any unit."""
        low = self._begin(index * self.count, self.unit)
        high = self._begin((index + 1) * self.count, self.unit)
        for unit in UNITS:
            begin = _begin_of(group or "", unit)
            if begin is not None:
                return begin <= low and high <= self._begin(self._position(begin, unit) + 1, unit)
        return True


def _moment(text: str) -> datetime | None:
    """A leaf of a date hierarchy as a moment, its offset left aside."""
    try:
        return datetime.fromisoformat({7: f"{text}-01", 4: f"{text}-01-01"}.get(len(text), text)).replace(tzinfo=None)
    except ValueError:
        return None


def _begin_of(label: str, unit: str) -> datetime | None:
    """The first moment of a period; None where the label is no period of that unit."""
    match = re.fullmatch(_FORMS[unit], label, re.ASCII)
    if match is None:
        return None
    part = {name: int(value) for name, value in match.groupdict().items()}
    month = part.get("m") or 3 * part.get("q", 1) - 2 + 6 * (part.get("f", 1) - 1)
    try:
        if unit == "week":
            return datetime.fromisocalendar(part["y"], part["w"], 1)
        return datetime(max(part["y"], 1), month, part.get("d", 1), part.get("h", 0))  # noqa: DTZ001 - zoneless
    except ValueError:
        return None


@dataclass(frozen=True)
class ListedOrder(BaseIntervals):
    """The values of an ordered list; some of its runs may have names of their own."""

    values: tuple[Label, ...]
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # the first and the last value of each

    keeps_names = True

    @cached_property
    def _index(self) -> dict[Label, int]:
        return {value: index for index, value in enumerate(self.values)}

    @cached_property
    def _named(self) -> dict[Run, str]:
        return {(self._index[first], self._index[last]): name for name, (first, last) in self.names.items()}

    def unknown_names(self) -> list[str]:
        """The names whose ends are not two values of the list, the earlier first, or are values themselves."""
        at = self._index
        return [
            repr(name)
            for name, (one, other) in self.names.items()
            if name in at or not 0 <= at.get(one, -1) < at.get(other, -1)
        ]

    def index(self, value: str) -> int | None:
        """The position of a value."""
        return self._index.get(value)

    def label(self, run: Run) -> str:
        """Its name, or its ends."""
        return self._named.get(run) or f"{self.values[run[0]]}{RUN_SIGN}{self.values[run[1]]}"

    def read(self, label: str) -> Run | None:
        """A name, or two values of the list, the earlier first."""
        pairs = [self.names[label]] if label in self.names else []
        pairs += [(label[: sign.start()], label[sign.end() :]) for sign in re.finditer(re.escape(RUN_SIGN), label)]
        for one, other in pairs:
            first, last = self._index.get(one, -1), self._index.get(other, -1)
            if 0 <= first < last and self.label((first, last)) == label:
                return first, last
        return None


def base_intervals(option: Any, leaves: Sequence[Label] = ()) -> BaseIntervals | None:
    """What a policy says of a column under ``ranges``: None for tight ranges, or for nothing.

    ``leaves`` are those of the column's hierarchy, whose order counts where the policy lists none.
    """
    if not isinstance(option, Mapping):
        return None
    if option.get("step") is not None:
        step = option["step"]
        return (
            Periods.of_text(step)
            if isinstance(step, str)
            else NumberSteps(_exact(step), _exact(option.get("origin", 0)))
        )
    order = option["order"]
    values = leaves if isinstance(order, str) else [scalar_text(value) for value in order]
    names = {name: (str(ends[0]), str(ends[1])) for name, ends in (option.get("names") or {}).items()}
    return ListedOrder(tuple(values), names)


def _exact(number: float) -> Fraction:
    """A number as it is written: 0.1 is one tenth."""
    return Fraction(repr(number))
