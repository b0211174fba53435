"""Tables of postal codes and conditions, and what the informed adversary starts from on their releases."""

from collections.abc import Sequence
from typing import Any

import pytest

import shoal
from shoal.attacks.attack import AttackResult, Scene
from shoal.attacks.attackers.informed import Informed
from shoal.attacks.informed.knowledge import PriorKnowledge, classes_of_rows, knowledge_of
from shoal.attacks.original_people import original_scene
from shoal.attacks.released_classes import released_scene, rows_of_recoding
from shoal.pipeline.run import make_release
from support.attack_cases import policy_of, table_of

TWO = {"model": "k-anonymity", "k": 2}
HALF = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.5}, "sensitive": "cond"}
MASK = {"mask": "right"}
LEFT_OUT = [("11", "HIV"), ("11", "HIV"), ("12", "HIV"), ("12", "Flu"), ("21", "HIV"), ("21", "Flu")]
"""Two people of 11 are left out although two are enough for k: both have HIV."""
TWO_OF_SIX = [("a", "HIV")] * 2 + [("b", "Flu")] * 4
"""Everybody becomes alike, and only because both a have HIV."""
FULL_DOMAIN = ["optimal", "incognito", "greedy-lattice"]
LOCAL = ["mondrian", "top-down", "greedy-clustering"]


def policy_on(hierarchy: Any, *privacy: Any, **others: Any) -> shoal.Policy:
    """A policy on postal codes with a hierarchy; of pairs, half of whom may have HIV, unless other models are given."""
    columns = {"zip": {"role": "quasi", "hierarchy": hierarchy}, "cond": {"role": "sensitive"}}
    return policy_of(columns, privacy=privacy or (TWO, HALF), **others)


def scene_of(people: Sequence[Sequence[str]], asked: shoal.Policy) -> Scene:
    """A release that has just been made, as attackers see it."""
    made = make_release(table_of(["zip", "cond"], people), asked)
    rows = rows_of_recoding(asked, made.rows, made.resolved, made.recoding)
    released = released_scene(rows, asked)
    original = original_scene(released, asked, made.rows, made.resolved, made.recoding)
    return Scene(asked, rows, released, original, recoding=made.recoding)


def known_of(scene: Scene) -> PriorKnowledge:
    """What the attacker starts from."""
    classes = classes_of_rows(scene)
    assert classes is not None
    known = knowledge_of(scene, *classes)
    assert known is not None
    return known


def by_decisions(scene: Scene) -> AttackResult:
    """What follows from single decisions, whatever the size of the table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.attacks.attackers.informed.few_worlds", lambda *_: None)
        return Informed.run(scene, "cond")
