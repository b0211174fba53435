"""Homogeneity: a class in which everybody has the same sensitive value reveals it for each of them.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "ℓ-diversity: privacy beyond k-anonymity", 2006,
section 2.1; Wang, Xu, Qu 2011, section IV, where the records in such classes are counted. Nothing else is needed than
a person's quasi-identifiers. Values that the policy's models do not protect (not listed under (alp, dif), or under an
(α, k) with a limit per value) are counted separately: their owner has said that they are not secret. An unknown value
hides nobody: the attack is on the records whose value is known, and looks at these alone.

Such a class is a leak however it came about. It may well be chance, and ``expected_by_chance`` says how many records
random dealings of the values would expose; but whoever finds a person there knows the person's value for certain, and
for that person it makes no difference why. Attacks that only make a value more likely are held against chance instead.

Insensitive columns are released together with the sensitive value, and no model looks at them. Whoever knows them of a
person looks for the value among the records of the class that agree in them too: if everybody in a ward has the same
illness, the ward reveals it, however mixed the classes are. That is a second attack, and the classes alone are its
baseline.
"""

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.exposure import certain
from shoal.attacks.statistics import expected_by_chance


class Homogeneity(Attack):
    """Looks for classes with a single value."""

    name = "homogeneity"
    title = "A class with one value reveals it"
    attacker = "A neighbour who knows a person's quasi-identifiers and that the person is in the release."
    attempt = "Looks for classes with a single sensitive value; a success is a record in one."
    baseline = "records whose value is certain from the overall frequencies alone"
    remedy = "Require several values in every class."
    position = 10
    on_sensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Records in classes with a single value of the column."""
        released, found = scene.released, certain(scene.released, column, 0)
        view, of = released.stats.view(column), released.known(column)
        return tried(
            records=found.records,
            of=of,
            people=found.people,
            classes=found.classes,
            baseline=found.without_classes / of,
            certain=found.added,
            **found.by_values(),
            expected_by_chance=expected_by_chance(view.known, view.totals),
        )


class HomogeneityInsensitive(Attack):
    """Looks for single values among records that agree in the insensitive columns too."""

    name = "homogeneity-insensitive"
    title = "An insensitive column reveals it"
    attacker = "A neighbour who knows a person's quasi-identifiers and insensitive columns."
    attempt = (
        "Looks for records with the same class and the same insensitive columns that all have one sensitive value; a "
        "success is a record among them."
    )
    baseline = "records whose value is certain from their class alone"
    remedy = "Make those columns quasi-identifiers, or leave them out, unless nobody can know them."
    position = 11
    on_sensitive = True
    needs_insensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Records whose value is certain from the class and the insensitive columns together."""
        released, finer = scene.released, scene.released.with_insensitive
        assert finer is not None
        alone, found = certain(released, column, 0), certain(finer, column, 0)
        view, of = finer.stats.view(column), released.known(column)
        return tried(
            records=found.records,
            of=of,
            people=found.people,
            baseline=alone.records / of,
            columns=list(scene.rows.insensitive),
            records_in_mixed_classes=found.records - alone.records,
            unique_records=int(np.count_nonzero(finer.sizes == 1)),
            **found.by_values(),
            expected_by_chance=expected_by_chance(view.known, view.totals),
        )
