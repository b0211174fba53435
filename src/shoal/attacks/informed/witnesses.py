"""Other worlds that explain a release, one person at a time.

Where an algorithm does not say what it refused, a person's secret is open if a *witness* exists: a world in which they
have another one, and that gives the same release. Tried are worlds in which somebody swaps secrets with another person
of the class, or has another secret if they were left out. That nobody is found to swap with proves nothing, so the
share of people proven open is a lower bound; the others are undecided, and no leak.

Where the run of the algorithm can be recorded, witnesses are proven without running it again (`informed.
recorded_run`). On worlds that the recorded run says nothing about it is run, a few for each person. The first person
who needs a run when none is left ends the search and is not counted, so that people who need runs are as frequent among
those looked at as among all.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from shoal.attacks.informed.knowledge import PriorKnowledge
from shoal.attacks.informed.possible_originals import PossibleOriginals
from shoal.attacks.released_classes import Codes, Ints
from shoal.search.algorithm import Algorithm
from shoal.search.cost import seconds_expected
from shoal.table.recoding import SUPPRESSED

MOST_PEOPLE = 100
MOST_RUNS = 60  # of the algorithm
MOST_WORK = 30_000  # records times worlds that the algorithm is run on
MOST_SECONDS = 1.0  # that all runs are expected to take on the machine that was measured
TRIES = 2  # worlds that the algorithm is run on for each person
TRIES_WITHOUT_RUN = 20  # worlds of each person that are compared with the recorded run


@dataclass(frozen=True)
class Witnessed:
    """How many people were looked at, and how many of these have a secret that is open for certain."""

    people: int
    open: int
    runs: int


def runs_allowed(known: PriorKnowledge, algorithm: Algorithm) -> int:
    """How often the algorithm may be run on this table."""
    expected = seconds_expected(algorithm, known.problem)
    in_time = int(MOST_SECONDS / expected) if expected else MOST_RUNS
    return min(MOST_RUNS, MOST_WORK // max(int(known.sizes.sum()), 1), in_time)


def witnesses(
    known: PriorKnowledge, column: str, worlds: PossibleOriginals, seed: int, most: int = MOST_RUNS
) -> Witnessed:
    """Look for a witness for people drawn at random, running the algorithm at most ``most`` times."""
    rng, allowed = np.random.default_rng(seed), worlds.runs + most
    value = known.secrets[column]
    cells, secrets = np.nonzero(known.true)
    held = known.problem.domains[column].known[value[secrets]]
    kinds = np.repeat(np.flatnonzero(held), known.true[cells[held], secrets[held]])
    people = found = 0
    for kind in rng.permutation(kinds)[:MOST_PEOPLE].tolist():
        others = _others(known, value, int(cells[kind]), int(secrets[kind]), rng)
        is_open = _is_witnessed(worlds, others, may_run=worlds.runs + TRIES <= allowed)
        if is_open is None:
            break
        people += 1
        found += is_open
    return Witnessed(people, found, worlds.runs)


def _is_witnessed(worlds: PossibleOriginals, others: Iterable[Ints], *, may_run: bool) -> bool | None:
    """Whether one of some worlds explains the release, as far as was tried; None where that needs runs."""
    unrecorded: list[Ints] = []
    for each in others:
        proven = worlds.proven(each)
        if proven:
            return True
        if proven is None and len(unrecorded) < TRIES:
            unrecorded.append(each)
    if unrecorded and not may_run:
        return None
    return any(map(worlds.explains, unrecorded))


def _others(known: PriorKnowledge, value: Codes, cell: int, secret: int, rng: np.random.Generator) -> Iterator[Ints]:
    """A few worlds in which somebody of a cell has another value instead."""
    if known.owner[cell] == SUPPRESSED:
        others = [(cell, each) for each in np.flatnonzero((known.prior > 0) & (value != value[secret])).tolist()]
    else:
        near = np.flatnonzero(known.owner == known.owner[cell])
        there, theirs = np.nonzero((known.true[near] > 0) & (value != value[secret]) & (near != cell)[:, None])
        others = list(zip(near[there].tolist(), theirs.tolist(), strict=True))
    for index in rng.permutation(len(others))[:TRIES_WITHOUT_RUN].tolist():
        other, theirs_secret = others[index]
        counts = known.true.copy()
        counts[cell, secret] -= 1
        counts[cell, theirs_secret] += 1
        if other != cell:
            counts[other, theirs_secret] -= 1
            counts[other, secret] += 1
        yield counts
