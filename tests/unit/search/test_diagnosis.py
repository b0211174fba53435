"""Infeasible is an answer: what it says blocks does block, and every change that it suggests works."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from shoal.edits import PolicyEdit
from shoal.errors import InfeasibleError
from shoal.models import (
    MODELS,
    AlpDif,
    AlphaKAnonymity,
    EntropyLDiversity,
    GroupLeakage,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveCLDiversity,
)
from shoal.pipeline.forecast.forecast import forecast_of
from shoal.present.diagnosis import diagnosis_text, shortfalls_text, suggestion
from shoal.search import ALGORITHMS
from shoal.search.diagnosis.diagnosis import Diagnosis
from shoal.search.diagnosis.relaxations import Relaxation, outward
from support.model_cases import COLUMN, RANDOM
from support.search_cases import DOMAINS, Case, cases, problem_of, table_of

pytestmark = pytest.mark.slow

SUPERSET_CLOSED = (
    "k-anonymity",
    "p-sensitive",
    "p-alpha-sensitive",
    "p-plus-alpha-sensitive",
    "distinct-l-diversity",
)


def diagnosis_of(case: Case, algorithm: str = "optimal") -> Diagnosis | None:
    problem, engine = problem_of(case)
    try:
        ALGORITHMS[algorithm].run(problem, engine)
    except InfeasibleError as error:
        return error.diagnosis
    return None


def feasible(case: Case) -> bool:
    table = table_of(case)
    return any(oracle.judge(table, node).satisfied for node in oracle.ladder_nodes(table))


def name_of(models: tuple[Model, ...], place: int, parameter: str) -> str:
    model = models[place]
    entry = (
        f"privacy[{place}]."
        if [(each.name, each.column) for each in models].count((model.name, model.column)) > 1
        else ""
    )
    return f"{entry}{model.name}{f'({model.column})' if model.column else ''}.{parameter}"


def relaxed(models: tuple[Model, ...], entry: int, path: tuple[Any, ...], value: float) -> tuple[Model, ...]:
    """The models with a number of one of them changed, as an edit of a policy would."""
    model, (name, *keys) = models[entry], path
    changed: Any = value
    if keys:
        changed = {
            key: dict(limit) if isinstance(limit, Mapping) else limit for key, limit in getattr(model, name).items()
        }
        target = changed if len(keys) == 1 else changed[keys[0]]
        assert keys[-1] in target
        target[keys[-1]] = value
    return (*models[:entry], replace(model, **{name: changed}), *models[entry + 1 :])


def legal(models: tuple[Model, ...]) -> bool:
    return not any(
        model.parameter_problems() or (model.column and model.domain_problems(DOMAINS[model.column]))
        for model in models
    )


def with_change(case: Case, relaxation: Relaxation) -> Case:
    """The case with the edits of a suggestion made."""
    if relaxation.code == "suppression":
        (edit,) = relaxation.edits
        assert (edit.path, edit.value, relaxation.of_records) == (("suppression",), relaxation.share, len(case.rows))
        budget = int(Fraction(str(edit.value)) * len(case.rows))
        assert relaxation.records is not None
        assert budget >= relaxation.records > case.budget
        return replace(case, budget=budget)
    if relaxation.code == "boundaries":
        assert {edit.path for edit in relaxation.edits} == {
            ("columns", name, "boundary") for name in relaxation.columns
        }
        assert all(edit.value is None for edit in relaxation.edits)
        lifted = {case.names.index(name) for name in relaxation.columns}
        return replace(case, boundaries=tuple(None if i in lifted else each for i, each in enumerate(case.bounds)))
    models = case.models
    for edit in relaxation.edits:
        section, entry, *path = edit.path
        assert section == "privacy"
        assert isinstance(entry, int)
        assert edit.sensitive == models[entry].column
        models = relaxed(models, entry, tuple(path), edit.value)
    assert legal(models)
    return replace(case, models=models)


@settings(max_examples=250)
@given(cases(max_rows=20, eased=False))
def test_every_suggested_relaxation_works_when_it_is_applied(case: Case) -> None:
    diagnosis = diagnosis_of(case)
    assume(diagnosis is not None and not feasible(case))
    assert diagnosis is not None
    for relaxation in diagnosis.relaxations:
        changed = with_change(case, relaxation)
        assert feasible(changed), relaxation
        assert diagnosis_of(changed) is None, relaxation


@settings(max_examples=250)
@given(cases(max_rows=20, eased=False))
def test_what_is_said_to_block_does_and_is_counted_and_named(case: Case) -> None:
    diagnosis = diagnosis_of(case)
    assume(diagnosis is not None)
    assert diagnosis is not None
    table = table_of(case)
    classes = oracle.classes_at(table, oracle.top(table), range(len(table.rows)))
    assert (diagnosis.records, diagnosis.budget) == (len(case.rows), case.budget)
    found = []
    for spec in table.models:
        good, whole = oracle.passes(table, [spec], classes)
        failing = [name for name in classes if not good[name]]
        if failing:
            found.append((spec["model"], len(failing), sum(len(classes[name]) for name in failing)))
        elif not whole:
            found.append((spec["model"], len(classes), len(case.rows)))
    assert [(each.model, each.classes, each.records) for each in diagnosis.blockers] == found
    message = diagnosis_text(diagnosis)
    for blocker in diagnosis.blockers:
        assert blocker.model in message
        assert all(shortfalls_text(example.lacks) in message for example in blocker.examples)
        assert blocker.examples or blocker.table_lacks


def strongest_by_force(case: Case, place: int, parameter: str, *, at_least: bool) -> float | None:
    """The strongest figure of a class at the most general node with which the model alone holds there."""
    problem, engine = problem_of(case)
    grouping = engine.classes([levels - 1 for levels in problem.shape])
    model = case.models[place]
    stats = engine.stats(grouping, problem.sensitive_columns)
    figures = set(model.strengths(stats.view(model.column))[parameter].per_class.tolist())
    for figure in sorted(figures, reverse=at_least):
        changed = model.relaxed(parameter, figure)
        if changed.parameter_problems() or (model.column and changed.domain_problems(DOMAINS[model.column])):
            continue
        table = table_of(replace(case, models=(changed,)))
        if oracle.judge(table, oracle.top(table)).satisfied:
            return float(figure)
    return None


@settings(max_examples=200)
@given(cases(max_rows=20, eased=False))
def test_reachable_is_the_strongest_that_the_most_general_node_reaches(case: Case) -> None:
    diagnosis = diagnosis_of(case)
    assume(diagnosis is not None)
    assert diagnosis is not None
    problem, engine = problem_of(case)
    stats = engine.stats(engine.classes([levels - 1 for levels in problem.shape]), problem.sensitive_columns)
    names = []
    for place, model in enumerate(case.models):
        for parameter, strength in model.strengths(stats.view(model.column)).items():
            names.append(name_of(case.models, place, parameter))
            expected = strongest_by_force(case, place, parameter, at_least=strength.at_least)
            assert diagnosis.reachable.get(names[-1]) == expected, names[-1]
    assert set(diagnosis.reachable) <= set(names)


@settings(max_examples=120)
@given(
    cases(
        max_rows=20,
        eased=False,
        people=False,
        models=st.lists(
            st.sampled_from(SUPERSET_CLOSED).flatmap(lambda name: RANDOM[name]), min_size=1, max_size=2
        ).map(tuple),
    )
)
def test_the_suggested_suppression_is_the_least_that_any_node_needs(case: Case) -> None:
    case = replace(case, budget=0)
    diagnosis = diagnosis_of(case)
    assume(diagnosis is not None)
    assert diagnosis is not None
    table = replace(table_of(case), budget=len(case.rows))
    verdicts = [oracle.judge(table, node) for node in oracle.ladder_nodes(table)]
    needed = min((len(each.suppressed) for each in verdicts if each.satisfied), default=None)
    suggested = [each for each in diagnosis.relaxations if each.code == "suppression"]
    if needed is None:
        assert not suggested
    else:
        (relaxation,) = suggested
        assert (relaxation.records, relaxation.of_records) == (needed, len(case.rows))
        assert relaxation.share == math.ceil(Fraction(needed * 10_000, len(case.rows))) / 10_000


BOUNDED = Case(
    trees=({"*": {"north": {"a": None, "b": None}, "south": {"c": None}}},),
    rows=(("a",), ("b",), ("b",), ("c",), ("c",)),
    sensitive={COLUMN: ("HIV", "Flu", "Flu", "HIV", "HIV")},
    models=(KAnonymity(3), PSensitive(2, sensitive=COLUMN)),
    boundaries=(("north", "south"),),
)


def test_the_facts_name_the_models_the_classes_and_every_way_out() -> None:
    diagnosis = diagnosis_of(BOUNDED)
    assert diagnosis is not None
    assert diagnosis.code == "no-release"
    south = {"q0": "south"}
    assert [(each.model, each.sensitive, each.classes, each.records) for each in diagnosis.blockers] == [
        ("k-anonymity", None, 1, 2),
        ("p-sensitive", "condition", 1, 2),
    ]
    assert [(example.labels, example.records) for each in diagnosis.blockers for example in each.examples] == [
        (south, 2),
        (south, 2),
    ]
    assert diagnosis.reachable == {"k-anonymity.k": 2, "p-sensitive(condition).p": 1}
    assert [(each.code, each.edits) for each in diagnosis.relaxations] == [
        ("suppression", (PolicyEdit(("suppression",), 0.4),)),
        ("parameters", (PolicyEdit(("privacy", 0, "k"), 2), PolicyEdit(("privacy", 1, "p"), 1, "condition"))),
        ("boundaries", (PolicyEdit(("columns", "q0", "boundary")),)),
    ]


def test_a_class_is_described_by_the_columns_that_still_say_something() -> None:
    region, flat = {"*": {"north": {"a": None}, "south": {"c": None}}}, {"*": {"x": None, "y": None}}
    rows = (("a", "x"), ("a", "y"), ("c", "x"))
    base = Case((region, flat), rows, {}, (KAnonymity(2),), boundaries=(("north", "south"), None))
    of_root = replace(base, trees=(flat, flat), rows=(("x", "x"),), boundaries=())
    for case, labels in ((base, {"q0": "south"}), (of_root, {})):
        diagnosis = diagnosis_of(case)
        assert diagnosis is not None
        ((example,),) = (blocker.examples for blocker in diagnosis.blockers)
        assert (example.labels, example.records) == (labels, 1)


def test_a_suggested_number_has_four_places_and_asks_no_more_than_the_exact_one() -> None:
    """Two of three records are HIV: alpha = 0.6667 allows that and 0.6666 does not; entropy l is rounded down."""
    case = Case(
        trees=({"*": {"a": None, "b": None}},),
        rows=(("a",), ("b",), ("b",)),
        sensitive={COLUMN: ("HIV", "HIV", "Flu")},
        models=(AlphaKAnonymity(0.5, sensitive=COLUMN),),
    )
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    name = "alpha-k-anonymity(condition).alpha"
    assert diagnosis.reachable[name] == pytest.approx(2 / 3)
    assert diagnosis.reachable_short[name] == 0.6667
    assert [each.edits for each in diagnosis.relaxations] == [(PolicyEdit(("privacy", 0, "alpha"), 0.6667, COLUMN),)]
    assert diagnosis_of(replace(case, models=(AlphaKAnonymity(0.6667, sensitive=COLUMN),))) is None
    assert diagnosis_of(replace(case, models=(AlphaKAnonymity(0.6666, sensitive=COLUMN),))) is not None
    diverse = diagnosis_of(replace(case, models=(EntropyLDiversity(3, sensitive=COLUMN),)))
    assert diverse is not None
    (least,) = diverse.relaxations
    exact = diverse.reachable["entropy-l-diversity(condition).l"]
    assert least.edits[0].value == math.floor(exact * 10_000) / 10_000 < exact


def test_a_number_of_four_places_that_would_be_refused_is_not_suggested() -> None:
    """A third as 0.3334 would lie above the limit of the less sensitive category; the exact third does not."""
    models = (GroupLeakage(1, alpha={"Top Secret": 0.1, "Secret": 0.33335}, sensitive=COLUMN),)
    rows = (("a",), ("b",), ("b",))
    case = Case(({"*": {"a": None, "b": None}},), rows, {COLUMN: ("HIV", "Flu", "Flu")}, models)
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    (suggested,) = (each for each in diagnosis.relaxations if "Top Secret" in each.edits[0].path)
    (edit,) = suggested.edits
    assert edit.value == diagnosis.reachable["group-leakage(condition).alpha[Top Secret]"]
    assert outward(float(edit.value), at_least=False) == 0.3334
    changed = with_change(case, suggested)
    assert diagnosis_of(changed) is None


def test_the_facts_are_plain_data() -> None:
    diagnosis = diagnosis_of(BOUNDED)
    assert diagnosis is not None
    found = json.loads(json.dumps(diagnosis.to_dict(), allow_nan=False))
    assert {"code", "records", "budget", "blockers", "reachable", "relaxations"} <= set(found)
    (example,) = found["blockers"][0].pop("examples")
    assert (example["labels"], example["records"]) == ({"q0": "south"}, 2)
    assert found["blockers"][0] == {
        "model": "k-anonymity",
        "sensitive": None,
        "classes": 1,
        "records": 2,
        "table_lacks": [],
    }
    first = found["relaxations"][0]
    assert (first["code"], first["share"], first["records"]) == ("suppression", 0.4, 2)
    assert first["edits"] == [{"path": ["suppression"], "value": 0.4}]
    assert [PolicyEdit.from_dict(each).to_dict() for each in first["edits"]] == first["edits"]


def test_a_suggested_limit_is_written_in_full() -> None:
    """A third has no short decimal: a text cut to six digits would suggest a limit that fails."""
    models = (RecursiveCLDiversity(2, c=1, sensitive=COLUMN),)
    rows = (("a",), ("b",), ("c",))
    case = Case(({"*": {"a": None, "b": None, "c": None}},), rows, {COLUMN: ("HIV", "HIV", "Flu")}, models)
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    (suggested,) = (each for each in diagnosis.relaxations if each.edits[0].path == ("privacy", 0, "c"))
    assert feasible(with_change(case, suggested))
    written = suggestion(suggested).rpartition(" ")[2]
    assert float(written) == suggested.edits[0].value


def test_a_limit_that_the_policy_would_refuse_is_not_suggested() -> None:
    """Man's limits do not decrease: Top Secret may not be allowed more than Secret."""
    models = (GroupLeakage(1, alpha={"Top Secret": 0.1, "Secret": 0.2}, sensitive=COLUMN),)
    case = Case(({"*": {"a": None, "b": None}},), (("a",), ("b",)), {COLUMN: ("HIV", "Flu")}, models)
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    assert not [each for each in diagnosis.relaxations if any("Top Secret" in edit.path for edit in each.edits)]


