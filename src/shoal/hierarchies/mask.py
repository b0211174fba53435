"""Codes masked character by character: 14248 becomes 1424*, 142**, 14***, 1**** and at last ``*``."""

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log10

from shoal.errors import did_you_mean
from shoal.hierarchies.assemble import Level, build
from shoal.hierarchies.hierarchy import ROOT_LABEL, BuiltHierarchy, Label
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind
from shoal.hierarchies.problems import Problems, refuse

MASK = "*"
SIDES = ("right", "left")
ALPHABETS = {
    "digits": string.digits,
    "letters": string.ascii_letters,
    "alphanumeric": string.ascii_letters + string.digits,
}
_LARGEST_DOMAIN = 300  # digits of the largest number of values that a float still counts


@dataclass(frozen=True)
class Mask:
    """Level l replaces the l rightmost (leftmost) characters by ``*``; the last level is the root ``*``.

    The height is the length of the longest value. A shorter value is masked as far as it is long and keeps its row of
    ``*`` up to the root; a value of one character stays itself up to the root, since its mask would read as the root.
    """

    side: str = "right"
    alphabet: str | None = None
    """``digits``, ``letters`` (both cases), ``alphanumeric``, or the characters themselves. When given, values consist
    of it and a masked value covers all values that it could stand for; without it, those that are present."""
    steps: Sequence[int] | None = None  # which numbers of masked characters are levels; all by default

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; values that hold ``*`` or a character off the alphabet are problems."""
        characters = ALPHABETS.get(self.alphabet, self.alphabet) if self.alphabet is not None else None
        problems = Problems(where)
        self._check(problems)
        problems.refuse()
        _check_values(values, counts, characters, problems)
        problems.refuse()
        leaves = sorted(value for value in values if value is not None)
        longest = max(map(len, leaves), default=0)
        if characters is not None and longest * log10(len(set(characters))) > _LARGEST_DOMAIN:
            message = f"there are too many texts of {longest:,} characters to count."
            refuse(where, message, "Leave the alphabet out.", code="alphabet-too-large", longest=longest)
        steps = self._steps(longest)
        levels = [Level.of(leaves)]
        for step in steps:
            levels.append(levels[-1].joined(self._masked(label or "", step) for label in levels[-1].labels))
        levels.append(Level.root(len(leaves)))
        if characters is None:
            return build(levels, values, where)
        size = float(len(set(characters)))
        domain = sum(size**length for length in {len(leaf) for leaf in leaves}) + (None in values)

        def span(label: Label) -> float:
            """How many texts of the alphabet a label covers, in the lengths that are present."""
            return domain if label == ROOT_LABEL else size ** (label or "").count(MASK)

        return build(levels, values, where, span=span)

    def height_of(self, labels: Iterable[Label]) -> int:
        """The height for values as long as the longest of some labels: masking keeps the length, up to the root."""
        longest = max((len(label) for label in labels if label is not None), default=0)
        return len(self._steps(longest)) + 1

    def _steps(self, longest: int) -> Sequence[int]:
        """How many characters each level masks, below the root."""
        return range(1, longest) if self.steps is None else [step for step in self.steps if step < longest]

    def _masked(self, text: str, step: int) -> str:
        """A value, or one that is masked less, with a number of its characters masked."""
        masked = min(step, len(text))
        if len(text) < 2:
            return text
        kept = len(text) - masked
        return text[:kept] + MASK * masked if self.side == "right" else MASK * masked + text[masked:]

    def _check(self, problems: Problems) -> None:
        if self.side not in SIDES:
            message = f"a mask works from the right or the left, not from {self.side!r}."
            problems.add(message, did_you_mean(self.side, SIDES), code="unknown-side")
        if self.alphabet is not None and (not self.alphabet or MASK in self.alphabet):
            message = f"the alphabet {self.alphabet!r} is empty or contains {MASK!r}."
            problems.add(message, did_you_mean(self.alphabet, ALPHABETS), code="alphabet")
        steps = () if self.steps is None else self.steps
        whole = all(isinstance(step, int) and not isinstance(step, bool) for step in steps)
        if not whole or any(low >= high for low, high in pairwise([0, *steps])):
            message = f"the steps {list(steps)} are not increasing whole numbers from 1."
            fix = "Write how many characters each level masks: [1, 3, 5]."
            problems.add(message, fix, code="mask-steps")


def _check_values(values: Sequence[Label], counts: Sequence[int], characters: str | None, problems: Problems) -> None:
    """The values of the data that cannot be masked."""
    present = [(value, count) for value, count in zip(values, counts, strict=True) if value is not None]
    starred = [(value, count) for value, count in present if MASK in value]
    fix = "They would read as masked values: replace the character in the data."
    problems.add_values(f"of the data contain {MASK!r}", starred, fix, code="values-contain-mask")
    if characters is not None:
        allowed = set(characters) | {MASK}
        strays = [(value, count) for value, count in present if not allowed.issuperset(value)]
        what = f"of the data contain characters outside the alphabet {characters!r}"
        problems.add_values(what, strays, "Widen the alphabet or correct the data.", code="values-not-in-alphabet")


KIND = HierarchyKind(
    key="mask",
    summary="Characters replaced by * from one side.",
    fields=(
        HierarchyField("side", FieldKind.CHOICE, default="right", choices=("left", "right")),
        HierarchyField("alphabet", FieldKind.TEXT, "digits, letters, alphanumeric, or the characters themselves", None),
        HierarchyField("steps", FieldKind.WHOLES, "how many characters each level masks; each by default", None),
    ),
    build=lambda fields, _folder, _where: Mask(**fields),
    example="right",
    short_forms=({"enum": ["left", "right"]},),
    expand=lambda value: {"side": value} if isinstance(value, str) else value,
    by_name=True,
    shown_height=lambda fields, labels: Mask(**fields).height_of(labels),
)
