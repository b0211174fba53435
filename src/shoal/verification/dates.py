"""Dates and times as periods of the calendar: what each label contains."""

import datetime
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from shoal.verification.canonical_text import ROOT, Chain, Label
from shoal.verification.labels import Labels, missing_chain

LENGTHS = {"hour": 0, "day": 1, "week": 2, "month": 3, "quarter": 4, "half": 5, "year": 6, "decade": 7, "century": 8}
_FORMS = {
    "hour": r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)T(?P<h>\d\d)",
    "day": r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)",
    "week": r"(?P<y>\d{4})-W(?P<w>\d\d)",
    "month": r"(?P<y>\d{4})-(?P<m>\d\d)",
    "quarter": r"(?P<y>\d{4})-Q(?P<q>\d)",
    "half": r"(?P<y>\d{4})-H(?P<f>\d)",
    "year": r"(?P<y>\d{4})",
    "decade": r"(?P<y>\d{3}0)s",
    "century": r"(?P<y>\d{2}00)-\d{2}99",
}
HOURS = {"hour": 1, "day": 24, "week": 168}
MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
_LAST_DAY = datetime.date.max.toordinal()
_WHOLE_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3}", re.ASCII)
_NANOSECONDS = re.compile(r"[.,]\d{6}\d*[1-9]")


@dataclass(frozen=True)
class DateLabels(Labels):
    """Periods of growing length, then ``*``; a unit finer than a value tells leaves the value as it is."""

    units: tuple[str, ...]
    form: str | None

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """The date or time as ISO text, its period at each level, the root."""
        missing = missing_chain(len(self.units) + 1)
        return [missing if value is None else self._chain(self.moment(value), self.finest(value)) for value in values]

    def _chain(self, moment: datetime.datetime | None, finest: str | None) -> Chain:
        if moment is None:
            return ()
        leaf = moment.isoformat() if finest is None else period_label(moment, finest)
        tells = -1 if finest is None else LENGTHS[finest]
        periods = (leaf if LENGTHS[unit] < tells else period_label(moment, unit) for unit in self.units)
        return (leaf, *periods, ROOT)

    def moment(self, text: str) -> datetime.datetime | None:
        """The moment that a value names; None for what is no date."""
        try:
            if self.form is not None:
                return datetime.datetime.strptime(text, self.form)  # noqa: DTZ007 - counted as written
            if _WHOLE_DATE.fullmatch(text):
                return datetime.datetime.combine(datetime.date.fromisoformat(text), datetime.time())
            if re.search(r"[ T]", text) and not _NANOSECONDS.search(text):
                return datetime.datetime.fromisoformat(text)
        except ValueError:
            pass
        return None

    def finest(self, text: str) -> str | None:
        """The unit that a value tells; None for a time of day."""
        if self.form is None:
            return "day" if _WHOLE_DATE.fullmatch(text) else None
        told = set(re.findall(r"%(.)", self.form))
        if told & set("HIcX"):
            return None
        in_month, in_week = told & set("mbB"), told & set("WUV")
        if told & set("jx") or (in_month and "d" in told) or (in_week and told & set("aAwu")):
            return "day"
        return "month" if in_month else "year"

    def examples(self, label: str, boundary: Collection[Label]) -> list[Chain]:  # noqa: ARG002 - see covered
        """The first moment of the label, as the column may write it."""
        moment = next(filter(None, (period_start(label, unit) for unit in _FORMS)), None)
        if moment is None:
            with suppress(ValueError):
                moment = datetime.datetime.fromisoformat(label)
        if moment is None:
            return self.chains([None])  # the label is the root, or unknown
        return [self._chain(moment, each) for each in (("day", None) if self.form is None else (self.finest(""),))]

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """Whether the periods of the boundary below the label leave no gap in it; time as a whole has no ends."""
        unit = next((unit for unit in self.units if label is not None and period_start(label, unit) is not None), None)
        if label is None or unit is None:
            return False
        below = self.units[: self.units.index(unit)]
        periods = [period(other, each) for other in boundary if other is not None for each in below]
        reached, end = period(label, unit) or (0, 1)
        for start, stop in sorted(each for each in periods if each is not None):
            if start <= reached:
                reached = max(reached, stop)
        return reached >= end


def period_label(moment: datetime.datetime, unit: str) -> str:
    """The period of a unit that a moment lies in."""
    if unit == "week":
        iso = moment.isocalendar()
        return f"{iso.year:04}-W{iso.week:02}"
    year, month = f"{moment.year:04}", f"{moment.year:04}-{moment.month:02}"
    return {
        "hour": f"{month}-{moment.day:02}T{moment.hour:02}",
        "day": f"{month}-{moment.day:02}",
        "month": month,
        "quarter": f"{year}-Q{-(-moment.month // 3)}",
        "half": f"{year}-H{-(-moment.month // 6)}",
        "year": year,
        "decade": f"{year[:3]}0s",
        "century": f"{year[:2]}00-{year[:2]}99",
    }[unit]


def period_start(label: str, unit: str) -> datetime.datetime | None:
    """The first moment of a period; None if the label is not one of that unit."""
    match = re.fullmatch(_FORMS[unit], label, re.ASCII)
    if match is None:
        return None
    part = {name: int(value) for name, value in match.groupdict().items()}
    month = part.get("m") or 3 * part.get("q", 1) - 2 + 6 * (part.get("f", 1) - 1)
    try:
        if unit == "week":
            moment = datetime.datetime.fromisocalendar(part["y"], part["w"], 1)
        else:
            # The century 00 and the decade 0000s begin before the first year that there is.
            moment = datetime.datetime(max(part["y"], 1), month, part.get("d", 1), part.get("h", 0))  # noqa: DTZ001
    except ValueError:
        return None
    return moment if period_label(moment, unit) == label else None


def period(label: str, unit: str) -> tuple[int, int] | None:
    """A period in hours since the first day, its end not in it."""
    start = period_start(label, unit)
    if start is None:
        return None
    first = start.toordinal() * 24 + start.hour
    if unit in HOURS:
        return first, first + HOURS[unit]
    months = start.year * 12 + start.month - 1
    year, month = divmod(months - months % MONTHS[unit] + MONTHS[unit], 12)
    after = datetime.date(year, month + 1, 1).toordinal() if year <= datetime.MAXYEAR else _LAST_DAY + 1
    return first, after * 24
