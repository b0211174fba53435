"""`auto` releases the best of what it tries, and says what that was."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import InfeasibleError, PolicyError
from shoal.io import memory
from shoal.io.memory import Budget
from shoal.pipeline.attack import attack
from shoal.pipeline.audit.audit import audit
from shoal.pipeline.forecast.forecast import forecast_of
from shoal.pipeline.release import publish
from shoal.policy import Policy
from shoal.search import ALGORITHMS, DEFAULT_ALGORITHM
from shoal.search.algorithm import Algorithm, Demand, Growth
from shoal.search.auto import plan
from shoal.search.problem import Problem
from support.resolved import resolve

LOCAL = ("mondrian", "top-down", "greedy-clustering")


def people(count: int = 120, seed: int = 3) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "age": [str(draw.randint(20, 69)) for _ in range(count)],
            "zip": [f"{draw.choice(['11', '12', '21'])}{draw.randint(0, 9)}" for _ in range(count)],
            "condition": [draw.choice(["HIV", "Cancer", "Flu", "Cold"]) for _ in range(count)],
        }
    )


def policy(algorithm: Any = "auto", **changes: Any) -> Policy:
    return Policy.model_validate(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
                "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                "condition": {"role": "sensitive"},
            },
            "privacy": [
                {"model": "k-anonymity", "k": 3},
                {"model": "distinct-l-diversity", "l": 2, "sensitive": "condition"},
            ],
            "algorithm": algorithm,
        }
        | changes
    )


@pytest.mark.parametrize("metric", ["ncp", "loss", "discernibility"])
def test_the_best_of_all_that_is_tried_is_released(metric: str) -> None:
    data = people()
    release = shoal.anonymize(data, policy({"name": "auto", "metric": metric}))
    alone = {
        name: shoal.anonymize(data, policy({"name": name, "metric": metric})).evidence["measures"][metric]
        for name in LOCAL
    }
    search = release.evidence["search"]
    assert {each["algorithm"]: each["cost"] for each in search["tried"]} == pytest.approx(alone)
    assert release.evidence["measures"][metric] == pytest.approx(min(alone.values()))
    assert alone[search["chosen"]["name"]] == pytest.approx(min(alone.values()))


@pytest.mark.parametrize("options", [{}, {"ranges": ["age"]}, {"scope": "full-domain"}, {"seconds": 0}])
def test_what_was_chosen_makes_the_same_release(options: dict[str, Any]) -> None:
    release = shoal.anonymize(people(), policy({"name": "auto", **options}))
    again = shoal.anonymize(people(), policy(release.evidence["search"]["chosen"]))
    assert again.data.equals(release.data)
    assert release.evidence["algorithm"] == "auto"
    assert again.evidence["attacks"] == release.evidence["attacks"]


def test_one_level_per_column_is_the_best_node() -> None:
    release = shoal.anonymize(people(), policy({"name": "auto", "scope": "full-domain"}))
    assert release.data.equals(shoal.anonymize(people(), policy("optimal")).data)
    assert release.evidence["levels"] is not None
    assert [each["algorithm"] for each in release.evidence["search"]["tried"]] == ["optimal"]


def test_without_time_the_quickest_is_tried() -> None:
    search = shoal.anonymize(people(), policy({"name": "auto", "seconds": 0})).evidence["search"]
    assert [each["algorithm"] for each in search["tried"]] == ["mondrian"]


def test_a_search_that_conceals_tries_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_CONCEAL_KEY", "a secret of at least thirty-two characters")
    release = shoal.anonymize(people(), policy({"name": "auto", "conceal": True}))
    search = release.evidence["search"]
    assert search["chosen"]["name"] == "mondrian"
    assert "tried" not in search
    again = shoal.anonymize(people(), policy(search["chosen"]))
    assert again.data.equals(release.data)


def test_where_nothing_satisfies_the_diagnosis_is_that_of_a_search() -> None:
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(people(5), policy(privacy=[{"model": "k-anonymity", "k": 6}]))
    assert caught.value.diagnosis.blockers


def test_the_audit_attacks_as_the_run_did(tmp_path: Path) -> None:
    asked = policy(data=str(tmp_path / "data.csv"), output=str(tmp_path / "release.csv"))
    rows = zip(*people().to_pydict().values(), strict=True)
    text = "\n".join(["age,zip,condition", *map(",".join, rows)]) + "\n"
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    publish(asked)
    found = audit(tmp_path / "release.csv", asked, tmp_path / "data.csv").verification
    assert found.passed, str(found)
    evidence = json.loads((tmp_path / "release.evidence.json").read_text(encoding="utf-8"))
    assert evidence["search"]["chosen"]["name"] in LOCAL


# --- the default ------------------------------------------------------------------------------------------------------


def left_out(release: Any) -> dict[str, str]:
    """Why each algorithm was not tried."""
    return {each["algorithm"]: each["reason"] for each in release.evidence["search"]["left_out"]}


def without_algorithm(**changes: Any) -> Policy:
    content = policy().model_dump(exclude_unset=True) | changes
    return Policy.model_validate({key: value for key, value in content.items() if key != "algorithm"})


def problem_of(data: pa.Table, asked: Policy) -> Problem:
    return resolve(asked, data).problem


def test_a_policy_that_names_no_algorithm_runs_auto() -> None:
    assert without_algorithm().algorithm.name == DEFAULT_ALGORITHM == "auto"
    release = shoal.anonymize(people(), without_algorithm())
    assert release.evidence["algorithm"] == "auto"
    assert release.evidence["levels"] is None
    assert release.data.equals(shoal.anonymize(people(), policy()).data)


def test_the_release_does_not_depend_on_the_order_of_the_rows() -> None:
    data = people()
    order = list(range(data.num_rows))
    random.Random(1).shuffle(order)
    one, other = (shoal.anonymize(each, without_algorithm()) for each in (data, data.take(order)))
    assert one.data.equals(other.data)
    assert one.evidence["search"] == other.evidence["search"]


def test_with_a_recoding_for_new_records_each_column_has_one_level() -> None:
    release = shoal.anonymize(people(), without_algorithm(recoding=True))
    assert release.evidence["levels"] is not None
    assert release.evidence["search"]["chosen"]["name"] == "optimal"
    assert left_out(release) == dict.fromkeys(LOCAL, "one-level")
    assert release.data.equals(shoal.anonymize(people(), policy("optimal")).data)


def test_a_command_that_asks_for_the_recoding_demands_the_same(tmp_path: Path) -> None:
    asked = without_algorithm(data=written(people(), tmp_path), output=str(tmp_path / "release.csv"))
    published = publish(asked, recoding=True)
    assert published.release.evidence["search"]["chosen"]["name"] == "optimal"
    new = shoal.apply(tmp_path / "release.recoding.json", people(60, seed=9), policy=asked)
    assert new.evidence["released"] > 0


def test_a_policy_may_ask_for_a_local_recoding_that_new_records_join() -> None:
    release = shoal.anonymize(people(), policy({"name": "auto", "scope": "local"}, recoding=True))
    assert release.evidence["levels"] is None
    assert release.evidence["search"]["chosen"]["name"] in LOCAL


def pseudonyms(algorithm: Any = None) -> Policy:
    columns = {"id": {"role": "pseudonym"}, **policy().model_dump(exclude_unset=True)["columns"]}
    return (policy if algorithm is not None else lambda _, **more: without_algorithm(**more))(
        algorithm, columns=columns, person="id", privacy=[{"model": "k-anonymity", "k": 2}]
    )


def test_with_pseudonyms_each_column_has_one_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", "a secret of at least thirty-two characters")
    data = people(60).append_column("id", pa.array([str(number // 2) for number in range(60)]))
    release = shoal.anonymize(data, pseudonyms())
    assert release.evidence["search"]["chosen"]["name"] == "optimal"
    assert release.data.equals(shoal.anonymize(data, pseudonyms("optimal")).data)


def test_pseudonyms_refuse_a_scope_that_cannot_promise_anything() -> None:
    with pytest.raises(PolicyError) as caught:
        pseudonyms({"name": "auto", "scope": "local"})
    assert [problem.code for problem in caught.value.problems] == ["links-records"]


@pytest.mark.parametrize(
    ("demand", "fitting"),
    [(Demand.EQUAL_LABELS, ["mondrian"]), (Demand.NO_SINGLE_RECORDS, ["mondrian", "top-down"])],
)
def test_only_algorithms_are_planned_that_meet_what_is_demanded(demand: Demand, fitting: list[str]) -> None:
    problem = replace(problem_of(people(), policy()), demands=frozenset({demand}))
    found = plan(problem)
    assert [each.name for each in found.fitting] == fitting
    assert {each["algorithm"]: each["reason"] for each in found.left_out} == dict.fromkeys(
        sorted(set(LOCAL) - set(fitting)), demand.value
    )


def written(data: pa.Table, folder: Path) -> str:
    """The path of a table as a text file."""
    rows = zip(*data.to_pydict().values(), strict=True)
    path = folder / "data.csv"
    path.write_text("\n".join([",".join(data.column_names), *map(",".join, rows)]) + "\n", encoding="utf-8")
    return str(path)


def test_records_that_are_recoded_batch_by_batch_keep_equal_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = people().append_column("note", pa.array([f"note {number}" for number in range(120)]))
    columns = {**policy().model_dump(exclude_unset=True)["columns"], "note": {"role": "insensitive"}}
    asked = without_algorithm(columns=columns, data=written(data, tmp_path), output=str(tmp_path / "release.csv"))
    monkeypatch.setattr(Budget, "leaves_out", lambda *_: True)  # as if the notes were too many
    published = publish(asked, memory="1GB")
    assert published.release.evidence["search"]["chosen"]["name"] == "mondrian"
    assert left_out(published.release) == {"top-down": "equal-labels", "greedy-clustering": "equal-labels"}
    other = publish(asked.changed(algorithm="mondrian", output=str(tmp_path / "other.csv")), memory="1GB")
    assert other.release.evidence["release_sha256"] == published.release.evidence["release_sha256"]


def test_without_memory_for_single_records_algorithms_that_move_them_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = without_algorithm(data=written(people(), tmp_path), output=str(tmp_path / "release.csv"))
    monkeypatch.setattr(memory, "_PER_RECORD", 10**9)
    published = publish(asked, memory="1GB")
    assert left_out(published.release) == {"greedy-clustering": "no-single-records"}


def test_an_algorithm_that_would_take_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = dict.fromkeys(("sizes", "values", "shares"), Growth(1.0, records=1.0))
    monkeypatch.setattr(type(ALGORITHMS["greedy-clustering"]), "growth", slow)
    release = shoal.anonymize(people(), policy())
    facts = {each["algorithm"]: each for each in release.evidence["search"]["left_out"]}
    assert facts == {"greedy-clustering": {"algorithm": "greedy-clustering", "reason": "time", "seconds": 121.0}}
    assert [each.name for each in plan(problem_of(people(), policy({"name": "auto", "seconds": 200}))).fitting] == [
        "mondrian",
        "top-down",
        "greedy-clustering",
    ]


def test_where_nothing_is_lost_the_first_result_is_taken() -> None:
    data = pa.table({"age": ["20"] * 6, "zip": ["110"] * 6, "condition": ["HIV", "Flu", "Cold"] * 2})
    release = shoal.anonymize(data, policy())
    assert release.evidence["measures"]["ncp"] == 0
    assert left_out(release) == {"top-down": "nothing-lost", "greedy-clustering": "nothing-lost"}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The algorithms that have been run so far."""
    names, real = list[str](), Algorithm.run

    def run(self: Algorithm, problem: Problem, engine: Any) -> Any:
        names.append(self.name)
        return real(self, problem, engine)

    monkeypatch.setattr(Algorithm, "run", run)
    return names


