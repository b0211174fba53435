"""Codes masked character by character: 14248 becomes 1424*, 142**, 14***, 1**** and at last ``*``."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log10

import numpy as np

from shoal.errors import PolicyProblem, did_you_mean
from shoal.hierarchies.assemble import Level, build
from shoal.hierarchies.hierarchy import BuiltHierarchy, Label
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind
from shoal.hierarchies.problems import refuse, values_problem

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
    steps: Sequence[int] | None = None
    """Which numbers of masked characters are levels: ``(1, 3)``; all by default. The root always is."""

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; values that hold ``*`` or a character off the alphabet are problems."""
        characters = ALPHABETS.get(self.alphabet, self.alphabet) if self.alphabet is not None else None
        refuse(self._problems(where) or _value_problems(values, counts, characters, where))
        leaves = sorted(value for value in values if value is not None)
        longest = max(map(len, leaves), default=0)
        if characters is not None and longest * log10(len(set(characters))) > _LARGEST_DOMAIN:
            message, facts = f"there are too many texts of {longest:,} characters to count.", {"longest": longest}
            refuse([PolicyProblem(where, message, "Leave the alphabet out.", facts, code="alphabet-too-large")])
        steps = range(1, longest) if self.steps is None else [step for step in self.steps if step < longest]
        levels = [Level.of(leaves)]
        for step in steps:
            below = levels[-1]
            masked = [self._masked(label or "", step) for label in below.labels]
            merged = Level.of(masked)
            levels.append(Level(merged.groups[below.groups], merged.labels))
        levels.append(Level.root(len(leaves)))
        if characters is not None:
            levels = _spanned(levels, len(set(characters)), {len(leaf) for leaf in leaves})
        return build(levels, values, None, where)

    def _masked(self, text: str, step: int) -> str:
        """A value, or one that is masked less, with a number of its characters masked."""
        masked = min(step, len(text))
        if len(text) < 2:
            return text
        kept = len(text) - masked
        return text[:kept] + MASK * masked if self.side == "right" else MASK * masked + text[masked:]

    def _problems(self, where: str) -> list[PolicyProblem]:
        """What is wrong with the declaration itself."""
        problems = []
        if self.side not in SIDES:
            message = f"a mask works from the right or the left, not from {self.side!r}."
            problems.append(PolicyProblem(where, message, did_you_mean(self.side, SIDES), code="unknown-side"))
        if self.alphabet is not None and (not self.alphabet or MASK in self.alphabet):
            message = f"the alphabet {self.alphabet!r} is empty or contains {MASK!r}."
            problems.append(PolicyProblem(where, message, did_you_mean(self.alphabet, ALPHABETS), code="alphabet"))
        steps = () if self.steps is None else self.steps
        whole = all(isinstance(step, int) and not isinstance(step, bool) for step in steps)
        if not whole or any(low >= high for low, high in pairwise([0, *steps])):
            message = f"the steps {list(steps)} are not increasing whole numbers from 1."
            fix = "Write how many characters each level masks: [1, 3, 5]."
            problems.append(PolicyProblem(where, message, fix, code="mask-steps"))
        return problems


def _value_problems(
    values: Sequence[Label], counts: Sequence[int], characters: str | None, where: str
) -> list[PolicyProblem]:
    """The values of the data that cannot be masked."""
    present = [(value, count) for value, count in zip(values, counts, strict=True) if value is not None]
    problems = []
    if starred := [(value, count) for value, count in present if MASK in value]:
        fix = "They would read as masked values: replace the character in the data."
        problems.append(
            values_problem(where, f"of the data contain {MASK!r}", starred, code="values-contain-mask", fix=fix)
        )
    if characters is not None:
        allowed = set(characters) | {MASK}
        if strays := [(value, count) for value, count in present if not allowed.issuperset(value)]:
            what = f"of the data contain characters outside the alphabet {characters!r}"
            fix = "Widen the alphabet or correct the data."
            problems.append(values_problem(where, what, strays, code="values-not-in-alphabet", fix=fix))
    return problems


def _spanned(levels: Sequence[Level], letters: int, lengths: set[int]) -> list[Level]:
    """The levels with the size of the domain: every text of the alphabet in the lengths that are present."""
    spanned = [
        Level(
            level.groups,
            level.labels,
            np.array([float(letters) ** (label or "").count(MASK) for label in level.labels]),
        )
        for level in levels[:-1]
    ]
    root = levels[-1]
    return [*spanned, Level(root.groups, root.labels, np.array([sum(float(letters) ** length for length in lengths)]))]


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
)
