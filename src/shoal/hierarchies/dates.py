"""Dates and times as periods of the calendar (a century begins in a year divisible by 100: decades lie within it)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

from shoal.errors import did_you_mean
from shoal.formatting import pluralize
from shoal.hierarchies.assemble import Level, build
from shoal.hierarchies.hierarchy import BuiltHierarchy, Label
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, Known, RunKind
from shoal.hierarchies.problems import Problems

CALENDAR = ("hour", "day", "month", "quarter", "half", "year", "decade", "century")
"""Each unit lies within those after it."""
UNITS = (*CALENDAR, "week")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3}", re.ASCII)
"""Whole dates only: "2020-W09" would be read as its Monday, which the value does not say."""
_ISO_TIME = re.compile(r"[\dW-]+[ T][\d:.,+-]+Z?", re.ASCII)
_FINER_THAN_MICROSECOND = re.compile(r"[.,]\d{6}\d*[1-9]")  # a fraction of a second that would be cut off


LABELS: Mapping[str, Callable[[datetime], str]] = {
    "hour": lambda moment: f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}T{moment.hour:02d}",
    "day": lambda moment: f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}",
    "week": lambda moment: "{0.year:04d}-W{0.week:02d}".format(moment.isocalendar()),
    "month": lambda moment: f"{moment.year:04d}-{moment.month:02d}",
    "quarter": lambda moment: f"{moment.year:04d}-Q{(moment.month + 2) // 3}",
    "half": lambda moment: f"{moment.year:04d}-H{(moment.month + 5) // 6}",
    "year": lambda moment: f"{moment.year:04d}",
    "decade": lambda moment: f"{moment.year // 10:03d}0s",
    "century": lambda moment: f"{moment.year // 100:02d}00-{moment.year // 100:02d}99",
}


@dataclass(frozen=True)
class Dates:
    """Periods of growing length, then ``*``.

    Leaves are the distinct dates or times present, in time order and as canonical ISO text. A unit that is finer than
    the value itself (``hour`` for a date) leaves the value as it is. Times with an offset count by the date as written.
    """

    units: Sequence[str] = ("month", "quarter", "year", "decade")  # each within the next; after week only ``*``
    format: str | None = None
    """How the values are written, as for ``strptime``; ISO 8601 by default. A format without day (or month) makes
    leaves of whole months (or years)."""

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; values that are no dates are a problem."""
        problems = Problems(where)
        _check_units(self.units, problems)
        _check_format(self.format, problems)
        problems.refuse()
        stamps = {value: self._stamp(value) for value in values if value is not None}
        self._refuse_values(values, counts, stamps, problems)
        read = {value: stamp for value, stamp in stamps.items() if stamp is not None}
        ordered = sorted({stamp.leaf: stamp for stamp in read.values()}.values(), key=lambda stamp: stamp.order)
        levels = [Level.of(stamp.leaf for stamp in ordered)]
        levels.extend(Level.of(stamp.period(unit) for stamp in ordered) for unit in self.units)
        levels.append(Level.root(len(ordered)))
        return build(levels, values, where, leaf_of={value: stamp.leaf for value, stamp in read.items()})

    def _stamp(self, text: str) -> _Stamp | None:
        """A value as a date or time; ``None`` if it is none."""
        try:
            if self.format is not None:
                return _Stamp(datetime.strptime(text, self.format), _finest(self.format))  # noqa: DTZ007 - as written
            if _ISO_DATE.fullmatch(text):
                return _Stamp(datetime.combine(date.fromisoformat(text), time()), "day")
            if _ISO_TIME.fullmatch(text) and not _FINER_THAN_MICROSECOND.search(text):
                return _Stamp(datetime.fromisoformat(text), "time")
        except ValueError:
            pass
        return None

    def _refuse_values(
        self, values: Sequence[Label], counts: Sequence[int], stamps: dict[str, _Stamp | None], problems: Problems
    ) -> None:
        """Refuse values of the data that are no dates, or dates among times."""
        present = [(value, count) for value, count in zip(values, counts, strict=True) if value is not None]
        strays = [(value, count) for value, count in present if stamps[value] is None]
        form = "ISO dates such as 2020-03-01" if self.format is None else f"dates of the format {self.format!r}"
        fix = "Give the format that the column is written in, or correct the data."
        problems.add_values(f"of the data are not {form}", strays, fix, code="values-not-dates")
        days = sum(stamp is not None and stamp.finest == "day" for stamp in stamps.values())
        times = sum(stamp is not None and stamp.finest == "time" for stamp in stamps.values())
        if days and times:
            message = f"the column mixes dates ({pluralize(days, 'value')}) and times ({pluralize(times, 'value')})."
            fix = "Write all values with a time of day, or none."
            problems.add(message, fix, code="dates-and-times", dates=days, times=times)
        problems.refuse()


