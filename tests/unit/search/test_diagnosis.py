"""Infeasible is an answer: what it says blocks does block, and every change that it suggests works."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import lattice_oracle as oracle
from shoal.errors import InfeasibleError
from shoal.models import (
    AlpDif,
    AlphaKAnonymity,
    EntropyLDiversity,
    GroupLeakage,
    KAnonymity,
    Model,
    PSensitive,
    RecursiveCLDiversity,
)
from shoal.search import ALGORITHMS
from shoal.search.diagnosis.diagnosis import Diagnosis
from shoal.search.diagnosis.relaxations import outward
from support.builders import view_of
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


def parameters(model: Model) -> set[str]:
    view = view_of([["HIV"]], DOMAINS[COLUMN])
    return set(model.strengths(view))


def relaxed(models: tuple[Model, ...], change: str) -> tuple[Model, ...]:
    """The models with a change such as ``k-anonymity.k = 3`` applied as it is written: its name is that of one."""
    name, _, value = change.rpartition(" = ")
    ((place, parameter),) = (
        (place, parameter)
        for place, model in enumerate(models)
        for parameter in parameters(model)
        if name == name_of(models, place, parameter)
    )
    return (*models[:place], models[place].relaxed(parameter, float(value)), *models[place + 1 :])


def legal(models: tuple[Model, ...]) -> bool:
    return not any(
        model.parameter_problems() or (model.column and model.domain_problems(DOMAINS[model.column]))
        for model in models
    )


def with_change(case: Case, where: str, value: float | str, text: str) -> Case:
    """The case with a suggested relaxation applied as its text says."""
    if where == "suppression":
        written = re.fullmatch(r"suppression: ([0-9.e-]+) \((\d+) of (\d+) records?\)", text)
        assert written is not None
        assert float(written[1]) == value
        assert int(written[3]) == len(case.rows)
        budget = int(Fraction(written[1]) * len(case.rows))
        assert budget >= int(written[2]) > case.budget
        return replace(case, budget=budget)
    if where == "boundaries":
        return replace(case, boundaries=())
    if where.endswith(".boundary"):
        j = case.names.index(where.split(".")[1])
        return replace(case, boundaries=tuple(None if i == j else each for i, each in enumerate(case.bounds)))
    models = case.models
    for change in text.removesuffix(" together").split(" with "):
        models = relaxed(models, change)
    assert legal(models)
    return replace(case, models=models)


@settings(max_examples=250)
@given(cases(max_rows=20, eased=False))
def test_every_suggested_relaxation_works_when_it_is_applied(case: Case) -> None:
    diagnosis = diagnosis_of(case)
    assume(diagnosis is not None and not feasible(case))
    assert diagnosis is not None
    for relaxation in diagnosis.relaxations:
        changed = with_change(case, relaxation.where, relaxation.value, str(relaxation))
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
    message = str(diagnosis)
    for blocker in diagnosis.blockers:
        assert blocker.model in message
        assert str(blocker.records) in str(blocker)
        assert all(example in message for example in blocker.examples)


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
    suggested = [each for each in diagnosis.relaxations if each.where == "suppression"]
    if needed is None:
        assert not suggested
    else:
        (relaxation,) = suggested
        assert f"({needed} of {len(case.rows)} record" in str(relaxation)
        assert float(relaxation.value) == math.ceil(Fraction(needed * 10_000, len(case.rows))) / 10_000


BOUNDED = Case(
    trees=({"*": {"north": {"a": None, "b": None}, "south": {"c": None}}},),
    rows=(("a",), ("b",), ("b",), ("c",), ("c",)),
    sensitive={COLUMN: ("HIV", "Flu", "Flu", "HIV", "HIV")},
    models=(KAnonymity(3), PSensitive(2, sensitive=COLUMN)),
    boundaries=(("north", "south"),),
)


def test_the_message_names_the_models_the_classes_and_every_way_out() -> None:
    diagnosis = diagnosis_of(BOUNDED)
    assert diagnosis is not None
    assert str(diagnosis).splitlines() == [
        "No release satisfies the policy, not even the most general one that the boundaries allow.",
        "What blocks:",
        "  - k-anonymity fails in 1 class (2 records):",
        "      the class of 2 records with q0 = south: 2 records, 3 asked",
        "  - p-sensitive on 'condition' fails in 1 class (2 records):",
        "      the class of 2 records with q0 = south: 1 distinct value of condition, 2 asked",
        "Reachable at best, each model alone:",
        "  - k-anonymity.k = 2",
        "  - p-sensitive(condition).p = 1",
        "Any one of these changes would do:",
        "  - suppression: 0.4 (2 of 5 records)",
        "  - k-anonymity.k = 2 with p-sensitive(condition).p = 1 together",
        "  - no boundary on 'q0'",
    ]
    assert diagnosis.reachable == {"k-anonymity.k": 2, "p-sensitive(condition).p": 1}
    where = {each.where: each.value for each in diagnosis.relaxations}
    assert where["suppression"] == 0.4
    assert where["columns.q0.boundary"] == "none"


def test_a_class_is_told_by_the_columns_that_still_say_something() -> None:
    region, flat = {"*": {"north": {"a": None}, "south": {"c": None}}}, {"*": {"x": None, "y": None}}
    named = {"anybody": {"x": None, "y": None}}
    rows = (("a", "x"), ("a", "y"), ("c", "x"))
    base = Case((region, flat), rows, {}, (KAnonymity(2),), boundaries=(("north", "south"), None))
    of_root = replace(base, trees=(flat, flat), rows=(("x", "x"),), boundaries=())
    for case, words in (
        (base, "the class of 1 record with q0 = south, all other columns are *: 1 record, 2 asked"),
        (replace(base, trees=(region, named)), "with q0 = south, all other columns are fully generalized: 1 record"),
        (of_root, "the class of 1 record (all columns are *): 1 record, 2 asked"),
    ):
        assert words in str(diagnosis_of(case))


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
    assert f"  - {name} = 0.6667\nAny one" in str(diagnosis)
    assert [(each.value, str(each)) for each in diagnosis.relaxations] == [(0.6667, f"{name} = 0.6667")]
    assert diagnosis_of(replace(case, models=(AlphaKAnonymity(0.6667, sensitive=COLUMN),))) is None
    assert diagnosis_of(replace(case, models=(AlphaKAnonymity(0.6666, sensitive=COLUMN),))) is not None
    diverse = diagnosis_of(replace(case, models=(EntropyLDiversity(3, sensitive=COLUMN),)))
    assert diverse is not None
    (least,) = diverse.relaxations
    exact = diverse.reachable["entropy-l-diversity(condition).l"]
    assert least.value == math.floor(exact * 10_000) / 10_000 < exact


def test_a_number_of_four_places_that_would_be_refused_is_not_suggested() -> None:
    """A third as 0.3334 would lie above the limit of the less sensitive category; the exact third does not."""
    models = (GroupLeakage(1, alpha={"Top Secret": 0.1, "Secret": 0.33335}, sensitive=COLUMN),)
    rows = (("a",), ("b",), ("b",))
    case = Case(({"*": {"a": None, "b": None}},), rows, {COLUMN: ("HIV", "Flu", "Flu")}, models)
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    (suggested,) = (each for each in diagnosis.relaxations if "Top Secret" in each.where)
    assert suggested.value == diagnosis.reachable[suggested.where]
    assert outward(float(suggested.value), at_least=False) == 0.3334
    changed = with_change(case, suggested.where, suggested.value, str(suggested))
    assert diagnosis_of(changed) is None


def test_the_facts_are_plain_data() -> None:
    diagnosis = diagnosis_of(BOUNDED)
    assert diagnosis is not None
    found = json.loads(json.dumps(diagnosis.to_dict(), allow_nan=False))
    assert set(found) == {"records", "budget", "blockers", "reachable", "relaxations"}
    assert found["blockers"][0] == {
        "model": "k-anonymity",
        "sensitive": None,
        "classes": 1,
        "records": 2,
        "examples": ["the class of 2 records with q0 = south: 2 records, 3 asked"],
    }
    assert found["relaxations"][0] == {
        "where": "suppression",
        "value": 0.4,
        "text": "suppression: 0.4 (2 of 5 records)",
    }


def test_a_suggested_limit_is_written_so_that_it_still_holds() -> None:
    """A third has no short decimal: a text cut to six digits would suggest a limit that fails."""
    models = (RecursiveCLDiversity(2, c=1, sensitive=COLUMN),)
    rows = (("a",), ("b",), ("c",))
    case = Case(({"*": {"a": None, "b": None, "c": None}},), rows, {COLUMN: ("HIV", "HIV", "Flu")}, models)
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    (suggested,) = (each for each in diagnosis.relaxations if each.where.endswith(".c"))
    changed = relaxed(models, str(suggested))
    assert feasible(replace(case, models=changed))


def test_a_limit_that_the_policy_would_refuse_is_not_suggested() -> None:
    """Man's limits do not decrease: Top Secret may not be allowed more than Secret."""
    models = (GroupLeakage(1, alpha={"Top Secret": 0.1, "Secret": 0.2}, sensitive=COLUMN),)
    case = Case(({"*": {"a": None, "b": None}},), (("a",), ("b",)), {COLUMN: ("HIV", "Flu")}, models)
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    assert not [each for each in diagnosis.relaxations if "Top Secret" in each.where]