def test_where_no_release_exists_one_search_is_enough(ran: list[str]) -> None:
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(people(5), policy(privacy=[{"model": "k-anonymity", "k": 6}]))
    assert caught.value.diagnosis.code == "no-release"
    assert ran == ["auto", "mondrian"]


SKEWED = pa.table({"age": ["20"] * 4 + ["60"] * 4, "zip": ["110"] * 8, "condition": ["HIV", "Flu"] * 2 + ["HIV"] * 4})
"""All records together are too similar; those of one age are not, if the others are left out."""
HALF = {
    "privacy": [
        {"model": "k-anonymity", "k": 2},
        {"model": "alpha-k-anonymity", "alpha": 0.5, "sensitive": "condition"},
    ],
    "suppression": 0.5,
}


def test_where_the_most_general_release_fails_every_node_is_looked_at() -> None:
    for name in LOCAL:
        with pytest.raises(InfeasibleError) as caught:
            shoal.anonymize(SKEWED, policy(name, **HALF))
        assert caught.value.diagnosis.code != "no-release"
    release = shoal.anonymize(SKEWED, without_algorithm(**HALF))
    search = release.evidence["search"]
    assert [(each["algorithm"], each["cost"] is None) for each in search["tried"]] == [
        *((name, True) for name in LOCAL),
        ("optimal", False),
    ]
    assert release.evidence["released"] == 4
    assert release.data.equals(shoal.anonymize(SKEWED, policy("optimal", **HALF)).data)
    assert forecast_of(problem_of(SKEWED, without_algorithm(**HALF)), "auto").by_algorithm == "open"


def test_attackers_of_a_file_run_what_was_chosen(tmp_path: Path, ran: list[str]) -> None:
    asked = without_algorithm(data=written(people(), tmp_path), output=str(tmp_path / "release.csv"))
    publish(asked)
    ran.clear()
    chosen = json.loads((tmp_path / "release.evidence.json").read_text(encoding="utf-8"))["search"]["chosen"]["name"]
    attack(tmp_path / "release.csv", asked, original=tmp_path / "data.csv")
    assert set(ran) <= {chosen}
    (tmp_path / "release.evidence.json").unlink()
    attack(tmp_path / "release.csv", asked, original=tmp_path / "data.csv")
    assert ran.count("auto") == 1