@settings(max_examples=150)
@given(cases(max_rows=20, eased=False))
def test_greedy_lattice_claims_no_more_than_its_walk_shows(case: Case) -> None:
    diagnosis = diagnosis_of(case, "greedy-lattice")
    assume(diagnosis is not None)
    assert diagnosis is not None
    table = table_of(case)
    top_satisfied = oracle.judge(table, oracle.top(table)).satisfied
    assert (diagnosis.code, diagnosis.algorithm) in {("no-release", None), ("not-found", "greedy-lattice")}
    assert diagnosis.code == "not-found" or not feasible(case)
    for relaxation in diagnosis.relaxations:
        changed = with_change(case, relaxation)
        assert diagnosis_of(changed, "greedy-lattice") is None, relaxation
    for missed in diagnosis.missed:
        changed = with_change(case, missed)
        assert diagnosis_of(changed, "optimal") is None, missed
        assert diagnosis_of(changed, "greedy-lattice") is not None, missed
    if top_satisfied:
        assert not diagnosis.relaxations
        assert (diagnosis.top_satisfies, diagnosis.exhaustive) == (True, "optimal")


def test_greedy_lattice_sends_to_optimal_where_only_its_own_way_fails() -> None:
    """Phase 1 suppresses the lone b at the bottom; what is left then leaks HIV more than the whole table would."""
    case = Case(
        trees=({"*": {"a": None, "b": None}},),
        rows=(("a",), ("a",), ("b",)),
        sensitive={COLUMN: ("HIV", "HIV", "Flu")},
        models=(KAnonymity(2), AlpDif({"HIV": {"alp": 0.7, "dif": 1}}, sensitive=COLUMN)),
        budget=1,
    )
    diagnosis = diagnosis_of(case, "greedy-lattice")
    assert diagnosis is not None
    assert diagnosis.top_satisfies
    assert diagnosis_of(case, "optimal") is None


