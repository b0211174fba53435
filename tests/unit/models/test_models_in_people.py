"""Every model, where people are counted, does what its definition says when computed naively with fractions."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import model_oracles as records
from oracles import people_oracle as oracle
from oracles.lattice_oracle import Secret
from shoal.models import (
    MODELS,
    AlpDif,
    AlphaKAnonymity,
    EntropyLDiversity,
    EpsilonM,
    GroupLeakage,
    KAnonymity,
    Model,
    PAlphaSensitive,
    PPlusAlphaSensitive,
    PSensitive,
    RecursiveCLDiversity,
    TCloseness,
)
from shoal.table.classes import UNITS
from support.builders import merged
from support.model_cases import COLUMN, RANDOM, READINGS, VALUES, view
from support.people_cases import SECRET, Events, events, people_view, secret_of
from support.search_cases import spec_of

pytestmark = pytest.mark.slow

EVERY = pytest.mark.parametrize("name", MODELS)
CLOSED = [name for name, model in MODELS.items() if model.closed_for_people]


def figures(model: Model, drawn: Events, secret: Secret = SECRET) -> oracle.Figures:
    return oracle.figures_of(spec_of(model), drawn, secret)


@EVERY
@given(data=st.data())
def test_a_model_holds_where_its_definition_in_people_says(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(events()), data.draw(READINGS)
    seen, secret = people_view(drawn, unknown), secret_of(unknown)
    assert model.holds(seen).tolist() == oracle.holds(spec_of(model), drawn, secret)
    assert model.table_holds(seen) is oracle.table_holds(spec_of(model), drawn, secret)


@EVERY
@given(data=st.data())
def test_what_each_class_reaches_is_what_the_definition_gives(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(events(min_classes=1)), data.draw(READINGS)
    strengths, expected = model.strengths(people_view(drawn, unknown)), figures(model, drawn, secret_of(unknown))
    assert set(strengths) == set(expected)
    for parameter, of_class in expected.items():
        reached = strengths[parameter].per_class.tolist()
        assert reached == pytest.approx([float(each) for each in of_class], abs=2e-9), parameter


@EVERY
@given(data=st.data())
def test_a_class_lacks_what_it_fails(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(events(min_classes=1)), data.draw(READINGS)
    seen, spec, secret = people_view(drawn, unknown), spec_of(model), secret_of(unknown)
    expected, whole = figures(model, drawn, secret), oracle.table_holds(spec, drawn, secret)
    for index, held in enumerate(oracle.holds(spec, drawn, secret)):
        lacks = model.shortfalls(seen, index)
        finite = [each for each in expected.values() if math.isfinite(each[index])]
        assert bool(lacks) == (not (held and whole)) or len(finite) < len(expected)
        for lack in lacks:
            assert lack.reached == pytest.approx(float(expected[lack.parameter][index]), abs=2e-9)
            assert lack.required == pytest.approx(float(oracle.limit_of(spec, lack.parameter)))
            if name != "recursive-cl-diversity":  # where l and c each would do alone, both are named
                assert not oracle.meets(spec, lack.parameter, expected[lack.parameter][index])


@given(data=st.data())
def test_shares_and_weights_reached_in_people_are_rounded_to_the_safe_side(data: st.DataObject) -> None:
    drawn = data.draw(events(min_classes=1))
    weighted, shared = data.draw(RANDOM["p-alpha-sensitive"]), data.draw(RANDOM["alpha-k-anonymity"])
    for exact, reached in zip(
        figures(weighted, drawn)["alpha"], weighted.strengths(people_view(drawn))["alpha"].per_class, strict=True
    ):
        assert exact - records.SLACK < records.decimal(float(reached)) <= exact
    for parameter, of_class in figures(shared, drawn).items():
        seen = shared.strengths(people_view(drawn))[parameter].per_class
        for exact, reached in zip(of_class, seen, strict=True):
            assert exact <= records.decimal(float(reached)) < exact + records.SLACK


@EVERY
@given(data=st.data())
def test_where_everybody_has_one_record_people_are_records(name: str, data: st.DataObject) -> None:
    model, drawn = data.draw(RANDOM[name]), data.draw(events(min_classes=1))
    alone, number = [], 0
    for each in drawn:
        alone.append([(number + place, value) for place, (_, value) in enumerate(each)])
        number += len(each)
    plain = view([[value for _, value in each] for each in drawn])
    assert model.holds(people_view(alone)).tolist() == model.holds(plain).tolist()
    assert model.table_holds(people_view(alone)) is model.table_holds(plain)
    for parameter, figure in model.reached(plain).items():
        assert model.reached(people_view(alone))[parameter] == pytest.approx(figure, abs=2e-9)


@EVERY
@given(data=st.data())
def test_records_that_tell_nothing_new_of_a_person_change_nothing(name: str, data: st.DataObject) -> None:
    model, drawn = data.draw(RANDOM[name]), data.draw(events(min_classes=1))
    again = [[*each, *data.draw(st.lists(st.sampled_from(each), max_size=3))] for each in drawn]
    before, after = people_view(drawn), people_view(again)
    assert model.holds(before).tolist() == model.holds(after).tolist()
    assert model.table_holds(before) is model.table_holds(after)
    assert model.reached(before) == model.reached(after)


@pytest.mark.parametrize("name", CLOSED)
@given(data=st.data())
def test_satisfying_classes_merged_satisfy_in_people(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(events(min_classes=2)), data.draw(READINGS)
    holds = model.holds(people_view(drawn, unknown))
    for one, other in combinations(range(len(drawn)), 2):
        if holds[one] and holds[other]:
            assert model.holds(people_view(merged(drawn, one, other), unknown))[0]


@pytest.mark.parametrize("name", CLOSED)
@given(data=st.data())
def test_a_satisfying_class_stays_so_whoever_is_added(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(events(min_classes=1)), data.draw(READINGS)
    added = data.draw(st.lists(st.tuples(st.integers(0, 8), st.sampled_from(VALUES)), max_size=8))
    holds = model.holds(people_view(drawn, unknown))
    for place, each in enumerate(drawn):
        if holds[place]:
            grown = [*drawn[:place], [*each, *added], *drawn[place + 1 :]]
            assert model.holds(people_view(grown, unknown))[place]


SWAPPED: Events = ([(1, "HIV"), (2, "Flu")], [(1, "Flu"), (2, "HIV")])
"""Half of each class has HIV; merged, everybody does."""
LIGHTER: Events = ([(1, "Flu"), (2, "HIV")], [(2, "Flu"), (1, "HIV"), (1, "Cancer")])
"""The two weigh 1 + 0 and 0 + 1; merged, 1/3 + 1/2: each has more values that weigh nothing."""
UNEVEN: Events = (
    [(1, "HIV"), (2, "HIV"), (3, "Flu"), (4, "Flu")],
    [(1, "HIV"), (2, "HIV"), (5, "Flu"), (5, "Flu"), (6, "Flu")],
)
NOT_CLOSED: dict[str, tuple[Model, Events]] = {
    "p-alpha-sensitive": (PAlphaSensitive(2, alpha=1, sensitive=COLUMN), LIGHTER),
    "p-plus-alpha-sensitive": (PPlusAlphaSensitive(2, alpha=1, sensitive=COLUMN), LIGHTER),
    "group-leakage": (GroupLeakage(2, alpha={"Top Secret": 0.5}, sensitive=COLUMN), SWAPPED),
    "alp-dif": (AlpDif({"HIV": {"alp": 0.5, "dif": 0}}, sensitive=COLUMN), SWAPPED),
    "entropy-l-diversity": (EntropyLDiversity(2, sensitive=COLUMN), UNEVEN),
    "recursive-cl-diversity": (RecursiveCLDiversity(2, c=1.5, sensitive=COLUMN), UNEVEN),
    "alpha-k-anonymity": (AlphaKAnonymity(0.5, sensitive=COLUMN), SWAPPED),
    "epsilon-m": (EpsilonM(1, 2, sensitive=COLUMN), ([(1, "HIV"), (2, "Flu")], [(3, "HIV"), (2, "Flu")])),
    "t-closeness": (
        TCloseness(0.1, sensitive=COLUMN),  # half of the release has HIV, and a third of the merged class
        (
            [(1, "HIV"), (2, "Flu")],
            [(1, "HIV"), (3, "Flu")],
            [(person, "HIV" if person % 2 else "Flu") for person in range(11, 22)],
        ),
    ),
}
"""A model and classes that all satisfy it, of which the first two merged do not: they share people."""


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(CLOSED)))
def test_a_model_that_is_not_closed_for_people_has_a_counterexample(name: str) -> None:
    model, before = NOT_CLOSED[name]
    assert model.name == name
    together = merged(before, 0, 1)
    assert model.holds(people_view(before)).all()
    assert model.table_holds(people_view(before))
    assert not (model.holds(people_view(together))[0] and model.table_holds(people_view(together)))
    assert oracle.holds(spec_of(model), before, SECRET) == [True] * len(before)
    assert not (
        oracle.holds(spec_of(model), together, SECRET)[0] and oracle.table_holds(spec_of(model), together, SECRET)
    )


def test_the_models_closed_for_people_only_count() -> None:
    assert set(CLOSED) == {"k-anonymity", "p-sensitive", "distinct-l-diversity", "k-e"}


ONE_PATIENT: Events = ([(7, "HIV")] * 14 + [(7, "Flu")], [(1, "HIV"), (2, "Flu"), (3, "Flu"), (3, "Asthma")])
"""Fifteen records of one patient; four of three, of whom the last has two values."""
BY_HAND: list[tuple[Model, dict[str, list[Any]]]] = [
    (KAnonymity(1), {"k": [1, 3]}),
    (PSensitive(1, sensitive=COLUMN), {"p": [2, 3]}),
    (AlphaKAnonymity({"HIV": 1, "Flu": 1}, sensitive=COLUMN), {"alpha[HIV]": [1, 1 / 3], "alpha[Flu]": [1, 2 / 3]}),
    (GroupLeakage(1, alpha={"Non Secret": 1}, sensitive=COLUMN), {"p": [2, 3], "alpha[Non Secret]": [1, 2 / 3]}),
    # the patient weighs (0 + 1)/2; the three weigh 0, 1 and (1 + 2/3)/2
    (PAlphaSensitive(1, alpha=0, sensitive=COLUMN), {"p": [2, 3], "alpha": [1 / 2, 1 + 5 / 6]}),
    # weights 1/2, 1/2 and 1, 3/2, 1/2 of 3
    (EntropyLDiversity(1, sensitive=COLUMN), {"l": [2, 3 / (1.5**0.5 * 0.5 ** (1 / 6))]}),
    (RecursiveCLDiversity(2, c=2, sensitive=COLUMN), {"l": [2, 2], "c": [1, 1]}),
    # whole release, of four people: HIV 1/2 + 1, Flu 1/2 + 1 + 1/2, Asthma 1/2, each over 4
    (TCloseness(1, sensitive=COLUMN), {"t": [1 / 8, 1 / 24]}),
    # leakage 1 for one person and 1/3 for one: average 2/3
    (AlpDif({"HIV": {"alp": 1, "dif": 1}}, sensitive=COLUMN), {"alp[HIV]": [2 / 3, 2 / 3], "dif[HIV]": [1 / 3, 0]}),
]


@pytest.mark.parametrize(("model", "expected"), BY_HAND, ids=[model.name for model, _ in BY_HAND])
def test_figures_worked_out_by_hand(model: Model, expected: dict[str, list[Any]]) -> None:
    strengths = model.strengths(people_view(ONE_PATIENT))
    assert set(strengths) == set(expected)
    for parameter, of_class in expected.items():
        assert strengths[parameter].per_class.tolist() == pytest.approx(of_class, abs=2e-9), parameter


def test_a_person_with_more_values_than_units_divide_evenly_over_still_weighs_one() -> None:
    assert all(UNITS % n == 0 for n in range(1, 17))
    assert UNITS % 17
