"""The risk of a survey once more, from the definitions: sums term by term, products of fractions, many digits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction


def individual_risk(f: int, weights: float) -> float:
    """E[1/F | f]: the sum over F = f, f + 1, … of 1/F times its negative binomial probability."""
    p = min(f / weights, 1.0)
    if p == 1.0:
        return 1 / f
    logarithm, terms, total = f * math.log(p), [], 0.0  # p^f may be too small for a double
    j = f
    while total < 1 - 1e-12 and j < 50 * f / p:
        probability = math.exp(logarithm)
        terms.append(probability / j)
        total += probability
        logarithm += math.log((1 - p) * j / (j - f + 1))
        j += 1
    return math.fsum(terms)


def individual_risk_in_many_digits(f: int, weights: float) -> float:
    """The recurrence of the integral, with so many digits that none can be lost."""
    with localcontext() as context:
        context.prec = 50 + 8 * f  # each step may multiply an error by p/q
        p = Decimal(f) / Decimal(weights)
        q = 1 - p
        found = p / q * (1 / p).ln()
        for i in range(1, f):
            found = p / q * (Decimal(1) / i - found)
        return float(found)


def class_risks(classes: Sequence[Hashable], weights: Sequence[float] | None) -> list[float]:
    """The risk of each record."""
    sizes, sums = Counter(classes), Counter[Hashable]()
    if weights is None:
        return [1 / sizes[each] for each in classes]
    for each, weight in zip(classes, weights, strict=True):
        sums[each] += weight  # type: ignore[assignment]
    return [individual_risk(sizes[each], sums[each]) for each in classes]


def household_risks(households: Sequence[Hashable], risks: Sequence[float]) -> dict[Hashable, float]:
    """1 - Π(1 - r) over the members, in fractions."""
    missed: dict[Hashable, Fraction] = {}
    for household, risk in zip(households, risks, strict=True):
        missed[household] = missed.get(household, Fraction(1)) * (1 - Fraction(risk))
    return {household: float(1 - each) for household, each in missed.items()}


def pitman_log_likelihood(sizes: Sequence[int], theta: float, alpha: float) -> float:
    """The logarithm of Pitman's formula but for what does not depend on the parameters."""
    n, u = sum(sizes), len(sizes)
    found = sum(math.log(theta + i * alpha) for i in range(1, u)) - sum(math.log(theta + i) for i in range(1, n))
    return found + sum(math.log(i - alpha) for size in sizes for i in range(1, size))


def pitman_expected_uniques(n: int, theta: float, alpha: float) -> float:
    """Each of n people is alone if none of those after them joins: a product of probabilities."""
    return n * math.exp(sum(math.log1p((alpha - 1) / (theta + i)) for i in range(1, n)))


def snb_expected(classes: int, alpha: float, beta: float, fraction: float) -> tuple[float, float, float, float]:
    """Expected records, classes and uniques of a sample, and uniques of the population, summed over class sizes."""
    probability, n, u, s_1, alone = beta**alpha, 0.0, 0.0, 0.0, beta**alpha
    for x in range(2000):
        size = 1 + x
        n += probability * size * fraction
        u += probability * (1 - (1 - fraction) ** size)
        s_1 += probability * size * fraction * (1 - fraction) ** (size - 1)
        probability *= (alpha + x) / (x + 1) * (1 - beta)
    return classes * n, classes * u, classes * s_1, classes * alone
