"""Attribute inference: learning from the whole release how labels go with secrets, and guessing by it.

G. Cormode, "Personal privacy vs population privacy: learning to attack anonymization", 2011, trains naive Bayes on
released classes; D. Kifer, "Attacks on privacy and deFinetti's theorem", 2009. The attacker counts how often each label
of each quasi-identifier goes with each secret, over all classes, and guesses a person's secret from the person's
labels, whatever class that is.

Much of what is guessed right so is statistics: that smokers have lung cancer more often is true of people outside the
release as well, and a release that did not tell it would be useless. So there is a **control**: half of the released
records, drawn at random, are set aside; the attacker learns from the other half and guesses both. Only what is guessed
better of those learnt from is due to being in the release, and only if so many more would be right there by a chance of
at most 1 % (Fisher's exact test) it is a leak. The base rate, guessing the most frequent secret, stands beside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.estimate import Estimate, not_applicable, percent
from shoal.attacks.scene import Ints, Released
from shoal.attacks.statistics import difference, rare_dealings, wilson
from shoal.table.classes import Histogram

NAME = "inference"
ATTACKER = "Somebody who knows a person's quasi-identifiers and learns from all released records."
_SMOOTHING = 1.0
"""Laplace: one record more of each label with each secret, so that nothing is held to be impossible."""
_LEAST = 2
_ONE_BY_ONE = 2_000_000
"""Records up to which each is drawn by itself; of more, how many of each entry are in the half is drawn at once."""
_CHANCE = 0.01


@dataclass(frozen=True)
class Guesses:
    """How many records of a half were guessed right, of how many."""

    right: int
    of: int

    @property
    def rate(self) -> float:
        """Share guessed right."""
        return self.right / self.of if self.of else 0.0


def inference(released: Released, column: str, seed: int) -> Estimate:
    """Guess every secret of the column by naive Bayes, with half of the records as control."""
    view, of = released.stats.view(column), released.records
    values = int(np.count_nonzero(view.totals))
    if values < _LEAST or not released.quasi or of < 2 * _LEAST:
        return not_applicable(NAME, ATTACKER, f"there are no two values of {column} to tell apart by labels.", column)
    inside = _half(view.histogram, seed)
    guess = _learn(released, view.histogram, inside, len(view.domain.values))
    right = view.histogram.values == guess[view.histogram.class_of]
    target = Guesses(int(inside[right].sum()), int(inside.sum()))
    outside = view.histogram.counts - inside
    control = Guesses(int(outside[right].sum()), int(outside.sum()))
    low, high = difference((target.right, target.of), (control.right, control.of))
    base = float(view.totals.max()) / of
    leak = _beyond_chance(target, control)
    return Estimate(
        name=NAME,
        status="tried",
        sensitive=column,
        attacker=ATTACKER,
        tried=f"Learnt naive Bayes from half of the release and guessed {column} of both halves; a success is a right "
        "guess in the half learnt from, and exposed is how many more are guessed right there than in the other.",
        records=round((target.rate - control.rate) * of) if leak else 0,
        of=of,
        rate=target.rate,
        baseline=control.rate,
        baseline_is="right guesses of records that were not learnt from",
        interval=wilson(target.right, target.of),
        leak=leak,
        verdict=_verdict(column, target, control, base, leak),
        details={
            "base_rate": round(base, 9),
            "target": {"right": target.right, "of": target.of},
            "control": {"right": control.right, "of": control.of},
            "control_interval": _plain(*wilson(control.right, control.of)),
            "advantage": round(target.rate - control.rate, 9),
            "advantage_interval": _plain(low, high),
        },
    )


def _beyond_chance(target: Guesses, control: Guesses) -> bool:
    """Whether the right guesses lie so much more among the targets as a random dealing of them seldom would."""
    figures = (target.right, target.of, target.right + control.right)
    found, drawn, marked = (np.array([figure], dtype=np.int64) for figure in figures)
    return bool(rare_dealings(found, drawn, marked, target.of + control.of, _CHANCE)[0])


def _half(histogram: Histogram, seed: int) -> Ints:
    """How many records of each entry are in the half that is learnt from: half of all records, drawn at random."""
    total = int(histogram.counts.sum())
    if total > _ONE_BY_ONE:
        generator = np.random.default_rng(seed)
        return generator.multivariate_hypergeometric(histogram.counts, total // 2, method="marginals")
    drawn = np.random.default_rng(seed).permutation(total) < total // 2
    ends = np.cumsum(histogram.counts)
    before = np.concatenate([[0], np.cumsum(drawn)])
    half: Ints = before[ends] - before[ends - histogram.counts]
    return half


def _learn(released: Released, histogram: Histogram, counts: Ints, n_values: int) -> NDArray[np.int64]:
    """The most likely value of each class by its labels: prior times the likelihood of each label."""
    prior = np.bincount(histogram.values, weights=counts, minlength=n_values)
    score = np.tile(np.log(np.maximum(prior, 1e-300)), (len(released.sizes), 1))
    for labels, cells in zip(released.labels, released.cells, strict=True):
        key = cells[histogram.class_of].astype(np.int64) * n_values + histogram.values
        together = np.bincount(key, weights=counts, minlength=len(labels) * n_values).reshape(len(labels), n_values)
        likelihood = (together + _SMOOTHING) / (prior + _SMOOTHING * len(labels))
        score += np.log(likelihood)[cells]
    return np.asarray(score.argmax(axis=1), dtype=np.int64)


def _plain(*ends: float) -> list[float]:
    return [round(end, 9) for end in ends]


def _verdict(column: str, target: Guesses, control: Guesses, base: float, leak: bool) -> str:
    told = (
        f"{percent(target.rate)} of {column} are guessed right of records learnt from and {percent(control.rate)} of "
        f"others; the most frequent value alone gives {percent(base)}."
    )
    if leak:
        return f"{told} The difference is due to being in the release."
    return f"{told} Being in the release makes no difference beyond chance."
