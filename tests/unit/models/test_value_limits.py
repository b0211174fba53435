"""Limits for single values: how they are kept, named and refused."""

from __future__ import annotations

import random

import pytest

from shoal.models import AlpDif, AlphaKAnonymity, GroupLeakage
from shoal.models.parameters import FrozenMapping, limit_name
from support.builders import domain_of, view_of


def test_limits_are_equal_and_hash_alike_in_any_order() -> None:
    one = AlphaKAnonymity({"a": 0.5, "b": 1}, sensitive="s")
    other = AlphaKAnonymity({"b": 1.0, "a": 0.5}, sensitive="s")
    assert one == other
    assert hash(one) == hash(other)


def test_changing_the_mapping_handed_over_does_not_change_the_model() -> None:
    given = {"a": {"alp": 0.5, "dif": 0.1}}
    model = AlpDif(given, sensitive="s")
    before = hash(model)
    given["a"]["alp"] = 0.9
    given["b"] = {"alp": 1, "dif": 1}
    assert model.limits == {"a": {"alp": 0.5, "dif": 0.1}}
    assert hash(model) == before


def test_a_frozen_mapping_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        FrozenMapping({"a": 1})["a"] = 2  # type: ignore[index]


def test_relaxing_one_limit_leaves_the_others() -> None:
    model = GroupLeakage(2, alpha={"Secret": 0.5, "Open": 1}, sensitive="s").relaxed("alpha[Secret]", 0.8)
    assert model.alpha == {"Secret": 0.8, "Open": 1}
    assert model.p == 2
    pair = AlpDif({"a": {"alp": 0.5, "dif": 0.1}}, sensitive="s").relaxed("dif[a]", 0.3)
    assert pair.limits == {"a": {"alp": 0.5, "dif": 0.3}}


def test_the_missing_value_has_a_name_of_its_own() -> None:
    assert limit_name("alpha", None) == "alpha[(missing)]"
    model = AlphaKAnonymity({None: 0.5}, sensitive="condition")
    view = view_of([["a", None, None]])
    assert model.holds(view).tolist() == [False]
    (short,) = model.shortfalls(view, 0)
    assert (short.parameter, short.key, short.required) == ("alpha[(missing)]", "the missing value", 0.5)
    assert short.reached == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "model",
    [
        AlphaKAnonymity({"Canser": 0.5}, sensitive="condition"),
        AlpDif({"Canser": {"alp": 0.5, "dif": 0.1}}, sensitive="condition"),
    ],
    ids=repr,
)
def test_a_limit_for_an_unknown_value_suggests_the_nearest(model: AlphaKAnonymity | AlpDif) -> None:
    (problem,) = model.domain_problems(domain_of(["Cancer", "Flu", None]))
    assert "column 'condition' has no value 'Canser'" in problem.message
    assert problem.fix == "Did you mean 'Cancer'? Known: Cancer, Flu, null."


def test_a_protected_value_that_is_declared_and_does_not_occur_satisfies() -> None:
    view = view_of([["a", "a"], ["a"]], domain_of("ab"))
    alpha = AlphaKAnonymity({"b": 0.1}, sensitive="condition")
    pair = AlpDif({"b": {"alp": 0, "dif": 0}}, sensitive="condition")
    assert alpha.domain_problems(view.domain) == pair.domain_problems(view.domain) == []
    assert alpha.holds(view).all()
    assert pair.holds(view).all()
    assert pair.table_holds(view)
    assert pair.reached(view) == {"alp[b]": 0, "dif[b]": 0}


def test_average_leakage_is_that_of_the_classes_that_are_released() -> None:
    model = AlpDif({"a": {"alp": 0.5, "dif": 0.1}}, sensitive="condition")
    domain = domain_of("ab")
    assert not model.table_holds(view_of(["ab", "aaa"], domain))
    assert model.table_holds(view_of(["ab"], domain))


@pytest.mark.parametrize(
    ("classes", "dif"), [(["a", "aaabb"], 0.3), (["ab", "aaabb"], 0.025), (["abbb", "aaaa"], 0.15)]
)
def test_a_difference_that_equals_its_limit_is_allowed_though_rounding_exceeds_it(
    classes: list[str], dif: float
) -> None:
    view = view_of(classes, domain_of("ab"))
    model = AlpDif({"a": {"alp": 1, "dif": dif}}, sensitive="condition")
    assert model.reached(view)["dif[a]"] > dif
    assert model.holds(view).all()
    assert not model.relaxed("dif[a]", dif - 1e-6).holds(view).all()


def test_the_average_over_many_classes_does_not_depend_on_their_order_to_the_last_bit() -> None:
    model = AlpDif({"a": {"alp": 1, "dif": 1}}, sensitive="condition")
    domain, draw = domain_of("ab"), random.Random(0)
    classes = ["a" * draw.randint(1, 9) + "b" * draw.randint(0, 9) for _ in range(300)]
    expected = model.reached(view_of(classes, domain))
    for _ in range(10):
        draw.shuffle(classes)
        assert model.reached(view_of(classes, domain)) == expected


def test_a_failing_average_is_among_what_a_class_lacks() -> None:
    model = AlpDif({"a": {"alp": 0.5, "dif": 0.1}}, sensitive="condition")
    view = view_of(["ab", "aaa"], domain_of("ab"))
    (whole,) = model.shortfalls(view, 0)
    assert (whole.parameter, whole.reached, whole.required, whole.of_class) == ("alp[a]", 0.875, 0.5, False)
    assert {each.parameter: each.reached for each in model.shortfalls(view, 1)} == {"alp[a]": 0.875, "dif[a]": 0.125}


def test_a_count_cannot_be_relaxed_to_a_fraction() -> None:
    with pytest.raises(ValueError, match="p counts something"):
        GroupLeakage(2, alpha={"x": 0.5}, sensitive="s").relaxed("p", 1.5)
