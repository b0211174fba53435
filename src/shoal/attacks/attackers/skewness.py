"""Skewness: a class in which a value is far more frequent than overall changes what an attacker believes.

N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and ℓ-diversity", 2007, section 3: before
the release the belief in value v is its overall share (the prior, C/N), in a class it is its share there (the
posterior, c/n). The gain is given as their difference and as their ratio, by value and class.

In small classes large gains come about by mere chance: one record in a class of five makes 20 %. So gains are held
against a random dealing of the same secrets over the same classes. A cell (class, value) counts only if so many records
of the value, or more, would come together there with a chance of at most 5% over *all* cells of the column
(hypergeometric, Bonferroni): if nothing ties the secret to the classes, any cell at all is reported in one release of
twenty at most. The rate is the mean belief in a record's true value, Σ c²/n over all cells; its baseline is what that
is on average when the secrets are dealt at random. Records whose value is unknown are left out of all of this.
"""

from typing import Any

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.exposure import value_name
from shoal.attacks.released_classes import Released
from shoal.attacks.statistics import rare_dealings
from shoal.table.classes import ClassView, Floats, Mask

_CHANCE = 0.05
_LISTED = 5


class Skewness(Attack):
    """Compares shares in classes with overall shares."""

    name = "skewness"
    title = "A class makes a value likely"
    attacker = "A neighbour who knows a person's quasi-identifiers and how frequent each sensitive value is overall."
    attempt = (
        "Compares the share of each value in each class with its overall share. A success is the belief that the class "
        "gives to a record's true value; exposed are records whose value is more frequent in their class than chance "
        "explains."
    )
    baseline = "the mean belief when the same values are dealt over the classes at random"
    remedy = "Limit how far classes may differ from the whole, or how frequent single values may be in a class."
    position = 30
    on_sensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Cells of class and value in which the value is more frequent than chance explains."""
        view, of = scene.released.stats.view(column), scene.released.known(column)
        histogram, sizes = view.histogram, view.known[view.known > 0]
        cells = len(sizes) * int(np.count_nonzero(view.totals))
        drawn, marked = view.known[histogram.class_of], view.totals[histogram.values]
        prior, posterior = marked / of, histogram.counts / drawn
        rare = rare_dealings(histogram.counts, drawn, marked, of, _CHANCE / cells)
        records = int(histogram.counts[rare].sum())
        # dealt at random, E c² = n²p² + n·p·(1 - p)·(N - n)/(N - 1)
        alike, apart = float(((view.totals / of) ** 2).sum()), (of - sizes) / max(of - 1, 1)
        return tried(
            records=records,
            of=of,
            classes=len(np.unique(histogram.class_of[rare])),
            rate=float((posterior * histogram.counts).sum()) / of,
            baseline=float((sizes * alike + (1 - alike) * apart).sum()) / of,
            leak=bool(records),
            without_release=alike,
            cells=cells,
            cells_beyond_chance=int(np.count_nonzero(rare)),
            largest_gains=_worst(scene.released, view, posterior, prior, rare),
            by_value=_by_value(view, posterior, rare),
        )


def _worst(released: Released, view: ClassView, posterior: Floats, prior: Floats, rare: Mask) -> list[dict[str, Any]]:
    """The cells beyond chance with the largest gains; their classes by the labels that they show."""
    histogram, found = view.histogram, np.flatnonzero(rare)
    gain = np.round(posterior[found] - prior[found], 12)
    chosen = found[np.lexsort((histogram.values[found], histogram.class_of[found], -gain))][:_LISTED]
    return [
        {
            "value": value_name(view.domain.values[histogram.values[entry]]),
            "class": released.labels_of(int(histogram.class_of[entry])),
            "records": int(histogram.counts[entry]),
            "of": int(view.known[histogram.class_of[entry]]),
            "posterior": float(posterior[entry]),
            "prior": float(prior[entry]),
            "gain": float(posterior[entry] - prior[entry]),
            "ratio": float(posterior[entry] / prior[entry]),
        }
        for entry in chosen.tolist()
    ]


def _by_value(view: ClassView, posterior: Floats, rare: Mask) -> dict[str, Any]:
    """For each value with cells beyond chance, the most frequent first: how many, and the largest posterior of them."""
    histogram = view.histogram
    records = np.bincount(histogram.values[rare], weights=histogram.counts[rare], minlength=len(view.domain.values))
    highest = np.zeros(len(view.domain.values))
    np.maximum.at(highest, histogram.values[rare], posterior[rare])
    order = sorted(np.flatnonzero(records).tolist(), key=lambda index: (-records[index], index))[:_LISTED]
    return {
        value_name(view.domain.values[index]): {
            "records": int(records[index]),
            "classes": int(np.count_nonzero(histogram.values[rare] == index)),
            "highest_posterior": float(highest[index]),
        }
        for index in order
    }
