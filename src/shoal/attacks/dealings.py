"""Permutation tests: what an attack would find if the same values were dealt over the same classes at random.

Class sizes and the frequency of each value stay as they are; who has which value is left to chance. That is what a
release shows whose classes have nothing to do with the secret, so an attack that finds no more in the release than in
such dealings has found nothing. ``strata`` keep each value within its group of records: what the attacker knows anyway.

The p-value is the sequential one of J. Besag, P. Clifford, "Sequential Monte Carlo p-values", 1991: dealings are made
until `ENOUGH` of them reach what was observed, and the p-value is `ENOUGH` over their number; if fewer do so among all
of them, it is (1 + hits) / (1 + dealings). Neither is ever 0, and where chance alone is at work either is at most x
with probability x or less. Everything is drawn by a seed, from histograms, so the order of records does not matter.

Most classes are so large that chance hardly ever exposes them. They are not dealt: what an attack finds there counts,
and the probability that chance would expose any of them is added to the p-value.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.table.classes import Counts, Floats, Mask

DRAWS = 499
"""Dealings of one test, at most; fewer for more than 2,000 records, but never fewer than `FEWEST`."""
FEWEST = 99
ENOUGH = 10
_CELLS = 1_000_000  # records dealt in one test, unless that makes too few dealings
_WORD = 64  # values that one word of bits tells apart
_MANY = 1000  # values from which on sorting is faster
_NEGLIGIBLE = 1e-4  # the probability that chance exposes any of the classes that are not dealt
_CELLS_AT_A_TIME = 1_000_000
_FIRST = 20  # dealings of the first lot: enough to stop where chance explains what was observed
_TOLERANCE = 1e-9  # sums of shares may differ in their last digits

Hands = NDArray[Any]
"""A row per dealing: the code of the value of each record."""


def draws_for(records: int) -> int:
    """How many dealings of so many records to make."""
    return min(DRAWS, max(FEWEST, _CELLS // max(records, 1)))


def dealings(
    codes: NDArray[Any], seed: int, *, strata: Counts | None = None, draws: int | None = None
) -> Iterator[Hands]:
    """The codes of records in random order, some dealings at a time; within each of the strata where these are given.

    ``strata`` has the stratum of each record and must ascend.
    """
    random = np.random.default_rng([seed, len(codes)])
    for some in _lots(len(codes), draws):
        if strata is None:
            yield random.permuted(np.broadcast_to(codes, (some, len(codes))), axis=1)
        else:
            yield codes[np.argsort(random.random((some, len(codes))) + strata, axis=1)]


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


def p_values(observed: Floats | list[float], dealt: Iterable[NDArray[Any]]) -> Floats:
    """How probable figures at least as large as each one observed are in dealings.

    ``dealt`` gives the same figures of dealings, some at a time: a row per dealing, a column per figure.
    """
    limits = np.asarray(observed, dtype=np.float64)
    limits = limits - _TOLERANCE * np.maximum(np.abs(limits), 1)
    hits, made = np.zeros(len(limits), dtype=np.int64), 0
    found = np.full(len(limits), np.nan)
    for figures in dealt:
        reached = hits + np.cumsum(np.asarray(figures).reshape(-1, len(limits)) >= limits, axis=0)
        for index in np.flatnonzero(np.isnan(found) & (reached[-1] >= ENOUGH)).tolist():
            found[index] = ENOUGH / (made + int(np.argmax(reached[:, index] >= ENOUGH)) + 1)
        hits, made = reached[-1], made + len(reached)
        if not np.isnan(found).any():
            break
    return np.where(np.isnan(found), (1 + hits) / (1 + made), found)


def permutation_test(
    codes: NDArray[Any],
    statistic: Callable[[Hands], NDArray[Any]],
    seed: int,
    *,
    strata: Counts | None = None,
    draws: int | None = None,
) -> float:
    """The p-value of one figure of records, larger being worse; ``statistic`` computes it for each row of hands."""
    observed = float(statistic(codes[None, :])[0])
    dealt = (statistic(hands).reshape(-1, 1) for hands in dealings(codes, seed, strata=strata, draws=draws))
    return float(p_values([observed], dealt)[0])


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


def classes_to_deal(chances: Floats) -> tuple[Mask, float]:
    """Which classes have to be dealt, by the probability of each to be exposed by chance, and the probability that any
    of the others is."""
    order = np.argsort(chances, kind="stable")
    left_out = np.cumsum(chances[order]) <= _NEGLIGIBLE
    dealt = np.ones(len(chances), dtype=np.bool_)
    dealt[order[left_out]] = False
    return dealt, float(chances[~dealt].sum())


def exposed_p_values(
    observed: Sequence[float],
    exposed: Callable[[Hands, Counts], NDArray[Any]],
    figures: tuple[Counts, Counts, Floats],
    seed: int,
) -> list[float]:
    """The p-values of how many records attacks expose.

    ``exposed`` says how many each one exposes in each of some hands, given where the classes begin; ``figures`` are the
    records of each class and of each value, and the largest probability of each class to be exposed by chance.
    """
    sizes, totals, chances = figures
    if not any(observed):
        return [1.0] * len(observed)
    dealt, beyond = classes_to_deal(np.where(sizes > 0, chances, 0.0))
    dealt &= sizes > 0
    found = np.zeros(len(observed))
    if dealt.any():
        starts = np.concatenate([[0], np.cumsum(sizes[dealt])[:-1]])
        hands = drawn_dealings(totals, int(sizes[dealt].sum()), seed)
        found = p_values(list(observed), (exposed(each, starts) for each in hands))
    corrected = np.maximum(np.minimum(found + beyond, 1.0), np.finfo(np.float64).tiny)
    return [1.0 if not each else float(p) for each, p in zip(observed, corrected, strict=True)]
