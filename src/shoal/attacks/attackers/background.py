"""Background knowledge: an attacker who can rule out some values for a person is certain of what is left.

Machanavajjhala et al. 2006, section 2.2; D. Martin, D. Kifer, A. Machanavajjhala, J. Gehrke, J. Halpern, "Worst-case
background knowledge for privacy-preserving data publishing", 2007: knowledge is counted in pieces. Here a piece rules
out one value for one person ("no diabetes"). Against m such pieces, the worst ones for that person, a
value is certain exactly in the classes with at most m + 1 values; p distinct values withstand p - 2 pieces.

In small classes that comes about by chance, whatever the secret has to do with the people in them: five records seldom
have five different values. So it is a leak only where more records become certain than when the same values are dealt
over the same classes at random, with a chance of at most 5% over all m (a permutation test, corrected after Holm).
"""

from collections.abc import Mapping

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.chance.permutation_tests import exposed_p_values
from shoal.attacks.chance.random_dealings import Hands, distinct_values
from shoal.attacks.chance.statistics import CHANCE, holm, log_choose
from shoal.attacks.exposure import Certain, certain, protected_values
from shoal.attacks.released_classes import Ints, Released
from shoal.table.classes import Counts, Floats


class Background(Attack):
    """Rules values out. Reported is the number of values for which the classes add most to what is known without, among
    those for which chance does not explain it."""

    name = "background"
    title = "Ruling out values"
    attacker = (
        "A friend who knows a person's quasi-identifiers and some sensitive values that the person does not have."
    )
    attempt = "Rules out values in each class; a success is a record for which one value is left."
    baseline = "the same knowledge with the overall frequencies alone"
    position = 40
    exposed_by_chance = True
    grave_if_certain = False
    on_sensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Records that become certain when values are ruled out for each person."""
        steps = {m: certain(scene.released, column, m) for m in range(1, scene.ruled_out + 1)}
        by_chance = dict(zip(steps, _by_chance(scene, column, steps), strict=True))
        leaking = [m for m in steps if by_chance[m] <= CHANCE] or list(steps)
        worst = max(leaking, key=lambda m: (steps[m].added, m))
        found, of = steps[worst], scene.released.known(column)
        return tried(
            records=found.records,
            of=of,
            people=found.people,
            classes=found.classes,
            baseline=found.without_classes / of,
            leak=found.added > 0 and by_chance[worst] <= CHANCE,
            certain=found.added,
            p_value=by_chance[worst],
            values_ruled_out=worst,
            by_values_ruled_out={m: step.records for m, step in steps.items()},
            without_classes={m: step.without_classes for m, step in steps.items()},
            p_values=by_chance,
            records_unprotected=int(steps[scene.ruled_out].unprotected.sum()),
        )

    @staticmethod
    def needed(result: AttackResult) -> Mapping[str, float]:
        """Two values more in every class than can be ruled out."""
        steps = result.details.get("by_values_ruled_out")
        return {"values": max(map(int, steps)) + 2} if steps else {}


def _by_chance(scene: Scene, column: str, steps: Mapping[int, Certain]) -> list[float]:
    """How probable as many certain records are if values are dealt at random, for each number of values ruled out."""
    view, protected = scene.released.stats.view(column), protected_values(scene.released, column)

    def exposed(hands: Hands, starts: Counts) -> Ints:
        distinct = distinct_values(hands, starts, max(steps) + 2)
        records = np.diff(starts, append=hands.shape[1])
        if not protected.all():
            records = np.add.reduceat(protected[hands].astype(np.int64), starts, axis=1)
        return np.stack([(records * (distinct <= m + 1)).sum(axis=1) for m in steps], axis=1)

    observed = [step.records if step.added else 0 for step in steps.values()]
    figures = view.known, view.totals, _likely(scene.released, column, max(steps) + 1)
    return holm(exposed_p_values(observed, exposed, figures, scene.seed))


def _likely(released: Released, column: str, values: int) -> Floats:
    """A bound of the probability that a class has so many different values at most, if values are dealt at random: all
    its records are of some set of so many values, and no set has more records than the most frequent ones."""
    view = released.stats.view(column)
    totals = np.sort(view.totals[view.totals > 0])[::-1]
    sets = log_choose(np.array([len(totals)]), np.array([min(values, len(totals))]))
    largest, of = np.full_like(view.known, totals[:values].sum()), np.full_like(view.known, totals.sum())
    return np.minimum(np.exp(sets + log_choose(largest, view.known) - log_choose(of, view.known)), 1.0)
