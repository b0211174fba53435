"""Linkage: an attacker who holds a list of people with their quasi-identifiers looks for each one's released record.

L. Sweeney, "k-anonymity: a model for protecting privacy", 2002. A person's record is one of the n released records that
the person's values fit (`shoal.attacks.linkable_records`), and no quasi-identifier tells which, so the best
guess links the person rightly with 1/n. Summed over all people that is the expected number of right links. In a
partition into classes it is the number of classes; where labels overlap, as in local recodings, people fit more records
and links are fewer. The baseline is a guess within a class: the most that anybody can do who matches all people to all
records at once, since within a class nothing tells records apart. Exposed is who fits fewer records than the k that the
policy asks for (fewer than two where it asks for none): a promise that is broken, which no chance explains.

Where people have several records and the models count people, the attacker knows one record of a person and asks whose
it may be: candidates are the different people with a record in the classes that it fits, and k is a number of people.

Insensitive columns are released as they are and the models do not look at them. Whoever knows them of a person links
by them as well: that is a second attack, and linking by the quasi-identifiers alone is its baseline.

Not covered: people outside the original, who could be taken for those in it.
"""

from typing import Any

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.linkable_records import LinkableRecords, linkable_records


class Linkage(Attack):
    """Links by the quasi-identifiers."""

    name = "linkage"
    title = "Linking a list of people"
    attacker = "Somebody with a list of all people in the original and their quasi-identifiers."
    attempt = (
        "Looks up each person by the quasi-identifiers and guesses one of the records that fit. A success is a right "
        "guess; exposed is anybody left with fewer records than the policy requires."
    )
    baseline = "guessing within a person's class"
    remedy = "Require a larger k, or choose a full-domain algorithm, where a person fits one class only."
    position = 90
    needs_original = True
    finds_people = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Link everybody, or a sample."""
        of_class, released = scene.released.sizes / scene.released.class_people, scene.released
        baseline, found = float(of_class.sum()) / released.records, scene.linkable
        return _result(scene, found, baseline, certain=found.below(2))


class LinkageInsensitive(Attack):
    """Links by the quasi-identifiers and the insensitive columns."""

    name = "linkage-insensitive"
    title = "Linking by insensitive columns too"
    attacker = "Somebody with a list of all people in the original, their quasi-identifiers and insensitive columns."
    attempt = (
        "Looks up each person by the quasi-identifiers and the insensitive columns and guesses one of the records that "
        "fit. A success is a right guess; exposed is anybody left with fewer records than the policy requires."
    )
    baseline = "linking by the quasi-identifiers alone"
    remedy = "Make those columns quasi-identifiers, or leave them out, unless nobody can know them."
    position = 91
    needs_original = True
    finds_people = True
    needs_insensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Link everybody, or a sample, by all columns."""
        released, original = scene.released.with_insensitive, scene.original
        assert released is not None
        assert original is not None
        found = linkable_records(released, original, scene.seed, scene.rows.insensitive)
        return _result(scene, found, scene.linkable.rate(), columns=list(scene.rows.insensitive))


def _result(scene: Scene, linkable: LinkableRecords, baseline: float, **details: Any) -> AttackResult:
    k, fewest = scene.released.k, linkable.fewest
    return tried(
        records=linkable.below(k),
        of=linkable.of,
        rate=linkable.rate(),
        baseline=baseline,
        interval=linkable.interval(),
        leak=bool((linkable.sizes < k).any()),
        people=linkable.people_below(k),
        **details,
        k=k,
        people_looked_up=int(linkable.people.sum()),
        matching_all_at_once=linkable.matching,
        expected_right_links=linkable.rate() * linkable.of,
        fewest_candidates=fewest,
        highest_probability=1 / fewest if fewest else 0.0,
        linked_with_certainty=linkable.below(2),
    )