@settings(max_examples=150)
@given(cases(max_rows=20, eased=False))
def test_greedy_lattice_claims_no_more_than_its_walk_shows(case: Case) -> None:
    diagnosis = diagnosis_of(case, "greedy-lattice")
    assume(diagnosis is not None)
    assert diagnosis is not None
    table = table_of(case)
    top_satisfied = oracle.judge(table, oracle.top(table)).satisfied
    if diagnosis.walked is None:
        assert not feasible(case)
        assert "No release satisfies the policy" in str(diagnosis)
    else:
        assert "greedy-lattice met no release on its way up" in str(diagnosis)
    for relaxation in diagnosis.relaxations:
        changed = with_change(case, relaxation.where, relaxation.value, str(relaxation))
        assert diagnosis_of(changed, "greedy-lattice") is None, relaxation
    for missed in diagnosis.missed:
        changed = with_change(case, missed.where, missed.value, str(missed))
        assert diagnosis_of(changed, "optimal") is None, missed
        assert diagnosis_of(changed, "greedy-lattice") is not None, missed
    if top_satisfied:
        assert not diagnosis.relaxations
        assert "use the algorithm optimal" in str(diagnosis)


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
    assert "use the algorithm optimal" in str(diagnosis)
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
    assert [str(each) for each in diagnosis.missed] == ["alp-dif(condition).alp[HIV] = 0.6667"]
    assert diagnosis.relaxations == ()
    assert "would do, but only with the algorithm optimal:\n  - alp-dif(condition).alp[HIV] = 0.6667" in str(diagnosis)