def test_greedy_lattice_suggests_only_what_it_finds_itself() -> None:
    """With alp = 0.6667 the top would do, but phase 1 has left the lone b out by then."""
    models = (KAnonymity(2), AlpDif({"HIV": {"alp": 0.6, "dif": 1}}, sensitive=COLUMN))
    case = Case(
        ({"*": {"a": None, "b": None}},), (("a",), ("a",), ("b",)), {COLUMN: ("HIV", "HIV", "Flu")}, models, budget=1
    )
    diagnosis = diagnosis_of(case, "greedy-lattice")
    assert diagnosis is not None
    weaker = replace(case, models=(models[0], AlpDif({"HIV": {"alp": 0.6667, "dif": 1}}, sensitive=COLUMN)))
    assert diagnosis_of(weaker, "greedy-lattice") is not None
    assert diagnosis_of(weaker, "optimal") is None
    edit = PolicyEdit(("privacy", 1, "limits", "HIV", "alp"), 0.6667, COLUMN)
    assert [each.edits for each in diagnosis.missed] == [(edit,)]
    assert diagnosis.relaxations == ()


def test_entries_of_one_model_on_one_column_are_told_apart_by_their_places() -> None:
    models = (KAnonymity(1), PSensitive(2, sensitive=COLUMN), PSensitive(3, sensitive=COLUMN))
    case = Case(({"*": {"a": None, "b": None}},), (("a",), ("b",)), {COLUMN: ("Flu", "Flu")}, models)
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    names = [f"privacy[{place}].p-sensitive({COLUMN}).p" for place in (1, 2)]
    assert list(diagnosis.reachable) == ["k-anonymity.k", *names]
    (both,) = diagnosis.relaxations
    assert both.edits == tuple(PolicyEdit(("privacy", entry, "p"), 1, COLUMN) for entry in (1, 2))


