"""The partitioning recodings against naive ones, and what holds of all their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from oracles import local_oracle
from oracles.lattice_oracle import Label, Table
from shoal.errors import InfeasibleError
from shoal.models import MODELS, KAnonymity, PSensitive
from shoal.search.engine import LocalEngine
from shoal.search.local.mondrian import mondrian
from shoal.search.local.top_down import top_down
from shoal.search.problem import Problem
from shoal.search.search_result import SearchResult
from shoal.table.recoding import Recoding
from support.model_cases import COLUMN, RANDOM
from support.search_cases import SECOND, Case, cases, problem_of, random_models, released_labels, table_of

pytestmark = pytest.mark.slow

Labels = list[tuple[Label, ...] | None]
RECODINGS: dict[str, Callable[[Problem, LocalEngine], SearchResult]] = {"mondrian": mondrian, "top-down": top_down}
ORACLES: dict[str, Callable[[Table, str], Labels | None]] = {
    "mondrian": local_oracle.mondrian,
    "top-down": lambda table, _: local_oracle.top_down(table),
}
ON_A_CLASS = sorted(name for name, model in MODELS.items() if model.merge_closed)
BOTH = pytest.mark.parametrize("name", sorted(RECODINGS))


def run(name: str, case: Case) -> Recoding | None:
    problem, engine = problem_of(case)
    try:
        return RECODINGS[name](problem, engine).recoding
    except InfeasibleError:
        return None


def multiset(case: Case, released: Labels) -> Counter[object]:
    """The release, records in no order: for each its original values, so that a different choice would be seen."""
    secrets = zip(*case.sensitive.values(), strict=True)
    return Counter(zip(released, case.rows, secrets, strict=True))


def on_a_class() -> st.SearchStrategy[object]:
    one = st.sampled_from(ON_A_CLASS).flatmap(lambda name: RANDOM[name])
    small = st.sampled_from(["k-anonymity", "p-sensitive", "p-alpha-sensitive"]).flatmap(lambda name: RANDOM[name])
    return st.lists(one, min_size=1, max_size=2).map(tuple) | st.tuples(small, one)


@st.composite
def cases_on_classes(draw: st.DrawFn) -> Case:
    """Models on single classes; the second sensitive column, where there is one, may have a model of its own."""
    case = draw(cases(max_rows=30, models=on_a_class()))
    if SECOND in case.sensitive and draw(st.booleans()):
        second = (*case.models, PSensitive(draw(st.integers(1, 2)), sensitive=SECOND))
        case = replace(case, models=second)
    return case


@BOTH
@settings(max_examples=150)
@given(case=cases_on_classes())
def test_a_recoding_is_what_working_record_by_record_gives(name: str, case: Case) -> None:
    expected = ORACLES[name](table_of(case), case.metric)
    recoding = run(name, case)
    if expected is None:
        assert recoding is None
    else:
        assert recoding is not None
        assert multiset(case, released_labels(recoding)) == multiset(case, expected)


@settings(max_examples=20)
@given(case=cases(max_rows=90, models=st.tuples(st.builds(KAnonymity, st.integers(2, 40)), RANDOM["t-closeness"])))
def test_large_rests_take_as_records_one_by_one_would(case: Case) -> None:
    expected = local_oracle.top_down(table_of(case))
    recoding = run("top-down", case)
    assert (recoding is None) == (expected is None)
    if recoding is not None and expected is not None:
        assert multiset(case, released_labels(recoding)) == multiset(case, expected)


@BOTH
@settings(max_examples=150)
@given(case=cases(models=random_models([COLUMN])))
def test_every_class_satisfies_within_the_boundaries_and_only_what_must_is_left_out(name: str, case: Case) -> None:
    table = table_of(case)
    blocks = oracle.judge(table, oracle.top(table))
    recoding = run(name, case)
    if not blocks.satisfied:
        assert recoding is None
        return
    assert recoding is not None
    released = released_labels(recoding)
    assert {row for row, each in enumerate(released) if each is None} == blocks.suppressed
    classes: dict[tuple[Label, ...], list[int]] = {}
    for row, each in enumerate(released):
        if each is not None:
            classes.setdefault(each, []).append(row)
            for column, leaf, label in zip(table.columns, case.rows[row], each, strict=True):
                path = column.paths[leaf]
                assert path.index(label) <= path.index(column.cap(leaf))
    assert len(classes) == recoding.n_classes
    good, whole = oracle.passes(table, table.models, classes)
    assert all(good.values())
    assert whole


@BOTH
@settings(max_examples=100)
@given(case=cases(models=random_models([COLUMN])), random=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_change_the_release(name: str, case: Case, random: object) -> None:
    order = list(range(len(case.rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = case.shuffled(order)
    before, after = run(name, case), run(name, shuffled)
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert multiset(case, released_labels(before)) == multiset(shuffled, released_labels(after))


@BOTH
@settings(max_examples=60)
@given(case=cases(models=st.just((KAnonymity(1),))))
def test_a_class_of_one_record_is_released_as_it_is(name: str, case: Case) -> None:
    recoding = run(name, case)
    assert recoding is not None
    assert released_labels(recoding) == list(case.rows)
