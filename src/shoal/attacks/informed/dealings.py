"""Dealing secrets to people: every way with its probability, where these are few.

Somebody who knows no more than the release finds every assignment of the secrets of a class to its people equally
likely. So many records of each secret for a cell of n records stand for n! / Π x! of these assignments. A record that
was left out has each secret with its prior probability, whatever the others have.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.released_classes import Ints
from shoal.table.classes import Floats


@dataclass(frozen=True, eq=False)
class Dealings:
    """Ways to deal secrets to some cells, and how probable each is."""

    counts: Ints  # ``counts[way, cell, secret]``
    weights: Floats  # they need not add up to 1


def all_dealings(sizes: Ints, totals: Ints, most: int) -> Dealings | None:
    """Every way to deal the secrets of a class to its cells; None where there are more than so many."""
    ways: list[tuple[tuple[int, ...], ...]] = []
    present = np.flatnonzero(totals)
    for way in _tables(sizes.tolist(), tuple(totals[present].tolist())):
        if len(ways) == most:
            return None
        ways.append(way)
    counts = np.zeros((len(ways), len(sizes), len(totals)), dtype=np.int64)
    counts[:, :, present] = np.array(ways, dtype=np.int64).reshape(len(ways), len(sizes), len(present))
    return Dealings(counts, _probabilities(counts, np.zeros(len(totals))))


def all_draws(size: int, prior: Floats, most: int) -> Dealings | None:
    """Every way in which the records of a cell that was left out may have secrets; None where there are too many."""
    present = np.flatnonzero(prior)
    if math.comb(size + len(present) - 1, len(present) - 1) > most:
        return None
    ways = list(_shares(size, (size,) * len(present)))
    counts = np.zeros((len(ways), 1, len(prior)), dtype=np.int64)
    counts[:, 0, present] = np.array(ways, dtype=np.int64).reshape(len(ways), len(present))
    return Dealings(counts, _probabilities(counts, np.log(np.where(prior > 0, prior, 1.0))))


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
