"""Dealing secrets to people: every way with its probability where these are few, else ways drawn at random.

Somebody who knows no more than the release finds every assignment of the secrets of a class to its people equally
likely. So many records of each secret for a cell of n records stand for n! / Π x! of these assignments. A record that
was left out has each secret with its prior probability, whatever the others have.

What explains a release may be improbable beforehand. Half of the draws for people who were left out therefore come from
a distribution in which one secret often prevails (a Dirichlet-multinomial whose parameters add up to 1), weighted by
how much less probable they really are.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.released_classes import Ints
from shoal.attacks.statistics import log_choose, log_factorial
from shoal.table.classes import Floats


@dataclass(frozen=True, eq=False)
class Dealings:
    """Ways to deal secrets to some cells, and how probable each is."""

    counts: Ints  # ``counts[way, cell, secret]``
    weights: Floats  # they add up to 1
    exact: bool  # whether these are all ways


def all_dealings(sizes: Ints, totals: Ints, most: int) -> Dealings | None:
    """Every way to deal the secrets of a class to its cells; None where there are more than so many."""
    assigned = log_factorial(totals.sum()[None]).sum() - log_factorial(totals).sum()  # ways to deal to each person
    if assigned - log_factorial(sizes).sum() > math.log(most):  # a way stands for no more of these than Π n!
        return None
    ways: list[tuple[tuple[int, ...], ...]] = []
    present = np.flatnonzero(totals)
    for way in _tables(sizes.tolist(), tuple(totals[present].tolist())):
        if len(ways) == most:
            return None
        ways.append(way)
    counts = np.zeros((len(ways), len(sizes), len(totals)), dtype=np.int64)
    counts[:, :, present] = np.array(ways, dtype=np.int64).reshape(len(ways), len(sizes), len(present))
    return Dealings(counts, _probabilities(counts, np.zeros(len(totals))), exact=True)


def all_draws(size: int, prior: Floats, most: int) -> Dealings | None:
    """Every way in which the records of a cell that was left out may have secrets; None where there are too many."""
    present = np.flatnonzero(prior)
    if math.comb(size + len(present) - 1, len(present) - 1) > most:
        return None
    ways = list(_shares(size, (size,) * len(present)))
    counts = np.zeros((len(ways), 1, len(prior)), dtype=np.int64)
    counts[:, 0, present] = np.array(ways, dtype=np.int64).reshape(len(ways), len(present))
    return Dealings(counts, _probabilities(counts, np.log(np.where(prior > 0, prior, 1.0))), exact=True)


def some_dealings(sizes: Ints, totals: Ints, number: int, seed: Sequence[int]) -> Dealings:
    """So many random ways to deal the secrets of a class to its cells."""
    rng = np.random.default_rng(list(seed))
    dealt = rng.permuted(np.tile(np.repeat(np.arange(len(totals)), totals), (number, 1)), axis=1)
    keys = np.repeat(np.arange(len(sizes)), sizes) * len(totals) + dealt
    keys += (np.arange(number) * len(sizes) * len(totals))[:, None]
    counts = np.bincount(keys.ravel(), minlength=number * len(sizes) * len(totals))
    shaped = counts.reshape(number, len(sizes), len(totals)).astype(np.int64)
    return Dealings(shaped, np.full(number, 1 / number), exact=False)


def some_of_a_part(sizes: Ints, totals: Ints, number: int, seed: Sequence[int]) -> Dealings:
    """So many random ways to deal the secrets of a class to one part of it and the rest; half of them are drawn so that
    one secret often prevails in the part."""
    rng, present, size = np.random.default_rng(list(seed)), np.flatnonzero(totals), int(sizes[0])
    left, flat = totals[present], np.full(len(present), 1 / len(present))
    few = number // 2
    drawn = rng.multivariate_hypergeometric(left, size, number - few)
    drawn = np.vstack([drawn, *(rng.multinomial(size, p)[None] for p in rng.dirichlet(flat, few))])
    truly = log_choose(np.broadcast_to(left, drawn.shape), drawn).sum(axis=1)
    truly -= log_choose(np.array([left.sum()]), np.array([size]))[0]
    tilted = log_factorial(np.array([size]))[0] - log_factorial(drawn).sum(axis=1) + _log_tilted(flat, drawn, size)
    possible = np.isfinite(truly)
    weights = np.where(possible, np.exp(np.where(possible, truly, 0.0) - np.logaddexp(truly, tilted)), 0.0)
    counts = np.zeros((number, 2, len(totals)), dtype=np.int64)
    counts[:, 0, present] = drawn
    counts[:, 1] = totals - counts[:, 0]
    return Dealings(counts[possible], weights[possible] / weights.sum(), exact=False)


def some_draws(size: int, prior: Floats, number: int, seed: Sequence[int]) -> Dealings:
    """So many random ways in which the records of a cell that was left out may have secrets."""
    rng, present = np.random.default_rng(list(seed)), np.flatnonzero(prior)
    shares, few = prior[present] / prior[present].sum(), number // 2
    flat = np.full(len(present), 1 / len(present))
    drawn = np.vstack(
        [
            rng.multinomial(size, shares, number - few),
            *(rng.multinomial(size, p)[None] for p in rng.dirichlet(flat, few)),
        ]
    )
    truly = drawn @ np.log(shares)  # up to n! / Π x!, which both have
    tilted = _log_tilted(flat, drawn, size)
    weights = np.exp(truly - np.logaddexp(truly, tilted) + math.log(2))
    counts = np.zeros((number, 1, len(prior)), dtype=np.int64)
    counts[:, 0, present] = drawn
    return Dealings(counts, weights / weights.sum(), exact=False)


def _log_tilted(flat: Floats, drawn: Ints, size: int) -> Floats:
    """ln of the Dirichlet-multinomial probability, up to n! / Π x!."""
    whole = _log_rising(np.array([flat.sum()]), np.array([[size]])).sum()
    return np.asarray(_log_rising(flat, drawn).sum(axis=1) - whole)


def _log_rising(start: Floats, steps: Ints) -> Floats:
    """ln of start (start + 1) … (start + steps - 1)."""
    largest = int(steps.max(initial=0))
    logs = np.log(start[:, None] + np.arange(max(largest, 1)))
    sums = np.concatenate([np.zeros((len(start), 1)), np.cumsum(logs, axis=1)], axis=1)
    return np.asarray(sums[np.arange(len(start)), steps])


def _probabilities(counts: Ints, log_prior: Floats) -> Floats:
    """Σ over cells of ln(n! / Π x!) + Σ x ln p, as probabilities of the ways listed."""
    largest = int(counts.sum(axis=2).max(initial=0))
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, largest + 1)))])
    logs = (factorial[counts.sum(axis=2)] - factorial[counts].sum(axis=2)).sum(axis=1)
    logs = logs + (counts.sum(axis=1) * log_prior).sum(axis=1)
    weights = np.exp(logs - logs.max(initial=0.0))
    return np.asarray(weights / weights.sum())


def _tables(sizes: Sequence[int], left: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every table with these sums of its rows and columns."""
    if len(sizes) == 1:
        yield (left,)
        return
    for share in _shares(sizes[0], left):
        rest = tuple(total - taken for total, taken in zip(left, share, strict=True))
        for others in _tables(sizes[1:], rest):
            yield (share, *others)


def _shares(size: int, left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to take so many items from what is left of each kind."""
    if not left:
        if not size:
            yield ()
        return
    for taken in range(max(0, size - sum(left[1:])), min(size, left[0]) + 1):
        for others in _shares(size - taken, left[1:]):
            yield (taken, *others)
