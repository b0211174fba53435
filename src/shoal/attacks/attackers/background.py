"""Background knowledge: an attacker who can rule out some values for a person is certain of what is left.

Machanavajjhala et al. 2006, section 2.2; D. Martin, D. Kifer, A. Machanavajjhala, J. Gehrke, J. Halpern, "Worst-case
background knowledge for privacy-preserving data publishing", 2007: knowledge is counted in pieces. Here a piece rules
out one value for one person ("no diabetes"). Against m such pieces, the worst ones for that person, a
value is certain exactly in the classes with at most m + 1 values; p distinct values withstand p - 2 pieces.
"""

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.exposure import certain


class Background(Attack):
    """Rules values out. Reported is the number of values for which the classes add most to what is known without."""

    name = "background"
    title = "Ruling out values"
    attacker = (
        "A friend who knows a person's quasi-identifiers and some sensitive values that the person does not have."
    )
    attempt = "Rules out values in each class; a success is a record for which one value is left."
    baseline = "the same knowledge with the overall frequencies alone"
    remedy = "Require more values in every class: a larger p or l."
    position = 40
    on_sensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Records that become certain when values are ruled out for each person."""
        steps = {m: certain(scene.released, column, m) for m in range(1, scene.ruled_out + 1)}
        worst = max(steps, key=lambda m: (steps[m].records - steps[m].without_classes, m))
        found, of = steps[worst], scene.released.known(column)
        return tried(
            records=found.records,
            of=of,
            people=found.people,
            classes=found.classes,
            baseline=found.without_classes / of,
            values_ruled_out=worst,
            by_values_ruled_out={m: step.records for m, step in steps.items()},
            without_classes={m: step.without_classes for m, step in steps.items()},
            records_unprotected=int(steps[scene.ruled_out].unprotected.sum()),
        )
