"""All attacks, one after the other, on a release."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, not_tried
from shoal.attacks.original_people import original_scene
from shoal.attacks.registry.people import EarlierRelease
from shoal.attacks.released_classes import Rows, released_scene
from shoal.attacks.verdict.verdict import Verdict
from shoal.encode.resolve import Resolved
from shoal.errors import InputError
from shoal.facts import Facts
from shoal.formatting import listing, pluralize
from shoal.plugins import discover
from shoal.policy import Policy
from shoal.search.problem import Progress, no_progress
from shoal.table.distinct_rows import DistinctRows
from shoal.table.recoding import Recoding

ATTACKS: dict[str, type[Attack]] = discover("shoal.attacks.attackers", Attack, "shoal.attacks")
"""The attacks by their names in the evidence: those of this package, then those of installed packages."""
RULED_OUT = 3  # values that the attacker with background knowledge can rule out, unless said otherwise


@dataclass(frozen=True, eq=False)
class AttackReport(Facts):
    """What each attack found."""

    attacks: tuple[AttackResult, ...]
    seed: int
    verdict: Verdict | None = None
    """Whether to publish the release, where that was judged."""

    @property
    def leaks(self) -> tuple[AttackResult, ...]:
        """The attacks that got more than their baseline explains."""
        return tuple(each for each in self.attacks if each.leak)

    def __str__(self) -> str:
        tested = len({(each.name, each.sensitive) for each in self.attacks if each.status == "tried"})
        leaks = list(dict.fromkeys((each.name, each.sensitive) for each in self.leaks))
        names = listing(list(dict.fromkeys(name for name, _ in leaks)))
        return f"{len(leaks):,} of {pluralize(tested, 'attack')} found a leak{': ' + names if names else ''}"


def attack_rows(
    policy: Policy,
    rows: Rows,
    original: DistinctRows | None = None,
    resolved: Resolved | None = None,
    recoding: Recoding | None = None,
    *,
    earlier: Sequence[EarlierRelease] = (),
    seed: int = 0,
    ruled_out: int = RULED_OUT,
    searched: bool = True,
    progress: Progress = no_progress,
) -> AttackReport:
    """Every attack on the records of a release; ``resolved`` is the original as encoded, and goes with it.

    Not ``searched``: the records took the labels of an earlier release, which were chosen for others.

    With the ``recoding`` that the release was written from no label is looked up again; the report is the same.
    """
    check_options(seed, ruled_out)
    released, people = released_scene(rows, policy), None
    if original is not None and resolved is not None:
        people = original_scene(released, policy, original, resolved, recoding)
    scene = Scene(policy, rows, released, people, earlier, seed, ruled_out, recoding, searched)
    results: list[AttackResult] = []
    for index, attack in enumerate(ATTACKS.values()):
        progress(f"attacking by {attack.name}", index / len(ATTACKS))
        results += _results(attack, scene)
    return AttackReport(tuple(results), seed)


def _results(attack: type[Attack], scene: Scene) -> Iterator[AttackResult]:
    """What one attack finds, on each sensitive column where it is on one."""
    if attack.needs_person and not scene.policy.person_columns:
        return
    columns = list(scene.released.stats.domains) if attack.on_sensitive else [""]
    if not columns:
        yield replace(not_applicable("no-sensitive-column"), name=attack.name)
    elif attack.needs_earlier and not scene.earlier:
        yield replace(not_tried("no-earlier-release"), name=attack.name)
        return
    for column in columns:
        found: AttackResult | Sequence[AttackResult]
        if attack.needs_original and scene.original is None:
            found = not_tried("needs-original")
        elif attack.needs_insensitive and scene.rows.unseen:
            found = not_tried("columns-not-compared")
        elif attack.needs_insensitive and not scene.rows.insensitive:
            found = not_applicable("no-insensitive-column")
        elif column and not scene.released.known(column):
            found = not_applicable("nothing-known")
        else:
            found = attack.run(scene, column)
        for each in [found] if isinstance(found, AttackResult) else found:
            taken = scene.policy.person_columns and each.status == "tried" and each.people is None
            on = each.sensitive or column or None
            yield replace(each, name=attack.name, sensitive=on, counted="records" if taken else None)


def check_options(seed: int, ruled_out: int) -> None:
    """Refuse a seed or a number of values that makes no sense."""
    if seed < 0:
        raise InputError(f"The seed is {seed}; a seed is a whole number from 0 on.", code="seed")
    if ruled_out < 1:
        raise InputError(f"{ruled_out} values are to be ruled out; it takes 1 or more.", code="ruled-out")
