"""Permutation tests: whether random dealings of the same values show as much as an attack has found.

Where the classes have nothing to do with a secret, records may be exchanged, and the release is one of the dealings. So
a figure is more than chance only where few dealings reach it (Fisher 1935; Pitman 1937).

The p-value is the sequential one of J. Besag, P. Clifford, "Sequential Monte Carlo p-values", 1991: dealings are made
until `ENOUGH` of them reach what was observed, and the p-value is `ENOUGH` over their number; if fewer do so among all
of them, it is (1 + hits) / (1 + dealings). Neither is ever 0, and where chance alone is at work either is at most x
with probability x or less.

Most classes are so large that chance hardly ever exposes them. They are not dealt: what an attack finds there counts,
and the probability that chance would expose any of them is added to the p-value.

Many figures of the same dealings are judged together by the largest of them, each in units of its own spread (Westfall
& Young 1993): if nothing is behind any of them, *any* is called more than chance in one table of twenty at most.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.chance.random_dealings import Hands, drawn_dealings
from shoal.table.classes import Counts, Floats, Mask

ENOUGH = 10
DEALINGS = 29
"""Dealings of a test of many figures: at the level, none may reach what was found, which is so by chance in one table
of thirty."""
_NEGLIGIBLE = 1e-4  # the probability that chance exposes any of the classes that are not dealt
_TOLERANCE = 1e-9  # sums of shares may differ in their last digits
_LEAST = 1e-6  # spread of a figure that never changes


def dealings_for(tests: int) -> int:
    """Dealings that resolve the level when it is shared among several tests."""
    return (DEALINGS + 1) * tests - 1


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


def joint_p_values(spreads: Floats, largest: Floats | None = None) -> Floats:
    """For each column of figures how probable one as extreme is in any of them.

    ``largest`` is the largest figure of each dealing where other figures are judged together with these.
    """
    if not spreads.shape[1]:
        return np.zeros(0)
    most = spreads[1:].max(axis=1) if largest is None else largest
    reached = np.count_nonzero(most[:, None] >= spreads[0] - _TOLERANCE, axis=0)
    return np.asarray((1 + reached) / len(spreads))
