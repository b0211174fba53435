"""Every claim of an answer to "why?" against working it out naively, for every algorithm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from oracles import why_oracle
from oracles.lattice_oracle import Label, Table
from shoal.errors import InfeasibleError
from shoal.pipeline.why.explain import ColumnWhy, Why, explain
from shoal.pipeline.why.find import Matches
from shoal.search import ALGORITHMS
from shoal.search.diagnosis.failures import FinerPart, Judgement, Lack, Split
from shoal.search.problem import Problem
from shoal.table.recoding import Recoding
from support.search_cases import Case, cases, problem_of, table_of

pytestmark = pytest.mark.slow

FULL_DOMAIN = ("greedy-lattice", "incognito", "optimal")
LOCAL = ("greedy-clustering", "mondrian", "top-down")
WEIGHTLESS = ("loss", "ncp", "ntil", "precision", "wang_loss", "discernibility")
"""Measures whose cells the oracle knows, or that have none, so that NCP stands for them."""


def test_every_algorithm_is_asked() -> None:
    # ranges are asked in test_why_ranges.py, and auto is what it chose
    assert {*FULL_DOMAIN, *LOCAL, "auto", "range"} == set(ALGORITHMS)


def made(algorithm: str, case: Case) -> tuple[Problem, Recoding] | None:
    problem, engine = problem_of(case if algorithm in FULL_DOMAIN else replace(case, weights=()))
    try:
        return problem, ALGORITHMS[algorithm].run(problem, engine).recoding
    except InfeasibleError:
        return None


def labels(recoding: Recoding) -> why_oracle.Release:
    tuples = [
        tuple(hierarchy.labels[node] for hierarchy, node in zip(recoding.hierarchies, nodes, strict=True))
        for nodes in recoding.nodes
    ]
    return [tuples[at] if at >= 0 else None for at in recoding.row_class.tolist()]


def models_of(lacks: tuple[Lack, ...]) -> set[tuple[str, str | None]]:
    assert all(lack.lacks for lack in lacks)
    return {(lack.model, lack.sensitive) for lack in lacks}


def check(judgement: Judgement, told: why_oracle.Told, allowed: int) -> None:
    assert [(f.model, f.sensitive, f.classes, f.records) for f in judgement.fails] == told.failures
    assert judgement.left_out == told.left_out
    assert judgement.may_be_left_out == allowed
    assert judgement.holds == told.satisfied
    assert models_of(judgement.fails_as_a_whole) == told.whole
    assert judgement.clean == (told.satisfied and not told.left_out)


def check_part(part: FinerPart, told: why_oracle.Told, classes: why_oracle.Classes, cells: why_oracle.Cells) -> None:
    assert part.class_size == len(classes[cells])
    assert models_of(part.lacks) == told.failing[cells]


def asked(problem: Problem, recoding: Recoding, algorithm: str, **what: Any) -> Why:
    found = explain(problem, recoding, algorithm, **what)
    assert isinstance(found, Why)
    assert ("othing blocks" in str(found)) == any(column.verdict == "open" for column in found.columns)
    return found


@pytest.mark.parametrize("algorithm", FULL_DOMAIN)
@settings(max_examples=60)
@given(case=cases(max_rows=25), pick=st.integers(0, 10**6))
def test_a_level_less_fails_as_the_answer_says(algorithm: str, case: Case, pick: int) -> None:
    result = made(algorithm, case)
    if result is None:
        return
    problem, recoding = result
    table, row = table_of(case), pick % len(case.rows)
    node = node_of(table, recoding)
    found = asked(problem, recoding, algorithm, record=row + 1)
    at = int(recoding.row_class[row])
    if at < 0:
        check_left_out(found, table, node, row)
        return
    members = np.flatnonzero(recoding.row_class == at).tolist()
    by_class = asked(problem, recoding, algorithm, in_class=at + 1)
    assert found.values == dict(zip(case.names, case.rows[row], strict=True))
    assert (found.size, found.number) == (len(members), at + 1)
    for j, (column, of_class) in enumerate(zip(found.columns, by_class.columns, strict=True)):
        assert column.released == oracle.release(table, node, row)[j]
        assert column.level == oracle.nominal(table, node)[j]
        if not node[j]:
            assert column.splits == of_class.splits == ()
            continue
        check_step(table, node, j, row, members, column)
        (split,) = of_class.splits
        assert not any(part.own for part in split.parts)
        assert split.judgement == column.splits[0].judgement


def check_step(table: Table, node: oracle.Node, j: int, row: int, members: list[int], column: ColumnWhy) -> None:
    below = why_oracle.lower(node, j)
    classes = oracle.classes_at(table, below, range(len(table.rows)))
    told = why_oracle.tell(table, classes, table.budget)
    (split,) = column.splits
    check(split.judgement, told, table.budget)
    assert split.judgement.holds == oracle.judge(table, below).satisfied
    assert split.rest is None
    assert (split.measure is not None) == told.satisfied
    parts: dict[Label, list[int]] = {}
    for member in members:
        parts.setdefault(oracle.release(table, below, member)[j], []).append(member)
    assert {part.value: part.records for part in split.parts} == {label: len(rows) for label, rows in parts.items()}
    for part in split.parts:
        check_part(part, told, classes, oracle.release(table, below, parts[part.value][0]))
        assert part.own == (row in parts[part.value])
    assert column.verdict == ("open" if told.satisfied else verdict_beyond(split))


def verdict_beyond(split: Split) -> str:
    return "open at a price" if split.at_a_price else "blocked"


def check_left_out(found: Why, table: Table, node: oracle.Node, row: int) -> None:
    assert found.suppressed
    assert found.columns == ()
    assert [each.where for each in found.left_out] == ["release", "boundary"]
    for each, at in zip(found.left_out, (node, oracle.top(table)), strict=True):
        classes = oracle.classes_at(table, at, range(len(table.rows)))
        cells = oracle.release(table, at, row)
        told = why_oracle.tell(table, classes, table.budget)
        assert tuple(each.labels.values()) == cells
        assert each.size == len(classes[cells])
        assert models_of(each.lacks) == told.dropped_for.get(cells, set())


def node_of(table: Table, recoding: Recoding) -> oracle.Node:
    assert recoding.levels is not None
    levels = tuple(recoding.levels.values())
    return tuple(column.ladder.index(level) for column, level in zip(table.columns, levels, strict=True))


@pytest.mark.parametrize("algorithm", LOCAL)
@settings(max_examples=60)
@given(case=cases(max_rows=25), pick=st.integers(0, 10**6))
def test_a_class_parted_fails_as_the_answer_says(algorithm: str, case: Case, pick: int) -> None:
    result = made(algorithm, case)
    if result is None:
        return
    problem, recoding = result
    table, row, release = table_of(case), pick % len(case.rows), labels(recoding)
    found = asked(problem, recoding, algorithm, record=row + 1)
    cells = release[row]
    if cells is None:
        (boundary,) = found.left_out
        top = oracle.top(table)
        told = why_oracle.tell(table, oracle.classes_at(table, top, range(len(table.rows))), table.budget)
        assert models_of(boundary.lacks) == told.dropped_for[oracle.release(table, top, row)]
        return
    by_class = asked(problem, recoding, algorithm, in_class=found.number)
    members = [other for other, each in enumerate(release) if each == cells]
    assert found.size == len(members)
    allowed = table.budget - sum(each is None for each in release)
    for j, (column, of_class) in enumerate(zip(found.columns, by_class.columns, strict=True)):
        assert column.released == cells[j]
        if cells[j] in table.columns[j].paths:
            assert column.splits == of_class.splits == ()
            continue
        finer = {other: why_oracle.child(table, j, table.rows[other][j], cells[j]) for other in members}
        check_splits(table, release, finer, j, column, some={finer[row]}, allowed=allowed, own=row)
        whole = changed(release, finer, j, set(finer.values()))
        told = why_oracle.tell(table, why_oracle.classes_of(whole), allowed)
        good = {label for other, label in finer.items() if not told.failing[whole[other]]}
        check_splits(table, release, finer, j, of_class, some=good, allowed=allowed)


def changed(release: why_oracle.Release, finer: dict[int, Label], j: int, going: set[Label]) -> why_oracle.Release:
    """The release with some records of a class one step finer in one column."""
    result = list(release)
    for row, label in finer.items():
        cells = result[row]
        assert cells is not None
        if label in going:
            result[row] = (*cells[:j], label, *cells[j + 1 :])
    return result


def check_splits(
    table: Table,
    release: why_oracle.Release,
    finer: dict[int, Label],
    j: int,
    column: ColumnWhy,
    *,
    some: set[Label],
    allowed: int,
    own: int | None = None,
) -> None:
    every = set(finer.values())
    tried = [every]
    if not column.splits[0].judgement.clean and some and some != every:
        tried.append(some)
    assert len(column.splits) == len(tried)
    for split, going in zip(column.splits, tried, strict=True):
        after = changed(release, finer, j, going)
        classes = why_oracle.classes_of(after)
        told = why_oracle.tell(table, classes, allowed)
        check(split.judgement, told, allowed)
        assert {part.value for part in split.parts} == going
        for part in split.parts:
            inside = [row for row in finer if finer[row] == part.value]
            assert part.records == len(inside)
            assert part.own == (own in inside)
            check_part(part, told, classes, after[inside[0]])
        staying = [row for row in finer if finer[row] not in going]
        assert (split.rest is not None) == bool(staying)
        if split.rest is not None:
            assert split.rest.records == len(staying)
            check_part(split.rest, told, classes, after[staying[0]])
    open_ = any(split.judgement.clean for split in column.splits)
    assert (column.verdict == "open") == open_


@pytest.mark.parametrize("algorithm", LOCAL)
@settings(max_examples=60)
@given(case=cases(max_rows=25), metric=st.sampled_from(WEIGHTLESS), pick=st.integers(0, 10**6))
def test_no_class_costs_less_than_the_cheapest_box(algorithm: str, case: Case, metric: str, pick: int) -> None:
    case = replace(case, metric=metric)
    result = made(algorithm, case)
    if result is None:
        return
    problem, recoding = result
    row = pick % len(case.rows)
    found = asked(problem, recoding, algorithm, record=row + 1)
    if found.suppressed:
        assert found.cheapest is None
        return
    expected = why_oracle.cheapest(table_of(case), row, metric)
    assert found.cheapest is not None
    assert found.cost is not None
    assert expected is not None
    assert found.cheapest.cost == pytest.approx(float(expected))
    assert found.cost == pytest.approx(float(why_oracle.cost_of(table_of(case), labels(recoding)[row], metric)))  # type: ignore[arg-type]
    assert found.cost >= found.cheapest.cost - 1e-9


@settings(max_examples=60)
@given(case=cases(max_rows=25), pick=st.integers(0, 10**6), column=st.integers(0, 2))
def test_values_find_the_records_that_have_them(case: Case, pick: int, column: int) -> None:
    result = made("mondrian", case)
    if result is None:
        return
    problem, recoding = result
    release, row = labels(recoding), pick % len(case.rows)
    names = case.names[: column + 1]
    where = {name: case.rows[row][j] for j, name in enumerate(names)}
    fitting = [
        other
        for other, values in enumerate(case.rows)
        if all(
            values[j] == where[name] or (release[other] is not None and release[other][j] == where[name])  # type: ignore[index]
            for j, name in enumerate(names)
        )
    ]
    found = explain(problem, recoding, "mondrian", where=where)
    alike = {(case.rows[other], recoding.row_class[other]) for other in fitting}
    if len(alike) == 1:
        assert isinstance(found, Why)
        assert found.record == fitting[0] + 1
    else:
        assert isinstance(found, Matches)
        assert found.records == len(fitting)
        expected = np.unique(recoding.row_class[fitting], return_counts=True)
        numbers = {-1 if each.number is None else each.number - 1: each.matching for each in found.classes}
        assert numbers == dict(zip(*map(np.ndarray.tolist, expected), strict=True))
        assert str(found.records) in repr(found)
