"""Base intervals by hand: which one a value lies in, how runs are written and read back, and what a period holds."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchies import Dates, Flat, HierarchyError, Intervals, Tree
from shoal.hierarchies.base_intervals import BaseIntervals, ListedOrder, NumberSteps, Periods, base_intervals
from shoal.hierarchies.leaf_order import in_listed_order
from shoal.hierarchies.ranges import with_runs
from shoal.verification.dates import DateLabels
from shoal.verification.labels import FlatLabels, Labels
from shoal.verification.runs import stated_grid

FIVE = NumberSteps(Fraction(5))
GRADES = ListedOrder(("7th", "8th", "9th", "10th", "11th", "12th"), {"high school": ("9th", "12th")})


@pytest.mark.parametrize(
    ("value", "label"), [("20", "[20, 25)"), ("24.99", "[20, 25)"), ("0", "[0, 5)"), ("-1", "[-5, 0)")]
)
def test_a_number_lies_in_its_step(value: str, label: str) -> None:
    index = FIVE.index(value)
    assert index is not None
    assert FIVE.label((index, index)) == label


def test_a_run_of_steps_is_an_interval() -> None:
    assert FIVE.label((4, 6)) == "[20, 35)"
    assert FIVE.read("[20, 35)") == (4, 6)
    assert NumberSteps(Fraction(1, 2), Fraction(1, 4)).label((0, 2)) == "[0.25, 1.75)"


@pytest.mark.parametrize(
    "label", ["[21, 35)", "[20, 34)", "[20, 20)", "[35, 20)", "[20, 35]", "20<=35", "[20.0, 35)", "*"]
)
def test_what_is_not_on_the_grid_is_no_run(label: str) -> None:
    assert FIVE.read(label) is None


@pytest.mark.parametrize(
    ("step", "value", "alone", "with_two_more"),
    [
        ("1 month", "2020-03-31", "2020-03", "2020-03..2020-05"),
        ("quarter", "2020-12-31", "2020-Q4", "2020-Q4..2021-Q2"),
        ("2 years", "2021", "2020..2021", "2020..2025"),
        ("1 week", "2021-01-03", "2020-W53", "2020-W53..2021-W02"),
        ("10 days", "1999-12-31", "1999-12-22..1999-12-31", "1999-12-22..2000-01-20"),
        ("1 hour", "2020-01-01T23:59:00", "2020-01-01T23", "2020-01-01T23..2020-01-02T01"),
        ("1 decade", "1987-05", "1980s", "1980s..2000s"),
    ],
)
def test_runs_of_periods_are_written_as_date_hierarchies_do(
    step: str, value: str, alone: str, with_two_more: str
) -> None:
    periods = Periods.of_text(step)
    assert periods is not None
    index = periods.index(value)
    assert index is not None
    assert periods.label((index, index)) == alone
    assert periods.label((index, index + 2)) == with_two_more
    assert periods.read(with_two_more) == (index, index + 2)


@pytest.mark.parametrize("step", ["fortnight", "0 days", "-1 month", "1.5 years", "month year", "", "5"])
def test_what_is_no_period(step: str) -> None:
    assert Periods.of_text(step) is None


def test_a_value_that_tells_only_its_month_lies_in_no_day() -> None:
    assert Periods("day").index("2020-03") is None
    assert Periods("quarter").index("2020-03") == Periods("quarter").index("2020-01-31")
    assert Periods("month").index("2020") is None


def test_a_period_lies_in_a_longer_one_or_reaches_beyond_it() -> None:
    week = Periods("week").index("2020-12-31")
    assert week is not None
    assert not Periods("week").lies_in(week, "2020")  # its last days are in 2021
    assert Periods("month").lies_in(2020 * 12 + 2, "2020-Q1")
    assert not Periods("month").lies_in(2020 * 12 + 3, "2020-Q1")


def test_runs_of_a_list_have_names_where_the_policy_gives_them() -> None:
    assert GRADES.label((1, 3)) == "8th..10th"
    assert GRADES.label((2, 5)) == "high school"
    assert GRADES.read("high school") == (2, 5)
    assert [GRADES.read(label) for label in ("9th..12th", "10th..8th", "8th", "8th..13th")] == [None] * 4


DAYS = st.dates(date(1, 1, 1), date(9990, 12, 31))
STEPS = st.tuples(st.integers(1, 40), st.sampled_from(["day", "week", "month", "quarter", "half", "year"]))


@given(DAYS, STEPS, st.integers(0, 3))
def test_the_verifier_reads_runs_of_dates_as_they_are_written(day: date, step: tuple[int, str], more: int) -> None:
    count, unit = step
    periods, base = Periods(unit, count), DateLabels(("day", "month", "year"), None)
    grid = stated_grid({"step": f"{count} {unit}s" if unit != "half" else f"{count} halves"}, base)
    index = periods.index(day.isoformat())
    assert index is not None
    assert grid.cell_of(day.isoformat(), base) == index
    if periods._begin((index + more + 1) * count, unit).year < 9990 and index:
        label = periods.label((index, index + more))
        assert periods.read(label) == grid.run_of(label) == (index, index + more)
        days = [day + timedelta(days=offset) for offset in (-1, 1) if date.min < day < date.max]
        for other in days:  # neighbours lie in the same or in the next base interval
            assert abs((periods.index(other.isoformat()) or 0) - index) <= 1


@given(st.decimals(-1000, 1000, places=2), st.sampled_from(["0.1", "0.25", "1", "5", "7"]), st.integers(-3, 3))
def test_the_verifier_reads_runs_of_numbers_as_they_are_written(number: object, step: str, origin: int) -> None:
    form = {"step": float(step), "origin": origin}
    steps, base = base_intervals(form), FlatLabels()
    assert steps is not None
    grid, index = stated_grid(form, base), steps.index(str(number))
    assert index is not None
    assert grid.cell_of(str(number), base) == index
    assert grid.run_of(steps.label((index, index + 2))) == (index, index + 2)


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ({"order": ["a", "b", "c"]}, FlatLabels()),
        ({"order": ["a", "b", "c"], "names": {"ab": ["a", "b"]}}, FlatLabels()),
    ],
)
def test_the_verifier_reads_runs_of_a_list_as_they_are_written(form: dict[str, object], base: Labels) -> None:
    order, grid = base_intervals(form), stated_grid(form, base)
    assert order is not None
    for run in [(0, 1), (0, 2), (1, 2)]:
        assert grid.run_of(order.label(run)) == order.read(order.label(run)) == run


AGES = Intervals(widths=(10, 20)).build(["20", "22", "24", "31", "38", None], [1] * 6, "age").hierarchy


def test_a_run_is_a_node_that_stands_for_the_leaves_in_it() -> None:
    hierarchy, node_of = with_runs(AGES, FIVE, [(4, 6), (7, 7), (9, 9), (4, 5)], "age")
    node = node_of[4, 6]
    assert hierarchy.labels[node] == "[20, 35)"
    assert [hierarchy.labels[leaf] for leaf in range(hierarchy.first[node], hierarchy.last[node] + 1)] == [
        "20",
        "22",
        "24",
        "31",
    ]
    assert hierarchy.spans[node] == 4
    assert hierarchy.labels[hierarchy.parents[node]] == "[20, 40)"
    assert hierarchy.labels[node_of[7, 7]] == "[35, 40)"  # one leaf alone
    assert node_of[9, 9] == -1  # nobody is 45 to 49
    assert node_of[4, 5] == AGES.by_label["[20, 30)"]  # a node already


def test_a_label_that_means_something_else_is_refused() -> None:
    listed = Tree({"*": {"[20, 30)": ["20", "38"], "rest": ["40"]}}).build(["20", "38", "40"], [1] * 3, "age").hierarchy
    with pytest.raises(HierarchyError) as refused:
        with_runs(listed, FIVE, [(4, 5)], "age")
    assert [problem.code for problem in refused.value.problems] == ["label-used-twice"]


def test_leaves_take_the_order_of_a_list() -> None:
    values = ["BA", "8th", "9th", None]
    built = in_listed_order(Flat().build(values, [1] * 4, "edu"), ["8th", "9th", "10th", "BA"], values, [1] * 4, "edu")
    assert built.hierarchy.labels == ("8th", "9th", "BA", None, "*")
    assert built.codes.tolist() == [2, 0, 1, 3]
    nested = Tree({"*": {"late": ["b", "a"], "early": ["d", "c"]}}).build(list("abcd"), [1] * 4, "x")
    reordered = in_listed_order(nested, list("dcab"), list("abcd"), [1] * 4, "x")
    hierarchy = reordered.hierarchy
    assert hierarchy.labels[:4] == ("d", "c", "a", "b")
    early = hierarchy.by_label["early"]
    assert (hierarchy.first[early], hierarchy.last[early]) == (0, 1)
    assert [hierarchy.labels[node] for node in hierarchy.levels[1]] == ["early", "early", "late", "late"]
    assert [hierarchy.labels[code] for code in reordered.codes] == list("abcd")


@pytest.mark.parametrize(
    ("order", "code"), [(list("acbd"), "order-crosses-groups"), (list("abc"), "values-not-in-hierarchy")]
)
def test_an_order_that_does_not_fit_the_hierarchy_is_refused(order: list[str], code: str) -> None:
    built = Tree({"*": {"one": ["a", "b"], "two": ["c", "d"]}}).build(list("abcd"), [1] * 4, "x")
    with pytest.raises(HierarchyError) as refused:
        in_listed_order(built, order, list("abcd"), [1] * 4, "x")
    assert {problem.code for problem in refused.value.problems} == {code}


def test_the_leaves_of_a_date_hierarchy_lie_in_periods() -> None:
    values = ["2020-01-15", "2020-01-31", "2020-02-01"]
    leaves = Dates(units=("year",)).build(values, [1] * 3, "day").hierarchy.labels[:3]
    base: BaseIntervals = Periods("month")
    assert [base.index(str(leaf)) for leaf in leaves] == [24240, 24240, 24241]
