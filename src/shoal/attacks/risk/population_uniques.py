"""How many uniques of a table are unique in the population too: three estimators, and which of them to believe.

The table is a sample of n of N = n/π people, drawn with equal probabilities π. It has u classes, s_i of them of size i.
Each estimator gives S_1, the classes of one person in the population; as each of them is in the table with probability
π, the table has π S_1 of them, at most s_1.

- *Zayatz* (L. Zayatz, "Estimation of the percent of unique population elements on a microdata file using the sample",
  U.S. Bureau of the Census, 1991). A class of i people leaves one record with the probability iπ(1-π)^(i-1), so by
  Bayes, with the class sizes of the table in place of those of the population,

      P(unique in the population | unique in the table) = s_1 π / Σ_i s_i iπ(1-π)^(i-1).

- *Pitman* (N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", Journal of
  Official Statistics 17(4), 2001). Class sizes follow Pitman's formula with 0 < α < 1 and θ > -α, fitted by maximum
  likelihood. The expected uniques of a population are N Γ(θ+1) Γ(θ+α+N-1) / (Γ(θ+α) Γ(θ+N)), for large N Hoshino's
  N^α Γ(θ+1)/Γ(θ+α).
- *SNB*, slide negative binomial (G. Chen, S. Keller-McNulty, "Estimation of identification disclosure risk in
  microdata", Journal of Official Statistics 14(1), 1998). A class of the population has 1 + X people, X negative
  binomial with G(z) = E z^X = (β/(1-(1-β)z))^α. With q = 1-π, G = G(q) and K classes in the population, the expected
  classes, uniques and records of the sample are what it has:

      u = K (1 - qG),   s_1 = K πG (1 + qα(1-β)/(1-(1-β)q)),   N = K (1 + α(1-β)/β);   S_1 = K β^α.

The rule of F. K. Dankar, K. El Emam, A. Neisa, T. Roffey, "Estimating the re-identification risk of clinical data
sets", BMC Medical Informatics and Decision Making 12:66, 2012: Pitman for π ≤ 0.1, else the smaller of SNB and Zayatz;
Zayatz where the other has no estimate.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.facts import Facts
from shoal.table.encoded import Counts

Floats = NDArray[np.float64]
_SMALL_FRACTION = 0.1  # up to here Dankar's rule believes Pitman
_STEPS = 50  # halvings of a bracket, which is then too narrow to matter
_LEAST_ALPHA = 1e-3  # below, Pitman's formula is Ewens' for all that a table can tell
_GRID = 4000  # points at which the equation of SNB is looked at before its root is narrowed down
_LARGE = 1e6  # from here on two terms of Stirling's series have twelve digits
_CLOSE = 1e-6  # by so much, relative to their terms, the equations may be off at a root


@dataclass(frozen=True, eq=False)
class Estimate(Facts):
    """What one estimator says; no figures where it has no estimate."""

    estimator: str
    outcome: str
    """A code: ``estimated``, ``no-uniques``, ``all-unique``, ``one-class``, ``no-maximum``, ``no-solution``,
    ``several-solutions`` or ``not-converged``."""
    probability_that_a_unique_is_unique_in_the_population: float | None
    expected_population_uniques_in_the_table: float | None
    uniques_in_the_population: float | None
    """S_1, of whom only a share is in the table."""


@dataclass(frozen=True, eq=False)
class PopulationUniques(Facts):
    """How many uniques of the table are thought to be unique in the population."""

    sampling_fraction: float
    probability_that_a_unique_is_unique_in_the_population: float
    expected_population_uniques_in_the_table: float
    estimator: str
    """The one that these figures are of, by the rule of Dankar et al. 2012."""
    estimates: tuple[Estimate, ...]
    """Those of all estimators."""


def population_uniques(sizes: Counts, sampling_fraction: float) -> PopulationUniques:
    """Every estimate from the class sizes of the table, and the one to believe."""
    sample = _Sample.of(sizes, sampling_fraction)
    zayatz, pitman, snb = (_estimate(sample, *each) for each in _ESTIMATORS)
    preferred = [pitman] if sampling_fraction <= _SMALL_FRACTION else [zayatz, snb]
    usable = [each for each in preferred if each.outcome == "estimated"] or [zayatz]
    chosen = min(usable, key=lambda each: each.expected_population_uniques_in_the_table or 0.0)
    return PopulationUniques(
        sampling_fraction,
        chosen.probability_that_a_unique_is_unique_in_the_population or 0.0,
        chosen.expected_population_uniques_in_the_table or 0.0,
        chosen.estimator,
        (zayatz, pitman, snb),
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """The class sizes of the table."""

    sizes: Floats  # the different ones
    classes: Floats  # how many classes have each
    n: int
    u: int
    uniques: int
    fraction: float

    @staticmethod
    def of(sizes: Counts, fraction: float) -> "_Sample":
        size, classes = np.unique(sizes, return_counts=True)
        uniques = int(classes[0]) if size[0] == 1 else 0
        return _Sample(size.astype(float), classes.astype(float), int(sizes.sum()), len(sizes), uniques, fraction)

    @property
    def population(self) -> float:
        return self.n / self.fraction


class _NoEstimateError(Exception):
    """An estimator has no estimate; its text is the code of why."""


def _estimate(sample: _Sample, name: str, fit: Callable[[_Sample], float]) -> Estimate:
    """The result of an estimator; the uniques of the table bound what it can say."""
    if not sample.uniques and fit is not _zayatz:
        return Estimate(name, "no-uniques", None, None, None)
    try:
        found = min(fit(sample), sample.uniques / sample.fraction)
    except _NoEstimateError as reason:
        return Estimate(name, str(reason), None, None, None)
    inside = found * sample.fraction
    return Estimate(name, "estimated", inside / max(sample.uniques, 1), inside, found)


def _zayatz(sample: _Sample) -> float:
    leaving_one = sample.classes * sample.sizes * sample.fraction * (1 - sample.fraction) ** (sample.sizes - 1)
    return sample.uniques * (leaving_one[0] / leaving_one.sum()) / sample.fraction if sample.uniques else 0.0


# --- Pitman ---------------------------------------------------------------------------------------------------------


def _pitman(sample: _Sample) -> float:
    """Maximum likelihood: for each α the best θ, and the α at which the slope along these is 0."""
    if sample.u == sample.n:
        raise _NoEstimateError("all-unique")  # the likelihood grows with θ without end
    if sample.u == 1:
        raise _NoEstimateError("one-class")
    low, high = _LEAST_ALPHA, 1 - 1e-12
    if _slope_of_alpha(sample, low, _best_theta(sample, low)) <= 0:
        raise _NoEstimateError("no-maximum")  # it is highest at α = 0 or below, where the formula is another one
    alpha = _root(lambda value: _slope_of_alpha(sample, value, _best_theta(sample, value)), low, high)
    theta, n = _best_theta(sample, alpha), sample.population
    terms = _sum_of_reciprocals(theta, alpha, sample.u), _sum_of_reciprocals(theta, 1.0, sample.n)
    if not abs(terms[0] - terms[1]) <= _CLOSE * (terms[0] + terms[1]):
        raise _NoEstimateError("not-converged")
    return n * math.exp(_log_gamma_step(theta + alpha, 1 - alpha) + _log_gamma_step(theta + n, alpha - 1))


def _log_gamma_step(x: float, step: float) -> float:
    """log Γ(x + step) - log Γ(x); of large numbers by Stirling's series, since their difference has few digits left."""
    if x < _LARGE:
        return math.lgamma(x + step) - math.lgamma(x)
    return step * math.log(x) + step * (step - 1) / (2 * x)


