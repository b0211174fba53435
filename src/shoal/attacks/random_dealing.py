"""What a random dealing of the same values does: the test by which a finding is told from chance.

Records of a class are exchangeable where a secret has nothing to do with anything else that is published. So the secret
is dealt anew within the classes, many times, and a figure counts as more than chance only where no dealing reaches it
(Fisher 1935; Pitman 1937). Several figures are judged together by the largest of them, each in units of its own
spread (Westfall & Young 1993): if nothing is behind any of them, *any* is called more than chance in one table of
twenty at most.
"""

import zlib
from collections.abc import Iterator

import numpy as np

from shoal.attacks.released_classes import Ints
from shoal.attacks.statistics import log_choose
from shoal.table.classes import Counts, Floats, Mask

DEALINGS = 29
"""Dealings of a test: at the level, none of them may reach what was found. That happens by chance in one of thirty."""
DEALT = 20_000
"""Records up to which all are dealt; of more, those of classes drawn at random that have as many."""
_TIE = 1e-9
_LEAST = 1e-6  # spread of a figure that never changes


def generator_for(seed: int, *records: Ints) -> np.random.Generator:
    """Random numbers by a seed and by what is dealt.

    By the seed alone, all tables of one size would be dealt in the same orders; where these happen to be ones that
    reach little, chance would be called a leak in all of these tables.
    """
    content = [zlib.crc32(each.astype("<i8").tobytes()) for each in records]
    return np.random.default_rng([seed, *content])


def dealings_for(tests: int) -> int:
    """Dealings that resolve the level when it is shared among several tests."""
    return (DEALINGS + 1) * tests - 1


def dealt_within(owner: Ints, times: int, generator: np.random.Generator) -> Iterator[Ints]:
    """Random orders of records that lie by class, each record moving within its class only."""
    n = len(owner)
    bits = max(n - 1, 1).bit_length()
    drawn = 62 - bits - int(owner[-1] if n else 0).bit_length()
    place, base = np.arange(n, dtype=np.int64), owner << (62 - int(owner[-1] if n else 0).bit_length())
    for _ in range(times):
        keys = base + (generator.integers(0, 1 << drawn, size=n, dtype=np.int64) << bits) + place
        keys.sort()
        yield keys & ((1 << bits) - 1)


def in_spreads(figures: Floats, *, counts: Mask | bool) -> Floats:
    """Figures of the observed table (first) and of dealings, by row: how many spreads each lies above the other rows.

    Every row is held against all others in the same way, so that under exchangeability each is as likely as any other
    to be the observed one. Where the figures are ``counts``, the spread is the square root of the largest at least: a
    count that is nearly always 0 must not look extreme in the one row where it is not.
    """
    others = len(figures) - 1
    centred = figures - figures.mean(axis=0)
    mean = -centred / others  # of the other rows, whose sum is minus this one
    variance = ((centred**2).sum(axis=0) - centred**2) / others - mean**2
    least = np.where(counts, np.sqrt(figures.max(axis=0)), _LEAST)
    return np.asarray((centred - mean) / np.maximum(np.sqrt(np.maximum(variance, 0.0)), np.maximum(least, _LEAST)))


def p_values(spreads: Floats, largest: Floats | None = None) -> Floats:
    """For each column of figures how probable one as extreme is in any of them.

    ``largest`` is the largest figure of each dealing where other figures are judged together with these.
    """
    if not spreads.shape[1]:
        return np.zeros(0)
    most = spreads[1:].max(axis=1) if largest is None else largest
    reached = np.count_nonzero(most[:, None] >= spreads[0] - _TIE, axis=0)
    return np.asarray((1 + reached) / len(spreads))


def expected_belief(sizes: Counts, of_class: Counts, alike: Floats) -> float:
    """Mean of Σ c²/m over the values of groups, summed, where values are dealt within classes.

    ``sizes`` are the records m of each group, ``of_class`` those n of its class, and ``alike`` the sum of the squared
    shares p² of the values in the class: E c² = m²p² + m·p·(1 - p)·(n - m)/(n - 1).
    """
    return float((sizes * alike + (1 - alike) * (of_class - sizes) / np.maximum(of_class - 1, 1)).sum())


def expected_certain(sizes: Counts, group_class: Ints, starts: Ints, counts: Counts) -> float:
    """Records in groups of a single value where values are dealt within classes: Σ m · Σ_v C(n_v, m) / C(n, m).

    Class ``c`` has the value counts ``counts[starts[c]:starts[c + 1]]``.
    """
    width = int(sizes.max(initial=0)) + 1
    pairs, times = np.unique(group_class * width + sizes, return_counts=True)
    cls, m = pairs // width, pairs % width
    lengths = np.diff(starts)
    totals = np.add.reduceat(np.concatenate([counts, [0]]), starts[:-1]) * (lengths > 0)
    repeated = np.repeat(np.arange(len(pairs)), lengths[cls])
    offsets = np.arange(len(repeated)) - np.repeat(np.cumsum(lengths[cls]) - lengths[cls], lengths[cls])
    n_v = counts[starts[cls][repeated] + offsets]
    possible = n_v >= m[repeated]
    repeated, n_v = repeated[possible], n_v[possible]
    chance = np.exp(log_choose(n_v, m[repeated]) - log_choose(totals[cls[repeated]], m[repeated]))
    return float((m * times * np.bincount(repeated, weights=chance, minlength=len(pairs))).sum())


def dealt_records(owner: Ints, seed: int, most: int = DEALT) -> Ints:
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
