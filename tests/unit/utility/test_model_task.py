"""Models trained on originals and on releases: what is held out, what is seen, and what is said about it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

import shoal
from shoal.errors import MissingExtraError
from shoal.policy import Policy
from shoal.utility import learners, task
from shoal.utility.task import drawn_values, held_out, measure_models, sampled

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20, 40]}},
    "job": {"role": "quasi", "hierarchy": {"tree": {"low": ["a", "b"], "high": ["c", "d"]}}},
    "rich": {"role": "sensitive"},
}


def people(count: int = 240, seed: int = 1) -> pa.Table:
    """Whether somebody is rich follows from job and age, with some noise."""
    drawn = random.Random(seed)
    rows = [(drawn.randint(20, 59), drawn.choice("abcd")) for _ in range(count)]
    rich = ["yes" if (job in "cd") == (age >= 40) or drawn.random() < 0.1 else "no" for age, job in rows]
    return pa.table({"age": [age for age, _ in rows], "job": [job for _, job in rows], "rich": rich})


def measured(table: pa.Table, k: int = 5, algorithm: str = "mondrian", **utility: Any) -> dict[str, Any]:
    policy = Policy(
        columns=COLUMNS,
        privacy=[{"model": "k-anonymity", "k": k}],
        algorithm=algorithm,
        utility={"target": "rich", **utility},
    )
    found: dict[str, Any] = shoal.anonymize(table, policy).evidence["utility"]["model"]
    return found


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.sampled_from([0.1, 0.25, 0.5, 0.9]), st.integers(0, 9))
def test_of_every_class_the_same_share_is_held_out(classes: list[int], share: float, seed: int) -> None:
    codes = np.array(classes)
    train, test = held_out(codes, share, np.random.default_rng(seed))
    assert sorted([*train, *test]) == list(range(len(classes)))
    for each in set(classes):
        size = classes.count(each)
        held = int((codes[test] == each).sum())
        assert held < size
        assert abs(held - share * size) <= 0.5 or held == size - 1


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 9))
def test_a_sample_is_never_larger_than_asked_and_repeats_no_record(records: int, most: int, seed: int) -> None:
    found = sampled(np.arange(records), most, np.random.default_rng(seed))
    assert len(found) == len(set(found.tolist())) == min(records, most)
    assert (np.diff(found) > 0).all()


def test_a_generalized_class_is_drawn_evenly_from_the_values_under_it() -> None:
    first, last = np.full(3000, 2), np.full(3000, 4)
    drawn = drawn_values(first, last, np.random.default_rng(1))
    assert np.bincount(drawn, minlength=5)[2:].min() > 900
    assert set(drawn.tolist()) == {2, 3, 4}


def test_a_release_that_generalizes_nothing_scores_what_the_original_scores() -> None:
    found = measured(people(), k=1)
    for scores in found["scores"].values():
        assert scores["original"] == scores["release"]
        assert scores["difference"]["accuracy"] == {"value": 0, "low": 0, "high": 0}
    assert found["scores"]["gradient-boosting"]["original"]["auc"]["value"] > 0.85
    assert found["baseline"]["auc"] == found["baseline"]["balanced_accuracy"] == 0.5


def test_the_more_is_generalized_the_less_a_model_learns() -> None:
    fine, none = measured(people(), k=4), measured(people(), k=180, algorithm="optimal")
    losses = [each["scores"]["gradient-boosting"]["difference"]["auc"]["value"] for each in (fine, none)]
    assert losses[0] < losses[1]
    blind = none["scores"]["logistic-regression"]["release"]
    assert blind["auc"]["value"] == pytest.approx(0.5), "with every column at its root nothing can be told apart"


def test_the_order_of_the_rows_changes_nothing_and_the_seed_does() -> None:
    table = people(90)
    shuffled = table.take(random.Random(2).sample(range(90), 90))
    assert measured(table, seed=3) == measured(shuffled, seed=3)
    assert measured(table, seed=3)["scores"] != measured(table, seed=4)["scores"]


def test_what_is_anonymized_to_train_on_holds_no_record_that_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(80).append_column("number", [[str(place) for place in range(80)]])
    columns = {**COLUMNS, "number": {"role": "insensitive"}}
    seen: list[set[str]] = []
    tested: list[Any] = []

    def watched(policy: Any, spec: Any, original: pa.Table, anonymize: Any, progress: Any) -> Any:
        def watching(part: pa.Table) -> Any:
            seen.append(set(part.column("number").to_pylist()))
            return anonymize(part)

        monkeypatch.setattr(task, "held_out", split)  # from here on: the check before the search splits as well
        return measure_models(policy, spec, original, watching, progress)

    def split(classes: Any, share: float, rng: Any) -> Any:
        found = held_out(classes, share, rng)
        tested.append(found)
        return found

    monkeypatch.setattr(task, "measure_models", watched)
    asked = {"privacy": [{"model": "k-anonymity", "k": 3}], "algorithm": "optimal", "utility": {"target": "rich"}}
    policy = Policy(columns=columns, **asked)
    shoal.anonymize(table, policy)
    assert len(seen) == len(tested) == 1
    assert len(seen[0]) == len(tested[0][0])
    assert len(seen[0]) + len(tested[0][1]) == 80


def test_a_sample_is_stated() -> None:
    found = measured(people(400), sample=100, test=0.5)
    records = found["records"]
    assert records["train"] + records["test"] == 400
    assert min(records["train"], records["test"], records["released"]) >= 199
    assert records["train_used"] == records["released_used"] == records["test_used"] == 100


def test_a_quasi_identifier_is_predicted_from_the_others() -> None:
    found = measured(people(), target="job", k=3)
    assert set(found["columns"]) == {"age", "rich"}
    assert found["classes"] == 4


def test_the_published_categories_of_a_column_are_the_classes() -> None:
    columns = {
        **COLUMNS,
        "rich": {"role": "sensitive", "categories": {"grave": ["yes"], "mild": ["no"]}, "publish": "categories"},
    }
    policy = Policy(
        columns=columns,
        privacy=[{"model": "k-anonymity", "k": 3}],
        algorithm="optimal",
        utility={"target": "rich", "queries": 5},
    )
    found = shoal.anonymize(people(), policy).evidence["utility"]
    assert found["model"]["classes"] == 2


def test_training_records_that_cannot_be_released_are_said_to_be() -> None:
    found = measured(people(100), k=90, algorithm="optimal")
    assert "75 records left to train on cannot be released" in found["not_measured"]
    assert "k-anonymity fails" in found["not_measured"]
    assert "scores" not in found


def test_without_scikit_learn_the_install_line_is_told_before_any_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r'pip install "shoal\[utility\]"'):
        measured(people(30))
    asked = {"privacy": [{"model": "k-anonymity", "k": 3}], "algorithm": "optimal", "utility": {"queries": 10}}
    policy = Policy(columns=COLUMNS, **asked)
    assert shoal.anonymize(people(30), policy).evidence["utility"]["queries"]["count"] == 10


def test_a_class_that_the_release_lost_is_never_predicted() -> None:
    (found, _) = list(
        learners.predictions(np.zeros((4, 1)), np.array([1, 1, 1, 1]), np.zeros((2, 1)), n_classes=3, seed=0)
    )
    assert found.chances.tolist() == [[0, 1, 0], [0, 1, 0]]


def test_models_are_trained_on_one_thread_so_that_the_machine_decides_nothing() -> None:
    class Watcher:
        def fit(self, *_: Any) -> None:
            self.threads = {each["num_threads"] for each in threadpool_info()}

        def predict_proba(self, test: Any) -> Any:
            return np.full((len(test), 2), 0.5)

    watcher = Watcher()
    learners._trained("x", watcher, np.zeros((2, 1)), np.array([0, 1]), np.zeros((3, 1)), 2)
    assert watcher.threads == {1}
