"""Which values a released label stands for, by the hierarchy that the policy declares for the column.

Everything follows from one function a kind: the *chain* of a value, its label at every level from the value itself to
the root. A value lies under a label when the label is in its chain; a boundary caps a chain at one of its places
(Campan Def. 4-6). Without the original there are no values to take chains of: then a label is judged by its own form.
"""

from __future__ import annotations

import csv
import io
import math
import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from shoal.errors import DataError
from shoal.verification.canonical_text import ROOT, Chain, Label, scalar_text
from shoal.verification.dates import DateLabels
from shoal.verification.intervals import IntervalLabels
from shoal.verification.stated_policy import StatedPolicy


class Labels(Protocol):
    """The labels that a declared hierarchy can give."""

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """The chain of each of the distinct values of a column."""
        ...

    def knows(self, label: str) -> bool:
        """Whether the declaration can produce the label for some value."""
        ...

    def level(self, label: Label, released: Sequence[Label]) -> int:
        """The lowest level at which the label stands, at least; ``released`` are all labels of the column."""
        ...

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """Whether every value under the label has a boundary below the label, as far as the declaration tells."""
        ...


def labels_of(policy: StatedPolicy, column: str) -> Labels:
    """The labels of a column with a hierarchy; flat when none is declared."""
    nothing: tuple[str, Any] = ("flat", None)
    kind, declared = next(iter(policy.columns[column].hierarchy.items()), nothing)
    if kind == "flat":
        return FlatLabels()
    if kind == "intervals":
        return IntervalLabels.read(declared)
    if kind == "mask":
        steps = None if declared["steps"] is None else tuple(declared["steps"])
        return MaskLabels(declared["side"], declared["alphabet"], steps)
    if kind == "dates":
        return DateLabels(tuple(declared["units"]), declared["format"])
    if kind == "order":
        return ListedLabels(ordered_chains(declared["values"], declared["groups"]))
    if kind == "levels":
        return ListedLabels(level_rows(policy.path(declared["path"]), declared["separator"]))
    return ListedLabels(tree_chains(declared))


def missing_chain(height: int, root: Label = ROOT) -> Chain:
    """A missing value that no declaration places: itself at every level below the root."""
    return (*(None for _ in range(height)), root)


@dataclass(frozen=True)
class FlatLabels:
    """A value or ``*``."""

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """The value, then the root."""
        return [(value, ROOT) for value in values]

    def knows(self, label: str) -> bool:  # noqa: ARG002 - any text may be a value
        """Any text may be a value."""
        return True

    def level(self, label: Label, released: Sequence[Label]) -> int:  # noqa: ARG002 - see Labels
        """0 for a value, 1 for the root."""
        return int(label == ROOT)

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:  # noqa: ARG002 - see Labels
        """The policy does not list the values under the root."""
        return False


@dataclass(frozen=True)
class ListedLabels:
    """A tree, a table of levels or an order: the policy lists every value with its chain."""

    declared: Mapping[Label, Chain]

    @cached_property
    def _levels(self) -> dict[Label, int]:
        levels: dict[Label, int] = {None: 0}
        for chain in self.declared.values():
            for level, label in enumerate(chain):
                levels[label] = min(level, levels.get(label, level))
        return levels

    def chains(self, values: Sequence[Label]) -> list[Chain]:
        """As declared; a missing value that is not declared hangs under the root."""
        first = next(iter(self.declared.values()))
        missing = missing_chain(len(first) - 1, first[-1])
        return [self.declared.get(value, missing if value is None else ()) for value in values]

    def knows(self, label: str) -> bool:
        """Whether it is a value or a group of the declaration."""
        return label in self._levels

    def level(self, label: Label, released: Sequence[Label]) -> int:  # noqa: ARG002 - see Labels
        """As declared; 0 for labels that are not."""
        return self._levels.get(label, 0)

    def covered(self, label: Label, boundary: Collection[Label]) -> bool:
        """Whether the chain of every declared value meets a boundary before the label."""
        under = [chain[: chain.index(label)] for chain in self.declared.values() if label in chain]
        return bool(under) and all(any(below in boundary for below in chain) for chain in under)


