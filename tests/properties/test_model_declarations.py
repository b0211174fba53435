"""Searches prune on what models declare, so each declaration is held against random classes or a counterexample."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.models import (
    MODELS,
    AlpDif,
    AlphaKAnonymity,
    EntropyLDiversity,
    EpsilonM,
    GroupLeakage,
    Model,
    RecursiveCLDiversity,
    TCloseness,
)
from support.builders import Classes, merged
from support.model_cases import CATEGORIES, COLUMN, RANDOM, READINGS, VALUES, classes, view

pytestmark = pytest.mark.slow

MERGE_CLOSED = [name for name, model in MODELS.items() if model.merge_closed]
SUPERSET_CLOSED = [name for name, model in MODELS.items() if model.superset_closed]


@pytest.mark.parametrize("name", MERGE_CLOSED)
@given(data=st.data())
def test_satisfying_classes_merged_satisfy(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(classes(min_classes=2)), data.draw(READINGS)
    holds = model.holds(view(drawn, unknown))
    for one, other in combinations(range(len(drawn)), 2):
        if holds[one] and holds[other]:
            assert model.holds(view(merged(drawn, one, other), unknown))[0]


@pytest.mark.parametrize("name", SUPERSET_CLOSED)
@given(data=st.data())
def test_a_satisfying_class_stays_so_whatever_is_added(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(classes(min_classes=1)), data.draw(READINGS)
    added = data.draw(st.lists(st.sampled_from(VALUES), max_size=8))
    holds = model.holds(view(drawn, unknown))
    for place, each in enumerate(drawn):
        if holds[place]:
            grown = [*drawn[:place], [*each, *added], *drawn[place + 1 :]]
            assert model.holds(view(grown, unknown))[place]


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"k-anonymity"}))
@given(data=st.data())
def test_unknown_values_change_no_verdict_and_hide_nobody(name: str, data: st.DataObject) -> None:
    model, drawn = data.draw(RANDOM[name]), data.draw(classes(min_classes=1))
    unknown = frozenset({None})
    added = [[*each, *[None] * data.draw(st.integers(0, 5))] for each in drawn]
    before, after = view(drawn, unknown), view(added, unknown)
    assert model.holds(before).tolist() == model.holds(after).tolist()
    assert model.table_holds(before) == model.table_holds(after)
    assert model.reached(before) == model.reached(after)


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
def test_a_model_keeps_what_it_promises_of_known_values(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(classes()), data.draw(READINGS)
    for each, held in zip(drawn, model.holds(view(drawn, unknown)).tolist(), strict=True):
        known = set(each) - unknown
        if held and model.counts is not None:
            assert len(known) >= (model.least_values if model.counts == "values" else 0)
            assert len({place(value) for value in known}) >= model.least_categories


def place(value: str | None) -> str:
    return next(category for category, values in CATEGORIES.items() if value in values)


ZEROS: Classes = (("HIV", "HIV", "HIV", "Flu", "Cancer"), ("Flu", "Flu"), ("HIV", "HIV", "HIV", "Flu"))
NOT_MERGE_CLOSED: dict[str, tuple[Model, Classes, int, int]] = {
    "alp-dif": (AlpDif({"HIV": {"alp": 0.7, "dif": 0.1}}, sensitive=COLUMN), ZEROS, 0, 1),
    "epsilon-m": (EpsilonM(2.1, 2, sensitive=COLUMN), (("Cancer", "Cancer", "HIV", "HIV"), ("Phthisis", "Flu")), 0, 1),
}
"""A model, classes that all satisfy it, and the two whose merging makes some class fail."""

EVEN: Classes = (("HIV", "Flu"), ("HIV", "Flu") * 10)
NOT_SUPERSET_CLOSED: dict[str, tuple[Model, Classes]] = {
    "group-leakage": (GroupLeakage(1, alpha={"Top Secret": 0.5}, sensitive=COLUMN), EVEN),
    "alp-dif": (AlpDif({"HIV": {"alp": 1, "dif": 0.1}}, sensitive=COLUMN), EVEN),
    "entropy-l-diversity": (EntropyLDiversity(2, sensitive=COLUMN), EVEN),
    "recursive-cl-diversity": (RecursiveCLDiversity(2, c=1.5, sensitive=COLUMN), EVEN),
    "alpha-k-anonymity": (AlphaKAnonymity(0.5, sensitive=COLUMN), EVEN),
    "t-closeness": (TCloseness(0.2, sensitive=COLUMN), EVEN),
    "epsilon-m": (EpsilonM(1, 2, sensitive=COLUMN), EVEN),
}
"""A model and classes that satisfy it until three records of HIV join the first."""


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(MERGE_CLOSED)))
def test_a_model_declared_not_merge_closed_has_a_counterexample(name: str) -> None:
    model, before, one, other = NOT_MERGE_CLOSED[name]
    assert model.name == name
    assert model.holds(view(before)).all()
    assert model.table_holds(view(before))
    assert not model.holds(view(merged(before, one, other))).all()


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(SUPERSET_CLOSED)))
def test_a_model_declared_not_superset_closed_has_a_counterexample(name: str) -> None:
    model, before = NOT_SUPERSET_CLOSED[name]
    assert model.name == name
    assert model.holds(view(before)).all()
    grown = [(*before[0], "HIV", "HIV", "HIV"), *before[1:]]
    assert not model.holds(view(grown))[0]


def test_merging_elsewhere_lowers_the_average_and_an_untouched_class_fails() -> None:
    """The counterexample to Wang's Theorem 3: ALP falls from 0.675 to 0.589 and 0.75 exceeds it by more than 0.1."""
    model = AlpDif({"HIV": {"alp": 0.7, "dif": 0.1}}, sensitive=COLUMN)
    before, after = view(ZEROS), view(merged(ZEROS, 0, 1))
    assert model.reached(before) == pytest.approx({"alp[HIV]": 0.675, "dif[HIV]": 0.075})
    assert model.reached(after)["alp[HIV]"] == pytest.approx(0.589, abs=5e-4)
    assert model.holds(after).tolist() == [True, False]
    assert model.table_holds(after)


def test_the_declarations_are_those_of_the_definitions() -> None:
    everything = {"k-anonymity", "p-sensitive", "p-alpha-sensitive", "p-plus-alpha-sensitive", "distinct-l-diversity",
                  "k-e"}  # fmt: skip
    assert set(SUPERSET_CLOSED) == everything
    assert set(MODELS) - set(MERGE_CLOSED) == {"alp-dif", "epsilon-m"}
    assert {name for name, model in MODELS.items() if model.whole_table} == {"alp-dif", "t-closeness"}
    assert {name for name, model in MODELS.items() if model.needs_categories} == {
        "p-alpha-sensitive",
        "p-plus-alpha-sensitive",
        "group-leakage",
    }
