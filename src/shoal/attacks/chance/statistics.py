"""How far chance reaches: intervals of shares, exact tails of random dealings, and the level at which leaks count.

Every share that is estimated from a sample comes with its Wilson interval (Wilson 1927), every difference of two shares
with Newcombe's (1998, method 10). What a random dealing of the secrets over the classes would do is hypergeometric,
and is counted from its exact probabilities; where these are out of reach, dealings are made
(`shoal.attacks.chance.random_dealings`). Of several tests the p-values are corrected after Holm (1979), so that all
together keep the level.
"""

import math
from collections.abc import Sequence

import numpy as np

from shoal.table.classes import Counts, Floats, Mask

Interval = tuple[float, float]

CHANCE = 0.05
"""The level of every test: where nothing ties the secrets to the release, an attack calls that a leak in one release
of twenty at most."""
Z_95 = 1.959963984540054  # A normal variable lies within so many standard deviations with 95 %
_TABLE = 256
_SMALL = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, _TABLE)))])
_SMALL.flags.writeable = False


def wilson(successes: float, trials: float) -> Interval:
    """The Wilson interval of a share; (0, 1) where nothing was tried."""
    if trials <= 0:
        return 0.0, 1.0
    share, spread = successes / trials, Z_95 * Z_95 / trials
    middle = (share + spread / 2) / (1 + spread)
    half = Z_95 / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, middle - half), min(1.0, middle + half)


def difference(one: tuple[float, float], other: tuple[float, float]) -> Interval:
    """The interval of how much larger the first share is, each given as (successes, trials)."""
    first, second = one[0] / one[1], other[0] / other[1]
    (low_1, high_1), (low_2, high_2) = wilson(*one), wilson(*other)
    gap = first - second
    return (gap - math.hypot(first - low_1, high_2 - second), gap + math.hypot(high_1 - first, second - low_2))


def mean_interval(values: Floats) -> Interval:
    """The normal interval of a mean of figures between 0 and 1."""
    if len(values) < 2:
        return 0.0, 1.0
    middle, half = float(values.mean()), Z_95 * float(values.std(ddof=1)) / math.sqrt(len(values))
    return max(0.0, middle - half), min(1.0, middle + half)


def log_factorial(numbers: Counts) -> Floats:
    """ln(n!) of each number: a table below 256, Stirling's series from there on (relative error below 1e-16)."""
    if numbers.max(initial=0) < _TABLE:
        return np.asarray(_SMALL[numbers])
    n = np.maximum(numbers, _TABLE).astype(np.float64)
    series = n * np.log(n) - n + 0.5 * np.log(2 * math.pi * n) + 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
    return np.where(numbers < _TABLE, _SMALL[np.minimum(numbers, _TABLE - 1)], series)


def log_choose(n: Counts, k: Counts) -> Floats:
    """ln of the binomial coefficient; minus infinity where k is larger than n."""
    possible = k <= n
    k = np.where(possible, k, 0)
    value = log_factorial(n) - log_factorial(k) - log_factorial(n - k)
    return np.where(possible, value, -np.inf)


def expected_by_chance(sizes: Counts, totals: Counts) -> float:
    """Records in classes of a single kind if kinds were dealt at random: Σ n · Σ_v C(total_v, n) / C(N, n)."""
    distinct, times = np.unique(sizes, return_counts=True)
    everyone = np.full_like(distinct, int(totals.sum()))
    ways = log_choose(everyone, distinct)
    alike = sum(np.exp(log_choose(np.full_like(distinct, total), distinct) - ways) for total in totals[totals > 0])
    return float((distinct * times * alike).sum())


def expected_belief(sizes: Counts, of_class: Counts, alike: Floats) -> float:
    """Mean of Σ c²/m over the values of groups, summed, where values are dealt within classes.

    ``sizes`` are the records m of each group, ``of_class`` those n of its class, and ``alike`` the sum of the squared
    shares p² of the values in the class: E c² = m²p² + m·p·(1 - p)·(n - m)/(n - 1).
    """
    return float((sizes * alike + (1 - alike) * (of_class - sizes) / np.maximum(of_class - 1, 1)).sum())


