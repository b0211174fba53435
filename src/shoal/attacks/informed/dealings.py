"""Dealing secrets to people: every way with its probability where these are few, else ways drawn at random.

Somebody who knows no more than the release finds every assignment of the secrets of a class to its people equally
likely. So many records of each secret for a cell of n records stand for n! / Π x! of these assignments. A record that
was left out has each secret with its prior probability, whatever the others have.

What explains a release may be improbable beforehand. For one group of people the ways are therefore drawn in strata: so
many records have one chosen secret, for every possible number, with its exact probability; what the others have is
drawn. Of the most frequent secrets that one is chosen for which most probability is found to explain something.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.chance.random_dealings import dealt_counts
from shoal.attacks.chance.statistics import log_choose, log_factorial
from shoal.attacks.released_classes import Ints
from shoal.table.classes import Floats, Mask

TRIED_PER_STRATUM, DRAWN_PER_STRATUM = 4, 64
MOST_TRIED = 24  # secrets that strata are tried for: the most frequent ones


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
    counts = dealt_counts(dealt, np.repeat(np.arange(len(sizes)), sizes), len(sizes), len(totals))
    return Dealings(counts, np.full(number, 1 / number), exact=False)


@dataclass(frozen=True, eq=False)
class Pool:
    """Where the secrets of one group of records come from: those that its class shows, or a prior distribution."""

    size: int  # records of the group
    totals: Ints | None  # records of each secret in the class; None for a group that was left out
    prior: Floats

    @property
    def most_frequent(self) -> list[int]:
        """The secrets that there may be, the most frequent first: as many as are tried."""
        frequency = self.prior if self.totals is None else self.totals
        order = np.argsort(-frequency, kind="stable")[:MOST_TRIED]
        return [int(secret) for secret in order if frequency[secret] > 0]

    def strata(self, secret: int) -> tuple[Ints, Floats]:
        """How many records of the group can have a secret, and how probable each number is."""
        if self.totals is None:
            numbers, share = np.arange(self.size + 1), float(self.prior[secret] / self.prior.sum())
            ways = log_choose(np.full_like(numbers, self.size), numbers)
            if share == 1:
                return numbers[-1:], np.ones(1)
            return numbers, np.exp(ways + numbers * math.log(share) + (self.size - numbers) * math.log1p(-share))
        mine, every = int(self.totals[secret]), int(self.totals.sum())
        numbers = np.arange(max(0, self.size - every + mine), min(self.size, mine) + 1)
        ways = log_choose(np.full_like(numbers, mine), numbers)
        ways = ways + log_choose(np.full_like(numbers, every - mine), self.size - numbers)
        return numbers, np.exp(ways - log_choose(np.array([every]), np.array([self.size])))

    def draw(self, secret: int, number: int, rng: np.random.Generator) -> Dealings:
        """So many ways in each stratum; the rest of a class, where there is one, is the second part."""
        numbers, chances = self.strata(secret)
        counts = np.zeros((len(numbers), number, 1 if self.totals is None else 2, len(self.prior)), dtype=np.int64)
        counts[:, :, 0] = 0
        for each, taken in zip(counts, numbers.tolist(), strict=True):
            if self.totals is None:
                others = np.where(np.arange(len(self.prior)) == secret, 0.0, self.prior)
                each[:, 0] = rng.multinomial(self.size - taken, others / max(float(others.sum()), 1e-300), number)
            else:
                left = np.where(np.arange(len(self.totals)) == secret, 0, self.totals)
                each[:, 0] = rng.multivariate_hypergeometric(left, self.size - taken, number, method="marginals")
            each[:, 0, secret] = taken
            if self.totals is not None:
                each[:, 1] = self.totals - each[:, 0]
        weights = np.repeat(chances / number, number)
        return Dealings(counts.reshape(-1, *counts.shape[2:]), weights / weights.sum(), exact=False)


def drawn_in_strata(pool: Pool, explains: Callable[[Ints], Mask], seed: Sequence[int]) -> Dealings:
    """Ways to deal secrets to one group, in strata of the secret for which most explains what is to be explained."""
    secrets, best = pool.most_frequent, -1.0
    rng, chosen = np.random.default_rng(list(seed)), secrets[0]
    for secret in secrets:
        tried = pool.draw(secret, TRIED_PER_STRATUM, rng)
        found = float(tried.weights[explains(tried.counts)].sum())
        if found > best:
            chosen, best = secret, found
    return pool.draw(chosen, DRAWN_PER_STRATUM, rng)


def _probabilities(counts: Ints, log_prior: Floats) -> Floats:
    """Σ over cells of ln(n! / Π x!) + Σ x ln p, as probabilities of the ways listed."""
    logs = (log_factorial(counts.sum(axis=2)) - log_factorial(counts).sum(axis=2)).sum(axis=1)
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