def test_entries_of_one_model_on_one_column_are_told_apart_by_their_places() -> None:
    models = (KAnonymity(1), PSensitive(2, sensitive=COLUMN), PSensitive(3, sensitive=COLUMN))
    case = Case(({"*": {"a": None, "b": None}},), (("a",), ("b",)), {COLUMN: ("Flu", "Flu")}, models)
    diagnosis = diagnosis_of(case)
    assert diagnosis is not None
    names = [f"privacy[{place}].p-sensitive({COLUMN}).p" for place in (1, 2)]
    assert list(diagnosis.reachable) == ["k-anonymity.k", *names]
    assert [each.text for each in diagnosis.relaxations] == [f"{names[0]} = 1 with {names[1]} = 1 together"]


@pytest.mark.parametrize("algorithm", sorted(name for name, entry in ALGORITHMS.items() if not entry.needs))
def test_every_algorithm_explains_what_it_cannot_reach(algorithm: str) -> None:
    diagnosis = diagnosis_of(BOUNDED, algorithm)
    assert diagnosis is not None
    assert {each.model for each in diagnosis.blockers} == {"k-anonymity", "p-sensitive"}


def test_the_error_reads_as_its_diagnosis() -> None:
    problem, engine = problem_of(BOUNDED)
    with pytest.raises(InfeasibleError) as raised:
        ALGORITHMS["optimal"].run(problem, engine)
    assert str(raised.value) == str(raised.value.diagnosis)
    assert raised.value.exit_code == 1