_ALPHABETS = {
    "digits": string.digits,
    "letters": string.ascii_letters,
    "alphanumeric": string.ascii_letters + string.digits,
}


@dataclass(frozen=True)
class MaskLabels:
    """Characters replaced by ``*`` from one side."""

    side: str
    alphabet: str | None
    steps: tuple[int, ...] | None

    @property
    def _characters(self) -> set[str] | None:
        return None if self.alphabet is None else set(_ALPHABETS.get(self.alphabet, self.alphabet))

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

    def knows(self, label: str) -> bool:
        """A row of ``*`` at the right end of what is left of a value, as long as one of the steps."""
        stars = label.count(ROOT)
        if label == ROOT or not stars:
            return label == ROOT or self._is_value(label)
        kept = label.rstrip(ROOT) if self.side == "right" else label.lstrip(ROOT)
        if not self._is_value(kept):
            return False
        if self.steps is None:
            return True
        return stars in self.steps if kept else any(step >= stars for step in self.steps)

    def level(self, label: Label, released: Sequence[Label]) -> int:
        """By the number of ``*``; the root stands above the masks of the longest label released."""
        if label is None or ROOT not in label:
            return 0
        if label == ROOT:
            longest = max((len(other) for other in released if other is not None), default=0)
            return 1 + len(self._steps(longest))
        stars = label.count(ROOT)
        return stars if self.steps is None else 1 + len([step for step in self.steps if step < stars])

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


def tree_chains(nested: Any) -> dict[Label, Chain]:
    """The chains of a tree.

    A name with nothing under it is a value. One name on top with something under it is the root, else ``*`` is. Levels
    are counted from the root, so a value nearer to the root stays itself longer.
    """
    single = isinstance(nested, Mapping) and len(nested) == 1 and bool(next(iter(nested.values())))
    paths = list(_paths(nested, () if single else (ROOT,)))
    height = max((len(path) for path in paths), default=1) - 1
    return {path[0]: (*(path[0] for _ in range(height + 1 - len(path))), *path) for path in paths}


def _paths(node: Any, above: Chain) -> Iterator[Chain]:
    """Each value with its groups up to the root."""
    if isinstance(node, Mapping):
        for name, below in node.items():
            if below:
                yield from _paths(below, (scalar_text(name), *above))
            else:
                yield (scalar_text(name), *above)
    elif isinstance(node, list | tuple):
        for each in node:
            yield from _paths(each, above)
    else:
        yield (scalar_text(node), *above)


def level_rows(path: Path, separator: str | None) -> dict[Label, Chain]:
    """The chains of a CSV file with one line a value, then its ancestors; ``*`` is added unless it ends in one root.

    Without a separator it is the first of semicolon, tab and comma that gives every line the same fields, two or more.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The table of levels {path} cannot be read: {error}.", code="unreadable-file") from None
    for each in (separator,) if separator is not None else (";", "\t", ","):
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=each, strict=True) if row]
        except csv.Error:
            continue
        if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1:
            chains = [tuple(field or None for field in row) for row in rows]
            if len({chain[-1] for chain in chains}) > 1:
                chains = [(*chain, ROOT) for chain in chains]
            return {chain[0]: chain for chain in chains}
    raise DataError(
        f"The table of levels {path} is not one: its lines have no common number of fields, two or more.",
        code="invalid-levels-file",
    )


def ordered_chains(values: Sequence[Any], groups: Sequence[int] | None) -> dict[Label, Chain]:
    """The chains of an order: groups of neighbours ``first..last``, doubling by default, below the size of them all."""
    texts = [scalar_text(value) for value in values]
    sizes = [size for size in (_doubling(len(texts)) if groups is None else groups) if size < len(texts)]
    return {
        text: (text, *(_group(texts, place - place % size, size) for size in sizes), ROOT)
        for place, text in enumerate(texts)
    }


def _doubling(count: int) -> list[int]:
    sizes = [2]
    while sizes[-1] < count:
        sizes.append(2 * sizes[-1])
    return sizes


def _group(texts: Sequence[Label], start: int, size: int) -> Label:
    """A group is named by its ends; a group of one is its value."""
    block = ["(missing)" if text is None else text for text in texts[start : start + size]]
    return texts[start] if len(block) == 1 else f"{block[0]}..{block[-1]}"
