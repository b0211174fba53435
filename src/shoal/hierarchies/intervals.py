"""Numbers as intervals: of fixed widths, or between declared cut points.

No end of an interval comes from the data: ends are multiples of a width from the origin, declared cut points, or
declared bounds. A smallest or largest value seen would tell a record's exact value.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from shoal.hierarchies.assemble import Level, build
from shoal.hierarchies.hierarchy import BuiltHierarchy, Label
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, Known, RunKind
from shoal.hierarchies.numbers_as_text import decimal_places, parse_decimal
from shoal.hierarchies.problems import Problems

Number = int | float | str | Decimal  # as a policy writes it; a float is its shortest text, so 0.1 is one tenth
End = int | float  # an end of an interval at the common scale: an integer, or an infinity


@dataclass(frozen=True)
class Intervals:
    """Intervals ``[low, high)`` of growing width, then ``*``; either by ``widths`` or by ``cuts``.

    The leaves are the distinct numbers present, in order and as canonical text (39, "39.0" and "039" are one leaf).
    """

    widths: Sequence[Number] = ()  # width at each level, each a multiple of the one before: ``(5, 10, 20)``
    cuts: Sequence[Sequence[Number]] = ()  # of each level, among those of the level before; the outer may be infinite
    origin: Number = 0  # where intervals of fixed width are counted from
    bounds: tuple[Number, Number] | None = None  # the smallest and the largest value, both in the domain

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; values that are no numbers or lie outside are problems."""
        problems = Problems(where)
        parsed = {value: parse_decimal(value) for value in values if value is not None}
        numbers = {value: number for value, number in parsed.items() if number is not None}
        declared = _Declared.read(self, numbers.values(), problems)
        integers = {value: _scaled(number, declared.digits) for value, number in numbers.items()}
        declared.refuse_values(values, counts, integers, problems)
        ordered = sorted(set(integers.values()))
        levels = [Level.by(ordered, declared.text)]
        for level in range(len(self.widths or self.cuts)):
            levels.append(Level.by(declared.intervals(level, ordered), declared.label))
        levels.append(Level.root(len(ordered)))
        leaf_of = {value: declared.text(integer) for value, integer in integers.items()}
        return build(levels, values, where, leaf_of=leaf_of)


