"""The range method against its definition: neighbours within a group, or one range a group."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.edits import PolicyEdit
from shoal.errors import DisclosureWarning, InfeasibleError, PolicyError, PolicyProblem
from shoal.hierarchies import Flat, HierarchySource, Intervals, Label, Mask, Tree, boundary_caps, capped_levels
from shoal.metrics import METRICS, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.models import DistinctLDiversity, KAnonymity, Model, TCloseness
from shoal.search.engine import LocalEngine
from shoal.search.local.range_method import range_method
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult
from shoal.table.encoded import encode_table
from support.builders import domain_of

Row = tuple[Label, ...]
ZIP, AGE = Mask(), Intervals(widths=(5, 10, 20))
JOBS = Tree({"health": ["nurse", "doctor"], "law": ["judge", "clerk"]})
SOURCES: dict[str, HierarchySource] = {"zip": ZIP, "age": AGE, "job": JOBS}
OPTIONS: dict[str, Any] = {"group": {"zip": 1}, "ranges": ["age"]}


def problem_of(
    rows: Sequence[Row],
    sources: Mapping[str, HierarchySource],
    *,
    models: tuple[Model, ...] = (KAnonymity(1),),
    budget: int = 0,
    boundaries: Mapping[str, Any] | None = None,
    illness: Sequence[str] | None = None,
    options: Mapping[str, Any] = OPTIONS,
) -> Problem:
    hierarchies, caps, quasi = [], [], {}
    for (name, source), values in zip(sources.items(), zip(*rows, strict=True), strict=True):
        distinct = sorted(set(values), key=str)
        built = source.build(distinct, [values.count(each) for each in distinct], name)
        code = dict(zip(distinct, built.codes.tolist(), strict=True))
        hierarchies.append(built.hierarchy)
        caps.append(boundary_caps(built.hierarchy, (boundaries or {}).get(name), name))
        quasi[name] = (np.array([code[value] for value in values], dtype=np.int32), built.hierarchy.n_leaves)
    domains, secret = {}, {}
    if illness is not None:
        domain = domain_of(sorted(set(illness)), column="illness")
        domains["illness"] = domain
        codes = np.array([domain.values.index(each) for each in illness], dtype=np.int32)
        secret["illness"] = codes
    return Problem(
        table=encode_table(quasi, secret, len(rows)),
        hierarchies=tuple(hierarchies),
        caps=tuple(caps),
        ladders=tuple(capped_levels(hierarchy, cap) for hierarchy, cap in zip(hierarchies, caps, strict=True)),
        models=models,
        domains=domains,
        budget=budget,
        options=options,
    )


def solve(problem: Problem) -> SearchResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)
        return range_method(problem, LocalEngine(problem.table, problem.ladders, problem.domains))


def released(outcome: SearchResult) -> list[Row | None]:
    """What is released of each row; None for a suppressed one."""
    recoding = outcome.recoding
    return [
        None
        if each < 0
        else tuple(h.labels[node] for h, node in zip(recoding.hierarchies, recoding.nodes[each].tolist(), strict=True))
        for each in recoding.row_class.tolist()
    ]


def plain(rows: Sequence[Row], **keys: Any) -> list[Row | None]:
    return released(solve(problem_of(rows, SOURCES, **keys)))


def shared(rows: Sequence[Row], **keys: Any) -> list[Row | None]:
    keys["options"] = {**OPTIONS, **keys.get("options", {}), "safe": True}
    return released(solve(problem_of(rows, SOURCES, **keys)))


def ages(found: Sequence[Row | None]) -> list[Label]:
    return [None if row is None else row[1] for row in found]


# --- as published ---------------------------------------------------------------------------------------------------


def test_a_value_becomes_the_range_of_its_neighbours_in_the_group() -> None:
    rows = [("10", "20", "nurse"), ("11", "24", "judge"), ("12", "37", "nurse"), ("20", "22", "nurse")]
    assert plain(rows) == [
        ("1*", "20<=24", "nurse"),
        ("1*", "20<=37", "judge"),
        ("1*", "24<=37", "nurse"),
        ("2*", "22", "nurse"),  # alone in its group
    ]


def test_of_equal_values_the_next_distinct_ones_are_neighbours() -> None:
    rows = [("10", age, "nurse") for age in ("20", "20", "24", "24", "24", "31")]
    assert ages(plain(rows)) == ["20<=24", "20<=24", "20<=31", "20<=31", "20<=31", "24<=31"]


def test_two_values_of_a_group_share_their_range() -> None:
    outcome = solve(problem_of([("10", "20", "nurse"), ("11", "25", "nurse")], SOURCES, models=(KAnonymity(2),)))
    assert released(outcome) == [("1*", "20<=25", "nurse")] * 2
    assert outcome.recoding.n_classes == 1


def test_a_missing_value_stays_missing_and_is_no_neighbour() -> None:
    rows = [("10", None, "nurse"), ("10", "20", "nurse"), ("11", "30", "judge"), ("20", None, "nurse")]
    assert ages(plain(rows)) == [None, "20<=30", "20<=30", None]
    assert ages(shared(rows, models=(KAnonymity(1),))) == [None, "20<=30", "20<=30", None]


def test_values_of_different_boundaries_are_no_neighbours() -> None:
    rows = [("10", age, "nurse") for age in ("20", "23", "26", "28", "41")]
    assert ages(plain(rows, boundaries={"age": 1})) == ["20<=23", "20<=23", "26<=28", "26<=28", "41"]
    assert ages(plain(rows, boundaries={"age": ["[25, 30)"]})) == ["20<=23", "20<=41", "26<=28", "26<=28", "23<=41"]
    assert ages(plain(rows, boundaries={"age": 0})) == ["20", "23", "26", "28", "41"]


def test_a_group_column_is_masked_no_further_than_its_boundary() -> None:
    rows = [("10", "20", "nurse"), ("10", "30", "judge"), ("11", "25", "nurse")]
    assert plain(rows, boundaries={"zip": 0}) == [
        ("10", "20<=30", "nurse"), ("10", "20<=30", "judge"), ("11", "25", "nurse")
    ]  # fmt: skip


def test_several_columns_make_the_groups_and_several_become_ranges() -> None:
    sources = {"zip": ZIP, "age": AGE, "pay": Intervals(widths=(1000,)), "job": JOBS}
    rows = [
        ("10", "20", "900", "nurse"), ("11", "25", "1000", "doctor"), ("12", "30", "500", "nurse"),
        ("13", "40", "700", "judge"),
    ]  # fmt: skip
    options = {"group": {"zip": 1, "job": 1}, "ranges": ["pay", "age"]}
    assert released(solve(problem_of(rows, sources, options=options))) == [
        ("1*", "20<=25", "500<=1000", "health"),
        ("1*", "20<=30", "900<=1000", "health"),
        ("1*", "25<=30", "500<=900", "health"),
        ("1*", "40", "700", "law"),
    ]


def test_the_published_form_warns_and_says_that_it_guarantees_nothing() -> None:
    problem = problem_of([("10", "20", "nurse"), ("11", "25", "judge"), ("12", "26", "nurse")], SOURCES)
    with pytest.warns(DisclosureWarning, match="guarantees no privacy model"):
        outcome = range_method(problem, LocalEngine(problem.table, problem.ladders, problem.domains))
    assert outcome.search["guarantees"] is False
    assert outcome.search["ambiguity"]["(k,k)"] == 1


def test_a_policy_that_does_not_hold_on_the_published_form_gets_no_release_but_reasons() -> None:
    rows = [("10", age, "nurse") for age in ("20", "24", "31")]
    models = (KAnonymity(3), DistinctLDiversity(1, sensitive="illness"))
    problem = problem_of(rows, SOURCES, models=models, illness=["flu", "flu", "hiv"], budget=3)
    with pytest.raises(InfeasibleError) as caught:
        solve(problem)
    diagnosis = caught.value.diagnosis
    assert diagnosis.code == "range-method"
    assert [(each.model, each.classes, each.records) for each in diagnosis.blockers] == [("k-anonymity", 3, 3)]
    assert diagnosis.holding == (("distinct-l-diversity", "illness"),)
    assert diagnosis.reachable["k-anonymity.k"] == 1
    assert [each.edits for each in diagnosis.relaxations] == [(PolicyEdit(("algorithm", "safe"), True),)]


def test_the_published_form_suppresses_nothing_since_ranges_show_the_values_of_neighbours() -> None:
    rows = [("10", age, "nurse") for age in ("20", "20", "24", "24", "31")]
    with pytest.raises(InfeasibleError) as caught:
        plain(rows, models=(KAnonymity(2),), budget=1)
    assert caught.value.diagnosis.code == "range-method"


def test_what_the_safe_form_needs_besides_is_said_as_well() -> None:
    rows = [("10", "20", "nurse"), ("11", "24", "nurse"), ("20", "31", "nurse"), ("21", "33", "judge")]
    with pytest.raises(InfeasibleError) as caught:
        plain(rows, models=(KAnonymity(3),))
    edits = (PolicyEdit(("algorithm", "safe"), True), PolicyEdit(("algorithm", "group", "zip"), 2))
    assert edits in [each.edits for each in caught.value.diagnosis.relaxations]


# --- the safe form --------------------------------------------------------------------------------------------------


def test_in_the_safe_form_a_group_shares_one_range_and_the_common_ancestor_of_the_rest() -> None:
    rows = [("10", "20", "nurse"), ("11", "37", "doctor"), ("12", "24", "nurse"), ("20", "22", "nurse")]
    outcome = solve(problem_of(rows, SOURCES, options={**OPTIONS, "safe": True}))
    assert released(outcome) == [("1*", "20<=37", "health")] * 3 + [("2*", "22", "nurse")]
    assert outcome.search["guarantees"] is True


def test_the_safe_form_does_not_warn() -> None:
    problem = problem_of([("10", "20", "nurse")], SOURCES, options={**OPTIONS, "safe": True})
    range_method(problem, LocalEngine(problem.table, problem.ladders, problem.domains))  # a warning would be an error


def test_groups_that_fail_are_suppressed_within_the_budget() -> None:
    rows = [("10", "20", "nurse"), ("11", "24", "nurse"), ("20", "31", "nurse")]
    assert shared(rows, models=(KAnonymity(2),), budget=1) == [("1*", "20<=24", "nurse")] * 2 + [None]


def test_beyond_the_budget_the_safe_form_is_infeasible_and_says_what_would_do() -> None:
    rows = [("10", "20", "nurse"), ("11", "24", "nurse"), ("20", "31", "nurse")]
    with pytest.raises(InfeasibleError) as caught:
        shared(rows, models=(KAnonymity(2),))
    diagnosis = caught.value.diagnosis
    assert diagnosis.code == "shared-ranges"
    changes = {edit.path: edit.value for each in diagnosis.relaxations for edit in each.edits}
    assert changes == {("suppression",): 0.3334, ("algorithm", "group", "zip"): 2}
    assert diagnosis.blockers[0].examples[0].labels == {"zip": "2*", "age": "31", "job": "nurse"}
    assert shared(rows, models=(KAnonymity(2),), budget=int(Fraction("0.3334") * 3))[2] is None
    assert shared(rows, models=(KAnonymity(2),), options={"group": {"zip": 2}}) == [("*", "20<=31", "nurse")] * 3


def test_models_on_the_whole_release_are_tested_on_what_is_kept() -> None:
    rows = [("10", "20", "nurse")] * 4 + [("20", "31", "nurse")]
    models = (TCloseness(0.1, sensitive="illness"), KAnonymity(2))
    keys: dict[str, Any] = {"models": models, "illness": ["flu", "flu", "hiv", "hiv", "hiv"]}
    assert shared(rows, **keys, budget=1)[4] is None
    with pytest.raises(InfeasibleError):
        shared(rows, **keys)


def test_boundaries_split_the_groups_of_the_safe_form() -> None:
    rows = [("10", "20", "nurse"), ("11", "23", "judge"), ("12", "26", "nurse"), ("12", "26", "clerk")]
    assert shared(rows, boundaries={"age": 1}) == [
        ("1*", "20<=23", "*"), ("1*", "20<=23", "*"), ("1*", "26", "*"), ("1*", "26", "*")
    ]  # fmt: skip
    assert shared(rows, boundaries={"job": ["health", "law"]}) == [
        ("1*", "20<=26", "nurse"), ("1*", "23<=26", "law"), ("1*", "20<=26", "nurse"), ("1*", "23<=26", "law")
    ]  # fmt: skip


# --- what may be asked ----------------------------------------------------------------------------------------------


def problems(
    options: Mapping[str, Any], rows: Sequence[Row] | None = None, **sources: HierarchySource
) -> list[PolicyProblem]:
    given_rows = rows or [("10", "20", "nurse"), ("11", "9", "judge")]
    with pytest.raises(PolicyError) as caught:
        solve(problem_of(given_rows, {**SOURCES, **sources}, options=options))
    return list(caught.value.problems)


def test_all_problems_of_the_options_are_told_together() -> None:
    found = problems({"group": {"zap": 1, "zip": 9, "age": 1}, "ranges": ["age", "job", "wage"]})
    assert [(each.where, each.code) for each in found] == [
        ("algorithm.group.zap", "not-a-quasi-identifier"),
        ("algorithm.group.zip", "unknown-level"),
        ("algorithm.ranges.age", "column-in-group-and-ranges"),
        ("algorithm.ranges.job", "range-values-not-ordered"),
        ("algorithm.ranges.wage", "not-a-quasi-identifier"),
    ]
    assert "'zip'" in found[0].fix
    assert found[1].facts == {"level": 9, "height": 2}
    assert "'nurse'" in found[3].message


@pytest.mark.parametrize("options", [{}, {"group": None, "ranges": None}, {"group": {}, "ranges": []}])
def test_both_group_and_ranges_must_be_named(options: dict[str, Any]) -> None:
    assert [each.code for each in problems(options)] == ["no-group-column", "no-range-column"]


def test_a_column_is_named_once() -> None:
    assert problems({**OPTIONS, "ranges": ["age", "age"]})[0].code == "column-listed-twice"


def test_numbers_that_the_hierarchy_has_in_another_order_are_refused() -> None:
    (found,) = problems(OPTIONS, age=Flat())
    assert found.code == "range-values-not-ordered"
    flat = {**SOURCES, "age": Flat()}
    assert ages(released(solve(problem_of([("10", "20", "nurse"), ("11", "30", "nurse")], flat)))) == ["20<=30"] * 2


def test_a_number_in_two_spellings_is_no_order() -> None:
    (found,) = problems(OPTIONS, [("10", "020", "nurse"), ("11", "20", "judge")], age=Flat())
    assert found.code == "range-values-not-ordered"


def test_a_hierarchy_that_places_the_missing_value_between_numbers_is_refused() -> None:
    rows: list[Row] = [("10", "20", "nurse"), ("11", None, "judge"), ("11", "60", "judge")]
    (found,) = problems(OPTIONS, rows, age=Tree({"young": ["20", None], "old": ["60"]}))
    assert found.code == "range-values-not-ordered"
    at_the_end = {**SOURCES, "age": Tree({"young": ["20"], "old": ["60", None]})}
    assert ages(released(solve(problem_of(rows, at_the_end)))) == ["20<=60", None, "20<=60"]


def test_a_range_that_reads_like_a_node_is_refused() -> None:
    (found,) = problems(OPTIONS, [("10", "20", "nurse"), ("11", "29", "judge")], age=Tree({"20<=29": ["20", "29"]}))
    assert (found.where, found.facts["label"]) == ("columns.age.hierarchy", "20<=29")


# --- against the definition -----------------------------------------------------------------------------------------

NUMBERS = ["5", "9", "20", "22", "23", "24", "31", "38", "44"]
BOUNDS: list[Any] = [None, None, 0, 1, 2, ["[20, 25)"], ["[20, 25)", "[20, 30)"], ["22", "[20, 40)"]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], dict[str, Any]]:
    random = Random(draw(st.integers(0, 2**20)))
    size = draw(st.integers(1, 25))
    few = NUMBERS[: draw(st.integers(1, len(NUMBERS)))]
    none = draw(st.sampled_from([0.0, 0.2]))
    rows: list[Row] = [("00", "20", "nurse"), ("01", "31", "clerk"), ("01", "22", "clerk")]
    for _ in range(size):
        age = None if random.random() < none else random.choice(few)
        rows.append((f"{random.randrange(3)}{random.randrange(2)}", age, random.choice(["nurse", "doctor", "judge"])))
    random.shuffle(rows)
    return rows, {"age": draw(st.sampled_from(BOUNDS)), "job": draw(st.sampled_from([None, 1, ["law"]]))}


def contains(label: Label, value: Label) -> bool:
    """What each label stands for, from its text alone; jobs by the tree above."""
    if label in {value, "*"}:
        return True
    if label is None or value is None:
        return False
    if "<=" in label:
        low, high = label.split("<=")
        return int(low) <= int(value) <= int(high)
    if label.endswith("*"):
        return label[:-1] == value[: len(label) - 1]
    return value in {"health": ["nurse", "doctor"], "law": ["judge", "clerk"]}.get(label, [])


def cap_of(problem: Problem, column: int, label: Label) -> int:
    return int(problem.caps[column][problem.hierarchies[column].by_label[label]])


@given(tables())
def test_ranges_are_those_of_the_definition(drawn: tuple[list[Row], dict[str, Any]]) -> None:
    rows, boundaries = drawn
    problem = problem_of(rows, SOURCES, boundaries=boundaries)
    expected = []
    for zip_code, age, job in rows:
        near = {
            int(other_age)
            for other_zip, other_age, _ in rows
            if other_zip is not None and zip_code is not None and other_zip[0] == zip_code[0]
            and other_age is not None and age is not None and cap_of(problem, 1, other_age) == cap_of(problem, 1, age)
        }  # fmt: skip
        label = age
        if age is not None:
            low = max((other for other in near if other < int(age)), default=int(age))
            high = min((other for other in near if other > int(age)), default=int(age))
            label = age if low == high else f"{low}<={high}"
        expected.append((f"{zip_code[0]}*" if zip_code else None, label, job))
    assert released(solve(problem)) == expected


@given(tables(), st.booleans())
def test_a_release_is_true_keeps_its_boundaries_and_can_be_measured(
    drawn: tuple[list[Row], dict[str, Any]], safe: bool
) -> None:
    rows, boundaries = drawn
    problem = problem_of(rows, SOURCES, boundaries=boundaries, options={**OPTIONS, "safe": safe})
    recoding = (outcome := solve(problem)).recoding
    for row, labels in zip(rows, released(outcome), strict=True):
        assert labels is not None
        assert all(contains(label, value) for label, value in zip(labels, row, strict=True))
    assert len({tuple(nodes) for nodes in recoding.nodes.tolist()}) == recoding.n_classes
    codes = list(problem.table.codes[:, problem.table.row_tuple])
    assert count_violations(recoding, codes, problem.caps) == 0
    summary = ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows)
    for metric in METRICS.values():
        value = metric.of(summary)
        assert metric.minimum <= value
        assert metric.maximum is None or value <= metric.maximum


@given(tables(), st.integers(1, 4), st.integers(0, 12))
def test_the_safe_form_is_k_anonymous_by_counting_what_is_released(
    drawn: tuple[list[Row], dict[str, Any]], k: int, budget: int
) -> None:
    rows, boundaries = drawn
    try:
        found = shared(rows, boundaries=boundaries, models=(KAnonymity(k),), budget=budget)
    except InfeasibleError:
        free = shared(rows, boundaries=boundaries)
        assert sum(size for size in Counter(free).values() if size < k) > budget or max(Counter(free).values()) < k
        return
    assert min(Counter(each for each in found if each is not None).values()) >= k
    assert found.count(None) <= budget


@given(tables(), st.booleans())
def test_the_ambiguity_is_that_of_comparing_every_original_with_every_released_record(
    drawn: tuple[list[Row], dict[str, Any]], safe: bool
) -> None:
    rows, boundaries = drawn
    outcome = solve(problem_of(rows, SOURCES, boundaries=boundaries, options={**OPTIONS, "safe": safe}))
    labels = [each for each in released(outcome) if each is not None]

    def fits(original: Row, record: Row) -> bool:
        return all(contains(label, value) for label, value in zip(record, original, strict=True))

    per_original = [sum(fits(row, record) for record in labels) for row in rows]
    per_released = [sum(fits(row, record) for row in rows) for record in labels]
    figures = outcome.search["ambiguity"]
    assert figures["(1,k)"] == figures["released_per_original"]["least"] == min(per_original)
    assert figures["(k,1)"] == figures["originals_per_released"]["least"] == min(per_released)
    assert figures["(k,k)"] == min(*per_original, *per_released)
    assert figures["originals_per_released"]["mean"] == pytest.approx(sum(per_released) / len(rows), abs=1e-6)


@given(tables(), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(
    drawn: tuple[list[Row], dict[str, Any]], safe: bool, random: Random
) -> None:
    rows, boundaries = drawn
    order = random.sample(range(len(rows)), len(rows))
    keys: dict[str, Any] = {"boundaries": boundaries, "options": {**OPTIONS, "safe": safe}}
    one = solve(problem_of(rows, SOURCES, **keys))
    other = solve(problem_of([rows[i] for i in order], SOURCES, **keys))
    assert [released(one)[i] for i in order] == released(other)
    assert one.recoding.nodes.tolist() == other.recoding.nodes.tolist()
    assert one.search == other.search
