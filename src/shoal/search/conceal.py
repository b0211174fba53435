"""Concealing why a search stopped: some of what would hold is refused as well, by a draw that only a key can repeat.

A search refuses a cut, a node or a group only where a model fails. Somebody who knows everybody's quasi-identifiers,
the policy and this code can therefore ask which secrets explain a refusal, and sometimes only one answer is left.
Where the policy asks to ``conceal``, the searches answer at random (S. L. Warner, "Randomized response", 1965): what
fails is refused, and what holds is refused too with a probability of `REFUSED` at most, a whole group with that of
`decoy_chances`. A refusal then says that something fails or that it was drawn, and nobody but the owner knows which: it
changes odds by a factor of 1 / probability at most, and excludes nothing.

The draw is a function of the key and of the identity of what is decided: which quasi-identifiers, how many records of
each. Secrets are no part of it, so a decision has one answer in a run, and the same answer in
every run with the same key. A refusal never makes anything hold that does not.

What is drawn, by the purpose that `Veto.refuses` is asked for:

- ``node``: each node of the lattice, by its levels. Searches over the lattice pass over refused nodes when they choose,
  unless every satisfying node is refused.
- ``cut``: each cut of a class, by the records of the class and of the parts that it would be cut into.
- ``part``: each part of a cut that holds, by the records of the class and of the part.
- ``group``: each group that may be suppressed, by its records: `shoal.search.decoys`.
- ``whole``: each step back of a local recoding that a model on the whole release asks for, by its number.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from shoal.table.classes import Counts, Floats, Mask

REFUSED = 0.1
"""The probability with which a search refuses a node, or a cut of a small class, that would hold."""
HALF_REFUSED = 0.05
"""The probability with which a small class of clusters is not divided: there is no other way to divide it."""
PART_REFUSED = 0.02
"""The probability with which one part of a cut of a small class goes to the rest of its class although it holds."""
SMALL = 2
"""A class is small up to this many times the records that it needs at least."""
DECOYS = 0.01
"""The share of the records that may be expected to be suppressed although their group holds."""

Marks = NDArray[np.uint64]
"""Numbers that stand for quasi-identifiers, or for sets of records by their quasi-identifiers; secret like the key."""

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of SplitMix64's finalizer


class Veto:
    """The answers that a key gives; the key is shown nowhere."""

    def __init__(self, key: bytes, *, given: bool) -> None:
        self._key = hashlib.blake2b(key, digest_size=32).digest()
        self.given = given
        """Whether the owner gave the key, so that a run can be repeated; else it was made for this run."""

    def __repr__(self) -> str:
        return f"Veto(given={self.given})"

    def marks(self, codes: NDArray[np.int32]) -> Marks:
        """The mark of each tuple of quasi-identifier codes, ``codes[column, tuple]``."""
        rows = np.ascontiguousarray(codes.T, dtype="<i4")
        found = [self._digest(b"tuple", row.tobytes()) for row in rows]
        return np.frombuffer(b"".join(found), dtype="<u8").astype(np.uint64)

    def refuses(self, purpose: str, *identity: Marks, chance: float | Floats = REFUSED) -> Mask:
        """Which of some candidates are refused although they hold; each is what the numbers of its identity say."""
        return np.asarray(self.draws(purpose, *identity) < chance, dtype=np.bool_)

    def draws(self, purpose: str, *identity: Marks) -> Floats:
        """A number from 0 to 1 for each candidate, as good as drawn for whoever does not have the key."""
        salt = np.frombuffer(self._digest(b"salt", purpose.encode(), size=16), dtype="<u8").astype(np.uint64)
        mixed = np.full(len(identity[0]), salt[0])
        for part in identity:
            mixed = mixed_marks(mixed ^ part)
        return (mixed_marks(mixed ^ salt[1]) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def _digest(self, person: bytes, message: bytes, size: int = 8) -> bytes:
        return hashlib.blake2b(message, digest_size=size, key=self._key, person=person).digest()


class NothingRefused(Veto):
    """Refuses nothing by chance: a search that conceals then goes as its models say."""

    def __init__(self) -> None:
        super().__init__(b"", given=True)

    def refuses(self, purpose: str, *identity: Marks, chance: float | Floats = REFUSED) -> Mask:  # noqa: ARG002
        """None of the candidates."""
        return np.zeros(len(identity[0]), dtype=np.bool_)


def summed_marks(marks: Marks, count: Counts, group: NDArray[np.int64], n: int) -> Marks:
    """The mark of each of ``n`` groups of records: the sum over its records, so their order does not matter."""
    order = np.argsort(group, kind="stable")
    result = np.zeros(n, dtype=np.uint64)
    if len(order):
        there, starts = np.unique(group[order], return_index=True)
        result[there] = np.add.reduceat(marks[order] * count[order].astype(np.uint64), starts)
    return result


def as_marks(numbers: NDArray[np.integer] | list[int]) -> Marks:
    """Small numbers, such as columns and levels, as part of an identity."""
    return np.asarray(numbers, dtype=np.int64).astype(np.uint64)


def smallness(sizes: Counts, least: int) -> Floats:
    """By how much the probability of refusing a cut of a class is lowered: 1 for small classes, less for larger ones.

    Large classes fail less often, and not cutting one costs more. ``least``: records that a class needs.
    """
    lowered: Floats = np.minimum(1.0, SMALL * least / np.maximum(sizes, 1))
    return lowered


def uncut_chance(records: int, *, needed: int, smallest: int) -> float:
    """The most probably that a class stays whole although a cut of it holds.

    The cut is refused, or at least one of its parts that hold is, of which there are no more than ``records //
    smallest``. ``needed``: records that a class needs by all models, ``smallest``: by those on sizes.
    """
    small = float(smallness(np.array([records]), needed)[0])
    return min(1.0, small * (REFUSED + PART_REFUSED * (records // max(smallest, 1))))


def decoy_chances(sizes: Counts) -> Floats:
    """The probability with which each group that holds is suppressed, given the records of those that might be.

    `DECOYS` of all records are expected to be left out; small groups are drawn more often than large ones, as they are
    the ones that fail more often, but none more often than `REFUSED`.
    """
    if not len(sizes):
        return np.zeros(0)
    chances: Floats = np.minimum(REFUSED, DECOYS * sizes.mean() / sizes)
    return chances


def mixed_marks(numbers: Marks) -> Marks:
    """A permutation of the 64-bit numbers after which sums of some say nothing about sums of others (SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _FIRST
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _SECOND
    return numbers ^ (numbers >> np.uint64(31))
