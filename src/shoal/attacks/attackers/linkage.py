"""Linkage: an attacker who holds a list of people with their quasi-identifiers looks for each one's released record.

L. Sweeney, "k-anonymity: a model for protecting privacy", 2002. A person's record is one of the n released records that
the person's values fit (`shoal.attacks.linkable_records`), and no quasi-identifier tells which, so the best
guess links the person rightly with 1/n. Summed over all people that is the expected number of right links. In a
partition into classes it is the number of classes; where labels overlap, as in local recodings, people fit more records
and links are fewer. The baseline is a guess within a class: the most that anybody can do who matches all people to all
records at once, since within a class nothing tells records apart. Exposed is who fits fewer records than the k that the
policy asks for (fewer than two where it asks for none).

Insensitive columns are released as they are and the models do not look at them. Whoever knows them of a person links
by them as well: that is a second attack, and linking by the quasi-identifiers alone is its baseline.

Not covered: people outside the original, who could be taken for those in it.
"""

from __future__ import annotations

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

    @staticmethod
    def run(scene: Scene, column: str | None) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Link everybody, or a sample."""
        return _result(scene, scene.linkable, len(scene.released.sizes) / scene.released.records)


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
    needs_insensitive = True

    @staticmethod
    def run(scene: Scene, column: str | None) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Link everybody, or a sample, by all columns."""
        assert scene.original is not None
        assert scene.released.extras is not None
        found = linkable_records(scene.released, scene.original, scene.seed, insensitive=True)
        return _result(scene, found, scene.linkable.rate(), columns=list(scene.released.extras.columns))


def _result(scene: Scene, found: LinkableRecords, baseline: float, **details: Any) -> AttackResult:
    k, fewest = scene.released.k, found.fewest
    return tried(
        records=found.below(k),
        of=found.of,
        rate=found.rate(),
        baseline=baseline,
        interval=found.interval(),
        leak=bool((found.sizes < k).any()),
        **details,
        k=k,
        people_looked_up=int(found.people.sum()),
        matching_all_at_once=found.matching,
        expected_right_links=found.rate() * found.of,
        fewest_candidates=fewest,
        highest_probability=1 / fewest if fewest else 0.0,
        linked_with_certainty=found.below(2),
    )