@dataclass(frozen=True)
class _Declared:
    """The declaration at the scale at which its numbers and those of the data are integers, free of problems."""

    digits: int  # decimal places of the scale
    widths: list[int]
    cuts: list[list[End]]
    origin: int
    bounds: list[int]  # both, or none

    @staticmethod
    def read(source: Intervals, numbers: Iterable[Decimal], problems: Problems) -> _Declared:
        """Read the declaration and check it, with every problem at once."""

        def read(value: object, what: str, *, infinite: bool = False) -> Decimal:
            number = _decimal(value, infinite=infinite)
            if number is None:
                problems.add(f"{what} {value!r} is not a number.", "Write a plain number.", code="not-a-number")
            return number or Decimal(0)

        widths = [read(width, "the width") for width in source.widths]
        cuts = [[read(cut, "the cut point", infinite=True) for cut in level] for level in source.cuts]
        origin = read(source.origin, "the origin")
        bounds = [read(bound, "the bound") for bound in source.bounds or ()]
        if source.bounds is not None and len(bounds) != 2:
            problems.add(f"bounds are two numbers, not {len(bounds)}.", "Write bounds: [0, 120].", code="bounds")
        problems.refuse()
        finite = [cut for level in cuts for cut in level if cut.is_finite()]
        digits = max(decimal_places(number) for number in [*widths, *finite, origin, *bounds, *numbers])
        scaled = [[_scaled(cut, digits) if cut.is_finite() else float(cut) for cut in level] for level in cuts]
        whole = [[_scaled(number, digits) for number in some] for some in (widths, bounds)]
        declared = _Declared(digits, whole[0], scaled, _scaled(origin, digits), whole[1])
        declared._check(problems)
        problems.refuse()
        return declared

    def _check(self, problems: Problems) -> None:
        if bool(self.widths) == bool(self.cuts):
            given = "both widths and cuts" if self.widths else "neither widths nor cuts"
            fix = "Give widths such as [5, 10, 20], or one list of cut points per level."
            problems.add(f"intervals have {given}.", fix, code="widths-or-cuts")
        for width in self.widths:
            if width <= 0:
                message = f"the width {self.text(width)} is not positive."
                problems.add(message, "Give widths above zero.", code="width-not-positive")
                return
        for lower, upper in pairwise(self.widths):
            if upper <= lower or upper % lower:
                message = f"the width {self.text(upper)} is not a multiple of the width {self.text(lower)} before it."
                fix = "Only then does each interval lie within one of the next level."
                problems.add(message, fix, code="widths-not-nested")
        for number, level in enumerate(self.cuts, start=1):
            if len(level) < 2 or any(low >= high for low, high in pairwise(level)):
                message = f"the cut points of level {number} are not two or more increasing numbers."
                problems.add(message, "Sort them.", code="cuts-not-increasing")
        for number, (finer, coarser) in enumerate(pairwise(self.cuts), start=2):
            if extra := ", ".join(self.text(cut) for cut in coarser if cut not in finer):
                message = f"the cut points {extra} of level {number} are not among those of level {number - 1}."
                fix = "Each level leaves out cut points of the level before and adds none."
                problems.add(message, fix, code="cuts-not-nested")
        if self.bounds and self.bounds[0] > self.bounds[1]:
            message = f"the bounds {self.text(self.bounds[0])} and {self.text(self.bounds[1])} are in the wrong order."
            problems.add(message, "Swap them.", code="bounds")

    def refuse_values(
        self, values: Sequence[Label], counts: Sequence[int], integers: dict[str, int], problems: Problems
    ) -> None:
        """Refuse values of the data that are no numbers, or that no interval holds."""
        present = [(value, count) for value, count in zip(values, counts, strict=True) if value is not None]
        strays = [(value, count) for value, count in present if value not in integers]
        fix = "Write plain numbers such as 1234.5, or declare the values as missing."
        problems.add_values("of the data are not numbers", strays, fix, code="values-not-numbers")
        numeric = [(value, count, integers[value]) for value, count in present if value in integers]
        if self.bounds:
            low, high = self.bounds
            strays = [(value, count) for value, count, integer in numeric if not low <= integer <= high]
            what = f"of the data lie outside the bounds {self._interval_text(low, high, ']')}"
            problems.add_values(what, strays, "Widen the bounds or correct the data.", code="values-outside-bounds")
        for level, cuts in enumerate(self.cuts, start=1):
            strays = [(value, count) for value, count, integer in numeric if not cuts[0] <= integer < cuts[-1]]
            what = f"of the data lie outside the cut points of level {level}, {self._interval_text(cuts[0], cuts[-1])}"
            fix = "Add outer cut points, such as -inf and inf; an interval does not include its upper end."
            problems.add_values(what, strays, fix, code="values-outside-cuts")
        problems.refuse()

    def intervals(self, level: int, integers: Sequence[int]) -> list[tuple[End, End]]:
        """The ends of the interval that each number lies in, counting levels from the narrowest intervals."""
        if self.widths:
            width, origin = self.widths[level], self.origin
            lows = [origin + (integer - origin) // width * width for integer in integers]
            return [(low, low + width) for low in lows]
        cuts = self.cuts[level]
        uppers = [bisect_right(cuts, integer) for integer in integers]
        return [(cuts[upper - 1], cuts[upper]) for upper in uppers]

    def label(self, ends: tuple[End, End]) -> str:
        """The interval as released, clipped to the bounds: closed above where the upper bound cuts it."""
        low, high = ends
        if not self.bounds:
            return self._interval_text(low, high)
        least, most = self.bounds
        return self._interval_text(max(low, least), min(high, most), "]" if high > most else ")")

    def _interval_text(self, low: End, high: End, closing: str = ")") -> str:
        """An interval as text; an infinite end is open."""
        return f"{'(' if low == -math.inf else '['}{self.text(low)}, {self.text(high)}{closing}"

    def text(self, end: End) -> str:
        """A number as plain text without needless zeros: "39", "0.1", "-2.5"; an infinity as "inf"."""
        if isinstance(end, float) or not self.digits:
            return str(end)
        whole, rest = divmod(abs(end), 10**self.digits)
        fraction = f".{str(rest).zfill(self.digits).rstrip('0')}" if rest else ""
        return f"{'-' if end < 0 else ''}{whole}{fraction}"


def _scaled(number: Decimal, digits: int) -> int:
    """The number in units of the last decimal place; exact."""
    numerator, denominator = number.as_integer_ratio()
    return int(numerator * 10**digits // denominator)


def _decimal(value: object, *, infinite: bool) -> Decimal | None:
    """A number as a policy writes it, exactly; text is allowed since YAML reads some numbers as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    text = repr(value) if isinstance(value, float) else str(value)
    if infinite and text.strip().lower() in {"inf", "+inf", "-inf", "infinity", "-infinity", ".inf", "-.inf"}:
        return Decimal("-Infinity") if text.strip().startswith("-") else Decimal("Infinity")
    return parse_decimal(text)


def _expand(value: Any) -> Any:
    """A list of widths, or a list of lists of cut points."""
    if not isinstance(value, (list, tuple)):
        return value
    nested = any(isinstance(part, (list, tuple)) for part in value)
    return {"cuts": list(value)} if nested else {"widths": list(value)}


KIND = HierarchyKind(
    key="intervals",
    summary="Numeric intervals: widths, or explicit cut points per level.",
    fields=(
        HierarchyField("widths", FieldKind.NUMBERS, "width of the intervals at each level", ()),
        HierarchyField("cuts", FieldKind.CUTS, "cut points of each level; outer ones may be inf", ()),
        HierarchyField("origin", FieldKind.NUMBER, "where intervals of fixed width are counted from", 0),
        HierarchyField("bounds", FieldKind.BOUNDS, "smallest and largest value that there may be", None),
    ),
    build=lambda fields, _folder, _where: Intervals(**fields),
    example="[5, 10, 20]",
    short_forms=({"type": "array", "items": {"type": "number"}}, {"type": "array", "items": {"type": "array"}}),
    expand=_expand,
    known=Known.LEVELS,
    on_a_scale=True,
    runs=frozenset({RunKind.NUMBERS}),
)
