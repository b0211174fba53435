"""A policy as a Python object: built, compared, changed, written and read back."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from policy_strategies import policies
from pydantic import ValidationError

from shoal.errors import PolicyError
from shoal.models import AlphaKAnonymity, KAnonymity, PSensitive
from shoal.policy import Policy
from shoal.policy.algorithm_spec import AlgorithmSpec
from shoal.policy.model_specs import MODEL_SPECS
from shoal.policy.spec import ColumnSpec, DataSpec, HierarchySpec
from support.policy_cases import HOSPITAL, hospital, load_text, one_problem, small


def test_a_policy_built_in_python_equals_the_one_of_the_file(tmp_path: Path) -> None:
    loaded = load_text(tmp_path, HOSPITAL)
    built = Policy(**hospital())
    assert built == loaded
    assert hash(built) == hash(loaded)


def test_specs_and_mappings_build_the_same_policy() -> None:
    specs = Policy(
        data=DataSpec(path="patients.csv"),
        columns={
            "q": ColumnSpec(role="quasi", hierarchy=HierarchySpec.model_validate({"intervals": [5, 10]})),
            "s": ColumnSpec(role="sensitive"),
        },
        privacy=[MODEL_SPECS["k-anonymity"](model="k-anonymity", k=3), {"model": "p-sensitive", "p": 2}],
        algorithm=AlgorithmSpec(name="incognito"),
    )
    mappings = Policy(
        data=Path("patients.csv"),
        columns={"q": {"role": "quasi", "hierarchy": {"intervals": (5, 10)}}, "s": {"role": "sensitive"}},
        privacy=({"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2}),
        algorithm="incognito",
    )
    assert specs == mappings
    assert specs.to_dict() == mappings.to_dict()


def test_numbers_of_other_libraries_are_numbers() -> None:
    policy = Policy(**small(privacy=[{"model": "k-anonymity", "k": np.int64(3)}], suppression=np.float64(0.25)))
    assert policy == Policy(**small(suppression=Fraction(1, 4)))
    assert json.loads(policy.to_json())["privacy"] == [{"model": "k-anonymity", "k": 3}]
    assert "whole number" in one_problem(small(privacy=[{"model": "k-anonymity", "k": np.bool_(True)}])).message


def test_integers_stay_exact() -> None:
    big = 2**70 + 1
    policy = Policy(
        **small(columns={"q": {"role": "quasi", "hierarchy": {"intervals": {"widths": [5], "origin": big}}}})
    )
    hierarchy = policy.columns["q"].hierarchy
    assert hierarchy is not None
    assert hierarchy.intervals is not None
    assert hierarchy.intervals.origin == big
    assert isinstance(hierarchy.intervals.origin, int)


def test_a_policy_cannot_be_changed_in_place() -> None:
    policy = Policy(**small())
    with pytest.raises(ValidationError):
        policy.suppression = 0.5  # type: ignore[misc]
    with pytest.raises(ValidationError):
        policy.columns["q"].role = "sensitive"  # type: ignore[misc]


def test_the_order_of_categories_tells_policies_apart() -> None:
    other = small()
    other["columns"]["s"]["categories"] = {"lo": ["b", "c"], "hi": ["a"]}
    assert Policy(**small()) != Policy(**other)
    assert Policy(**small()).sha256 != Policy(**other).sha256
    assert Policy(**small()).to_json() != Policy(**other).to_json()


def test_equal_policies_may_be_written_differently() -> None:
    short = small(data="a.csv", algorithm="optimal", suppression=0)
    long = small(data={"path": "a.csv", "encoding": "utf-8"}, algorithm={"name": "optimal"}, suppressed="drop")
    assert Policy(**short) == Policy(**long)
    assert Policy(**short) != Policy(**small(data="b.csv"))
    assert Policy(**short) != "a.csv"


def test_a_copy_and_a_pickle_are_the_same_policy(tmp_path: Path) -> None:
    policy = load_text(tmp_path, HOSPITAL)
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert other == policy
        assert other.sha256 == policy.sha256
        assert other.path("x") == policy.path("x")


def test_changing_a_policy_checks_it_anew(tmp_path: Path) -> None:
    policy = load_text(tmp_path, HOSPITAL)
    changed = policy.changed(suppression=0.1, algorithm="optimal")
    assert changed.suppression == 0.1
    assert changed.algorithm.name == "optimal"
    assert changed.columns == policy.columns
    assert policy.suppression == 0.05
    with pytest.raises(PolicyError, match="suppression"):
        policy.changed(suppression=2)
    with pytest.raises(PolicyError, match="no such key"):
        policy.changed(supression=0.1)
    with pytest.raises(PolicyError, match=r"privacy\[1\]\.sensitive"):
        policy.changed(columns={"age": {"role": "quasi"}})


def test_a_changed_policy_remembers_its_file(tmp_path: Path) -> None:
    policy = load_text(tmp_path, HOSPITAL)
    changed = policy.changed(suppression=0.1)
    assert changed.path("x.csv") == tmp_path / "x.csv"
    assert changed.source == policy.source == str(tmp_path / "policy.yaml")
    assert changed.sha256 == policy.sha256


def test_paths_are_relative_to_the_policy_file(tmp_path: Path) -> None:
    policy = load_text(tmp_path, HOSPITAL)
    assert policy.path("patients.csv") == tmp_path / "patients.csv"
    assert policy.path("/data/x.csv") == Path("/data/x.csv")
    assert Policy(**hospital()).path("patients.csv") == Path("patients.csv")


def test_the_hash_is_that_of_the_file(tmp_path: Path) -> None:
    assert load_text(tmp_path, HOSPITAL).sha256 == hashlib.sha256(HOSPITAL.encode()).hexdigest()
    built = Policy(**hospital())
    assert built.sha256 == hashlib.sha256(built.to_json().encode()).hexdigest()


@pytest.mark.parametrize("key", ["data", "algorithm", "output"])
def test_an_optional_key_with_nothing_in_it_is_as_if_left_out(key: str) -> None:
    assert Policy(**small(), **{key: None}) == Policy(**small())


def test_models_are_one_for_each_column_that_an_entry_is_on() -> None:
    content = small(privacy=[
        {"model": "k-anonymity", "k": 3},
        {"model": "p-sensitive", "p": 2},
        {"model": "p-sensitive", "p": 3, "sensitive": ["t", "t"]},
        {"model": "alpha-k-anonymity", "alpha": {5: 0.5, None: 1}, "sensitive": "s"},
    ])  # fmt: skip
    content["columns"]["t"] = {"role": "sensitive"}
    content["columns"]["s"]["unknown_counts"] = True
    policy = Policy(**content)
    assert policy.models() == (
        KAnonymity(3),
        PSensitive(2, sensitive="s"),
        PSensitive(2, sensitive="t"),
        PSensitive(3, sensitive="t"),
        AlphaKAnonymity({"5": 0.5, None: 1}, sensitive="s"),
    )
    assert [where for where, _ in policy.models_with_paths()] == [f"privacy[{index}]" for index in (0, 1, 1, 2, 3)]


def test_every_model_has_its_spec_and_every_spec_its_model() -> None:
    from shoal.models import MODELS

    assert list(MODEL_SPECS) == list(MODELS)


def test_columns_have_names_by_role_in_the_order_of_the_policy() -> None:
    policy = Policy(**hospital())
    assert policy.names("quasi") == ["age", "zipcode", "country"]
    assert policy.names("identifier") == ["name"]
    assert policy.names("insensitive") == []


def test_a_column_named_by_a_number_is_found_by_it() -> None:
    content: dict[str, Any] = {
        "columns": {2019: {"role": "quasi"}, 2020.0: {"role": "sensitive"}},
        "privacy": [{"model": "p-sensitive", "p": 2, "sensitive": 2020}],
        "algorithm": {"name": "greedy-lattice", "weights": {2019: 0.5}},
    }
    policy = Policy(**content)
    assert list(policy.columns) == ["2019", "2020"]
    assert policy.models() == (PSensitive(2, sensitive="2020"),)
    assert policy.algorithm.weights == {"2019": 0.5}


@pytest.mark.parametrize(
    ("publish", "models", "published"),
    [
        (None, [], "values"),
        (None, ["p-plus-alpha-sensitive"], "categories"),
        (None, ["p-plus-alpha-sensitive", "p-sensitive"], "values"),
        (None, ["p-sensitive"], "values"),
        ("values", ["p-plus-alpha-sensitive"], "values"),
        ("both", ["p-plus-alpha-sensitive"], "both"),
        ("categories", ["p-sensitive"], "categories"),
    ],
)
def test_categories_are_published_by_default_where_only_p_plus_is_asked(
    publish: str | None, models: list[str], published: str
) -> None:
    extra = {"p-plus-alpha-sensitive": {"alpha": 0}, "p-sensitive": {}}
    asked = [{"model": name, "p": 2, **extra[name]} for name in models]
    content = small(privacy=[{"model": "k-anonymity", "k": 3}, *asked])
    if publish is not None:
        content["columns"]["s"]["publish"] = publish
    assert Policy(**content).published("s") == published


def test_values_are_kept_as_their_canonical_text() -> None:
    content = small()
    content["columns"]["s"]["categories"] = {"hi": [5, 6.0, True, None], "lo": ["05", 0.5]}
    content["columns"]["q"] |= {"hierarchy": {"tree": {1: [10, 11.0], "x": [None, False]}}, "boundary": [1, "x"]}
    policy = Policy(**content)
    assert policy.columns["s"].category_values == {"hi": ["5", "6", "true", None], "lo": ["05", "0.5"]}
    assert policy.columns["q"].boundary == ["1", "x"]
    assert policy.to_dict()["columns"]["q"]["hierarchy"] == {"tree": {"1": ["10", "11"], "x": [None, "false"]}}


def test_one_boundary_label_is_a_list_of_one_and_a_number_is_a_level() -> None:
    assert Policy(**hospital("columns", "country", "boundary", to="Asia")).columns["country"].boundary == ["Asia"]
    assert Policy(**hospital("columns", "country", "boundary", to=1)).columns["country"].boundary == 1


@pytest.mark.parametrize("low", ["-inf", float("-inf")])
def test_infinite_cut_points_can_be_written_either_way_and_leave_valid_json(low: Any) -> None:
    content = small()
    content["columns"]["q"]["hierarchy"] = {"intervals": [[low, 18, 65, "inf"]]}
    policy = Policy(**content)
    written = json.loads(policy.to_json(), parse_constant=pytest.fail)
    assert written["columns"]["q"]["hierarchy"] == {"intervals": {"cuts": [["-inf", 18, 65, "inf"]]}}
    assert Policy(**written) == policy


def test_only_what_was_said_is_written() -> None:
    assert Policy(**small()).to_dict() == small()


@given(policies())
def test_a_policy_is_written_as_yaml_and_read_back(content: dict[str, Any]) -> None:
    import tempfile

    policy = Policy(**content)
    with tempfile.TemporaryDirectory() as folder:
        read = load_text(Path(folder), policy.to_yaml())
    assert read == policy
    assert read.models() == policy.models()
    assert read.to_json() == policy.to_json()
    assert read.changed() == policy


@given(policies())
def test_plain_data_of_a_policy_is_the_policy(content: dict[str, Any]) -> None:
    policy = Policy(**content)
    assert Policy.model_validate(policy.to_dict()) == policy
    assert Policy.model_validate(policy.to_dict()).sha256 == policy.sha256
    json.loads(policy.to_json(), parse_constant=pytest.fail)
