"""The bundled example: the data are what their script makes, and the policy does what it promises."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from fractions import Fraction
from importlib import resources
from pathlib import Path
from types import ModuleType

import pytest

from shoal.encode.resolve import Resolved
from shoal.io import DataSource, read_table
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.search.search_result import SearchResult
from support.resolved import resolve
from support.scripts import load_script

ROOT = Path(__file__).parents[2]
DATA = Path(str(resources.files("shoal") / "data"))


def script() -> ModuleType:
    return load_script(ROOT / "tools" / "make_hospital.py")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with (DATA / "hospital.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def solved() -> tuple[Resolved, SearchResult]:
    policy = Policy.load(DATA / "hospital.yaml")
    assert policy.data is not None
    source = DataSource(policy.path(policy.data.path), missing=tuple(policy.data.missing))
    resolved = resolve(policy, read_table(source))
    problem = resolved.problem
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    return resolved, ALGORITHMS[policy.algorithm.name].run(problem, engine)


def test_the_script_makes_the_committed_file_byte_for_byte() -> None:
    assert script().hospital_csv().encode("utf-8") == (DATA / "hospital.csv").read_bytes()


def test_the_data_hold_what_an_example_needs(rows: list[dict[str, str]]) -> None:
    assert len(rows) == 1200
    assert len({row["patient_id"] for row in rows}) == 1200
    assert any(row["zipcode"].startswith("0") for row in rows)
    assert all(len(row["zipcode"]) == 5 for row in rows)
    assert any(row["country"] == "?" for row in rows)
    assert any(row["marital_status"] == "" for row in rows)
    suns = {"HIV", "Cancer", "Phthisis", "Hepatitis", "Heart Disease", "Asthma", "Flu", "Indigestion"}
    assert suns < {row["condition"] for row in rows}


def test_conditions_depend_on_age_and_place(rows: list[dict[str, str]]) -> None:
    def share(condition: str, chosen: list[dict[str, str]]) -> Fraction:
        return Fraction(sum(row["condition"] == condition for row in chosen), len(chosen))

    old = [row for row in rows if int(row["age"]) >= 65]
    young = [row for row in rows if int(row["age"]) < 40]
    outbreak = [row for row in rows if row["zipcode"].startswith("1424")]
    elsewhere = [row for row in rows if not row["zipcode"].startswith("1424")]
    assert share("Heart Disease", old) > 3 * share("Heart Disease", young)
    assert share("Phthisis", outbreak) > 2 * share("Phthisis", elsewhere)


def test_the_policy_is_feasible_within_its_suppression(solved: tuple[Resolved, SearchResult]) -> None:
    recoding = solved[1].recoding
    assert 0 < recoding.suppressed <= 60


def test_the_release_keeps_detail_in_most_columns(solved: tuple[Resolved, SearchResult]) -> None:
    levels, resolved = solved[1].recoding.levels, solved[0]
    assert levels is not None
    top = [name for name, column in resolved.quasi.items() if levels[name] == column.hierarchy.height]
    assert len(top) <= 1
    assert {"age", "zipcode", "country", "admission_date"}.isdisjoint(top)


def test_every_class_has_five_records_two_categories_and_weight_two(
    solved: tuple[Resolved, SearchResult], rows: list[dict[str, str]]
) -> None:
    policy = Policy.load(DATA / "hospital.yaml")
    categories = policy.columns["condition"].category_values
    place = {value: number for number, values in enumerate(categories.values()) for value in values}
    classes = defaultdict(list)
    for number, row in zip(solved[1].recoding.row_class.tolist(), rows, strict=True):
        if number >= 0:
            classes[number].append(place[row["condition"]])
    assert classes
    for places in classes.values():
        assert len(places) >= 5
        assert len(Counter(places)) >= 2
        assert sum(Fraction(number, len(categories) - 1) for number in places) >= 2


def test_no_boundary_of_the_policy_is_crossed(solved: tuple[Resolved, SearchResult]) -> None:
    resolved, outcome = solved
    for place, (name, column) in enumerate(resolved.quasi.items()):
        for row, number in enumerate(outcome.recoding.row_class.tolist()):
            if number >= 0:
                node, cap = int(outcome.recoding.nodes[number, place]), int(column.caps[column.codes[row]])
                assert column.hierarchy.first[cap] <= column.hierarchy.first[node], name
                assert column.hierarchy.last[node] <= column.hierarchy.last[cap], name
