"""Which values a released label stands for, by the hierarchy that the policy declares for the column.

Everything follows from one function a kind: the *chain* of a value, its label at every level from the value itself to
the root. A value lies under a label when the label is in its chain; a boundary caps a chain at one of its levels
(Campan Def. 4-6). Without the original there are no values to take chains of: then a label is judged by examples of
values that can lie under it, or by its own form.
"""

import math
import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from shoal.verification.canonical_text import ROOT, Chain, Label


class Labels:
    """The labels that a declared hierarchy can give. Each kind has its own `chains`, and `examples` or `stands_at`."""

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """The chain of each of the distinct values of a column."""
        raise NotImplementedError

    def examples(self, label: str, boundary: Collection[Label]) -> list[Chain]:  # noqa: ARG002 - none by default
        """Chains of values, those under the label among them: one for each boundary that such a value can have."""
        return []

    def stands_at(self, label: str, released: Sequence[Label]) -> int | None:  # noqa: ARG002 - see level
        """The lowest level at which the label stands, at least; None if the declaration gives it to no value."""
        return min((chain.index(label) for chain in self.examples(label, ()) if label in chain), default=None)

    def knows(self, label: str) -> bool:
        """Whether the declaration can produce the label for some value."""
        return self.stands_at(label, [label]) is not None

    def level(self, label: Label, released: Sequence[Label]) -> int:
        """The level of a label, 0 for one that is unknown; ``released`` are all labels of the column."""
        return 0 if label is None else self.stands_at(label, released) or 0

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """Whether every value under the label has a boundary below the label, as far as the declaration tells."""
        chains = [] if label is None else self.examples(label, boundary)
        under = [chain[: chain.index(label)] for chain in chains if label in chain]
        return bool(under) and all(any(below in boundary for below in chain) for chain in under)


def missing_chain(height: int, root: Label = ROOT) -> Chain:
    """A missing value that no declaration has a group for: itself at every level below the root."""
    return (*(None for _ in range(height)), root)


@dataclass(frozen=True)
class FlatLabels(Labels):
    """A value or ``*``; any text may be a value, so the values under ``*`` are not known."""

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """The value, then the root."""
        return [(value, ROOT) for value in values]

    def stands_at(self, label: str, released: Sequence[Label]) -> int:  # noqa: ARG002 - see Labels
        """0 for a value, 1 for the root."""
        return int(label == ROOT)


@dataclass(frozen=True)
class ListedLabels(Labels):
    """A tree, a table of levels or an order: the policy lists every value with its chain."""

    declared: Mapping[Label, Chain]

    @cached_property
    def _levels(self) -> dict[Label, int]:
        levels: dict[Label, int] = {}
        for chain in self.declared.values():
            for level, label in enumerate(chain):
                levels[label] = min(level, levels.get(label, level))
        return levels

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """As declared; a missing value that is not declared hangs under the root."""
        first = next(iter(self.declared.values()))
        missing = missing_chain(len(first) - 1, first[-1])
        return [self.declared.get(value, missing if value is None else ()) for value in values]

    def examples(self, label: str, boundary: Collection[Label]) -> list[Chain]:  # noqa: ARG002 - all values are listed
        """The declared values under the label."""
        return [chain for chain in self.declared.values() if label in chain]

    def stands_at(self, label: str, released: Sequence[Label]) -> int | None:  # noqa: ARG002 - see Labels
        """As declared."""
        return self._levels.get(label)


_ALPHABETS = {
    "digits": string.digits,
    "letters": string.ascii_letters,
    "alphanumeric": string.ascii_letters + string.digits,
}


@dataclass(frozen=True)
class MaskLabels(Labels):
    """Characters replaced by ``*`` from one side."""

    side: str
    alphabet: str | None
    steps: tuple[int, ...] | None

    @property
    def _characters(self) -> set[str] | None:
        return None if self.alphabet is None else set(_ALPHABETS.get(self.alphabet, self.alphabet))

    @property
    def letters(self) -> int | None:
        """How many characters a value may be made of; None where any text may be one."""
        return None if self._characters is None else len(self._characters)

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """Levels go as far as the longest value; a value of one character stays itself up to the root."""
        longest = max((len(value) for value in values if value is not None), default=0)
        steps = self._steps(longest)
        return [
            missing_chain(len(steps) + 1)
            if value is None
            else (value, *(self._masked(value, step) for step in steps), ROOT)
            if self._is_value(value)
            else ()
            for value in values
        ]

    def _steps(self, longest: int) -> list[int]:
        """How many characters each level masks, for values up to a length."""
        return [step for step in (range(1, longest) if self.steps is None else self.steps) if step < longest]

    def _is_value(self, text: str) -> bool:
        characters = self._characters
        return ROOT not in text and (characters is None or characters.issuperset(text))

    def _masked(self, text: str, step: int) -> str:
        if len(text) == 1:
            return text
        stars = ROOT * min(step, len(text))
        return text[: len(text) - len(stars)] + stars if self.side == "right" else stars + text[len(stars) :]

    def stands_at(self, label: str, released: Sequence[Label]) -> int | None:
        """By the number of ``*``, if that is one of the steps; the root is above the masks of the longest label."""
        if label == ROOT:
            return 1 + len(self._steps(max((len(other) for other in released if other is not None), default=0)))
        stars, kept = label.count(ROOT), label.rstrip(ROOT) if self.side == "right" else label.lstrip(ROOT)
        if not self._is_value(kept):
            return None
        if not stars or self.steps is None:
            return stars
        known = stars in self.steps if kept else any(step >= stars for step in self.steps)
        return 1 + len([step for step in self.steps if step < stars]) if known else None

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """Told by counting, when the alphabet is declared and the label has a length (the root has none)."""
        characters = self._characters
        if characters is None or label is None or label == ROOT or ROOT not in label:
            return False
        under = [other for other in boundary if other is not None and self._above(label, other)]
        highest = [one for one in under if not any(self._above(other, one) for other in under)]
        letters = len(characters)
        return sum(math.prod([letters] * other.count(ROOT)) for other in highest) >= math.prod(
            [letters] * label.count(ROOT)
        )

    def _above(self, upper: str, lower: str) -> bool:
        """Whether one masked text lies strictly under another."""
        kept = upper.rstrip(ROOT) if self.side == "right" else upper.lstrip(ROOT)
        inside = lower.startswith(kept) if self.side == "right" else lower.endswith(kept)
        return len(upper) == len(lower) and upper != lower and inside and upper.count(ROOT) > lower.count(ROOT)