@pytest.mark.parametrize("algorithm", sorted(name for name, entry in ALGORITHMS.items() if not entry.needs))
def test_every_algorithm_explains_what_it_cannot_reach(algorithm: str) -> None:
    diagnosis = diagnosis_of(BOUNDED, algorithm)
    assert diagnosis is not None
    assert {each.model for each in diagnosis.blockers} == {"k-anonymity", "p-sensitive"}


def test_the_error_carries_its_diagnosis() -> None:
    problem, engine = problem_of(BOUNDED)
    with pytest.raises(InfeasibleError) as raised:
        ALGORITHMS["optimal"].run(problem, engine)
    assert raised.value.diagnosis.code == "no-release"
    assert (raised.value.exit_code, raised.value.code) == (1, "infeasible")


@settings(max_examples=150)
@given(cases(max_rows=16, eased=False), st.sampled_from(["optimal", "incognito", "mondrian", "top-down"]))
def test_no_algorithm_claims_more_than_is_proven(case: Case, algorithm: str) -> None:
    diagnosis = diagnosis_of(case, algorithm)
    assume(diagnosis is not None)
    assert diagnosis is not None
    table = table_of(case)
    closed = {"k-anonymity", "p-sensitive", "distinct-l-diversity", "k-e"}
    if case.person is None:
        closed |= {"p-alpha-sensitive", "p-plus-alpha-sensitive"}
        closed |= set() if case.budget else set(MODELS) - {"alp-dif", "epsilon-m"}
    if {model.name for model in case.models} <= closed:
        assert diagnosis.code == "no-release"
    else:
        assert diagnosis.code == ("no-node" if algorithm in {"optimal", "incognito"} else "starts-at-top")
    assert not (
        feasible(case) if diagnosis.code != "starts-at-top" else oracle.judge(table, oracle.top(table)).satisfied
    )


