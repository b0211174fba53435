"""What a column holds, as far as its different values tell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice

from shoal.hierarchies.labels import parse_decimal, places

LISTED = 30
"""Up to so many different values are written out in a draft."""
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
        return max((places(number) for number, _ in self.numbers or ()), default=0)

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
