"""How far chance reaches: intervals of shares, and exact tails of random dealings.

Every share that is estimated from a sample comes with its Wilson interval (Wilson 1927), every difference of two shares
with Newcombe's (1998, method 10). What a random dealing of the secrets over the classes would do is hypergeometric,
and is counted from its exact probabilities.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shoal.table.classes import Floats, Mask

Ints = NDArray[np.int64]
Interval = tuple[float, float]

Z_95 = 1.959963984540054  # A normal variable lies within so many standard deviations with 95 %
_TABLE = 256


def wilson(successes: float, trials: float, z: float = Z_95) -> Interval:
    """The Wilson interval of a share; (0, 1) where nothing was tried."""
    if trials <= 0:
        return 0.0, 1.0
    share, spread = successes / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, middle - half), min(1.0, middle + half)


def difference(one: tuple[float, float], other: tuple[float, float], z: float = Z_95) -> Interval:
    """The interval of how much larger the first share is, each given as (successes, trials)."""
    (a, n), (b, m) = one, other
    first, second = a / n, b / m
    (low_1, high_1), (low_2, high_2) = wilson(a, n, z), wilson(b, m, z)
    gap = first - second
    return (gap - math.hypot(first - low_1, high_2 - second), gap + math.hypot(high_1 - first, second - low_2))


def mean_interval(values: Floats, z: float = Z_95) -> Interval:
    """The normal interval of a mean of figures between 0 and 1."""
    if len(values) < 2:
        return 0.0, 1.0
    middle, half = float(values.mean()), z * float(values.std(ddof=1)) / math.sqrt(len(values))
    return max(0.0, middle - half), min(1.0, middle + half)


def log_factorial(numbers: Ints) -> Floats:
    """ln(n!) of each number: a table below 256, Stirling's series from there on (relative error below 1e-16)."""
    small = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, _TABLE)))])
    n = np.maximum(numbers, _TABLE).astype(np.float64)
    series = n * np.log(n) - n + 0.5 * np.log(2 * math.pi * n) + 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
    return np.where(numbers < _TABLE, small[np.minimum(numbers, _TABLE - 1)], series)


def log_choose(n: Ints, k: Ints) -> Floats:
    """ln of the binomial coefficient; minus infinity where k is larger than n."""
    possible = k <= n
    k = np.where(possible, k, 0)
    value = log_factorial(n) - log_factorial(k) - log_factorial(n - k)
    return np.where(possible, value, -np.inf)


def expected_by_chance(sizes: Ints, totals: Ints) -> float:
    """Records in classes of a single kind if kinds were dealt at random: Σ n · Σ_v C(total_v, n) / C(N, n)."""
    distinct, times = np.unique(sizes, return_counts=True)
    everyone = np.full_like(distinct, int(totals.sum()))
    alike = sum(np.exp(log_choose(np.full_like(distinct, total), distinct) - log_choose(everyone, distinct))
                for total in totals[totals > 0])  # fmt: skip
    return float((distinct * times * alike).sum())


def rare_dealings(found: Ints, drawn: Ints, marked: Ints, total: int, limit: float) -> Mask:
    """Whether ``drawn`` of ``total`` records, ``marked`` of which are special, hold ``found`` of these by rare chance.

    Rare is P(X ≥ found) ≤ limit for the hypergeometric X. Above the mean each term of the tail is the last one times a
    falling ratio r, so the tail lies between its first term and that over 1 - r; only where the limit falls between
    the two are its terms added up.
    """
    expected = drawn * (marked / max(total, 1))
    ways = log_choose(marked, found) + log_choose(total - marked, drawn - found)
    first = np.exp(ways - log_choose(np.full_like(drawn, total), drawn))
    rest = np.maximum(total - marked - drawn + found + 1, 1).astype(np.float64)
    ratio = (marked - found) / (found + 1.0) * (drawn - found) / rest
    beyond = (found > expected) & (first <= limit)
    sure = np.asarray(beyond & (first <= limit * (1 - ratio)))
    for place in np.flatnonzero(beyond & ~sure).tolist():
        tail = _tail(float(first[place]), int(found[place]), int(drawn[place]), int(marked[place]), total)
        sure[place] = tail <= limit
    return sure


def _tail(first: float, found: int, drawn: int, marked: int, total: int) -> float:
    """P(X ≥ found) from its first term on."""
    term, tail = first, first
    while term > tail * 1e-17:
        term *= (marked - found) * (drawn - found) / ((found + 1) * (total - marked - drawn + found + 1))
        tail, found = tail + term, found + 1
    return tail
