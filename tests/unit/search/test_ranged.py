"""Local recodings with ranges, by hand: what a class releases, what it costs, how Mondrian cuts, what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from oracles.lattice_oracle import Label
from shoal.errors import InfeasibleError, PolicyError, PolicyProblem
from shoal.models import AlpDif, KAnonymity, Model
from shoal.search import ALGORITHMS
from shoal.search.local.blocks import prepare
from shoal.search.local.finish import finish, merge_costs
from shoal.search.local.ranged_columns import RangedColumn, ranged_columns
from shoal.search.search_result import SearchResult
from support.model_cases import COLUMN
from support.search_cases import Case, problem_of, released_labels

Row = tuple[Label, ...]
LOCAL: dict[str, tuple[str, dict[str, Any]]] = {
    "mondrian": ("mondrian", {}),
    "top-down": ("top-down", {}),
    "greedy-clustering": ("greedy-clustering", {}),
    "faithful": ("greedy-clustering", {"faithful": True}),
}
EACH = pytest.mark.parametrize("name", LOCAL)
AGES = {
    "*": {
        "young": {"20s": {"21": None, "25": None, "28": None}, "30s": {"33": None, "36": None}},
        "old": {"63": None, "67": None, "71": None},
    }
}
WITH_MISSING = {"*": {**AGES["*"], None: None}}
PLACES = {"*": {"north": {"n1": None, "n2": None}, "south": None}}


def case_of(*ages: Label, places: str = "", tree: Mapping[Any, Any] | None = None, **keys: Any) -> Case:
    """Ages in ranges beside places, n1 unless said: each a letter of ``places``, 1, 2 or s."""
    names = {"1": "n1", "2": "n2", "s": "south"}
    rows = tuple((age, names[place]) for age, place in zip(ages, places or "1" * len(ages), strict=True))
    given: dict[str, Any] = {"models": (KAnonymity(2),), "options": {"ranges": ["q0"]}, **keys}
    ages_tree = tree or (WITH_MISSING if None in ages else AGES)
    return Case((ages_tree, PLACES), rows, {COLUMN: ("Flu",) * len(rows), **given.pop("sensitive", {})}, **given)


def solve(name: str, case: Case) -> SearchResult:
    algorithm, options = LOCAL[name]
    problem, engine = problem_of(replace(case, options={**case.options, **options}))
    return ALGORITHMS[algorithm].run(problem, engine)


def released(outcome: SearchResult) -> list[Row | None]:
    return released_labels(outcome.recoding)


def ages_of(name: str, case: Case) -> list[Label]:
    return [None if row is None else row[0] for row in released(solve(name, case))]


def column_of(case: Case) -> RangedColumn:
    return ranged_columns(problem_of(case)[0])[0]


def codes(*leaves: int) -> np.ndarray:
    return np.array(leaves, dtype=np.int32)


# --- what a class releases ------------------------------------------------------------------------------------------


@EACH
def test_a_class_is_released_from_its_smallest_to_its_largest_value(name: str) -> None:
    case = case_of("25", "33", "28", models=(KAnonymity(3),))
    assert released(solve(name, case)) == [("25<=33", "n1")] * 3
    assert ages_of(name, replace(case, options={})) == ["young"] * 3


@EACH
def test_a_class_of_one_value_is_released_as_the_value(name: str) -> None:
    assert ages_of(name, case_of("25", "25", "63", "63")) == ["25", "25", "63", "63"]


@EACH
def test_only_the_columns_named_become_ranges(name: str) -> None:
    case = case_of("25", "33", places="12")
    assert released(solve(name, case)) == [("25<=33", "north")] * 2


@EACH
@pytest.mark.parametrize("ranges", [None, [], ()])
def test_no_column_may_be_named(name: str, ranges: object) -> None:
    assert ages_of(name, case_of("25", "33", options={"ranges": ranges})) == ["young"] * 2


@EACH
def test_a_missing_value_is_part_of_no_range(name: str) -> None:
    alone = case_of("21", "28", None, None)
    assert ages_of(name, alone) == ["21<=28", "21<=28", None, None]
    mixed = case_of("21", "28", None, models=(KAnonymity(3),))
    assert ages_of(name, mixed) == ["*"] * 3


@EACH
def test_a_missing_value_that_the_tree_places_falls_back_to_its_group_only(name: str) -> None:
    tree = {"*": {"old": {"63": None, "67": None, None: None}}}
    assert ages_of(name, case_of("63", "67", None, tree=tree, models=(KAnonymity(3),))) == ["old"] * 3


@EACH
def test_a_range_stays_within_the_boundary(name: str) -> None:
    case = case_of("25", "33", "28", "36", boundaries=(("20s", "30s"), None))
    assert ages_of(name, case) == ["25<=28", "33<=36", "25<=28", "33<=36"]


@EACH
def test_no_end_of_a_range_comes_from_a_suppressed_record(name: str) -> None:
    case = case_of("21", "63", "67", "71", places="1111", boundaries=(("young", "old"), None), budget=1)
    case = replace(case, models=(KAnonymity(3),))
    outcome = solve(name, case)
    assert ages_of(name, case) == [None, "63<=71", "63<=71", "63<=71"]
    assert "21<=63" not in outcome.recoding.hierarchies[0].labels


def test_overlapping_ranges_are_different_classes_and_equal_ones_the_same() -> None:
    case = case_of("21", "33", "25", "36", "21", "33", models=(KAnonymity(1),))
    blocks = prepare(*problem_of(case))
    recoding = finish(blocks, np.array([0, 0, 1, 1, 2, 2], dtype=np.int32))
    assert (
        released(SearchResult(recoding, {}))
        == [(label, "n1") for label in ("21<=33", "21<=33", "25<=36", "25<=36")] + [("21<=33", "n1")] * 2
    )
    assert recoding.n_classes == 2
    assert recoding.sizes.tolist() == [4, 2]
    assert finish(blocks.without_ranges, np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)).n_classes == 1  # all young


# --- what it costs --------------------------------------------------------------------------------------------------


def test_the_loss_of_a_class_is_that_of_the_node_it_releases() -> None:
    column = column_of(case_of("21", None))
    low, high = codes(0, 0, 3, 0, 5, 8), codes(0, 2, 6, 7, 8, 8)
    assert column.missing == 8
    assert column.mixed(low, high).tolist() == [False, False, False, False, True, False]
    ranged, nodes = column.released(low, high)
    assert [ranged.labels[node] for node in nodes] == ["21", "21<=28", "33<=67", "21<=71", "*", None]
    assert column.losses(low, high).tolist() == ranged.loss[nodes].tolist() == [0, 2 / 8, 3 / 8, 7 / 8, 1, 0]


def test_a_missing_value_that_stands_first_is_told_as_well() -> None:
    column = column_of(case_of("21", None, tree={"*": {None: None, **AGES["*"]}}))
    assert column.missing == 0
    assert column.mixed(codes(0, 0, 1), codes(0, 1, 2)).tolist() == [False, True, False]


def test_a_column_of_one_value_loses_nothing() -> None:
    assert column_of(case_of("5", "5", tree={"*": {"5": None}})).losses(codes(0), codes(0)).tolist() == [0]


def test_merging_costs_what_the_union_loses_more() -> None:
    blocks = prepare(*problem_of(case_of("21", None)))
    low, high, sizes = codes(0, 2, 5, 8)[:, None], codes(1, 4, 5, 8)[:, None], np.array([2, 3, 4, 5])
    expected = [(4 * 5 - 1 * 2 - 2 * 3) / 8, (5 * 6 - 1 * 2) / 8, (8 * 7 - 1 * 2) / 8]  # with missing: the root
    losses = blocks.losses(0, low[:, 0], high[:, 0])[:, None]
    assert merge_costs(blocks, low, high, losses, sizes, 0, np.array([1, 2, 3])) == pytest.approx(expected)


def test_a_class_that_leaks_is_merged_with_the_class_whose_range_is_nearest() -> None:
    """The class of 28 leaks HIV. In the tree 21 is nearest, both in their twenties; as a range 33, the next value."""
    secrets = ("HIV", "HIV", *["Flu"] * 4, "HIV", "Flu")
    case = case_of("28", "28", "33", "33", "21", "21", "63", "63", sensitive={COLUMN: secrets})
    models: tuple[Model, ...] = (AlpDif({"HIV": {"alp": 0.6, "dif": 1}}, sensitive=COLUMN),)
    blocks = prepare(*problem_of(replace(case, models=models)))
    partition = np.array([0, 0, 1, 1, 2, 2, 3, 3], dtype=np.int32)
    ranged, plain = finish(blocks, partition), finish(blocks.without_ranges, partition)
    ages = [[row and row[0] for row in released(SearchResult(each, {}))] for each in (ranged, plain)]
    assert ages[0] == ["28<=33"] * 4 + ["21", "21", "63", "63"]
    assert ages[1] == ["20s", "20s", "33", "33", "20s", "20s", "63", "63"]


def test_where_the_classes_that_leak_are_alone_in_their_blocks_others_are_merged() -> None:
    """The old leak more than the average and may not meet the young, some of whom leak a little."""
    secrets = ("HIV", "HIV", "HIV", "Flu", "HIV", "Flu", "Flu", "Flu", "Flu", "Flu")
    case = case_of(*["63"] * 3, *["28"] * 3, *["33"] * 2, *["21"] * 2, sensitive={COLUMN: secrets})
    models: tuple[Model, ...] = (AlpDif({"HIV": {"alp": 0.81, "dif": 1}}, sensitive=COLUMN),)
    blocks = prepare(*problem_of(replace(case, models=models, boundaries=(("young", "old"), None))))
    recoding = finish(blocks, np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3], dtype=np.int32))
    ages = [row and row[0] for row in released(SearchResult(recoding, {}))]
    assert ages == ["63"] * 3 + ["21<=28"] * 3 + ["33"] * 2 + ["21<=28"] * 2


# --- how Mondrian cuts ----------------------------------------------------------------------------------------------


def test_ranges_are_cut_at_the_median_and_not_where_the_tree_parts() -> None:
    """The tree would part three twenties, two thirties and three old; medians part the eight two by two."""
    case = case_of("21", "25", "28", "33", "36", "63", "67", "71")
    assert ages_of("mondrian", case) == [
        each for label in ("21<=25", "28<=33", "36<=63", "67<=71") for each in (label, label)
    ]
    assert solve("mondrian", case).search["cuts"] == "ranges"


def test_the_tree_is_followed_where_that_costs_less() -> None:
    """Cuts between two values leave 33 with 25 and 28; the tree keeps it with the 36s, which costs less."""
    case = case_of("25", "28", "33", "36", "36", "63", "63", "67")
    assert ages_of("mondrian", case) == ["25<=28"] * 2 + ["33<=36"] * 3 + ["63<=67"] * 3
    assert solve("mondrian", case).search["cuts"] == "trees"


def test_the_widest_range_is_cut_first() -> None:
    """Place spans its root in both classes of the first cut, age little: cutting by place first keeps ages together."""
    case = case_of("21", "25", "21", "25", places="11ss")
    assert released(solve("mondrian", case)) == [("21<=25", "n1")] * 2 + [("21<=25", "south")] * 2


def test_missing_values_are_cut_off_before_the_median() -> None:
    """The most even cut of the codes is after 25; it would leave 28 with the missing values."""
    case = case_of("21", "25", "28", None, None, None, models=(KAnonymity(3),))
    assert ages_of("mondrian", case) == ["21<=28"] * 3 + [None] * 3


def test_children_are_cut_off_where_no_median_cut_holds() -> None:
    """Two, six and two records with k = 4: no cut in two holds, but 25 alone does, and 21 with 28 beside it."""
    case = case_of("21", "21", *["25"] * 6, "28", "28", models=(KAnonymity(4),))
    assert ages_of("mondrian", case) == ["21<=28"] * 2 + ["25"] * 6 + ["21<=28"] * 2


def test_without_ranges_nothing_is_said_of_cuts() -> None:
    assert "cuts" not in solve("mondrian", case_of("21", "25", options={})).search


# --- what is refused ------------------------------------------------------------------------------------------------


def problems(name: str, case: Case) -> list[PolicyProblem]:
    with pytest.raises(PolicyError) as caught:
        solve(name, case)
    return list(caught.value.problems)


@EACH
def test_all_columns_that_cannot_become_ranges_are_told_together(name: str) -> None:
    found = problems(name, case_of("21", "25", options={"ranges": ["q1", "q2", "q0", "q0"]}))
    assert [(each.where, each.code) for each in found] == [
        ("algorithm.ranges.q1", "range-values-not-ordered"),
        ("algorithm.ranges.q2", "not-a-quasi-identifier"),
        ("algorithm.ranges.q0", "column-listed-twice"),
    ]


@EACH
def test_numbers_out_of_order_and_missing_values_between_them_are_refused(name: str) -> None:
    (found,) = problems(name, case_of("9", "20", tree={"*": {"20": None, "9": None}}))
    assert found.code == "range-values-not-ordered"
    (found,) = problems(name, case_of("9", "20", tree={"*": {"9": None, None: None, "20": None}}))
    assert found.code == "range-values-not-ordered"


@EACH
def test_a_wrong_column_is_told_before_what_cannot_be_reached(name: str) -> None:
    case = case_of("21", "25", models=(KAnonymity(3),), options={"ranges": ["q1"]})
    assert len(problems(name, case)) == 1
    with pytest.raises(InfeasibleError):
        solve(name, replace(case, options={}))


@EACH
def test_a_range_that_reads_like_a_node_is_refused(name: str) -> None:
    tree = {"*": {"21<=25": {"21": None, "25": None, "99": None}}}
    (found,) = problems(name, case_of("21", "25", tree=tree))
    assert (found.where, found.facts["label"]) == ("columns.q0.hierarchy", "21<=25")