@dataclass(frozen=True)
class _Stamp:
    """A date or time and the finest unit that it has: ``time``, ``day``, ``month`` or ``year``."""

    moment: datetime
    finest: str

    @cached_property
    def leaf(self) -> str:
        """Canonical ISO text, no finer than the value was given."""
        return self.moment.isoformat() if self.finest == "time" else LABELS[self.finest](self.moment)

    @property
    def order(self) -> tuple[datetime, timedelta, str]:
        """Time as written, then offset."""
        return self.moment.replace(tzinfo=None), self.moment.utcoffset() or timedelta(0), self.leaf

    def period(self, unit: str) -> str:
        """The period that the value lies in; itself where the unit is finer than the value."""
        if self.finest == "time":
            return LABELS[unit](self.moment)
        known = CALENDAR.index(self.finest)
        finer = known > CALENDAR.index("day") if unit == "week" else CALENDAR.index(unit) < known
        return self.leaf if finer else LABELS[unit](self.moment)


def _check_units(units: Sequence[str], problems: Problems) -> None:
    """Units that there are not, or that do not lie within each other."""
    if unknown := [unit for unit in units if unit not in UNITS]:
        for unit in unknown:
            problems.add(f"there is no calendar unit {unit!r}.", did_you_mean(unit, UNITS), code="unknown-unit")
        return
    for unit, wider in pairwise(units):
        rank = UNITS.index(unit)
        if rank > CALENDAR.index("day") if wider == "week" else rank >= CALENDAR.index(wider):
            message = f"a {unit} does not lie within one {wider}."
            fix = "Name the units from short to long; only the root may follow week."
            problems.add(message, fix, code="units-not-nested", units=tuple(units))


def _check_format(form: str | None, problems: Problems) -> None:
    """A format that cannot be read back, or that has no year."""
    fix = "Write one such as %d.%m.%Y."
    if form is not None and not _directives(form) & set("YyGcx"):
        problems.add(f"the format {form!r} has no year.", fix, code="date-format")
    elif form is not None:
        try:
            datetime.strptime(datetime(2001, 2, 3, 4, 5, 6).strftime(form), form)  # noqa: DTZ001, DTZ007 - zoneless
        except ValueError as error:
            problems.add(f"the format {form!r} cannot be used: {error}.", fix, code="date-format")


def _finest(form: str) -> str:
    parts = _directives(form)
    if parts & set("HIcX"):
        return "time"
    week_day = parts & set("WUV") and parts & set("aAwu")
    if parts & set("jx") or (parts & set("d") and parts & set("mbB")) or week_day:
        return "day"
    return "month" if parts & set("mbB") else "year"


def _directives(form: str) -> set[str]:
    return set(re.findall(r"%(.)", form))


def _expand(value: Any) -> Any:
    if isinstance(value, str):
        return {"units": [value]}
    return {"units": list(value)} if isinstance(value, (list, tuple)) else value


KIND = HierarchyKind(
    key="dates",
    summary="Calendar units, finest first.",
    fields=(
        HierarchyField("units", FieldKind.TEXTS, default=Dates.units),
        HierarchyField(
            "format", FieldKind.TEXT, "how the values are written, as for strptime; ISO 8601 by default", None
        ),
    ),
    build=lambda fields, _folder, _where: Dates(**fields),
    example="[month, year]",
    short_forms=({"type": "string"}, {"type": "array", "items": {"type": "string"}}),
    expand=_expand,
    by_name=True,
    known=Known.LEVELS,
    on_a_scale=True,
    runs=frozenset({RunKind.PERIODS}),
)