SHARED = Case(
    trees=({"*": {"a": None, "b": None}},),
    rows=(("a",), ("a",), ("b",), ("b",)),
    sensitive={COLUMN: ("HIV", "Flu", "Flu", "HIV")},
    models=(AlphaKAnonymity(0.5, sensitive=COLUMN),),
    person=(1, 2, 1, 2),
)
"""Half of the people of each value have HIV; of all together everybody has."""


def test_in_people_a_failure_of_the_most_general_release_proves_nothing() -> None:
    assert diagnosis_of(SHARED, "optimal") is diagnosis_of(SHARED, "greedy-lattice") is None
    for algorithm in ("mondrian", "top-down", "greedy-clustering"):
        diagnosis = diagnosis_of(SHARED, algorithm)
        assert diagnosis is not None
        assert diagnosis.code == "starts-at-top"
        assert diagnosis.reachable == {f"alpha-k-anonymity({COLUMN}).alpha": 1}
    told = forecast_of(problem_of(SHARED)[0], "mondrian")
    assert (told.verdict, told.by_algorithm, told.least_suppressed) == ("open", "unreachable", False)
    assert [note.code for note in told.notes] == ["starts-at-top"]
    assert not told.models[0].reaches[0].proven


def test_in_people_a_model_that_only_counts_still_decides_at_the_top() -> None:
    case = replace(SHARED, models=(KAnonymity(3),))
    diagnosis = diagnosis_of(case, "mondrian")
    assert diagnosis is not None
    assert diagnosis.code == "no-release"
    assert diagnosis.reachable == {"k-anonymity.k": 2}
    assert forecast_of(problem_of(case)[0], "mondrian").verdict == "unreachable"
