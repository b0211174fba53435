"""Homogeneity: a class in which everybody has the same sensitive value reveals it for each of them.

A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "ℓ-diversity: privacy beyond k-anonymity", 2006,
section 2.1; Wang, Xu, Qu 2011, section IV, where the records in such classes are counted. Nothing else is needed than
a person's quasi-identifiers. Values that the policy's models do not protect (not listed under (alp, dif), or under an
(α, k) with a limit per value) are counted separately: their owner has said that they are not secret.

Insensitive columns are released together with the sensitive value, and no model looks at them. Whoever knows them of a
person looks for the value among the records of the class that agree in them too: if everybody in a ward has the same
illness, the ward reveals it, however mixed the classes are. That is a second attack, and the classes alone are its
baseline.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.exposure import Certain, certain
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
    def run(scene: Scene, column: str | None) -> AttackResult:
        """Records in classes with a single value of the column."""
        assert column is not None
        released, found = scene.released, certain(scene.released, column, 0)
        return tried(
            records=found.records,
            of=released.records,
            classes=found.classes,
            rate=found.records / released.records,
            baseline=found.without_classes / released.records,
            leak=found.records > found.without_classes,
            **_by_value(found),
            expected_by_chance=expected_by_chance(released.sizes, released.stats.view(column).totals),
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
    def run(scene: Scene, column: str | None) -> AttackResult:
        """Records whose value is certain from the class and the insensitive columns together."""
        released, extras = scene.released, scene.released.extras
        assert column is not None
        assert extras is not None
        alone, found = certain(released, column, 0), certain(released, column, 0, stats=extras.stats)
        return tried(
            records=found.records,
            of=released.records,
            rate=found.records / released.records,
            baseline=alone.records / released.records,
            leak=found.records > alone.records,
            columns=list(extras.columns),
            records_in_mixed_classes=found.records - alone.records,
            unique_records=int(np.count_nonzero(extras.sizes == 1)),
            **_by_value(found),
            expected_by_chance=expected_by_chance(extras.sizes, released.stats.view(column).totals),
        )


def _by_value(found: Certain) -> dict[str, Any]:
    return {
        "by_value": found.by_value,
        "records_unprotected": found.unprotected,
        "by_value_unprotected": found.by_value_unprotected,
    }
