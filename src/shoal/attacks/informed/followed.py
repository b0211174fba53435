"""Every world of a release whose search conceals: the algorithm is run with every answer that its draws may give.

Nobody but the owner knows the key, so a world explains a release as probably as the draws make the search come out with
it. What is drawn does not depend on secrets, and each draw is a number between 0 and 1 that is compared with a known
chance: a run that is given the answers tells which questions it asks, and with which probability it comes to pass. The
most probable combinations of world and answers are run first. What is left when the runs are used up bounds how far
the beliefs may be off, and a world with anything left is not excluded.

Where the algorithm also draws which of equal records goes where, that is repeated with several keys. Such draws are a
sample: no world is excluded, and the spread over the keys is part of the margin.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.attacks.chance.statistics import Z_95
from shoal.attacks.informed.dealings import Dealings
from shoal.attacks.informed.exact import worlds_of
from shoal.attacks.informed.knowledge import PriorKnowledge
from shoal.attacks.informed.outcome import Beliefs
from shoal.attacks.informed.possible_originals import PossibleOriginals
from shoal.attacks.released_classes import Ints
from shoal.search.conceal import REFUSED, Marks, Veto
from shoal.table.classes import Floats, Mask

MOST_WORLDS = 62
RUNS_PER_WORLD = 16  # about as often the algorithm is run on each
MOST_RUNS = 500  # of the algorithm
MOST_WORK = 60_000  # records times runs
KEYS = 8  # for draws that are not followed
_ENOUGH = 0.02  # what may be left where no world can be excluded, as a share of what explains the release
_TO_REPRODUCE = 256  # runs on the true secrets until the release comes out
_LEAST_KEYS = 4.0  # keys that must explain the release, by their weights, for a belief to be estimated from
_STANDARD_ERRORS = 4.0

Answers = tuple[bool, ...]


class FollowedVeto(Veto):
    """Answers as it is told, then that nothing more is refused; remembers how probable each answer was.

    A draw may be compared with several chances: after an answer it lies in what is left of its range.
    """

    def __init__(self, answers: Answers, key: int) -> None:
        super().__init__(bytes([key]), given=True)
        self._told = answers
        self.answers: list[bool] = []
        self.chances: list[float] = []  # that each question was answered by a refusal
        self._ranges: dict[tuple[str, float], tuple[float, float]] = {}

    def refuses(self, purpose: str, *identity: Marks, chance: float | Floats = REFUSED) -> Mask:
        """Which of some candidates are refused."""
        names = self.draws(purpose, *identity)
        limits = np.broadcast_to(np.asarray(chance, dtype=np.float64), names.shape)
        return np.array(
            [self._answer((purpose, name), limit) for name, limit in zip(names.tolist(), limits.tolist(), strict=True)],
            dtype=np.bool_,
        )

    def _answer(self, question: tuple[str, float], limit: float) -> bool:
        low, high = self._ranges.get(question, (0.0, 1.0))
        if limit <= low or limit >= high:
            return limit >= high
        number = len(self.answers)
        refused = number < len(self._told) and self._told[number]
        self.answers.append(refused)
        self.chances.append((limit - low) / (high - low))
        self._ranges[question] = (low, limit) if refused else (limit, high)
        return refused


@dataclass(order=True)
class _Branch:
    """Answers that were not run yet, in one world and with one key; the most probable comes first."""

    order: float
    number: int
    weight: float = field(compare=False)  # of the answers, given the world
    world: int = field(compare=False)
    key: int = field(compare=False)
    answers: Answers = field(compare=False)


class _Tree:
    """The branches of some worlds."""

    def __init__(self, worlds: PossibleOriginals, counts: Sequence[Ints], priors: Sequence[float], keys: int) -> None:
        self._worlds, self._counts, self._priors, self._number = worlds, counts, priors, 0
        self.explained = np.zeros((len(counts), keys))  # how probably each world explains the release
        self.left: list[_Branch] = []
        self.found = self.pending = 0.0  # how probable what explains the release is, and what was not run yet
        for world in range(len(counts)):
            for key in range(keys):
                self._add(1.0, world, key, ())

    def _add(self, weight: float, world: int, key: int, answers: Answers) -> None:
        self._number += 1
        joint = weight * self._priors[world]
        self.pending += joint
        heapq.heappush(self.left, _Branch(-joint, self._number, weight, world, key, answers))

    def run(self) -> bool:
        """Run the most probable branch: whether the release comes out."""
        branch = heapq.heappop(self.left)
        self.pending += branch.order
        veto = FollowedVeto(branch.answers, branch.key)
        same = self._worlds.explains(self._counts[branch.world], veto)
        weight = branch.weight
        for number in range(len(branch.answers), len(veto.answers)):
            chance, so_far = veto.chances[number], tuple(veto.answers[:number])
            self._add(weight * chance, branch.world, branch.key, (*so_far, True))
            weight *= 1 - chance
        self.explained[branch.world, branch.key] += weight * same
        self.found += weight * same * self._priors[branch.world]
        return same

    def unfollowed(self) -> Floats:
        """How probable the answers are that were not run, by world and key."""
        result = np.zeros_like(self.explained)
        for branch in self.left:
            result[branch.world, branch.key] += branch.weight
        return result


@dataclass(frozen=True, eq=False)
class Followed:
    """Beliefs, and from what they were made."""

    beliefs: Beliefs
    worlds: int
    keys: int  # with which the draws that are not followed were repeated
    unfollowed: float  # the share of what may explain the release that was not run


def reproduced(known: PriorKnowledge, worlds: PossibleOriginals) -> bool:
    """Whether the release comes out for the true secrets with some key: then this version may have made it."""
    tree = _Tree(worlds, [known.true], [1.0], _keys(worlds))
    return any(tree.run() for _ in range(_TO_REPRODUCE) if tree.left)


def followed_beliefs(
    known: PriorKnowledge, column: str, parts: Sequence[tuple[Ints, Dealings]], worlds: PossibleOriginals
) -> Followed | None:
    """The beliefs over all worlds, each with how probably it leads to the release; None where none was found to."""
    every = [(counts, prior) for counts, prior in worlds_of(known, parts) if prior and worlds.allowed(counts)]
    if not every:
        return None
    counts, priors = np.stack([each for each, _ in every]), np.array([prior for _, prior in every])
    tree = _Tree(worlds, list(counts), priors.tolist(), _keys(worlds))
    allowed = min(MOST_RUNS, MOST_WORK // max(int(known.sizes.sum()), 1))
    for _ in range(allowed):
        if not tree.left or (worlds.sampled and tree.pending < _ENOUGH * tree.found):
            break
        tree.run()
    unfollowed = tree.unfollowed()
    weights = (tree.explained + unfollowed / 2) * priors[:, None]
    if not tree.explained.any():
        return None
    off = float((unfollowed * priors[:, None]).sum() / 2 / weights.sum())  # at most, in total variation
    possible = (tree.explained + unfollowed > 0).any(axis=1) | worlds.sampled
    least = (counts[possible] @ known.value_of(column)).min(axis=0)
    beliefs = _beliefs(known, column, counts, weights, off, least.astype(np.float64))
    return Followed(beliefs, len(every), weights.shape[1], 2 * off)


def _keys(worlds: PossibleOriginals) -> int:
    return KEYS if worlds.sampled else 1


def _beliefs(known: PriorKnowledge, column: str, counts: Ints, weights: Floats, off: float, least: Floats) -> Beliefs:
    """The mean over worlds by their weights for each key, with what may be missing and the spread over the keys."""
    total, by_key = weights.sum(), weights.sum(axis=0)
    expected = np.einsum("wk,wcs->cs", weights, counts) / total
    own = known.by_value(known.true, column)
    records = own * known.problem.domains[column].known
    share = records / np.maximum(own.sum(axis=1, keepdims=True), 1)

    def rate(figures: Floats) -> float:
        return float((known.by_value(figures, column) * share).sum() / max(records.sum(), 1))

    margin, half = off * np.repeat(known.sizes[:, None], known.n_secrets, axis=1).astype(np.float64), off
    if weights.shape[1] > 1:
        if total**2 < _LEAST_KEYS * (by_key**2).sum():  # too few keys to tell anything
            return Beliefs(expected, least, np.repeat(known.sizes[:, None], known.n_secrets, axis=1), (0.0, 1.0))
        keys = weights.shape[1]
        each = np.einsum("wk,wcs->kcs", weights, counts) - by_key[:, None, None] * expected
        scale = np.sqrt(keys / (keys - 1)) / total
        margin = margin + _STANDARD_ERRORS * scale * np.sqrt((each**2).sum(axis=0))
        half += Z_95 * scale * float(np.sqrt(sum(rate(one) ** 2 for one in each)))
    elif not off:
        return Beliefs(expected, least)
    mean, half = rate(expected), float(half)
    return Beliefs(expected, least, margin, (max(0.0, mean - half), min(1.0, mean + half)))
