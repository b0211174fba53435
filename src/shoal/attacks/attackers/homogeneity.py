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
illness, the ward reveals it, however mixed the classes are. That is a second attack. Its baseline are the records that
are certain from their class alone, and those that would become so if the values were dealt at random within the
classes: the fewer records agree, the more of them are certain by chance. There is a result for each column that does
more, worst first, and for two columns with few values where neither does so alone
(`shoal.attacks.between_columns.column_tests`).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.between_columns.guessed import Guessed
from shoal.attacks.chance.statistics import expected_by_chance
from shoal.attacks.exposure import certain
from shoal.attacks.released_classes import released_by


class Homogeneity(Attack):
    """Looks for classes with a single value."""

    name = "homogeneity"
    title = "A class with one value reveals it"
    attacker = "A neighbour who knows a person's quasi-identifiers and that the person is in the release."
    attempt = "Looks for classes with a single sensitive value; a success is a record in one."
    baseline = "records whose value is certain from the overall frequencies alone"
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

    @staticmethod
    def needed(result: AttackResult) -> Mapping[str, float]:  # noqa: ARG004 - always the same
        """A second value in every class."""
        return {"values": 2}


class HomogeneityInsensitive(Attack):
    """Looks for single values among records that agree in the insensitive columns too."""

    name = "homogeneity-insensitive"
    title = "An insensitive column reveals it"
    attacker = "A neighbour who knows a person's quasi-identifiers and an insensitive column."
    attempt = (
        "Looks at the records of a class that have the same value of the insensitive column. A success is a record for "
        "which all of them have the same sensitive value."
    )
    baseline = "records whose value is certain from their class alone, or by chance"
    position = 11
    exposed_by_chance = True
    on_sensitive = True
    needs_insensitive = True
    tells_people_apart = True

    @staticmethod
    def run(scene: Scene, column: str) -> Sequence[AttackResult]:
        """A result for each column, or two, that makes more secrets certain than chance; else one of the closest."""
        tests = scene.column_tests[column]
        leaks = [_certain_by(scene, column, each, leak=True) for each in tests.certain_leaks]
        leaks = [each for each in leaks if each.certain]  # but for values that the policy does not protect
        if leaks:
            return leaks
        closest = tests.most_certain
        if closest is not None:
            return [_certain_by(scene, column, closest, leak=False)]
        alone, of = certain(scene.released, column, 0), scene.released.known(column)
        return [tried(records=alone.records, of=of, baseline=alone.records / of, leak=False, certain=0,
                      records_in_mixed_classes=0, **alone.by_values())]  # fmt: skip


def _certain_by(scene: Scene, column: str, guessed: Guessed, *, leak: bool) -> AttackResult:
    """What some insensitive columns make certain, against the classes alone and chance."""
    finer, of = released_by(scene.rows, scene.released, guessed.columns), guessed.of
    alone, found = certain(scene.released, column, 0), certain(finer, column, 0)
    more = found.records - alone.records
    return tried(
        records=found.records,
        of=of,
        people=found.people,
        baseline=(alone.records + min(guessed.certain_by_chance, of)) / of,
        leak=leak and more > 0,
        columns=guessed.columns if found.records > alone.records else None,
        certain=more if leak else 0,
        p_value=guessed.certain_among_p_value,
        records_in_mixed_classes=more,
        unique_records=int(np.count_nonzero(finer.sizes == 1)),
        expected_by_chance=guessed.certain_by_chance,
        **found.by_values(),
    )
