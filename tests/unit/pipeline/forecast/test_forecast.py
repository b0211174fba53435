"""What is forecast comes true: held against every node of small lattices, and said in words a steward can act on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings

from oracles import lattice_oracle as oracle
from shoal.edits import PolicyEdit
from shoal.errors import DataError, InfeasibleError, PolicyError
from shoal.io.source import TableSource
from shoal.models import KAnonymity
from shoal.pipeline import prepare as again
from shoal.pipeline.forecast import Forecast, forecast
from shoal.pipeline.forecast.forecast import forecast_of
from shoal.pipeline.prepare import Prepared, prepare
from shoal.pipeline.run import make_release
from shoal.policy import Policy
from shoal.search import ALGORITHMS
from support.search_cases import Case, cases, problem_of, table_of

COUNTRIES = ["Holand-Netherlands"] * 12 + ["France"] * 40 + ["Japan"] * 48
TABLE = pa.table(
    {
        "country": COUNTRIES,
        "age": [str(20 + i % 30) for i in range(100)],
        "note": ["n"] * 100,
        "occupation": [f"job {i % 5}" for i in range(100)],
    }
)


def policy_of(**changes: Any) -> Policy:
    content: dict[str, Any] = {
        "columns": {
            "country": {"role": "quasi", "hierarchy": "flat", "boundary": 0},
            "age": {"role": "quasi", "hierarchy": {"intervals": [10]}},
            "occupation": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 20}],
        "algorithm": {"name": "optimal"},
    }
    return Policy.model_validate(content | changes)


def prepared(policy: Policy) -> Prepared:
    return prepare(TABLE, policy)


def forecast_under(**changes: Any) -> Forecast:
    policy = policy_of(**changes)
    return forecast(prepared(policy), policy)


@pytest.mark.slow
@settings(max_examples=150)
@given(cases(max_rows=20, eased=False))
def test_the_verdict_holds_over_every_node(case: Case) -> None:
    found = forecast_of(problem_of(case)[0], "optimal")
    table = table_of(case)
    feasible = any(oracle.judge(table, node).satisfied for node in oracle.ladder_nodes(table))
    if found.verdict == "reachable":
        assert feasible
    elif found.verdict == "unreachable":
        assert not feasible
    else:
        assert not oracle.judge(table, oracle.top(table)).satisfied


@pytest.mark.slow
@settings(max_examples=100)
@given(cases(max_rows=20, eased=False))
def test_each_model_alone_is_judged_as_every_node_judges_it(case: Case) -> None:
    found = forecast_of(problem_of(case)[0], "optimal")
    for model, told in zip(case.models, found.models, strict=True):
        table = table_of(replace(case, models=(model,)))
        feasible = any(oracle.judge(table, node).satisfied for node in oracle.ladder_nodes(table))
        assert told.alone == "open" or feasible is (told.alone == "reachable")


@pytest.mark.slow
@settings(max_examples=60)
@given(cases(max_rows=20, eased=False))
def test_what_the_algorithm_is_said_to_find_it_finds(case: Case) -> None:
    for name in ("optimal", "incognito", "greedy-lattice", "mondrian", "top-down"):
        problem, engine = problem_of(case)
        told = forecast_of(problem, name).by_algorithm
        try:
            ALGORITHMS[name].run(problem, engine)
        except InfeasibleError:
            assert told != "reachable", name
        else:
            assert told != "unreachable", name


@settings(max_examples=100)
@given(cases(max_rows=20, eased=False))
def test_the_largest_k_is_reachable_and_one_more_is_not(case: Case) -> None:
    asked = replace(case, models=(KAnonymity(3),))
    reach = forecast_of(problem_of(asked)[0], "optimal").models[0].reaches[0]
    assert reach.proven
    assert reach.alone is not None  # k = 1 is reached wherever there is a record

    def feasible(k: int) -> bool:
        table = table_of(replace(asked, models=(KAnonymity(k),)))
        return any(oracle.judge(table, node).satisfied for node in oracle.ladder_nodes(table))

    assert feasible(int(reach.alone))
    assert not feasible(int(reach.alone) + 1)


def test_a_boundary_that_blocks_is_named_with_its_value_and_records() -> None:
    found = forecast_under()
    assert (found.verdict, found.by_algorithm, found.suppressed) == ("unreachable", "unreachable", 12)
    (model,) = found.models
    assert (model.entry, model.model, model.alone, model.failing_records) == (0, "k-anonymity", "unreachable", 12)
    (reach,) = model.reaches
    assert (reach.parameter, reach.required, reach.alone, reach.proven) == ("k", 20, 12, True)
    (example,) = model.examples
    assert (example.labels, example.records) == ({"country": "Holand-Netherlands"}, 12)
    paths = {edit.path for each in found.relaxations for edit in each.edits}
    assert paths >= {("suppression",), ("privacy", 0, "k"), ("columns", "country", "boundary")}


def test_suppression_makes_reachable_what_a_few_records_block() -> None:
    found = forecast_under(suppression=0.12)
    assert found.verdict == "reachable"
    assert found.relaxations == ()
    assert (found.suppressed, found.least_suppressed, found.facts.may_suppress) == (12, True, 12)
    assert [each.records for each in found.models[0].examples] == [12]
    assert found.models[0].reaches[0].alone == 40


def test_the_most_of_p_is_told_for_its_column() -> None:
    models = [{"model": "k-anonymity", "k": 4}, {"model": "p-sensitive", "p": 3, "sensitive": "occupation"}]
    found = forecast_under(privacy=models)
    diverse = found.models[1]
    assert (diverse.sensitive, diverse.alone) == ("occupation", "reachable")
    assert [(each.parameter, each.required, each.alone) for each in diverse.reaches] == [("p", 3, 5)]


def test_where_only_a_run_tells_that_is_said() -> None:
    leaky = [{"model": "alp-dif", "limits": {"job 1": {"alp": 0.1, "dif": 1}}, "sensitive": "occupation"}]
    found = forecast_under(privacy=leaky)
    assert found.verdict == "open"
    assert found.models[0].table_lacks
    local = forecast_under(privacy=leaky, algorithm={"name": "mondrian"})
    assert local.by_algorithm == "unreachable"


def test_greedy_lattice_is_offered_only_changes_that_it_finds_itself() -> None:
    """With alp = 0.6667 the top would do, but the walk has left the lone b out by then."""
    table = pa.table({"q": ["a", "a", "b"], "s": ["HIV", "HIV", "Flu"]})
    content = {
        "columns": {"q": {"role": "quasi", "hierarchy": "flat"}, "s": {"role": "sensitive"}},
        "privacy": [
            {"model": "k-anonymity", "k": 2},
            {"model": "alp-dif", "limits": {"HIV": {"alp": 0.6, "dif": 1}}, "sensitive": "s"},
        ],
        "suppression": 0.34,
    }
    told = {}
    for name in ("optimal", "greedy-lattice"):
        policy = Policy.model_validate(content | {"algorithm": {"name": name}})
        told[name] = forecast(prepare(table, policy), policy)
    edits = [(PolicyEdit(("privacy", 1, "limits", "HIV", "alp"), 0.6667, "s"),)]
    assert [each.edits for each in told["optimal"].relaxations] == edits
    assert told["greedy-lattice"].relaxations == ()
    (missed,) = (note for note in told["greedy-lattice"].notes if note.code == "missed")
    assert ([each.edits for each in missed.relaxations], missed.exhaustive) == (edits, "optimal")


def test_the_facts_are_those_of_the_table() -> None:
    facts = forecast_under().facts
    assert (facts.records, facts.top_classes, facts.smallest_at_top) == (100, 3, 12)
    assert facts.lattice == 3
    pairs = list(zip(COUNTRIES, TABLE["age"].to_pylist(), strict=True))
    assert facts.distinct_rows == len(set(pairs))
    assert facts.unique == sum(pairs.count(pair) == 1 for pair in pairs)


def test_the_range_method_is_judged_on_its_own_result() -> None:
    ranges = {"name": "range", "group": {"country": 0}, "ranges": ["age"], "safe": True}
    failing = forecast_under(algorithm=ranges)
    assert failing.by_algorithm == "unreachable"
    assert [note.code for note in failing.notes] == ["one-result-fails"]
    assert forecast_under(algorithm=ranges, suppression=0.12).by_algorithm == "reachable"


def test_a_table_is_encoded_again_only_for_other_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    first = policy_of()
    before = prepared(first)
    encoded: list[Policy] = []
    resolve = again.resolve
    monkeypatch.setattr(again, "resolve", lambda policy, table: encoded.append(policy) or resolve(policy, table))
    changed = policy_of(privacy=[{"model": "p-sensitive", "p": 2}], suppression=0.3, algorithm={"name": "mondrian"})
    after = prepare(before, changed)
    assert not encoded
    assert after.resolved.problem.budget == 30
    assert after.resolved.problem.table is before.resolved.problem.table
    free = dict(first.to_dict()["columns"], country={"role": "quasi", "hierarchy": "flat"})
    assert prepare(after, policy_of(columns=free)).resolved.problem.shape == (2, 3)
    assert len(encoded) == 1


def test_what_was_not_read_is_asked_for() -> None:
    before = prepared(policy_of())
    columns = dict(policy_of().to_dict()["columns"], note={"role": "quasi", "hierarchy": "flat"})
    with pytest.raises(DataError, match="note") as caught:
        forecast(before, policy_of(columns=columns))
    assert caught.value.code == "columns-not-read"
    assert forecast(TableSource(TABLE, TABLE.column_names), policy_of(columns=columns)).facts.levels["note"] == 2
    with pytest.raises(DataError) as caught:
        prepare(before, policy_of(data="other.csv"))
    assert caught.value.code == "data-changed"
    unknown = dict(policy_of().to_dict()["columns"], nobody={"role": "quasi", "hierarchy": "flat"})
    with pytest.raises(PolicyError, match="no such column"):
        forecast(before, policy_of(columns=unknown))


def test_a_prepared_table_runs_as_one_that_is_read_anew() -> None:
    policy = policy_of(algorithm={"name": "greedy-clustering"}, suppression=0.3)
    ready = prepare(TableSource(TABLE, TABLE.column_names), policy)
    assert set(ready.reading.rows.columns) == {"country", "age", "occupation"}
    assert make_release(ready, policy).table.equals(make_release(TABLE, policy).table)
