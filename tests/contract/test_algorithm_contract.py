"""What holds of every algorithm's result, whatever it was asked: judged by the naive oracle, not by the package."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from oracles import lattice_oracle as oracle
from oracles.lattice_oracle import Column, Label
from shoal.models import (
    KE,
    MODELS,
    AlpDif,
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    EpsilonM,
    GroupLeakage,
    KAnonymity,
    Model,
    PAlphaSensitive,
    PPlusAlphaSensitive,
    PSensitive,
    RecursiveCLDiversity,
    TCloseness,
)
from shoal.search import ALGORITHMS
from shoal.search.search_result import SearchResult
from support.model_cases import COLUMN, VALUES
from support.search_cases import SECOND, Case, problem_of, table_of

pytestmark = pytest.mark.slow

ASKED: dict[str, tuple[Model, ...]] = {
    "k-anonymity": (KAnonymity(4),),
    "p-sensitive": (KAnonymity(3), PSensitive(3, sensitive=COLUMN)),
    "p-sensitive on two columns": (KAnonymity(2), PSensitive(3, sensitive=COLUMN), PSensitive(2, sensitive=SECOND)),
    "p-alpha-sensitive": (PAlphaSensitive(2, alpha=2, sensitive=COLUMN),),
    "p-plus-alpha-sensitive": (KAnonymity(2), PPlusAlphaSensitive(3, alpha=1.5, sensitive=COLUMN)),
    "group-leakage": (GroupLeakage(2, alpha={"Top Secret": 0.6, "Secret": 0.7}, sensitive=COLUMN),),
    "alp-dif": (KAnonymity(2), AlpDif({"HIV": {"alp": 0.5, "dif": 0.3}}, sensitive=COLUMN)),
    "distinct-l-diversity": (DistinctLDiversity(3, sensitive=COLUMN),),
    "entropy-l-diversity": (EntropyLDiversity(2.2, sensitive=COLUMN),),
    "recursive-cl-diversity": (RecursiveCLDiversity(2, c=1.5, sensitive=COLUMN),),
    "alpha-k-anonymity": (KAnonymity(3), AlphaKAnonymity(0.5, sensitive=COLUMN)),
    "alpha-k-anonymity by value": (AlphaKAnonymity({"HIV": 0.4, "Flu": 0.6}, sensitive=COLUMN),),
    "t-closeness": (TCloseness(0.35, sensitive=COLUMN),),
    "t-closeness, ordered": (KAnonymity(2), TCloseness(0.2, distance="ordered", sensitive=COLUMN)),
    "t-closeness, hierarchical": (TCloseness(0.3, distance="hierarchical", sensitive=COLUMN),),
    "k-e": (KAnonymity(2), KE(3, e=10, sensitive=COLUMN)),
    "epsilon-m": (EpsilonM(0.1, 2, sensitive=COLUMN),),
    "epsilon-m, relative": (KAnonymity(2), EpsilonM(0.5, 2, relative=True, sensitive=COLUMN)),
    "several": (
        KAnonymity(3),
        PPlusAlphaSensitive(2, alpha=1, sensitive=COLUMN),
        TCloseness(0.4, sensitive=COLUMN),
        AlphaKAnonymity(0.8, sensitive=SECOND),
    ),
}
AGES: dict[Label, Any] = {
    "young": {"10s": {"15": None, "17": None}, "20s": {"21": None, "24": None}},
    "old": {"60s": {"63": None}},
}
PLACES: dict[Label, Any] = {"north": {"n1": None, "n2": None}, "south": {"s1": None, "s2": None}, "sea": None}
BOUNDARIES = (("young", "old"), 2)

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name, entry in sorted(ALGORITHMS.items()) if not entry.needs},
    "greedy-clustering, faithful": ("greedy-clustering", {"faithful": True}),
    **{
        f"{name} in ranges": (name, {"ranges": ["q0"]})
        for name, entry in sorted(ALGORITHMS.items())
        if "ranges" in entry.option_names and not entry.needs and name != "auto"  # which has others release them
    },
    "greedy-clustering, faithful in ranges": ("greedy-clustering", {"faithful": True, "ranges": ["q0"]}),
}
"""Every algorithm that runs on any problem as it is; those that can release ranges also with the ages in ranges."""


@cache
def base_case(missing: bool) -> Case:
    """Eighty rows, the same in every run; with ``missing``, some cells of each column have no value."""
    random = Random(20)
    leaves = [["15", "17", "21", "24", "63", "63"], ["n1", "n2", "s1", "s2", "sea"]]

    def cell(column: int) -> Label:
        return None if missing and random.random() < 0.12 else random.choice(leaves[column])

    rows = tuple((cell(0), cell(1)) for _ in range(80))
    ages = {**AGES, "old": {**AGES["old"], None: None}} if missing else AGES
    trees = ({"*": ages}, {"*": {**PLACES, None: None} if missing else PLACES})
    secrets = {name: tuple(random.choice(VALUES[:6]) for _ in rows) for name in (COLUMN, SECOND)}
    return Case(trees, rows, secrets, (KAnonymity(1),))


def solve(run: str, case: Case) -> SearchResult:
    algorithm, options = RUNS[run]
    problem, engine = problem_of(replace(case, options={**case.options, **options}))
    return ALGORITHMS[algorithm].run(problem, engine)


def lies_within(column: Column, leaf: Label, label: Label) -> bool:
    """Whether a value may be released as a label: one of its own up to its boundary, or a range within that."""
    cap = column.cap(leaf)
    if label is None or "<=" not in label:
        path = column.paths[leaf]
        return label in path and path.index(label) <= path.index(cap)
    low, high = label.split("<=")
    ends_within = cap in column.paths[low] and cap in column.paths[high]
    return leaf is not None and int(low) <= int(leaf) <= int(high) and int(low) < int(high) and ends_within


BATTERY = [
    pytest.param(run, asked, bounded, share, missing, id=f"{run}, {asked}, {bounded=}, {share=}, {missing=}")
    for run in RUNS
    for asked in ASKED
    for bounded in (False, True)
    for share in (0, 0.2)
    for missing in (False, True)
]


def test_the_battery_asks_for_every_model() -> None:
    assert {model.name for models in ASKED.values() for model in models} == set(MODELS)


@pytest.mark.parametrize(("run", "asked", "bounded", "share", "missing"), BATTERY)
def test_a_result_is_what_was_asked_for(run: str, asked: str, bounded: bool, share: float, missing: bool) -> None:
    base = base_case(missing)
    boundaries = BOUNDARIES if bounded else ()
    case = replace(base, models=ASKED[asked], boundaries=boundaries, budget=int(share * len(base.rows)))
    table = table_of(case)
    feasible = oracle.judge(table, oracle.top(table)).satisfied
    if not feasible:
        pytest.fail(f"the battery should ask for what the most general node gives: {asked}")
    recoding = solve(run, case).recoding

    released = [tuple(h.labels[n] for h, n in zip(recoding.hierarchies, each, strict=True)) for each in recoding.nodes]
    assert len(set(released)) == len(released), "two classes release the same tuple"
    assert len(recoding.row_class) == len(case.rows)
    assert set(recoding.row_class.tolist()) - {-1} == set(range(recoding.n_classes)), "a class has no rows"
    assert recoding.suppressed <= case.budget

    classes: dict[tuple[Label, ...], list[int]] = {}
    for row, each in enumerate(recoding.row_class.tolist()):
        if each >= 0:
            classes.setdefault(released[each], []).append(row)
            for column, leaf, label in zip(table.columns, case.rows[row], released[each], strict=True):
                assert lies_within(column, leaf, label), "a row is released as what it is not, or beyond a boundary"
    ranges = [label for labels in released for label in labels if label is not None and "<=" in label]
    assert not ranges or "in ranges" in run
    good, whole = oracle.passes(table, table.models, classes)
    assert all(good.values())
    assert whole
    assert classes


@pytest.mark.parametrize("run", [run for run in RUNS if run.endswith("in ranges")])
def test_ranges_are_released_where_they_are_asked_for(run: str) -> None:
    recoding = solve(run, replace(base_case(True), models=ASKED["k-anonymity"])).recoding
    labels = {recoding.hierarchies[0].labels[node] for node in recoding.nodes[:, 0]}
    assert any(label is not None and "<=" in label for label in labels)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("asked", ["k-anonymity", "alp-dif", "t-closeness, ordered", "several"])
def test_a_result_repeats(run: str, asked: str) -> None:
    case = replace(base_case(True), models=ASKED[asked], boundaries=BOUNDARIES, budget=8)
    one, other = (solve(run, case) for _ in range(2))
    assert np.array_equal(one.recoding.row_class, other.recoding.row_class)
    assert np.array_equal(one.recoding.nodes, other.recoding.nodes)
    assert one.recoding.levels == other.recoding.levels
    assert one.search == other.search


@pytest.mark.parametrize("run", RUNS)
def test_progress_is_told_in_shares(run: str) -> None:
    told: list[tuple[str, float]] = []
    algorithm, options = RUNS[run]
    problem, engine = problem_of(replace(base_case(False), models=ASKED["several"], options=options))
    problem = replace(problem, progress=lambda stage, share: told.append((stage, share)))
    ALGORITHMS[algorithm].run(problem, engine)
    assert told
    assert all(stage and 0 <= share <= 1 for stage, share in told)


@pytest.mark.parametrize("entry", ALGORITHMS.values(), ids=ALGORITHMS)
def test_an_algorithm_says_what_it_does(entry: object) -> None:
    assert entry.summary  # type: ignore[attr-defined]
    assert entry.run.__doc__  # type: ignore[attr-defined]
