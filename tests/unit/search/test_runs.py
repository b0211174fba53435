"""Runs of base intervals by hand: what a class releases and costs, how Mondrian cuts, boundaries, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from shoal.errors import PolicyError
from shoal.hierarchies import Dates, HierarchySource, Intervals, OrderedValues, boundary_caps, capped_levels
from shoal.hierarchies.hierarchy import Label
from shoal.models import KAnonymity
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.search.local.range_method import RangeOptions
from shoal.search.local.ranged_columns import RangedColumn, ranged_columns
from shoal.search.problem import Problem
from shoal.table.encoded import encode_table

AGES = Intervals(widths=(10, 20, 40))


def problem_of(
    values: list[Label], form: Any, source: HierarchySource = AGES, *, boundary: Any = None, k: int = 2, **options: Any
) -> Problem:
    """One column of values beside a place that all have in common."""
    distinct = sorted(set(values), key=str)
    built = source.build(distinct, [values.count(value) for value in distinct], "q")
    place = OrderedValues(["here"]).build(["here"], [len(values)], "place").hierarchy
    code = dict(zip(distinct, built.codes.tolist(), strict=True))
    codes = np.array([code[value] for value in values], dtype=np.int32)
    hierarchies = (built.hierarchy, place)
    caps = (boundary_caps(built.hierarchy, boundary, "q"), boundary_caps(place, None, "place"))
    quasi = {"q": (codes, built.hierarchy.n_leaves), "place": (np.zeros_like(codes), place.n_leaves)}
    ranges = {"q": form} if form is not None else ["q"]
    return Problem(
        table=encode_table(quasi, {}, len(values)),
        hierarchies=hierarchies,
        caps=caps,
        ladders=tuple(capped_levels(hierarchy, cap) for hierarchy, cap in zip(hierarchies, caps, strict=True)),
        models=(KAnonymity(k),),
        domains={},
        options={"ranges": ranges, **options},
    )


def released(problem: Problem, *classes: tuple[str | None, str | None]) -> list[Label]:
    """What classes release whose smallest and largest values are given."""
    column = RangedColumn.of(problem, 0)
    ends = np.array([[column.hierarchy.by_label[end] for end in each] for each in classes], dtype=np.int32)
    hierarchy, nodes = column.released(ends[:, 0], ends[:, 1])
    assert hierarchy.loss[nodes] == pytest.approx(column.losses(ends[:, 0], ends[:, 1]))
    return [hierarchy.labels[node] for node in nodes]


NUMBERS: list[Label] = ["20", "22", "27", "31", "34", "38", "41", "59", None]


def test_a_class_is_released_as_the_shortest_run_on_the_grid() -> None:
    problem = problem_of(NUMBERS, {"step": 5})
    classes = [("22", "34"), ("20", "22"), ("34", "38"), ("20", "59"), ("31", "31")]
    assert released(problem, *classes) == ["[20, 35)", "[20, 25)", "[30, 40)", "[20, 60)", "31"]


def test_ends_are_those_of_the_step_whatever_the_origin() -> None:
    assert released(problem_of(NUMBERS, {"step": 5, "origin": 3}), ("22", "34")) == ["[18, 38)"]
    assert released(problem_of(NUMBERS, {"step": 2.5}), ("22", "34")) == ["[20, 35)"]


def test_missing_values_are_part_of_no_run() -> None:
    assert released(problem_of(NUMBERS, {"step": 5}), ("38", None), (None, None)) == ["*", None]


def test_a_node_with_fewer_values_is_released_instead_of_a_run() -> None:
    problem = problem_of(NUMBERS, {"step": 50})
    assert released(problem, ("20", "22"), ("22", "34"), ("38", "59")) == ["[20, 30)", "[20, 40)", "[0, 100)"]


def test_a_run_costs_its_values_over_those_of_the_column() -> None:
    column = RangedColumn.of(problem_of(NUMBERS, {"step": 5}), 0)
    low, high = (np.array([column.hierarchy.by_label[end]], dtype=np.int32) for end in ("22", "31"))
    assert column.losses(low, high).tolist() == [4 / 8]  # 20, 22, 27, 31 and 34 of nine values, the missing one too


@pytest.mark.parametrize(
    ("step", "boundary", "expected"),
    [
        (5, 2, ["[20, 35)", "[30, 40)"]),
        (7, 2, ["[20, 40)", "[30, 40)"]),  # [14, 35) and [28, 42) reach beyond [20, 40)
        (5, ["[20, 30)"], ["[20, 30)", "[30, 40)"]),
    ],
)
def test_a_run_never_reaches_beyond_the_boundary(step: int, boundary: Any, expected: list[str]) -> None:
    ages: list[Label] = ["20", "22", "27", "31", "34", "38", "41"]
    problem = problem_of(ages, {"step": step}, boundary=boundary)
    first = ("20", "27") if boundary == ["[20, 30)"] else ("20", "34")
    assert released(problem, first, ("31", "38")) == expected


def test_a_boundary_counts_by_what_it_says_not_by_who_is_there() -> None:
    ages: list[Label] = ["34", "36", "38", "50"]  # nobody is 40 or 41
    assert released(problem_of(ages, {"step": 7}, boundary=2), ("36", "38")) == ["[30, 40)"]
    assert released(problem_of(ages, {"step": 7}), ("36", "38")) == ["[35, 42)"]


def test_dates_are_released_as_runs_of_periods() -> None:
    days: list[Label] = ["2019-11-30", "2020-01-15", "2020-03-01", "2020-03-31", "2020-07-01"]
    problem = problem_of(days, {"step": "1 month"}, Dates(units=("year",)))
    classes = [("2020-01-15", "2020-03-31"), ("2020-03-01", "2020-03-31"), ("2019-11-30", "2020-01-15")]
    assert released(problem, *classes) == ["2020-01..2020-03", "2020-03", "2019-11..2020-01"]
    by_weeks = problem_of(
        ["2020-12-28", "2020-12-31", "2020-12-01"], {"step": "1 week"}, Dates(units=("year",)), boundary=1
    )
    assert released(by_weeks, ("2020-12-28", "2020-12-31")) == ["2020"]  # the last week ends in 2021


GRADES = ["7th", "8th", "9th", "10th", "11th", "12th"]


def test_ordered_values_are_released_as_runs_named_if_the_policy_names_them() -> None:
    form: Mapping[str, Any] = {"order": "hierarchy", "names": {"high school": ["9th", "12th"]}}
    problem = problem_of(list(GRADES), form, OrderedValues(GRADES, groups=(2,)))
    classes = [("8th", "11th"), ("9th", "12th"), ("7th", "8th"), ("7th", "12th")]
    assert released(problem, *classes) == ["8th..11th", "high school", "7th..8th", "7th..12th"]


def test_mondrian_cuts_between_base_intervals() -> None:
    ages: list[Label] = ["20", "21", "22", "23", "24", "26"]  # the median lies within [20, 25)
    found = ALGORITHMS["mondrian"].run(*asked(problem_of(ages, {"step": 5}, k=1))).recoding
    assert {found.hierarchies[0].labels[node] for node in found.nodes[:, 0]} == set(ages)
    found = ALGORITHMS["mondrian"].run(*asked(problem_of([*ages, "27"], {"step": 5}))).recoding
    shown = sorted(str(found.hierarchies[0].labels[node]) for node in found.nodes[:, 0])
    assert shown == ["[20, 25)", "[25, 30)"]


def test_mondrian_finds_the_only_base_interval_that_can_be_cut_off() -> None:
    """A quarter, half and three quarters of the records lie within [20, 30), and no single age has enough."""
    ages: list[Label] = [*(str(age) for age in range(20, 30) for _ in range(6)), *["31"] * 4, *["32"] * 4]
    result = ALGORITHMS["mondrian"].run(*asked(problem_of(ages, {"step": 10}, Intervals(widths=(40,)), k=8)))
    found = result.recoding
    shown = {found.hierarchies[0].labels[node]: size for node, size in zip(found.nodes[:, 0], found.sizes, strict=True)}
    assert shown == {"[20, 30)": 60, "[30, 40)": 8}
    assert result.search["classes"] == 2


def asked(problem: Problem) -> tuple[Problem, LocalEngine]:
    return problem, LocalEngine(problem.table, problem.ladders, problem.domains)


@pytest.mark.parametrize(
    ("values", "form", "source"),
    [
        (["a", "b"], {"step": 5}, OrderedValues(["a", "b"])),
        (["9", "10"], {"step": 5}, OrderedValues(["10", "9"])),
        (["7th", "8th"], {"order": "hierarchy", "names": {"both": ["7th", "13th"]}}, OrderedValues(["7th", "8th"])),
        (["2020", "2021"], {"step": "1 day"}, Dates(units=("decade",), format="%Y")),
    ],
)
def test_values_that_do_not_fit_are_refused(values: list[Label], form: Any, source: HierarchySource) -> None:
    with pytest.raises(PolicyError) as refused:
        ranged_columns(problem_of(values, form, source))
    (problem,) = refused.value.problems
    assert (problem.where, problem.code) == ("algorithm.ranges.q", "range-values-not-ordered")


def test_the_range_method_takes_base_intervals_in_its_safe_form_only() -> None:
    problem = problem_of(NUMBERS, {"step": 5}, group={"place": 0})
    with pytest.raises(PolicyError) as refused:
        RangeOptions.read(problem)
    assert [each.code for each in refused.value.problems] == ["runs-not-shared"]
    safe = problem_of(["20", "22", "27", "34"], {"step": 5}, group={"place": 0}, safe=True)
    recoding = ALGORITHMS["range"].run(*asked(safe)).recoding
    assert {recoding.hierarchies[0].labels[node] for node in recoding.nodes[:, 0]} == {"[20, 35)"}
