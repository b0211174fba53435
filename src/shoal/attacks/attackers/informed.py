"""The informed adversary."""

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, not_tried
from shoal.attacks.informed.exact import exact_beliefs, few_worlds
from shoal.attacks.informed.knowledge import columns_read, knowledge_of, rows_of_records
from shoal.attacks.informed.outcome import outcome
from shoal.attacks.informed.worlds import Worlds, made_again

MADE_AGAIN = 5_000  # records of a table that is recoded again to see who is in which class, where labels overlap


class Informed(Attack):
    """Asks which secrets explain the release."""

    name = "informed"
    title = "Knowing how the release was made"
    attacker = (
        "Somebody with a list of everybody's quasi-identifiers, also of people who were left out, who knows policy, "
        "program and version."
    )
    attempt = (
        "Asks which secrets explain exactly this release: for other secrets the program would have made another one. A "
        "success is a record whose secret becomes certain, or more likely by 10 percentage points or more."
    )
    baseline = "the frequencies of the class, and overall frequencies for people who were left out"
    remedy = "Ask for fewer classes."
    position = 50
    on_sensitive = True
    needs_original = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """The beliefs in everybody's secret."""
        assert scene.original is not None
        if column not in columns_read(scene):
            return not_applicable("secrets-not-read")
        records = rows_of_records(scene)
        if records is None and scene.original.problem.table.n_rows <= MADE_AGAIN:
            records = made_again(scene)
        if records is None:
            return not_tried("classes-overlap")
        known = knowledge_of(scene, *records)
        parts = few_worlds(known)
        if parts is None:
            return not_tried("too-many-worlds")
        worlds = Worlds(scene, known)
        if not worlds.explains(known.true):
            return not_tried("not-reproduced")
        beliefs = exact_beliefs(known, parts, worlds)
        if beliefs is None:
            return not_tried("unexplained")
        return outcome(known, column, beliefs, method="exact", worlds=worlds.runs - 1)
