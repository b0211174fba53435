"""All problems are told together, and none is told that only follows from another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.cli.run import load_policy
from shoal.errors import PolicyError
from shoal.models import KAnonymity, PSensitive
from shoal.pipeline.prepare import complete_problems
from shoal.policy import Policy
from shoal.policy.partial import PartialPolicy
from support.policy_cases import HOSPITAL, hospital, load_problems, problem_paths, problems_of, small

PATIENTS = """name,age,zipcode,country,condition
Ann,31,14248,USA,Flu
Bob,47,14206,China,HIV
Cid,x,14248,Japan,Flu
Dan,12,14206,Peru,Cold
Eve,12,14206,Peru,
"""

GRAVE = {"Top": ["HIV", "Cancer"], "Low": ["Flu"]}


def test_everything_wrong_is_told_at_once_in_the_order_of_the_policy() -> None:
    content = {
        "dta": "x.csv",
        "data": {"path": "a.csv", "sep": ";"},
        "columns": {
            "a": {"role": "quas"},
            "b": {"role": "quasi", "hierarchy": {"intervals": [5, 12]}, "boundry": 1},
            "c": {"role": "sensitive", "categories": {"x": ["1"], "y": ["1"]}, "publish": "all"},
        },
        "privacy": [
            {"model": "k-anonymity", "k": "5"},
            {"model": "p-sensitve", "p": 2},
            {"model": "p-sensitive", "p": 0, "sensitive": "d"},
        ],
        "algorithm": {"name": "optimall", "metric": "los"},
        "suppression": 2,
        "suppressed": "gone",
        "output": 5,
    }
    assert sorted(problem_paths(content)) == sorted([
        "dta", "data.sep", "columns.a.role", "columns.b.boundry", "columns.b.hierarchy", "columns.c.publish",
        "columns.c.categories", "privacy[0].k", "privacy[1].model", "privacy[2].p", "privacy[2].sensitive",
        "algorithm.name", "algorithm.metric", "suppression", "suppressed", "output",
    ])  # fmt: skip


@pytest.mark.parametrize(
    "column",
    [
        {"role": "sensitiv", "categories": GRAVE},
        {"role": "sensitive", "publish": "all", "categories": GRAVE},
        {"role": "sensitiv", "publish": "both", "categories": GRAVE},
        {"role": "sensitive", "categories": ["HIV"]},
        {"role": "sensitive", "categories": {"Top": "HIV"}, "publish": "both"},
        {"role": "sensitive", "categorys": {"Top": ["HIV"]}, "publish": "both"},
        {"role": "sensitive", "hierarchy": {"maks": "right"}, "categories": GRAVE},
        "sensitive",
        None,
    ],
)
def test_a_broken_column_causes_no_complaint_about_the_models_on_it(column: Any) -> None:
    (where,) = problem_paths(hospital("columns", "condition", to=column))
    assert where.startswith("columns.condition")


@pytest.mark.parametrize("hierarchy", [{"tre": {"America": ["USA"]}}, {"tree": 5}, {"tree": {"A": ["x"], "B": ["x"]}}])
def test_a_broken_hierarchy_causes_no_complaint_about_its_boundary(hierarchy: Any) -> None:
    (where,) = problem_paths(hospital("columns", "country", "hierarchy", to=hierarchy))
    assert where.startswith("columns.country.hierarchy")


def test_a_misspelt_hierarchy_causes_no_complaint_about_its_boundary() -> None:
    content = hospital()
    content["columns"]["country"]["hierachy"] = content["columns"]["country"].pop("hierarchy")
    assert problem_paths(content) == ["columns.country.hierachy"]


def test_a_broken_column_hides_nothing_else_in_it() -> None:
    column = {"role": "nobody", "hierarchy": {"intervals": [5, 12]}, "boundary": [], "categories": {"a": [1, 1]}}
    found = problem_paths(hospital("columns", "name", to=column))
    assert sorted(found) == [f"columns.name.{key}" for key in ("boundary", "categories", "hierarchy", "role")]


@pytest.mark.parametrize(
    ("model", "wheres"),
    [
        ({"model": "t-closeness", "t": 2, "distance": "equl"}, ["distance", "t"]),
        ({"model": "p-alpha-sensitive", "p": "2", "alpha": -1}, ["alpha", "p"]),
        ({"model": "p-plus-alpha-sensitive", "p": 9, "alpha": "x"}, ["alpha", "p", "p"]),
        ({"model": "group-leakage", "p": 9, "alpha": 0.5}, ["alpha", "p", "p"]),
        ({"model": "group-leakage", "p": 2, "alpha": {"hi": 0, "lo": "x"}}, ["alpha.hi", "alpha.lo"]),
        (
            {"model": "alp-dif", "limits": {"a": {"alp": 2}, "b": {"alp": "x"}, "c": 5}},
            ["limits.a.alp", "limits.b.alp", "limits.c"],
        ),
        (
            {"model": "alpha-k-anonymity", "alpha": {"a": 2, "b": "x"}, "sensitive": 7},
            ["alpha.a", "alpha.b", "sensitive"],
        ),
        ({"model": "p-sensitive", "P": 2, "sensitive": "q"}, ["P", "p", "sensitive"]),
    ],
)
def test_a_broken_parameter_hides_no_other(model: dict[str, Any], wheres: list[str]) -> None:
    found = problem_paths(small(privacy=[{"model": "k-anonymity", "k": 3}, model]))
    assert sorted(found) == [f"privacy[1].{where}" for where in wheres]


def test_a_broken_k_causes_no_complaint_about_p() -> None:
    assert problem_paths(hospital("privacy", 0, "k", to="4")) == ["privacy[0].k"]


def test_a_wrong_weight_hides_no_other() -> None:
    algorithm = {"name": "greedy-lattice", "weights": {"agee": 1, "age": 2, "zipcode": "x"}, "seed": "x"}
    found = problem_paths(hospital("algorithm", to=algorithm))
    assert sorted(found) == ["algorithm.seed", *(f"algorithm.weights.{name}" for name in ("age", "agee", "zipcode"))]


def test_the_error_counts_and_lists_its_problems() -> None:
    found = problems_of(hospital("suppression", to=2) | {"x": 1})
    text = str(PolicyError(found, "p.yaml"))
    assert text.splitlines()[0] == "p.yaml has 2 problems:"
    assert all(f"  - {problem.where}: {problem.message}" in text for problem in found)


def test_what_is_right_rides_along_with_the_error() -> None:
    content = hospital("columns", "age", "boundary", to=[])
    content["privacy"] += [{"model": "p-sensitive", "p": "x"}, {"model": "p-sensitive", "p": 2}]
    with pytest.raises(PolicyError) as caught:
        Policy.model_validate(content)
    partial = caught.value.partial
    assert isinstance(partial, PartialPolicy)
    assert list(partial.columns) == list(content["columns"])
    assert partial.columns["age"].boundary is None
    assert partial.columns["age"].hierarchy is not None
    assert partial.data is not None
    assert partial.data.path == "patients.csv"
    assert [where for where, _ in partial.models] == ["privacy[0]", "privacy[1]", "privacy[3]"]
    assert partial.models[0][1] == KAnonymity(4)
    assert partial.models[2][1] == PSensitive(2, sensitive="condition")


def told(folder: Path, policy: str, patients: str | None = PATIENTS, **options: Any) -> list[str]:
    """What the command line tells of a policy beside its data."""
    if patients is not None:
        (folder / "patients.csv").write_text(patients)
    (folder / "policy.yaml").write_text(policy)
    with pytest.raises(PolicyError) as caught:
        load_policy(folder / "policy.yaml", **options)
    return [problem.where for problem in caught.value.problems]


def test_problems_of_the_policy_and_with_the_data_are_told_together(tmp_path: Path) -> None:
    wrong = HOSPITAL.replace("suppression: 0.05", "suppression: 5").replace("  zipcode: ", "  zip: ")
    assert told(tmp_path, wrong) == [
        "suppression",
        "columns.zip",
        "columns.age.hierarchy",
        "columns.country.hierarchy",
        "columns.condition.categories",
    ]


def test_a_broken_column_is_still_looked_for_in_the_data(tmp_path: Path) -> None:
    wrong = HOSPITAL.replace("  zipcode:   {role: quasi,", "  zip: {role: quas,")
    assert "columns.zip.role" in told(tmp_path, wrong)
    assert "columns.zip" in told(tmp_path, wrong)


def test_what_is_wrong_without_the_data_is_not_told_again_with_it(tmp_path: Path) -> None:
    wrong = HOSPITAL.replace("[5, 10, 20]", "[5, 12]").replace("boundary: [America, Asia]", "boundary: Amerika")
    wrong = wrong.replace("p: 2, alpha: 2", "p: 3, alpha: 2").replace("[Flu, Indigestion]", "[Flu, HIV]")
    assert told(tmp_path, wrong) == [
        "columns.age.hierarchy",
        "columns.country.boundary",
        "columns.condition.categories",
        "columns.country.hierarchy",
    ]


def test_a_limit_for_an_unknown_category_is_told_once(tmp_path: Path) -> None:
    leakage = "  - {model: group-leakage, p: 2, alpha: {Top: 0.5}}\n"
    wrong = HOSPITAL.replace("algorithm:", leakage + "algorithm:")
    fitting = "name,age,zipcode,country,condition\nAnn,31,14248,USA,Flu\n"
    assert told(tmp_path, wrong, fitting) == ["privacy[2].alpha"]


def test_a_repeated_key_is_told_with_the_problems_of_the_data(tmp_path: Path) -> None:
    assert told(tmp_path, HOSPITAL + "suppression: 0.1\n") == [
        "line 17",
        "columns.age.hierarchy",
        "columns.country.hierarchy",
        "columns.condition.categories",
    ]


def test_data_given_beside_a_policy_that_names_none_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(PATIENTS)
    wrong = HOSPITAL.replace("data: patients.csv\n", "").replace("k: 4", "k: x")
    found = told(tmp_path, wrong, None, data=tmp_path / "other.csv")
    assert found == [
        "privacy[0].k",
        "columns.age.hierarchy",
        "columns.country.hierarchy",
        "columns.condition.categories",
    ]
    assert told(tmp_path, wrong, None) == ["privacy[0].k"]


@pytest.mark.parametrize("data", [None, "", "name,age\n"])
def test_data_that_cannot_be_read_leaves_the_problems_of_the_policy(tmp_path: Path, data: str | None) -> None:
    assert told(tmp_path, HOSPITAL.replace("k: 4", "k: x"), data)[0] == "privacy[0].k"


def test_data_settings_that_are_wrong_are_not_guessed_around(tmp_path: Path) -> None:
    assert told(tmp_path, HOSPITAL.replace("data: patients.csv", "data: {path: patients.csv, sep: ','}")) == [
        "data.sep"
    ]


def test_an_error_without_a_draft_stays_as_it_is(tmp_path: Path) -> None:
    error = PolicyError(load_problems(tmp_path, "a: ["))
    assert complete_problems(error, tmp_path / "policy.yaml") is error