def _best_theta(sample: _Sample, alpha: float) -> float:
    """The root of Σ_{i=1}^{u-1} 1/(θ+iα) - Σ_{i=1}^{n-1} 1/(θ+i), which falls from +∞ at -α to below 0."""

    def slope(log_distance: float) -> float:
        theta = math.exp(log_distance) - alpha
        return _sum_of_reciprocals(theta, alpha, sample.u) - _sum_of_reciprocals(theta, 1.0, sample.n)

    return math.exp(_root(slope, -30.0, 2 * math.log(sample.n) + 30.0)) - alpha


def _sum_of_reciprocals(theta: float, alpha: float, count: int) -> float:
    """Σ_{i=1}^{count-1} 1/(θ+iα)."""
    start = theta / alpha + 1
    return (_digamma(start + count - 1) - _digamma(start)) / alpha


def _slope_of_alpha(sample: _Sample, alpha: float, theta: float) -> float:
    """Σ_{i=1}^{u-1} i/(θ+iα) - Σ_j s_j Σ_{i=1}^{j-1} 1/(i-α)."""
    more = (sample.u - 1 - theta * _sum_of_reciprocals(theta, alpha, sample.u)) / alpha
    within = np.array([_digamma(size - alpha) for size in sample.sizes.tolist()]) - _digamma(1 - alpha)
    return float(more - (sample.classes * within).sum())


def _digamma(x: float) -> float:
    """The derivative of log Γ for x > 0: by its asymptotic series above 10, to which the recurrence leads."""
    below = 0.0
    while x < 10:
        below += 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return math.log(x) - 0.5 / x - series - below


# --- slide negative binomial ----------------------------------------------------------------------------------------


def _snb(sample: _Sample) -> float:
    """One unknown is left: for each G the equations give K, then α(1-β)/β, then β; G must be what these make it."""
    if sample.fraction == 1:
        return float(sample.uniques)
    shares = (np.arange(_GRID) + 0.5) / _GRID
    error = np.array([_snb_error(sample, share)[0] for share in shares])
    found = np.flatnonzero(np.isfinite(error[:-1]) & np.isfinite(error[1:]) & (error[:-1] * error[1:] < 0))
    if len(found) != 1:
        raise _NoEstimateError("several-solutions" if len(found) else "no-solution")
    at = int(found[0])
    share = _root(lambda value: _snb_error(sample, value)[0], float(shares[at]), float(shares[at + 1]))
    off, uniques = _snb_error(sample, share)
    if not abs(off) <= _CLOSE:
        raise _NoEstimateError("not-converged")
    return uniques


def _snb_error(sample: _Sample, g: float) -> tuple[float, float]:
    """By how much log G is not what it should be, and S_1; not a number where no α and β fit."""
    pi, q = sample.fraction, 1 - sample.fraction
    classes = sample.u / (1 - q * g)
    mean = sample.population / classes - 1  # α(1-β)/β
    ratio = sample.uniques / (classes * pi * g) - 1  # qα(1-β)/(1-(1-β)q)
    if not 0 < ratio < q * mean:
        return math.nan, math.nan
    beta = ratio * pi / (q * (mean - ratio))
    if not 0 < beta < 1:
        return math.nan, math.nan
    alpha = mean * beta / (1 - beta)
    return math.log(g) - alpha * math.log(beta / (pi + q * beta)), classes * beta**alpha


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """Where f is 0 between two points at which it has different signs, by halving."""
    above = f(low) > 0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if (f(middle) > 0) == above else (low, middle)
    return (low + high) / 2


_ESTIMATORS: tuple[tuple[str, Callable[[_Sample], float]], ...] = (
    ("Zayatz 1991", _zayatz),
    ("Pitman (Hoshino 2001)", _pitman),
    ("SNB (Chen and Keller-McNulty 1998)", _snb),
)
