"""Random dealings of the values that a release has, from which attacks learn what chance would expose.

Class sizes and the frequency of each value stay as they are; who has which value is left to chance. That is what a
release shows whose classes have nothing to do with the secret. Values are dealt over all classes or, where the question
is what something else tells *within* a class, within each of them. Everything is drawn by a seed, from histograms or
from records in an order that depends on what they hold, so the order of records in a file does not matter.
"""

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.table.classes import Counts

DRAWS = 499
"""Dealings over all classes in one test, at most; fewer for more than 800 records, but never fewer than `FEWEST`."""
FEWEST = 99
DEALT = 10_000
"""Records up to which all are dealt within classes; of more, those of classes drawn at random that have as many."""
_CELLS = 400_000  # records dealt in one test, unless that makes too few dealings
_WORD = 64  # values that one word of bits tells apart
_MANY = 1000  # values from which on sorting is faster
_CELLS_AT_A_TIME = 1_000_000
_FIRST = 20  # dealings of the first lot: enough to stop where chance explains what was observed

Hands = NDArray[Any]
"""A row per dealing: the code of the value of each record."""


def draws_for(records: int) -> int:
    """How many dealings of so many records to make."""
    return min(DRAWS, max(FEWEST, _CELLS // max(records, 1)))


def dealings(codes: NDArray[Any], seed: int, *, draws: int | None = None) -> Iterator[Hands]:
    """The codes of records in random order, some dealings at a time."""
    random = np.random.default_rng([seed, len(codes)])
    for some in _lots(len(codes), draws):
        yield random.permuted(np.broadcast_to(codes, (some, len(codes))), axis=1)


def drawn_dealings(totals: Counts, taken: int, seed: int, *, draws: int | None = None) -> Iterator[Hands]:
    """The same where only some of the records are dealt: ``taken`` out of those that ``totals`` counts by value."""
    if taken == int(totals.sum()):
        yield from dealings(np.repeat(np.arange(len(totals)), totals), seed, draws=draws)
        return
    random = np.random.default_rng([seed, taken])
    for some in _lots(max(taken, len(totals)), draws):
        counts = random.multivariate_hypergeometric(totals, taken, size=some, method="marginals")
        codes = np.repeat(np.tile(np.arange(len(totals)), some), counts.ravel()).reshape(some, taken)
        yield random.permuted(codes, axis=1)


def _lots(records: int, draws: int | None) -> Iterator[int]:
    """How many dealings to make at a time: a few at first, since they often suffice."""
    draws = draws_for(records) if draws is None else draws
    left, most = draws, max(1, _CELLS_AT_A_TIME // max(records, 1))
    while left:
        some = min(left, most, _FIRST if left == draws else most)
        yield some
        left -= some


def generator_for(seed: int, *records: Counts) -> np.random.Generator:
    """Random numbers by a seed and by what is dealt.

    By the seed alone, all tables of one size would be dealt in the same orders; where these happen to be ones that
    reach little, chance would be called a leak in all of these tables.
    """
    content = [zlib.crc32(each.astype("<i8").tobytes()) for each in records]
    return np.random.default_rng([seed, *content])


def dealt_within(owner: Counts, times: int, generator: np.random.Generator) -> Iterator[Counts]:
    """Random orders of records that lie by class, each record moving within its class only."""
    n = len(owner)
    bits = max(n - 1, 1).bit_length()
    drawn = 62 - bits - int(owner[-1] if n else 0).bit_length()
    place, base = np.arange(n, dtype=np.int64), owner << (62 - int(owner[-1] if n else 0).bit_length())
    for _ in range(times):
        keys = base + (generator.integers(0, 1 << drawn, size=n, dtype=np.int64) << bits) + place
        keys.sort()
        yield keys & ((1 << bits) - 1)


def dealt_records(owner: Counts, seed: int, most: int = DEALT) -> Counts:
    """The records that are dealt, by the class of each: all, or those of some classes where there are very many."""
    if len(owner) <= most:
        return np.arange(len(owner))
    generator, sizes = np.random.default_rng(seed), np.bincount(owner)
    drawn = generator.permutation(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[drawn]), most)) + 1
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    chosen[drawn[:enough]] = True
    found = np.flatnonzero(chosen[owner])
    if len(found) > 2 * most:  # a class that is very large by itself
        found = np.sort(generator.choice(found, size=most, replace=False))
    return found


def dealt_counts(hands: Hands, owner: Counts, n_classes: int, n_values: int) -> Counts:
    """The histograms of dealings: ``[dealing, class, value]``; ``owner`` is the class of each record."""
    cells = n_classes * n_values
    keys = hands + owner * n_values + np.arange(len(hands), dtype=np.int64)[:, None] * cells
    return np.bincount(keys.ravel(), minlength=len(hands) * cells).reshape(len(hands), n_classes, n_values)


def distinct_values(hands: Hands, starts: Counts, most: int) -> Counts:
    """How many different values each class has in each dealing, ``most`` standing for as many and for more.

    ``starts`` is where classes begin, none of which is empty.
    """
    width = int(hands.max(initial=0)) + 1
    if width > _MANY:
        return np.minimum(_by_sorting(hands, starts, width), most)
    found = np.zeros((len(hands), len(starts)), dtype=np.int64)
    for first in range(0, width, _WORD):
        bits = np.zeros(max(width, first + _WORD), dtype=np.uint64)
        bits[first : first + _WORD] = np.uint64(1) << np.arange(_WORD, dtype=np.uint64)
        present = np.bitwise_or.reduceat(bits[hands], starts, axis=1)
        for _ in range(most):
            found += present != 0
            present &= present - (present != 0)  # without its lowest bit
    return np.minimum(found, most)


def _by_sorting(hands: Hands, starts: Counts, width: int) -> Counts:
    stratum = np.repeat(np.arange(len(starts)), np.diff(starts, append=hands.shape[1]))
    ordered = np.sort(hands + stratum * width, axis=1)  # classes keep their records
    new = np.ones(ordered.shape, dtype=np.int64)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return np.add.reduceat(new, starts, axis=1)
