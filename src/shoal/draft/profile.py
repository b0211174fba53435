"""What a column holds, as far as its different values tell: its format, its dates, and widths that suit its numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice

from shoal.hierarchies import Dates, HierarchyError
from shoal.hierarchies.numbers_as_text import decimal_places, parse_decimal

LISTED = 30  # up to so many different values are written out in a draft
_NEARLY = Decimal("0.9")
_FORMATS = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "UUIDs": re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}"),
    "telephone numbers": re.compile(r"(?=(?:\D*\d){7})(?:\+\d|\(?0\d|\(\d{3}\)|\d{3}[-. ]\d{3}[-. ]\d{4})[\d ()/.-]*"),
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "IBANs": re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?"),
    "web addresses": re.compile(r"(?:https?://|www\.)\S+"),
    "network addresses": re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"),
}
_CODE = re.compile(r"[A-Za-z0-9]+", re.ASCII)
_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_PROSE_WORDS = 4
_PROSE_LENGTH = 60


@dataclass(frozen=True)
class Profile:
    """A column: its different values with their records (canonical text, most frequent first), and what is missing."""

    name: str
    counts: dict[str, int]
    missing: int

    @staticmethod
    def of(name: str, counts: dict[str, int], missing: int) -> Profile:
        """A profile with its values in the one order that depends on nothing but the values and their counts."""
        ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        return Profile(name, dict(ranked), missing)

    def merged(self, value_of: Mapping[str, str]) -> Profile:
        """The column with other values in the place of some."""
        if not any(value in value_of for value in self.counts):
            return self
        counts = Counter[str]()
        for value, records in self.counts.items():
            counts[value_of.get(value, value)] += records
        return Profile.of(self.name, counts, self.missing)

    def without(self, values: Collection[str]) -> Profile:
        """The column with some values missing."""
        left = {value: records for value, records in self.counts.items() if value not in values}
        return Profile(self.name, left, self.missing + self.present - sum(left.values()))

    @property
    def present(self) -> int:
        """Records that have a value."""
        return sum(self.counts.values())

    @property
    def distinct(self) -> int:
        """Different values, the missing one not counted."""
        return len(self.counts)

    @property
    def constant(self) -> bool:
        """Whether every record has the same value (or all lack one)."""
        return self.distinct + bool(self.missing) <= 1

    @property
    def nearly_unique(self) -> bool:
        """Whether nearly every record has a value of its own."""
        return self.distinct > self.present * _NEARLY

    @property
    def mostly_distinct(self) -> bool:
        """Whether there are more than half as many values as records."""
        return 2 * self.distinct > self.present

    @cached_property
    def numbers(self) -> list[tuple[Decimal, int]] | None:
        """The numbers in order with their records; ``None`` when some value is no number."""
        parsed = []
        for value, count in self.counts.items():
            number = parse_decimal(value)
            if number is None:
                return None
            parsed.append((number, count))
        return sorted(parsed) if parsed else None

    @property
    def decimals(self) -> int:
        """Digits after the point, at most."""
        return max((decimal_places(number) for number, _ in self.numbers or ()), default=0)

    @cached_property
    def decimal_commas(self) -> bool:
        """Whether the values are numbers if the commas in them are read as points."""
        if self.numbers is not None or not self.counts:
            return False
        return all(parse_decimal(value.replace(",", ".")) is not None for value in self.counts)

    @cached_property
    def length(self) -> int | None:
        """The length of every value, where all have the same and consist of letters and digits."""
        lengths = {len(value) if _CODE.fullmatch(value) else None for value in self.counts}
        return lengths.pop() if len(lengths) == 1 else None

    @cached_property
    def all_digits(self) -> bool:
        """Whether every value consists of the digits 0 to 9."""
        return bool(self.counts) and all(_DIGITS.fullmatch(value) for value in self.counts)

    @property
    def leading_zeros(self) -> bool:
        """Whether values of one length, all digits, start with a zero here and there: codes, not numbers."""
        return (self.length or 0) > 1 and self.all_digits and any(value[0] == "0" for value in self.counts)

    @cached_property
    def identifying_format(self) -> str | None:
        """The format of an identifier that nearly all values have."""
        few = max(1, int(self.distinct * (1 - _NEARLY)))
        for what, pattern in _FORMATS.items():
            others = (value for value in self.counts if not pattern.fullmatch(value.strip()))
            if self.counts and len(list(islice(others, few))) < few:
                return what
        return None

    @cached_property
    def prose(self) -> bool:
        """Whether the values read like free text: several words each, or very long."""
        if not self.counts or self.numbers is not None:
            return False
        words = sum(len(value.split()) for value in self.counts)
        longest = max(map(len, self.counts))
        return words >= _PROSE_WORDS * self.distinct or longest > _PROSE_LENGTH


_ISO = re.compile(r"\d{4}-?\d\d-?\d\d(?:[ T].*)?", re.ASCII)
_OTHER = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}( \d{1,2}:\d\d(:\d\d)?)?", re.ASCII)
_ORDERS = {".": ("%d.%m.%Y", "%Y.%m.%d"), "/": ("%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d"), "-": ("%d-%m-%Y", "%m-%d-%Y")}
"""With points the day comes first everywhere; with the other signs it depends on the country."""


@dataclass(frozen=True)
class DateForm:
    """How dates are written, or that it cannot be told."""

    formats: tuple[str | None, ...]
    """The formats that read every value; ``None`` is ISO 8601. More than one: nobody can tell which is meant."""
    leaves: tuple[str, ...] = ()  # the dates as ISO text, in order; none where it cannot be told

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


_LEVELS = 3
_COARSEST = 3  # the widest intervals cut the range into at least so many
_TAIL = Decimal("0.01")
"""Share of the records that is passed over at either end, so that a stray 99999 does not stretch the range."""
_LARGEST_POWER = 300  # beyond, a policy's numbers would overflow


def round_widths(numbers: Sequence[tuple[Decimal, int]], *, decimals: int) -> list[Decimal]:
    """Up to three widths that suit numbers (ascending, with their records); none when no interval would hold two.

    ``decimals`` is the number of decimal places: the narrowest width is more than one step of the last one.
    """
    low, high = _central(numbers)
    if low == high:
        low, high = numbers[0][0], numbers[-1][0]
    span = high - low
    step = Decimal(1).scaleb(-decimals)
    if span <= step or abs(span.adjusted()) > _LARGEST_POWER or decimals > _LARGEST_POWER:
        return []
    wide = max(_round_below(span / _COARSEST), 2 * step)
    if wide >= span:
        return []
    widths = [wide]
    while len(widths) < _LEVELS:
        narrower = _divisor(widths[0])
        if narrower <= step:
            break
        widths.insert(0, narrower)
    return widths


def _central(numbers: Sequence[tuple[Decimal, int]]) -> tuple[Decimal, Decimal]:
    """The range of all records but a small share at either end."""
    tail = _TAIL * sum(count for _, count in numbers)

    def first_beyond(ordered: Sequence[tuple[Decimal, int]]) -> Decimal:
        passed = 0
        for number, count in ordered:
            passed += count
            if passed > tail:
                return number
        return ordered[-1][0]

    return first_beyond(numbers), first_beyond(numbers[::-1])


def _round_below(limit: Decimal) -> Decimal:
    """The largest round width that is not above a positive limit."""
    power = Decimal(1).scaleb(limit.adjusted())
    return max(power * digit for digit in (1, 2, 5) if power * digit <= limit)


def _divisor(width: Decimal) -> Decimal:
    """The largest round width below a round width that divides it: 20 → 10 → 5 → 1 → 0.5."""
    digit, power = width.as_tuple().digits[0], Decimal(1).scaleb(width.adjusted())
    return power if digit in {2, 5} else power * 5 / 10
