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

Insensitive columns are released as they are and the models do not look at them. Whoever knows one of a person links by
it as well: that is a second attack. Any column narrows people down, so a leak is one that does so for more people than
the same column dealt at random over the records (`shoal.attacks.between_columns.narrowing`); there is a result for
each, worst first. What chance explains is no leak and still a fact: one result names the columns that leave people
among fewer than k, and how many people the worst of them leaves so.

Not covered: people outside the original, who could be taken for those in it.
"""

from collections.abc import Sequence
from typing import Any

from shoal.attacks.attack import Attack, AttackResult, Scene, tried
from shoal.attacks.between_columns.narrowing import Narrowing, by_column, narrowing_set, narrowings
from shoal.attacks.linkable_records import LinkableRecords, linkable_records
from shoal.attacks.released_classes import released_by

_LISTED = 10  # columns that details have figures of


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
    position = 90
    promise = True
    stopped_by_full_domain = True
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
    attacker = "Somebody with a list of all people in the original, their quasi-identifiers and an insensitive column."
    attempt = (
        "Looks up each person by the quasi-identifiers and the insensitive column and guesses one of the records that "
        "fit. A success is a right guess; exposed is anybody left with fewer records than the policy requires."
    )
    baseline = "linking by the quasi-identifiers alone"
    position = 91
    exposed_by_chance = True
    needs_original = True
    finds_people = True
    needs_insensitive = True

    @staticmethod
    def run(scene: Scene, column: str) -> Sequence[AttackResult]:  # noqa: ARG004 - it is on no column
        """Link everybody, or a sample, by each column that narrows people down more than chance; else by the worst."""
        found = narrowings(scene.rows, scene.released.k, scene.seed)
        narrowing = [each for each in found if each.records]
        leaks, rest = [each for each in found if each.leak], [each for each in narrowing if not each.leak]
        results = [_beyond_chance(scene, each) for each in leaks]
        return [*results, _explained(scene, rest)] if rest or not leaks else results


def _beyond_chance(scene: Scene, narrowing: Narrowing) -> AttackResult:
    """A column that narrows down more people than chance."""
    names = (narrowing.column,)
    chance = {"p_value": narrowing.p_value, "expected_by_chance": narrowing.expected}
    return _by_columns(scene, names, linkable_by(scene, names), leak=True, named=names, **chance)


def _explained(scene: Scene, narrowing: Sequence[Narrowing]) -> AttackResult:
    """The columns that narrow people down as chance does, the worst first; two or three where no single one does."""
    every = tuple(scene.rows.insensitive)
    by_all = linkable_by(scene, every)
    details: dict[str, Any] = {"by_all_columns": by_all.below(scene.released.k), "insensitive_columns": len(every)}
    names: tuple[str, ...]
    if narrowing:
        named, worst = tuple(each.column for each in narrowing), narrowing[0]
        details |= {"by_column": by_column(narrowing, _LISTED), "expected_by_chance": worst.expected}
        names, p_value = (worst.column,), worst.p_value
    else:
        names, p_value = narrowing_set(scene.rows, scene.released.k)[0], 1.0
        named = names
    found = by_all if names == every else linkable_by(scene, names)
    return _by_columns(scene, names, found, leak=False, named=named, p_value=p_value, **details)


def linkable_by(scene: Scene, names: Sequence[str]) -> LinkableRecords:
    """The released records that people fit by quasi-identifiers and some insensitive columns."""
    assert scene.original is not None
    if not names:
        return scene.linkable
    finer, insensitive = released_by(scene.rows, scene.released, names), scene.rows.insensitive
    return linkable_records(finer, scene.original, scene.seed, {name: insensitive[name] for name in names})


def _by_columns(
    scene: Scene,
    names: tuple[str, ...],
    found: LinkableRecords,
    *,
    leak: bool,
    named: tuple[str, ...],
    **details: Any,
) -> AttackResult:
    columns = named if found.below(scene.released.k) else ()
    alone = found.below(2) if leak else 0
    return _result(
        scene, found, scene.linkable.rate(), leak=leak, columns=columns, certain=alone, linked_by=names, **details
    )


def _result(scene: Scene, linkable: LinkableRecords, baseline: float, **details: Any) -> AttackResult:
    k, fewest = scene.released.k, linkable.fewest
    return tried(
        records=linkable.below(k),
        of=linkable.of,
        rate=linkable.rate(),
        baseline=baseline,
        interval=linkable.interval(),
        people=linkable.people_below(k),
        **{"leak": bool((linkable.sizes < k).any()), **details},
        k=k,
        people_looked_up=int(linkable.people.sum()),
        matching_all_at_once=linkable.matching,
        expected_right_links=linkable.rate() * linkable.of,
        fewest_candidates=fewest,
        highest_probability=1 / fewest if fewest else 0.0,
        linked_with_certainty=linkable.below(2),
    )
