"""Numbers as intervals: of fixed widths, or between declared cut points.

No end of an interval comes from the data: ends are multiples of a width from the origin, declared cut points, or
declared bounds. A smallest or largest value seen would tell a record's exact value.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from shoal.errors import PolicyProblem
from shoal.hierarchies.assemble import Level, build
from shoal.hierarchies.hierarchy import BuiltHierarchy, Label
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, Known
from shoal.hierarchies.labels import DecimalScale, parse_decimal
from shoal.hierarchies.problems import refuse, values_problem

Number = int | float | str | Decimal
"""How a policy writes a number; a float is read as its shortest decimal text, so 0.1 is exactly one tenth."""
End = int | float  # an end of an interval at the common scale: an integer, or an infinity


@dataclass(frozen=True)
class Intervals:
    """Intervals ``[low, high)`` of growing width, then ``*``; either by ``widths`` or by ``cuts``.

    The leaves are the distinct numbers present, in order and as canonical text (39, "39.0" and "039" are one leaf).
    """

    widths: Sequence[Number] = ()  # width at each level, each a multiple of the one before: ``(5, 10, 20)``
    cuts: Sequence[Sequence[Number]] = ()
    """Cut points of each level, increasing, each level's among those of the level before; the outer may be infinite."""
    origin: Number = 0  # where intervals of fixed width are counted from
    bounds: tuple[Number, Number] | None = None
    """Smallest and largest value of the domain, both in it: intervals are clipped, values outside are a problem."""

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; values that are no numbers or lie outside are problems."""
        declared = _Declared.read(self, where)
        numbers = {value: parse_decimal(value) for value in values if value is not None}
        scale = DecimalScale.of([*declared.finite(), *(number for number in numbers.values() if number is not None)])
        integers = {value: scale.integer(number) for value, number in numbers.items() if number is not None}
        refuse(declared.value_problems(values, counts, integers, scale, where))
        ordered = sorted(set(integers.values()))
        levels = [Level.of(scale.text(integer) for integer in ordered)]
        for interval in declared.intervals(scale):
            levels.append(Level.by(map(interval, ordered), lambda ends: declared.label(ends, scale)))
        levels.append(Level.root(len(ordered)))
        leaves = {value: scale.text(integer) for value, integer in integers.items()}
        return build(levels, values, leaves, where)


@dataclass(frozen=True)
class _Declared:
    """The declaration as exact decimals, free of problems of its own."""

    widths: tuple[Decimal, ...]
    cuts: tuple[tuple[Decimal, ...], ...]
    origin: Decimal
    bounds: tuple[Decimal, Decimal] | None

    @staticmethod
    def read(source: Intervals, where: str) -> _Declared:
        """Turn the declaration into decimals and check it, with every problem at once."""
        problems: list[PolicyProblem] = []

        def report(code: str, message: str, fix: str) -> None:
            problems.append(PolicyProblem(where, message, fix, code=code))

        def number(given: object, what: str, *, infinite: bool = False) -> Decimal:
            parsed = _decimal(given, infinite=infinite)
            if parsed is None:
                report("not-a-number", f"{what} {given!r} is not a number.", "Write a plain number.")
            return Decimal(0) if parsed is None else parsed

        widths = tuple(number(width, "the width") for width in source.widths)
        cuts = tuple(tuple(number(cut, "the cut point", infinite=True) for cut in level) for level in source.cuts)
        origin = number(source.origin, "the origin")
        bounds = None
        if source.bounds is not None:
            if len(source.bounds) != 2:
                report("bounds", f"bounds are two numbers, not {len(source.bounds)}.", "Write bounds: [0, 120].")
            else:
                bounds = (number(source.bounds[0], "the bound"), number(source.bounds[1], "the bound"))
        declared = _Declared(widths, cuts, origin, bounds)
        if not problems:
            declared._check(report)
        refuse(problems)
        return declared

    def _check(self, report: Callable[[str, str, str], None]) -> None:
        if bool(self.widths) == bool(self.cuts):
            given = "both widths and cuts" if self.widths else "neither widths nor cuts"
            fix = "Give widths such as [5, 10, 20], or one list of cut points per level."
            report("widths-or-cuts", f"intervals have {given}.", fix)
        for width in self.widths:
            if width <= 0:
                report("width-not-positive", f"the width {width} is not positive.", "Give widths above zero.")
                return
        scale = DecimalScale.of(self.finite())
        for lower, upper in pairwise(self.widths):
            if upper <= lower or scale.integer(upper) % scale.integer(lower):
                fix = "Only then does each interval lie within one of the next level."
                report("widths-not-nested", f"the width {upper} is not a multiple of the width {lower} before it.", fix)
        for number, level in enumerate(self.cuts, start=1):
            if len(level) < 2 or any(low >= high for low, high in pairwise(level)):
                message = f"the cut points of level {number} are not two or more increasing numbers."
                report("cuts-not-increasing", message, "Sort them.")
        for number, (finer, coarser) in enumerate(pairwise(self.cuts), start=2):
            if extra := [_plain(cut) for cut in coarser if cut not in finer]:
                message = (
                    f"the cut points {', '.join(extra)} of level {number} are not among those of level {number - 1}."
                )
                fix = "Each level leaves out cut points of the level before and adds none."
                report("cuts-not-nested", message, fix)
        if self.bounds is not None and self.bounds[0] > self.bounds[1]:
            message = f"the bounds {self.bounds[0]} and {self.bounds[1]} are in the wrong order."
            report("bounds", message, "Swap them.")

    def finite(self) -> list[Decimal]:
        """Every finite number of the declaration."""
        all_cuts = [cut for level in self.cuts for cut in level if cut.is_finite()]
        return [*self.widths, *all_cuts, self.origin, *(self.bounds or ())]

    def intervals(self, scale: DecimalScale) -> list[Callable[[int], tuple[End, End]]]:
        """For each level, the ends of the interval that a number lies in."""
        origin = scale.integer(self.origin)
        by_width = [_by_width(scale.integer(width), origin) for width in self.widths]
        return by_width or [_by_cuts(cuts) for cuts in self._scaled_cuts(scale)]

    def value_problems(
        self, values: Sequence[Label], counts: Sequence[int], integers: dict[str, int], scale: DecimalScale, where: str
    ) -> list[PolicyProblem]:
        """The values of the data that are no numbers, or that no interval holds."""
        present = [(value, count) for value, count in zip(values, counts, strict=True) if value is not None]
        problems = []
        if strays := [(value, count) for value, count in present if value not in integers]:
            fix = "Write plain numbers such as 1234.5, or declare the values as missing."
            problems.append(
                values_problem(where, "of the data are not numbers", strays, code="values-not-numbers", fix=fix)
            )
        numeric = [(value, count, integers[value]) for value, count in present if value in integers]
        if self.bounds is not None:
            low, high = (scale.integer(bound) for bound in self.bounds)
            if strays := [(value, count) for value, count, integer in numeric if not low <= integer <= high]:
                what = f"of the data lie outside the bounds [{scale.text(low)}, {scale.text(high)}]"
                fix = "Widen the bounds or correct the data."
                problems.append(values_problem(where, what, strays, code="values-outside-bounds", fix=fix))
        for level, cuts in enumerate(self._scaled_cuts(scale), start=1):
            if strays := [(value, count) for value, count, integer in numeric if not cuts[0] <= integer < cuts[-1]]:
                what = f"of the data lie outside the cut points of level {level}, {_ends(cuts[0], cuts[-1], scale)}"
                fix = "Add outer cut points, such as -inf and inf; an interval does not include its upper end."
                problems.append(values_problem(where, what, strays, code="values-outside-cuts", fix=fix))
        return problems

    def label(self, ends: tuple[End, End], scale: DecimalScale) -> str:
        """The interval as released, clipped to the bounds: closed above where the upper bound cuts it."""
        low, high = ends
        if self.bounds is None:
            return _ends(low, high, scale)
        least, most = (scale.integer(bound) for bound in self.bounds)
        return _ends(max(low, least), min(high, most), scale, closed=high > most)

    def _scaled_cuts(self, scale: DecimalScale) -> list[list[End]]:
        return [[scale.integer(cut) if cut.is_finite() else float(cut) for cut in level] for level in self.cuts]


def _by_width(width: int, origin: int) -> Callable[[int], tuple[End, End]]:
    def interval(integer: int) -> tuple[End, End]:
        low = (integer - origin) // width * width + origin
        return low, low + width

    return interval


def _by_cuts(cuts: Sequence[End]) -> Callable[[int], tuple[End, End]]:
    def interval(integer: int) -> tuple[End, End]:
        above = bisect_right(cuts, integer)
        return cuts[above - 1], cuts[above]

    return interval


def _ends(low: End, high: End, scale: DecimalScale, *, closed: bool = False) -> str:
    """An interval as text; an infinite end is open."""
    opening = "(" if low == -math.inf else "["
    return f"{opening}{_end(low, scale)}, {_end(high, scale)}{']' if closed else ')'}"


def _end(end: End, scale: DecimalScale) -> str:
    return str(end) if isinstance(end, float) else scale.text(end)


def _plain(number: Decimal) -> str:
    return str(float(number)) if number.is_infinite() else str(number)


def _decimal(given: object, *, infinite: bool) -> Decimal | None:
    """A number as a policy writes it, exactly; text is allowed since YAML reads some numbers as text."""
    if isinstance(given, bool) or not isinstance(given, int | float | str | Decimal):
        return None
    text = repr(given) if isinstance(given, float) else str(given)
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
)
