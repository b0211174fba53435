"""Dates and times as periods of the calendar.

Labels, the same for every column and locale:

========  ============================  ==========================
unit      label                         covers
========  ============================  ==========================
hour      ``2020-03-01T14``             14:00 up to 15:00
day       ``2020-03-01``
week      ``2020-W09``                  ISO week, Monday to Sunday
month     ``2020-03``
quarter   ``2020-Q1``
half      ``2020-H1``
year      ``2020``
decade    ``2020s``                     2020 to 2029
century   ``2000-2099``                 2000 to 2099
========  ============================  ==========================

A century runs from a year divisible by 100, so that decades lie within it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

from shoal.errors import PolicyProblem, did_you_mean
from shoal.formatting import pluralize
from shoal.hierarchies.assemble import Level, build
from shoal.hierarchies.hierarchy import BuiltHierarchy, Label
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, Known
from shoal.hierarchies.problems import refuse, values_problem

CALENDAR = ("hour", "day", "month", "quarter", "half", "year", "decade", "century")
"""Each unit lies within those after it."""
UNITS = (*CALENDAR, "week")
_WITHIN_WEEK = ("hour", "day")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3}", re.ASCII)
"""Whole dates only: "2020-W09" would be read as its Monday, which the value does not say."""
_ISO_TIME = re.compile(r"[\dW-]+[ T][\d:.,+-]+Z?", re.ASCII)
_FINER_THAN_MICROSECOND = re.compile(r"[.,]\d{6}\d*[1-9]")
"""A fraction of a second beyond the microsecond, which would be cut off."""


def _week(moment: datetime) -> str:
    iso = moment.isocalendar()
    return f"{iso.year:04d}-W{iso.week:02d}"


_LABELS: Mapping[str, Callable[[datetime], str]] = {
    "hour": lambda moment: f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}T{moment.hour:02d}",
    "day": lambda moment: f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}",
    "week": _week,
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

    units: Sequence[str] = ("month", "quarter", "year", "decade")
    """Unit of each level; each lies within the next. A week lies within no month or year: only ``*`` may follow it."""
    format: str | None = None
    """How the values are written, as for ``strptime``; ISO 8601 by default. A format without day (or month) makes
    leaves of whole months (or years)."""

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; values that are no dates are a problem."""
        refuse([*_unit_problems(self.units, where), *_format_problems(self.format, where)])
        stamps = {value: self._stamp(value) for value in values if value is not None}
        refuse(self._value_problems(values, counts, stamps, where))
        read = {value: stamp for value, stamp in stamps.items() if stamp is not None}
        ordered = sorted({stamp.leaf: stamp for stamp in read.values()}.values(), key=lambda stamp: stamp.order)
        levels = [Level.of(stamp.leaf for stamp in ordered)]
        levels.extend(Level.of(stamp.period(unit) for stamp in ordered) for unit in self.units)
        levels.append(Level.root(len(ordered)))
        return build(levels, values, {value: stamp.leaf for value, stamp in read.items()}, where)

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

    def _value_problems(
        self, values: Sequence[Label], counts: Sequence[int], stamps: dict[str, _Stamp | None], where: str
    ) -> list[PolicyProblem]:
        """The values of the data that are no dates, or dates among times."""
        present = [(value, count) for value, count in zip(values, counts, strict=True) if value is not None]
        problems = []
        if strays := [(value, count) for value, count in present if stamps[value] is None]:
            form = "ISO dates such as 2020-03-01" if self.format is None else f"dates of the format {self.format!r}"
            fix = "Give the format that the column is written in, or correct the data."
            problems.append(
                values_problem(where, f"of the data are not {form}", strays, code="values-not-dates", fix=fix)
            )
        days = sum(stamp is not None and stamp.finest == "day" for stamp in stamps.values())
        times = sum(stamp is not None and stamp.finest == "time" for stamp in stamps.values())
        if days and times:
            message = f"the column mixes dates ({pluralize(days, 'value')}) and times ({pluralize(times, 'value')})."
            fix, facts = "Write all values with a time of day, or none.", {"dates": days, "times": times}
            problems.append(PolicyProblem(where, message, fix, facts, code="dates-and-times"))
        return problems


@dataclass(frozen=True)
class _Stamp:
    """A date or time and the finest unit that it has: ``time``, ``day``, ``month`` or ``year``."""

    moment: datetime
    finest: str

    @cached_property
    def leaf(self) -> str:
        """Canonical ISO text, no finer than the value was given."""
        return self.moment.isoformat() if self.finest == "time" else _LABELS[self.finest](self.moment)

    @property
    def order(self) -> tuple[datetime, timedelta, str]:
        """Time as written, then offset."""
        return self.moment.replace(tzinfo=None), self.moment.utcoffset() or timedelta(0), self.leaf

    def period(self, unit: str) -> str:
        """The period that the value lies in; itself where the unit is finer than the value."""
        if self.finest == "time":
            return _LABELS[unit](self.moment)
        known = CALENDAR.index(self.finest)
        finer = known > CALENDAR.index("day") if unit == "week" else CALENDAR.index(unit) < known
        return self.leaf if finer else _LABELS[unit](self.moment)


def _unit_problems(units: Sequence[str], where: str) -> list[PolicyProblem]:
    """Units that there are not, or that do not lie within each other."""
    if unknown := [unit for unit in units if unit not in UNITS]:
        message = "there is no calendar unit {!r}."
        return [
            PolicyProblem(where, message.format(unit), did_you_mean(unit, UNITS), code="unknown-unit")
            for unit in unknown
        ]
    problems = []
    for unit, wider in pairwise(units):
        if wider == "week":
            nests = unit in _WITHIN_WEEK
        else:
            nests = unit != "week" and CALENDAR.index(unit) < CALENDAR.index(wider)
        if not nests:
            message = f"a {unit} does not lie within one {wider}."
            fix = "Name the units from short to long; only the root may follow week."
            problems.append(PolicyProblem(where, message, fix, {"units": tuple(units)}, code="units-not-nested"))
    return problems


def _format_problems(form: str | None, where: str) -> list[PolicyProblem]:
    """A format that cannot be read back, or that has no year."""
    if form is None:
        return []
    if not _directives(form) & set("YyGcx"):
        message = f"the format {form!r} has no year."
        return [PolicyProblem(where, message, "Write one such as %d.%m.%Y.", code="date-format")]
    try:
        datetime.strptime(datetime(2001, 2, 3, 4, 5, 6).strftime(form), form)  # noqa: DTZ001, DTZ007 - no zone is meant
    except ValueError as error:
        message = f"the format {form!r} cannot be used: {error}."
        return [PolicyProblem(where, message, "Write one such as %d.%m.%Y.", code="date-format")]
    return []


def _finest(form: str) -> str:
    """The finest unit that a format has."""
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
    """A unit, or a list of them."""
    if isinstance(value, str):
        return {"units": [value]}
    return {"units": list(value)} if isinstance(value, (list, tuple)) else value


_FORMAT_HELP = "how the values are written, as for strptime; ISO 8601 by default"
KIND = HierarchyKind(
    key="dates",
    summary="Calendar units, finest first.",
    fields=(
        HierarchyField("units", FieldKind.TEXTS, default=Dates.units),
        HierarchyField("format", FieldKind.TEXT, _FORMAT_HELP, None),
    ),
    build=lambda fields, _folder, _where: Dates(**fields),
    example="[month, year]",
    short_forms=({"type": "string"}, {"type": "array", "items": {"type": "string"}}),
    expand=_expand,
    by_name=True,
    known=Known.LEVELS,
    on_a_scale=True,
)
