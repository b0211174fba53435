"""Similarity: a class in which every sensitive value is of one category reveals how grave it is, though values differ.

Sun, Wang, Li, Truta 2008, section 6: classes whose records all fall in one category of sensitivity, and the records in
them. Whoever is known to be among {HIV, Cancer} has a top secret, whichever it is. The attack is about declared
categories; without them there is nothing to be similar in. A class of one category is a leak however it came about, as
in `homogeneity.py`: the category is certain. What chance alone would do stands beside it.
"""

from collections.abc import Mapping

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, tried
from shoal.attacks.chance.statistics import expected_by_chance
from shoal.attacks.exposure import similarity


class Similarity(Attack):
    """Looks for classes with a single category."""

    name = "similarity"
    title = "A class with one category reveals it"
    attacker = "A neighbour who knows a person's quasi-identifiers and the declared categories of the sensitive values."
    attempt = "Looks for classes with a single category of sensitive values; a success is a record in one."
    baseline = "records whose category is certain from the overall frequencies alone"
    position = 20
    on_sensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Records in classes with a single category of the column."""
        view, of, everybody = scene.released.stats.view(column), scene.released.known(column), scene.released.people
        found = similarity(view, everybody)
        if found is None:
            return not_applicable("no-categories")
        counts = view.category_counts
        totals, by_category = counts.sum(axis=0), counts[np.count_nonzero(counts, axis=1) == 1].sum(axis=0)
        one_category = np.count_nonzero(totals) == 1
        return tried(
            records=found.records,
            of=of,
            people=None if everybody is None or found.people is None else (found.people, everybody.total),
            classes=found.classes,
            baseline=1.0 if one_category else 0.0,
            certain=0 if one_category else found.records,
            by_category={name: n for name, n in zip(view.domain.categories, by_category.tolist(), strict=True) if n},
            expected_by_chance=expected_by_chance(view.known, totals),
        )

    @staticmethod
    def needed(result: AttackResult) -> Mapping[str, float]:  # noqa: ARG004 - always the same
        """A second category in every class."""
        return {"categories": 2}
