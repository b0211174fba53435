"""Every model, on random classes, does what its definition says when computed naively with fractions.

Some values may be unknown: then every model but k-anonymity does what the definition says of the known ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import model_oracles as oracle
from shoal.models import MODELS
from support.model_cases import CATEGORIES, DOMAIN, NUMBERS, RANDOM, READINGS, VALUES, classes, view

Drawn = list[list[str | None]]
Reached = dict[str, float | Fraction]

BLOCKS = list(CATEGORIES.values())


def distance_of(name: str, drawn: Drawn) -> oracle.Distance:
    hierarchy = DOMAIN.hierarchy
    assert hierarchy is not None
    paths = {
        value: [hierarchy.labels[n] for n in reversed(hierarchy.path(i))]
        for i, value in enumerate(VALUES)
        if any(value in each for each in drawn)
    }
    return {
        "equal": oracle.equal_distance,
        "ordered": oracle.ordered_distance([value for value in VALUES if any(value in each for each in drawn)]),
        "hierarchical": oracle.hierarchical_distance(paths),
    }[name]


HOLDS: dict[str, Callable[[Any, Drawn], list[bool]]] = {
    "k-anonymity": lambda m, c: oracle.k_holds(c, m.k),
    "p-sensitive": lambda m, c: oracle.p_holds(c, m.p),
    "p-alpha-sensitive": lambda m, c: oracle.p_alpha_holds(c, m.p, m.alpha, BLOCKS),
    "p-plus-alpha-sensitive": lambda m, c: oracle.p_plus_alpha_holds(c, m.p, m.alpha, BLOCKS),
    "group-leakage": lambda m, c: oracle.group_leakage_holds(c, m.p, m.alpha, CATEGORIES),
    "alp-dif": lambda m, c: oracle.alp_dif_holds(c, m.limits),
    "distinct-l-diversity": lambda m, c: oracle.p_holds(c, m.l),
    "entropy-l-diversity": lambda m, c: oracle.entropy_l_holds(c, m.l),
    "recursive-cl-diversity": lambda m, c: oracle.recursive_holds(c, m.c, m.l),
    "alpha-k-anonymity": lambda m, c: oracle.alpha_k_holds(c, m.alpha),
    "t-closeness": lambda m, c: oracle.t_holds(c, m.t, distance_of(m.distance, c)),
    "k-e": lambda m, c: oracle.k_e_holds(c, m.k, m.e, NUMBERS),
    "epsilon-m": lambda m, c: oracle.epsilon_m_holds(c, m.epsilon, m.m, m.relative, NUMBERS),
}


def seen(name: str, drawn: Drawn, unknown: frozenset[str | None]) -> Drawn:
    """The classes as a model sees them."""
    return drawn if name == "k-anonymity" else oracle.known(drawn, unknown)


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
def test_a_model_holds_where_its_definition_says(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(classes()), data.draw(READINGS)
    assert model.holds(view(drawn, unknown)).tolist() == HOLDS[name](model, seen(name, drawn, unknown))


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
def test_only_average_leakage_is_a_condition_on_the_whole_table(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(classes()), data.draw(READINGS)
    expected = oracle.alp_holds(seen(name, drawn, unknown), model.limits) if name == "alp-dif" else True
    assert model.table_holds(view(drawn, unknown)) is expected


def named(parameter: str, value: str | None) -> str:
    return f"{parameter}[{'(missing)' if value is None else value}]"


def alp_dif_reached(m: Any, c: Drawn) -> Reached:
    alp = {named("alp", value): oracle.average_leakage(c, value) for value in m.limits}
    return alp | {named("dif", value): oracle.dif_reached(c, value) for value in m.limits}


def recursive_reached(m: Any, c: Drawn) -> Reached:
    bound = oracle.recursive_c_bound(c, m.l)
    return {"l": oracle.recursive_l_reached(c, m.c), "c": math.inf if bound is None else bound}


def alpha_k_reached(m: Any, c: Drawn) -> Reached:
    if isinstance(m.alpha, Mapping):
        return {named("alpha", value): oracle.largest_share(c, value) for value in m.alpha}
    return {"alpha": oracle.largest_share(c)}


def group_leakage_reached(m: Any, c: Drawn) -> Reached:
    shares = {named("alpha", g): max(oracle.group_share(each, CATEGORIES[g]) for each in c) for g in m.alpha}
    return {"p": oracle.p_plus_reached(c, BLOCKS)} | shares


REACHED: dict[str, Callable[[Any, Drawn], Reached]] = {
    "k-anonymity": lambda _, c: {"k": oracle.k_reached(c)},
    "p-sensitive": lambda _, c: {"p": oracle.p_reached(c)},
    "p-alpha-sensitive": lambda _, c: {"p": oracle.p_reached(c), "alpha": oracle.alpha_reached(c, BLOCKS)},
    "p-plus-alpha-sensitive": lambda _, c: {
        "p": oracle.p_plus_reached(c, BLOCKS),
        "alpha": oracle.alpha_reached(c, BLOCKS),
    },
    "group-leakage": group_leakage_reached,
    "alp-dif": alp_dif_reached,
    "distinct-l-diversity": lambda _, c: {"l": oracle.p_reached(c)},
    "entropy-l-diversity": lambda _, c: {"l": oracle.entropy_l_reached(c)},
    "recursive-cl-diversity": recursive_reached,
    "alpha-k-anonymity": alpha_k_reached,
    "t-closeness": lambda m, c: {"t": oracle.t_reached(c, distance_of(m.distance, c))},
    "k-e": lambda _, c: {
        "k": min(len(set(oracle.numbers_in(each, NUMBERS))) for each in c),
        "e": min(oracle.span(each, NUMBERS) for each in c),
    },
    "epsilon-m": lambda m, c: {"m": oracle.epsilon_m_reached(c, m.epsilon, m.relative, NUMBERS)},
}
"""The strongest parameters that all classes meet, exact where the definition is."""


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
def test_what_is_reached_is_what_the_definition_gives(name: str, data: st.DataObject) -> None:
    model, drawn, unknown = data.draw(RANDOM[name]), data.draw(classes(min_classes=1)), data.draw(READINGS)
    reached, expected = model.reached(view(drawn, unknown)), REACHED[name](model, seen(name, drawn, unknown))
    assert set(reached) == set(expected)
    for parameter, value in expected.items():
        assert reached[parameter] == pytest.approx(float(value), abs=2e-9), parameter


@given(data=st.data())
def test_shares_and_weights_reached_are_rounded_to_the_safe_side(data: st.DataObject) -> None:
    every, unknown = data.draw(classes(min_classes=1)), data.draw(READINGS)
    drawn, shown = oracle.known(every, unknown), view(every, unknown)
    weighted, shared = data.draw(RANDOM["p-alpha-sensitive"]), data.draw(RANDOM["alpha-k-anonymity"])
    expected = oracle.alpha_reached(drawn, BLOCKS)
    assert expected - oracle.SLACK < oracle.decimal(weighted.reached(shown)["alpha"]) <= expected
    for parameter, value in alpha_k_reached(shared, drawn).items():
        assert value <= oracle.decimal(shared.reached(shown)[parameter]) < value + oracle.SLACK


@given(data=st.data())
def test_the_c_reached_is_enough_and_its_bound_is_not(data: st.DataObject) -> None:
    drawn, unknown = data.draw(classes(min_classes=1)), data.draw(READINGS)
    model, shown = data.draw(RANDOM["recursive-cl-diversity"]), view(drawn, unknown)
    bound, reached = oracle.recursive_c_bound(oracle.known(drawn, unknown), model.l), model.reached(shown)["c"]
    if bound is None or model.l == 1:
        return
    assert oracle.decimal(reached) > bound
    assert model.relaxed("c", reached).holds(shown).all()
    assert not model.relaxed("c", bound).holds(shown).all()
