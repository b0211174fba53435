"""``events`` under ``person``: what it accepts, and what is said where it is wrong."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from shoal.errors import PolicyError
from shoal.models import KnownEvents
from shoal.policy import Policy

K = {"model": "k-anonymity", "k": 3}
CONTENT: dict[str, Any] = {
    "columns": {"id": {"role": "identifier"}, "age": {"role": "quasi"}, "illness": {"role": "sensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2}, K],
}


@pytest.mark.parametrize("person", ["id", ["id"], {"column": "id"}, {"column": "id", "events": 1}])
def test_one_event_asks_for_nothing_more(person: Any) -> None:
    assert len(Policy.model_validate({**CONTENT, "person": person}).models()) == 3


@pytest.mark.parametrize("events", [2, 3])
def test_several_events_ask_for_the_largest_k(events: int) -> None:
    policy = Policy.model_validate({**CONTENT, "person": {"column": "id", "events": events}})
    assert policy.models_with_paths()[-1] == ("person.events", KnownEvents(3, events))
    assert policy.to_dict()["person"] == {"column": "id", "events": events}
    jsonschema.validate(policy.to_dict(), Policy.model_json_schema())


def test_the_k_of_events_is_that_of_k_anonymity_whatever_other_models_need() -> None:
    near = {"model": "epsilon-m", "epsilon": 5, "m": 7}
    policy = Policy.model_validate({**CONTENT, "privacy": [near, K], "person": {"column": "id", "events": 2}})
    assert policy.models()[-1] == KnownEvents(3, 2)


@pytest.mark.parametrize(
    ("keys", "problems"),
    [
        ({"person": {"column": "id", "events": 0}}, [("person.events", "out-of-range")]),
        ({"person": {"column": "id", "events": 4}}, [("person.events", "out-of-range")]),
        ({"person": {"column": "id", "events": 1.5}}, [("person.events", "wrong-type")]),
        ({"person": {"column": "id", "events": True}}, [("person.events", "wrong-type")]),
        ({"person": {"events": 2}}, [("person.column", "missing-key")]),
        (
            {"person": {"column": "id", "events": 2}, "privacy": [{"model": "p-sensitive", "p": 2}]},
            [("person.events", "events-without-k")],
        ),
        (
            {"person": {"column": "id", "events": 2}, "privacy": [{"model": "k-anonymty", "k": 2}]},
            [("privacy[0].model", "unknown-model")],
        ),
    ],
)
def test_wrong_events_are_problems_with_their_place(keys: dict[str, Any], problems: list[tuple[str, str]]) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.model_validate({**CONTENT, **keys})
    assert [(each.where, each.code) for each in caught.value.problems] == problems
