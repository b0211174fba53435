"""Skewness: a class in which a value is far more frequent than overall changes what an attacker believes.

N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and ℓ-diversity", 2007, section 3: before
the release the belief in value v is its overall share (the prior, C/N), in a class it is its share there (the
posterior, c/n). The gain is given as their difference and as their ratio, by value and class.

In small classes large gains come about by mere chance: one record in a class of five makes 20 %. So gains are held
against a random dealing of the same secrets over the same classes, in two ways. A cell (class, value) counts only if so
many records of the value, or more, would come together there with a chance of at most 5% over all cells of the column
and both tests (hypergeometric, Bonferroni). Where no cell does, classes may still differ from the whole a little each:
the mean belief in a record's true value, Σ c²/n over all cells, is compared with what it is in random dealings (a
permutation test). If nothing ties the secret to the classes, either test speaks in one release of twenty at most.

In large tables the smallest difference is beyond chance. A cell counts only if it also raises the belief in its value
by a percentage point, or doubles it; the mean belief only if it is a point above that of random dealings.

Exposed are the records of the cells that count or, where classes differ a little each, as many as are expected to be
guessed right beyond chance. Without the release all classes have the overall shares, and nobody is exposed. Records
whose value is unknown are left out of all of this.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.chance.permutation_tests import p_values
from shoal.attacks.chance.random_dealings import Hands, dealings, dealt_counts
from shoal.attacks.chance.statistics import CHANCE, rare_dealings, smallest_tail
from shoal.attacks.exposure import value_name
from shoal.attacks.released_classes import Released
from shoal.table.classes import ClassView, Counts, Floats, Mask

MEANINGFUL = 0.01
"""How much larger than by chance a belief must be to matter."""
_TIMES = 2  # or so many times as large
_TESTS = 2  # of single cells, and of all together
_LISTED = 5


_START = 0.2  # how far classes may differ from the whole, as advice to begin with


class Skewness(Attack):
    """Compares shares in classes with overall shares."""

    name = "skewness"
    title = "A class makes a value likely"
    attacker = "A neighbour who knows a person's quasi-identifiers and how frequent each sensitive value is overall."
    attempt = (
        "Compares the share of each value in each class with its overall share. A success is a record whose value is "
        "more frequent in its class than chance explains."
    )
    baseline = "without the release there are no classes to compare"
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
        rare = rare_dealings(histogram.counts, drawn, marked, of, CHANCE / cells / _TESTS)
        rare &= (posterior >= prior + MEANINGFUL) | (posterior >= prior * _TIMES)
        by_cells = min(1.0, cells * smallest_tail(histogram.counts, drawn, marked, of))
        by_belief = None if rare.any() else _belief_by_chance(view, scene.seed)
        p_value = min(1.0, _TESTS * min(by_cells, 1.0 if by_belief is None else by_belief))
        belief = float((posterior * histogram.counts).sum()) / of
        # dealt at random, E c² = n²p² + n·p·(1 - p)·(N - n)/(N - 1)
        alike, apart = float(((view.totals / of) ** 2).sum()), (of - sizes) / max(of - 1, 1)
        expected = float((sizes * alike + (1 - alike) * apart).sum()) / of
        leak = bool(rare.any()) or (p_value <= CHANCE and belief >= expected + MEANINGFUL)
        records = int(histogram.counts[rare].sum()) if rare.any() else max(1, round((belief - expected) * of))
        return tried(
            records=records if leak else 0,
            of=of,
            classes=len(np.unique(histogram.class_of[rare])),
            leak=leak,
            p_value=p_value,
            beyond_chance=p_value <= CHANCE,
            meaningful_gain=MEANINGFUL,
            mean_belief=belief,
            mean_belief_by_chance=expected,
            without_release=alike,
            p_values={"cells": by_cells, "mean_belief": by_belief},
            cells=cells,
            cells_beyond_chance=int(np.count_nonzero(rare)),
            largest_gains=_worst(scene.released, view, posterior, prior, rare),
            by_value=_by_value(view, posterior, rare),
        )

    @staticmethod
    def needed(result: AttackResult) -> Mapping[str, float]:
        """Half the largest gain, which no class may have; else a distance to begin with."""
        gains = result.details.get("largest_gains")
        return {"distance": gains[0]["gain"] / 2 if gains else _START}


def _belief_by_chance(view: ClassView, seed: int) -> float:
    """How probable as large a mean belief is if the values are dealt over the classes at random."""
    histogram, sizes = view.histogram, view.known[view.known > 0]
    codes = np.repeat(histogram.values, histogram.counts)  # class after class
    observed = mean_belief(codes[None, :], sizes, len(view.totals))
    dealt = (mean_belief(hands, sizes, len(view.totals))[:, None] for hands in dealings(codes, seed))
    return float(p_values([float(observed[0])], dealt)[0])


def mean_belief(hands: Hands, sizes: Counts, n_values: int) -> Floats:
    """The mean share that a record's own value has in its class, in each of some dealings."""
    owner, records = np.repeat(np.arange(len(sizes)), sizes), int(sizes.sum())
    if len(sizes) * n_values <= 2 * records:
        counts = dealt_counts(hands, owner, len(sizes), n_values)
        return np.asarray(np.einsum("dcv,dcv,c->d", counts, counts, 1 / sizes) / records)
    ordered = np.sort(hands + owner * n_values, axis=1)
    new = np.ones(ordered.shape, dtype=np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.flatnonzero(new)  # where the records of a cell begin, in all dealings one after the other
    counts = np.diff(first, append=new.size)
    row, place = np.divmod(first, records)
    return np.bincount(row, weights=counts**2 / sizes[owner[place]], minlength=len(hands)) / records


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
