"""Attribute inference: learning from the whole release how labels go with values, and guessing by it.

G. Cormode, "Personal privacy vs population privacy: learning to attack anonymization", 2011, trains naive Bayes on
released classes; D. Kifer, "Attacks on privacy and deFinetti's theorem", 2009. The attacker counts how often each label
of each quasi-identifier goes with each value, over all classes, and guesses a person's value from the person's
labels, whatever class that is.

Much of what is guessed right so is statistics: that smokers have lung cancer more often is true of people outside the
release as well, and a release that did not tell it would be useless. So there is a **control**: half of the released
records, drawn at random, are set aside; the attacker learns from the other half and guesses both. Only what is guessed
better of those learnt from is due to being in the release, and only if so many more would be right there by a chance of
at most 1% (Fisher's exact test) it is a leak. The base rate, guessing the most frequent value, stands beside.
"""

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, share, tried
from shoal.attacks.released_classes import Ints, Released
from shoal.attacks.statistics import difference, rare_dealings, wilson
from shoal.table.classes import Histogram

_SMOOTHING = 1.0  # laplace: one record more of each label with each value, so that nothing is held to be impossible
_LEAST = 2
_ONE_BY_ONE = 2_000_000  # records up to which each is drawn by itself; of more, how many of each entry at once
_CHANCE = 0.01


class Inference(Attack):
    """Learns from half of the records and guesses both halves."""

    name = "inference"
    title = "Learning from all records"
    attacker = "Somebody who knows a person's quasi-identifiers and learns from all released records."
    attempt = (
        "Learns naive Bayes from half of the release and guesses the sensitive values of both halves. A success is a "
        "right guess in the half learnt from; exposed is how many more are guessed right there than in the other half."
    )
    baseline = "right guesses for records that were not learnt from"
    remedy = "Limit how far classes may differ from the whole."
    position = 100
    on_sensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Guess every value of the column by naive Bayes, with half of the records as control."""
        released, view, of = scene.released, scene.released.stats.view(column), scene.released.known(column)
        if np.count_nonzero(view.totals) < _LEAST or not released.quasi or of < 2 * _LEAST:
            return not_applicable("one-value")
        inside = _half(view.histogram, scene.seed)
        guess = _learn(released, view.histogram, inside, len(view.domain.values))
        right = view.histogram.values == guess[view.histogram.class_of]
        outside = view.histogram.counts - inside
        target, control = (int(inside[right].sum()), int(inside.sum())), (int(outside[right].sum()), int(outside.sum()))
        rate, control_rate = share(*target), share(*control)
        # a leak: so many of the right guesses lie among the targets as a random dealing of them seldom would give
        found, drawn, marked = np.array([[target[0]], [target[1]], [target[0] + control[0]]], dtype=np.int64)
        leak = bool(rare_dealings(found, drawn, marked, of, _CHANCE)[0])
        return tried(
            records=round((rate - control_rate) * of) if leak else 0,
            of=of,
            rate=rate,
            baseline=control_rate,
            interval=wilson(*target),
            leak=leak,
            base_rate=float(view.totals.max()) / of,
            target={"right": target[0], "of": target[1]},
            control={"right": control[0], "of": control[1]},
            control_interval=wilson(*control),
            advantage=rate - control_rate,
            advantage_interval=difference(target, control),
        )


def _half(histogram: Histogram, seed: int) -> Ints:
    """How many records of each entry are in the half that is learnt from: half of all records, drawn at random."""
    total = int(histogram.counts.sum())
    if total > _ONE_BY_ONE:
        generator = np.random.default_rng(seed)
        return generator.multivariate_hypergeometric(histogram.counts, total // 2, method="marginals")
    drawn = np.random.default_rng(seed).permutation(total) < total // 2
    ends = np.cumsum(histogram.counts)
    before = np.concatenate([[0], np.cumsum(drawn)])
    return np.asarray(before[ends] - before[ends - histogram.counts])


def _learn(released: Released, histogram: Histogram, counts: Ints, n_values: int) -> Ints:
    """The most likely value of each class by its labels: prior times the likelihood of each label."""
    prior = np.bincount(histogram.values, weights=counts, minlength=n_values)
    score = np.tile(np.log(np.maximum(prior, 1e-300)), (len(released.sizes), 1))
    for labels, cells in zip(released.labels, released.cells, strict=True):
        key = cells[histogram.class_of].astype(np.int64) * n_values + histogram.values
        together = np.bincount(key, weights=counts, minlength=len(labels) * n_values).reshape(len(labels), n_values)
        likelihood = (together + _SMOOTHING) / (prior + _SMOOTHING * len(labels))
        score += np.log(likelihood)[cells]
    return np.asarray(score.argmax(axis=1), dtype=np.int64)
