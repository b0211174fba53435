"""Every world, where there are few: the algorithm itself is run on each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from shoal.attacks.informed.dealings import Dealings, all_dealings, all_draws
from shoal.attacks.informed.knowledge import PriorKnowledge
from shoal.attacks.informed.outcome import Beliefs
from shoal.attacks.informed.possible_originals import PossibleOriginals
from shoal.attacks.released_classes import Ints
from shoal.table.recoding import SUPPRESSED

MOST_WORLDS = 250
MOST_WORK = 60_000  # records times worlds that are run


def few_worlds(known: PriorKnowledge, most: int = MOST_WORLDS, runs: int = 1) -> list[tuple[Ints, Dealings]] | None:
    """For each class, and each cell that was left out, its cells and every way to deal secrets to them; None where
    the worlds that these make are more than so many, or too much work if the algorithm is run so often on each."""
    most = min(most, MOST_WORK // max(int(known.sizes.sum()), 1) // runs)
    found: list[tuple[Ints, Dealings]] = []
    if not most:
        return None
    for each in range(len(known.class_secrets)):
        cells = np.flatnonzero(known.owner == each)
        dealings = all_dealings(known.sizes[cells], known.class_secrets[each], most)
        if dealings is None:
            return None
        found.append((cells, dealings))
    for cell in np.flatnonzero(known.owner == SUPPRESSED):
        dealings = all_draws(int(known.sizes[cell]), known.prior, most)
        if dealings is None:
            return None
        found.append((np.array([cell]), dealings))
    return found if math.prod(len(dealings.weights) for _, dealings in found) <= most else None


def exact_beliefs(
    known: PriorKnowledge, column: str, parts: Sequence[tuple[Ints, Dealings]], worlds: PossibleOriginals
) -> Beliefs | None:
    """The beliefs over the worlds that explain the release; None where none does."""
    expected = np.zeros(known.true.shape)
    value = known.value_of(column)
    least, total = np.full((len(known.sizes), value.shape[1]), np.inf), 0.0
    for counts, weight in worlds_of(known, parts):
        if worlds.explains(counts):
            expected += weight * counts
            least = np.minimum(least, counts @ value)
            total += weight
    return Beliefs(expected / total, least) if total else None


def worlds_of(known: PriorKnowledge, parts: Sequence[tuple[Ints, Dealings]]) -> Iterator[tuple[Ints, float]]:
    """Every world, as records by cell and secret, and how probable it is beforehand."""
    for ways in product(*(range(len(dealings.weights)) for _, dealings in parts)):
        counts = np.zeros_like(known.true)
        weight = 1.0
        for (cells, dealings), way in zip(parts, ways, strict=True):
            counts[cells] = dealings.counts[way]
            weight *= float(dealings.weights[way])
        yield counts, weight
