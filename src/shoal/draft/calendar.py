"""Whether the values of a column are dates, and how they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shoal.draft.profile import Profile
from shoal.hierarchies import Dates, HierarchyError

_ISO = re.compile(r"\d{4}-?\d\d-?\d\d(?:[ T].*)?", re.ASCII)
_OTHER = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}( \d{1,2}:\d\d(:\d\d)?)?", re.ASCII)
_ORDERS = {".": ("%d.%m.%Y", "%Y.%m.%d"), "/": ("%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d"), "-": ("%d-%m-%Y", "%m-%d-%Y")}
"""With points the day comes first everywhere; with the other signs it depends on the country."""


@dataclass(frozen=True)
class DateForm:
    """How dates are written, or that it cannot be told."""

    formats: tuple[str | None, ...]
    """The formats that read every value; ``None`` is ISO 8601. More than one: nobody can tell which is meant."""
    leaves: tuple[str, ...] = ()
    """The dates as ISO text, in order; none where it cannot be told."""

    @property
    def clear(self) -> bool:
        """Whether there is one way to read the dates."""
        return len(self.formats) == 1

    def units(self) -> list[str]:
        """Three calendar units or so that suit the time that the dates span."""
        first, last = int(self.leaves[0][:4]), int(self.leaves[-1][:4])
        hours = ["day"] if "T" in self.leaves[0] else []
        if last - first > 10:
            return [*hours, "month", "year", "decade"]
        return [*hours, "month", "quarter", "year"] if last > first else [*hours, "month", "quarter"]


def date_form(profile: Profile) -> DateForm | None:
    """How the column's values are written as dates; ``None`` when they are none."""
    values = list(profile.counts)
    if not values:
        return None
    if all(_ISO.fullmatch(value) for value in values):
        leaves = _leaves(values, None)
        return DateForm((None,), leaves) if leaves else None
    match = _OTHER.fullmatch(values[0])
    if match is None:
        return None
    time = "" if not match[2] else " %H:%M:%S" if match[3] else " %H:%M"
    read = {order + time: _leaves(values, order + time) for order in _ORDERS[match[1]]}
    formats = tuple(form for form, leaves in read.items() if leaves)
    if not formats:
        return None
    return DateForm(formats, read[formats[0]] if len(formats) == 1 else ())


def _leaves(values: list[str], form: str | None) -> tuple[str, ...]:
    """The dates as the hierarchy will have them; none where it would refuse some value."""
    try:
        built = Dates(units=("year",), format=form).build(values, [1] * len(values), "")
    except HierarchyError:
        return ()
    hierarchy = built.hierarchy
    return tuple(label for label in hierarchy.labels[: hierarchy.n_leaves] if label is not None)
