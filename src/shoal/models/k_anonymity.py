"""k-anonymity: every class has at least k records.

L. Sweeney, "k-Anonymity: a model for protecting privacy", 2002; Sun et al. 2008, Def. 2; Campan et al. 2010, Def. 2.

Parameters: ``k``, a whole number ≥ 1.

In people: n is the number of different people in the class, however many records each has. Closed under merging and
adding: a larger class has everybody that the smaller one had.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.declarations import count
from shoal.models.base import Card, Model, Strength
from shoal.table.classes import ClassView, Mask


@dataclass(frozen=True)
class KAnonymity(Model):
    """n ≥ k."""

    name = "k-anonymity"
    title = "k-anonymity"
    summary = (
        "Every class has at least k records, so nobody can be narrowed down to fewer than k records by the "
        "quasi-identifiers."
    )
    citation = "Sweeney 2002; Sun et al. 2008, Def. 2"
    card = Card(
        "A person's record is found.",
        "At least k records look alike in everything that others may know, so nobody can be singled out by it.",
        "Everybody in the table. Always require it.",
        "With k = 5, somebody who knows a neighbour's age, sex and home finds at least five records that fit; a guess "
        "is right one time in five at best.",
        (
            "It says nothing about the sensitive column: if all five have the same illness, it is known.",
            "Unless the policy names the person, it counts records: five visits of one patient are a class of five.",
            "It holds only for the columns named as quasi-identifiers.",
        ),
    )
    parameters = (count("k", "records", start=5),)
    example = "{model: k-anonymity, k: 5}"
    merge_closed = True
    superset_closed = True
    closed_for_people = True  # a larger class has everybody that the smaller one had
    counts = "records"
    stops = frozenset({"linkage", "downcoding"})
    position = 10

    k: int

    def holds(self, view: ClassView) -> Mask:
        """Which classes have k records."""
        return np.asarray(view.sizes >= self.k)

    def strengths(self, view: ClassView) -> Mapping[str, Strength]:
        """The size of each class."""
        return {"k": Strength(view.sizes.astype(np.float64), at_least=True)}