def expected_certain(sizes: Counts, group_class: Counts, starts: Counts, counts: Counts) -> float:
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


def rare_dealings(hits: Counts, drawn: Counts, marked: Counts, total: int, limit: float) -> Mask:
    """Whether ``drawn`` of ``total`` records, ``marked`` of which are special, hold ``hits`` of these by rare chance.

    Rare is P(X ≥ hits) ≤ limit for the hypergeometric X. Above the mean each term of the tail is the last one times a
    falling ratio r, so the tail lies between its first term and that over 1 - r; only where the limit falls between
    the two are its terms added up.
    """
    expected = drawn * (marked / max(total, 1))
    ways = log_choose(marked, hits) + log_choose(total - marked, drawn - hits)
    first = np.exp(ways - log_choose(np.full_like(drawn, total), drawn))
    rest = np.maximum(total - marked - drawn + hits + 1, 1).astype(np.float64)
    ratio = (marked - hits) / (hits + 1.0) * (drawn - hits) / rest
    beyond = (hits > expected) & (first <= limit)
    sure = np.asarray(beyond & (first <= limit * (1 - ratio)))
    for index in np.flatnonzero(beyond & ~sure).tolist():
        term = tail = float(first[index])
        x, n, m = int(hits[index]), int(drawn[index]), int(marked[index])
        while term > tail * 1e-17:
            term *= (m - x) * (n - x) / ((x + 1) * (total - m - n + x + 1))
            tail, x = tail + term, x + 1
        sure[index] = tail <= limit
    return sure


def hypergeometric_tails(hits: Counts, drawn: Counts, marked: Counts, total: int) -> Floats:
    """P(X ≥ hits) for ``drawn`` of ``total`` records, ``marked`` of which are special: the terms are added up."""
    least = np.maximum(drawn + marked - total, 0)
    x = np.maximum(hits, least).astype(np.float64)
    ways = log_choose(marked, x.astype(np.int64)) + log_choose(total - marked, drawn - x.astype(np.int64))
    term = np.where(hits > np.minimum(drawn, marked), 0.0, np.exp(ways - log_choose(np.full_like(drawn, total), drawn)))
    tail, active = term.copy(), np.flatnonzero(term > 0)
    mean = drawn * (marked / max(total, 1))
    while len(active):
        at, n, m = x[active], drawn[active], marked[active]
        term[active] *= (m - at) * (n - at) / ((at + 1) * (total - m - n + at + 1))
        tail[active] += term[active]
        x[active] += 1
        active = active[(term[active] > tail[active] * 1e-17) | ((x[active] < mean[active]) & (term[active] > 0))]
    return np.asarray(np.minimum(np.where(hits <= least, 1.0, tail), 1.0))


def smallest_tail(hits: Counts, drawn: Counts, marked: Counts, total: int) -> float:
    """The smallest of these tails among the cells with more hits than on average; 1 where there is none.

    A tail lies between its first term and that over 1 - r, the ratio of the first two terms; only those are added up
    that can be the smallest.
    """
    above = hits * total > drawn * marked
    hits, drawn, marked = hits[above], drawn[above], marked[above]
    if not len(hits):
        return 1.0
    ways = log_choose(marked, hits) + log_choose(total - marked, drawn - hits)
    first = np.exp(ways - log_choose(np.full_like(drawn, total), drawn))
    ratio = (marked - hits) / (hits + 1.0) * (drawn - hits) / np.maximum(total - marked - drawn + hits + 1, 1)
    some = first <= (first / (1 - ratio)).min()
    return float(hypergeometric_tails(hits[some], drawn[some], marked[some], total).min())


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several tests, corrected so that all together keep the level (Holm 1979)."""
    corrected, largest = list(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda each: (p_values[each], each))):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected
