"""What every privacy model must do, whatever it is about."""

from __future__ import annotations

import math
import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.models import MODELS, Model
from support.model_cases import COLUMN, DOMAIN, MIXED, RANDOM, SAMPLES, classes, view

each_sample = pytest.mark.parametrize("model", SAMPLES, ids=repr)
each_name = pytest.mark.parametrize("name", MODELS)


def parameters(model: Model) -> dict[str, Any]:
    return {field.name: getattr(model, field.name) for field in fields(model)}


def test_there_is_a_sample_and_a_random_one_of_every_model() -> None:
    assert {model.name for model in SAMPLES} == set(MODELS) == set(RANDOM)
    assert len(MODELS) == 13


@each_name
def test_a_model_declares_its_name_its_source_and_what_a_search_may_conclude(name: str) -> None:
    model = MODELS[name]
    assert model.name == name
    assert any(character.isalpha() for character in model.citation)
    for flag in ("merge_closed", "superset_closed", "whole_table", "needs_categories"):
        assert isinstance(getattr(model, flag), bool)
    assert model.merge_closed or not model.superset_closed, "superset-closed implies merge-closed"


@each_name
def test_a_model_says_on_top_of_its_file_what_it_is_and_which_parameters_are_legal(name: str) -> None:
    module = __import__(MODELS[name].__module__, fromlist=["__doc__"])
    assert "Parameters: ``" in str(module.__doc__)


@each_sample
def test_the_column_is_the_sensitive_one_if_there_is_one(model: Model) -> None:
    assert model.column == (None if model.name == "k-anonymity" else COLUMN)


@each_sample
def test_a_sample_is_legal_and_some_classes_fail_it(model: Model) -> None:
    assert model.parameter_problems() == []
    assert model.domain_problems(DOMAIN) == []
    assert not model.holds(view(MIXED)).all()


@each_sample
def test_the_mask_has_one_truth_value_a_class(model: Model) -> None:
    holds = model.holds(view(MIXED))
    assert holds.dtype == np.bool_
    assert holds.shape == (len(MIXED),)


@each_sample
def test_the_same_view_gives_the_same_answer_and_stays_as_it_is(model: Model) -> None:
    seen, fresh = view(MIXED), view(MIXED)
    first = (model.holds(seen).tolist(), model.table_holds(seen), model.reached(seen))
    assert (model.holds(seen).tolist(), model.table_holds(seen), model.reached(seen)) == first
    assert seen.histogram.counts.tolist() == fresh.histogram.counts.tolist()
    assert seen.sizes.tolist() == fresh.sizes.tolist()


@each_name
@given(data=st.data())
def test_the_order_of_the_classes_changes_nothing_to_the_last_bit(name: str, data: st.DataObject) -> None:
    model, drawn = data.draw(RANDOM[name]), data.draw(classes(min_classes=1))
    order = data.draw(st.permutations(range(len(drawn))))
    shuffled = [drawn[place] for place in order]
    assert model.holds(view(shuffled)).tolist() == model.holds(view(drawn))[order].tolist()
    assert model.table_holds(view(shuffled)) == model.table_holds(view(drawn))
    assert model.reached(view(shuffled)) == model.reached(view(drawn))


@each_sample
def test_a_release_without_classes_satisfies_and_reaches_nothing(model: Model) -> None:
    empty = view([])
    assert model.holds(empty).tolist() == []
    assert model.holds(empty).dtype == np.bool_
    assert model.table_holds(empty)
    assert model.reached(empty) == {}


@each_sample
def test_a_single_class_is_judged_alone(model: Model) -> None:
    alone = view([["HIV"] * 3])
    assert model.holds(alone).shape == (1,)
    assert set(model.reached(alone)) == set(model.strengths(alone))


@each_sample
def test_every_strength_has_one_figure_a_class(model: Model) -> None:
    strengths = model.strengths(view(MIXED))
    assert strengths
    for strength in strengths.values():
        assert strength.per_class.dtype == np.float64
        assert strength.per_class.shape == (len(MIXED),)


@each_name
@given(data=st.data())
def test_relaxed_to_what_is_reached_a_model_holds_everywhere(name: str, data: st.DataObject) -> None:
    model, drawn = data.draw(RANDOM[name]), data.draw(classes(min_classes=1))
    seen = view(drawn)
    weaker = model
    for parameter, strength in model.strengths(seen).items():
        reached, asked = model.reached(seen)[parameter], asked_value(model, parameter)
        if math.isfinite(reached) and (reached < asked if strength.at_least else reached > asked):
            weaker = weaker.relaxed(parameter, reached)
    assert weaker.holds(seen).all()
    assert weaker.table_holds(seen)
    assert type(weaker) is type(model)
    assert weaker.parameter_problems() == []


def asked_value(model: Model, parameter: str) -> float:
    name, _, key = parameter.rstrip("]").partition("[")
    value = None if key == "(missing)" else key
    if model.name == "alp-dif":
        return model.limits[value][name]
    asked = getattr(model, name)
    return asked[value] if key else asked


@each_sample
def test_every_strength_can_be_relaxed_by_its_name_and_nothing_else_changes(model: Model) -> None:
    for parameter in model.strengths(view(MIXED)):
        copy = model.relaxed(parameter, 1)
        assert asked_value(copy, parameter) == 1
        assert copy.relaxed(parameter, asked_value(model, parameter)) == model


@each_sample
def test_an_unknown_parameter_cannot_be_relaxed_and_the_known_ones_are_listed(model: Model) -> None:
    known = next(iter(model.strengths(view(MIXED))))
    with pytest.raises(ValueError, match=model.name) as caught:
        model.relaxed("nonsense", 1)
    assert known in str(caught.value)


@each_sample
def test_what_a_class_lacks_is_said_with_numbers_and_nothing_where_it_holds(model: Model) -> None:
    seen = view(MIXED)
    for index, holds in enumerate(model.holds(seen)):
        shortfalls = model.shortfalls(seen, index)
        if not holds:
            assert any(each.of_class for each in shortfalls)
        elif model.table_holds(seen):
            assert not shortfalls
        for each in shortfalls:
            assert each.parameter in model.strengths(seen)
            assert each.reached < each.required if each.code == "below-minimum" else each.reached > each.required


@each_sample
def test_models_with_equal_parameters_are_one_and_the_same(model: Model) -> None:
    twin = type(model)(**parameters(model))
    assert twin == model
    assert hash(twin) == hash(model)
    assert len({twin, model}) == 1
    assert pickle.loads(pickle.dumps(model)) == model
    parameter = next(iter(model.strengths(view(MIXED))))
    assert model.relaxed(parameter, 1) != model


WHOLE = [0, -1, 1.5, True, "3", None, math.nan, math.inf, [2]]
SHARE = [-0.1, 1.1, "half", None, math.nan, math.inf, -math.inf, True]
OPEN_SHARE = [0, *SHARE]
BAD: dict[str, dict[str, list[Any]]] = {
    "k-anonymity": {"k": WHOLE},
    "p-sensitive": {"p": WHOLE},
    "p-alpha-sensitive": {"p": WHOLE, "alpha": [-0.5, "1", None, math.nan, math.inf, True]},
    "p-plus-alpha-sensitive": {"p": WHOLE, "alpha": [-0.5, "1", None, math.nan, math.inf, True]},
    "group-leakage": {"p": WHOLE, "alpha": [0.5, {}, None, {3: 0.5}, *({"Top Secret": limit} for limit in OPEN_SHARE)]},
    "alp-dif": {
        "limits": [
            0.5,
            {},
            None,
            {"HIV": 0.5},
            {"HIV": {"alp": 0.5}},
            {"HIV": {"alp": 0.5, "dif": 0.1, "def": 0.1}},
            {7: {"alp": 0.5, "dif": 0.1}},
            *({"HIV": {"alp": limit, "dif": 0.5}} for limit in SHARE),
            *({"HIV": {"alp": 0.5, "dif": limit}} for limit in SHARE),
        ]
    },
    "distinct-l-diversity": {"l": WHOLE},
    "entropy-l-diversity": {"l": [0.9, 0, -1, "2", None, math.nan, math.inf, True]},
    "recursive-cl-diversity": {"l": WHOLE, "c": [0, -1, "2", None, math.nan, math.inf, True]},
    "alpha-k-anonymity": {"alpha": [*OPEN_SHARE, {}, {1: 0.5}, *({"HIV": limit} for limit in OPEN_SHARE)]},
    "t-closeness": {"t": SHARE, "distance": ["euclid", None, 1]},
    "k-e": {"k": WHOLE, "e": [-0.5, "1", None, math.nan, math.inf, True]},
    "epsilon-m": {"epsilon": [-1, "1", None, math.nan, math.inf, True], "m": WHOLE, "relative": ["yes", None, 1]},
}


@pytest.mark.parametrize(
    ("model", "parameter", "value"),
    [
        (model, parameter, value)
        for model in SAMPLES
        for parameter, values in (BAD[model.name] | ({"sensitive": ["", None, 3]} if model.column else {})).items()
        for value in values
    ],
    ids=str,
)
def test_a_wrong_value_is_a_problem_that_names_its_parameter(model: Model, parameter: str, value: Any) -> None:
    wrong = type(model)(**(parameters(model) | {parameter: value}))
    problems = wrong.parameter_problems()
    assert len(problems) == 1, problems
    assert problems[0].where.split(".")[0] == parameter
    assert problems[0].message.endswith(".")
    wrong.domain_problems(DOMAIN)  # both lists are gathered, so a wrong parameter must not break the second
