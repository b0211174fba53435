"""Grids: values as people write them, axes that the policy has, points that are complete policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.errors import InputError, PolicyError
from shoal.pipeline.compare.grid import Values, axes_of, points_of, read_algorithms, read_settings, read_values
from shoal.policy import Policy

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
    "job": {"role": "quasi", "hierarchy": {"levels": "levels/job.csv"}},
    "illness": {"role": "sensitive", "categories": {"bad": ["x", "y"], "mild": ["z"]}, "publish": "both"},
}


def policy(*models: dict[str, Any], **keys: Any) -> Policy:
    asked = models or ({"model": "k-anonymity", "k": 5}, {"model": "p-sensitive", "p": 2})
    return Policy(columns=COLUMNS, privacy=list(asked), **keys)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("5", (5,)),
        ("2,5,10", (2, 5, 10)),
        ("2..5", (2, 3, 4, 5)),
        ("2..50..8", (2, 10, 18, 26, 34, 42, 50)),
        ("2..9..3", (2, 5, 8)),
        ("0.1..0.5..0.1", (0.1, 0.2, 0.3, 0.4, 0.5)),
        (" 2 , 4..6 , 2 ", (2, 4, 5, 6)),
        ("0.5", (0.5,)),
        ([2, 3], (2, 3)),
        (range(2, 4), (2, 3)),
        (7, (7,)),
    ],
)
def test_values_are_read_as_they_are_written(given: Values, expected: tuple[float, ...]) -> None:
    assert read_values(given, "--k") == expected
    assert [type(value) for value in read_values(given, "--k")] == [type(value) for value in expected]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "cannot be read"),
        ("2,,3", "cannot be read"),
        ("two", "cannot be read"),
        ("2..", "cannot be read"),
        ("2..3..1..4", "cannot be read"),
        ("5..2", "begins above its end. Write 2..5"),
        ("2..5..0", "not above zero"),
        ("0.1..0.5", "needs a step"),
        ("1..1000000", "more than 10,000 values"),
        ([], "there is no value"),
        ([True], "True is not a number"),
        (["2"], "'2' is not a number"),
    ],
)
def test_values_that_cannot_be_read_are_named(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_values(given, "--k")
    assert str(caught.value).startswith("--k: ")


def axes(asked: Policy, *settings: str, **short: Values) -> list[tuple[str, tuple[int, ...], tuple[float, ...]]]:
    given = {name: short.get(name) for name in ("k", "p", "l", "t", "alpha")}
    return [(axis.name, axis.entries, axis.values) for axis in axes_of(asked, given, read_settings(list(settings)))]


def test_a_short_form_applies_to_every_model_that_has_the_parameter() -> None:
    asked = policy(
        {"model": "k-anonymity", "k": 5},
        {"model": "p-sensitive", "p": 2},
        {"model": "p-alpha-sensitive", "p": 2, "alpha": 1},
    )
    assert axes(asked, k="2,3", p="2") == [("k", (0,), (2, 3)), ("p", (1, 2), (2,))]


def test_the_general_form_names_a_model_a_place_or_the_suppression() -> None:
    asked = policy({"model": "t-closeness", "t": 0.5}, {"model": "recursive-cl-diversity", "l": 2, "c": 2})
    assert axes(asked, "t-closeness.t=0.1,0.2", "privacy[1].c=1..3", "suppression=0,0.05") == [
        ("t-closeness.t", (0,), (0.1, 0.2)),
        ("privacy[1].c", (1,), (1, 2, 3)),
        ("suppression", (), (0, 0.05)),
    ]


@pytest.mark.parametrize(
    ("settings", "short", "code"),
    [
        ([], {"t": "0.1"}, "unknown-parameter"),
        (["t-closeness.t=1"], {}, "unknown-model"),
        (["k-anonymity.p=1"], {}, "unknown-parameter"),
        (["p-sensitive.sensitive=1"], {}, "unknown-parameter"),
        (["k"], {}, "bad-setting"),
        (["k-anonymity.k=1", "k-anonymity.k=2"], {}, "set-twice"),
        (["k-anonymity.k=2"], {"k": "3"}, "set-twice"),
        ([], {"k": "2,2.5"}, "bad-value"),
        ([], {"k": "0..3"}, "bad-value"),
        (["suppression=2"], {}, "bad-value"),
    ],
)
def test_what_the_policy_cannot_have_is_an_error_that_says_what_it_has(
    settings: list[str], short: dict[str, Values], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        axes(policy(), *settings, **short)
    assert caught.value.code == code


def test_a_limit_by_value_is_no_number_to_vary() -> None:
    asked = policy({"model": "group-leakage", "p": 2, "alpha": {"bad": 0.5, "mild": 1}})
    with pytest.raises(InputError) as caught:
        axes(asked, alpha="0.5")
    assert caught.value.code == "unknown-parameter"


def points(asked: Policy, names: str = "optimal,mondrian", **short: Values) -> Any:
    algorithms = read_algorithms(names, asked)
    found = axes_of(asked, short, {})
    return points_of(asked, algorithms, found, metric="ncp", folder=Path("out/points"), data=Path("in/table.csv"))


def test_every_algorithm_meets_every_combination_and_each_point_is_a_policy(tmp_path: Path) -> None:
    found = points(policy(output="release.parquet", suppression=0.1), k="5,10", p="2,3")
    assert [point.name for point in found] == [
        f"{algorithm}-k{k}-p{p}" for algorithm in ("optimal", "mondrian") for k in (5, 10) for p in (2, 3)
    ]
    (tmp_path / "point.yaml").write_text(found[-1].text, encoding="utf-8")
    read = Policy.load(tmp_path / "point.yaml")
    assert (read.algorithm.name, read.algorithm.metric) == ("mondrian", "ncp")
    assert [getattr(spec, name) for spec, name in zip(read.privacy, "kp", strict=True)] == [10, 3]
    assert read.suppression == 0.1
    assert read.output == "mondrian-k10-p3.parquet"
    assert read.data is not None
    assert read.data.path == "../../in/table.csv"
    job = read.columns["job"].hierarchy
    assert job is not None
    assert job.levels is not None
    assert job.levels.path == "../../levels/job.csv"


def test_a_point_whose_parameters_contradict_each_other_is_a_point_that_says_so() -> None:
    found = points(policy(), "optimal", k="2,5", p="3")
    assert [point.contradiction is None for point in found] == [False, True]
    assert "p = 3 is larger than k = 2" in str(found[0].contradiction)
    with pytest.raises(PolicyError, match="p = 6 is larger than k = 5"):
        points(policy(), "optimal", k="5", p="6")


def test_options_go_to_the_algorithms_that_take_them() -> None:
    asked = policy(algorithm={"name": "greedy-lattice", "weights": {"age": 0.5}, "seed": 9})
    own, other = points(asked, "greedy-lattice,optimal")
    assert "weights" in own.text
    assert "metric" not in own.text
    assert "weights" not in other.text
    assert "seed: 9" in own.text
    assert "seed: 9" in other.text


@pytest.mark.parametrize(
    ("names", "words"),
    [("", "no algorithm is named"), ("optimum", "Did you mean 'optimal'"), ("range", "range needs group and ranges")],
)
def test_algorithms_that_cannot_run_are_told_before_anything_does(names: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_algorithms(names, policy())


def test_a_grid_that_is_too_large_is_refused() -> None:
    with pytest.raises(InputError, match="40,000 points"):
        points(policy(), k="5..204", p=[*range(1, 101)])
