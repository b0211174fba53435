"""Scores against the definitions and against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from oracles.utility_oracle import area
from shoal.utility.learners import figures, resamples, scores

few = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])


@settings(max_examples=80)
@given(st.lists(st.tuples(few, st.booleans()), min_size=2, max_size=40))
def test_the_scores_of_two_classes_are_those_of_the_definitions(records: list[tuple[float, bool]]) -> None:
    figures_, truth = (np.array(each) for each in zip(*records, strict=True))
    chances = np.column_stack([1 - figures_, figures_])
    scored = scores(chances, truth.astype(np.int64), np.ones((1, len(records))))
    found = {name: values[0] for name, values in scored.items()}
    guessed = figures_ > 0.5
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, guessed))
    if truth.all() or not truth.any():
        assert np.isnan(found["auc"])
        return
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, guessed))
    assert found["auc"] == pytest.approx(float(area(figures_.tolist(), truth.tolist())))
    assert found["auc"] == pytest.approx(roc_auc_score(truth, figures_))


def three_classes(seed: int, records: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, records)
    chances = rng.random((records, 3)) + 0.4 * np.eye(3)[truth]
    return chances / chances.sum(axis=1, keepdims=True), truth


def test_the_area_of_several_classes_is_the_mean_of_each_against_the_rest() -> None:
    chances, truth = three_classes(1)
    found = scores(chances, truth, np.ones((1, len(truth))))
    assert found["auc"][0] == pytest.approx(roc_auc_score(truth, chances, multi_class="ovr", average="macro"))


def test_a_resample_is_scored_as_its_records_repeated() -> None:
    chances, truth = three_classes(2, 40)
    drawn = resamples(40, np.random.default_rng(3), count=5)
    assert (drawn.sum(axis=1) == 40).all()
    found = scores(chances, truth, drawn)
    for place, counts in enumerate(drawn):
        rows = np.repeat(np.arange(40), counts.astype(int))
        alone = scores(chances[rows], truth[rows], np.ones((1, 40)))
        assert {name: values[place] for name, values in found.items()} == pytest.approx(
            {name: values[0] for name, values in alone.items()}
        )


def test_intervals_hold_the_score_and_shrink_with_the_test() -> None:
    widths = []
    for records in (100, 2000):
        chances, truth = three_classes(4, records)
        scored = scores(chances, truth, resamples(records, np.random.default_rng(5)))
        for figure in figures(scored).values():
            assert figure["low"] <= figure["value"] <= figure["high"]
        widths.append(figures(scored)["accuracy"]["high"] - figures(scored)["accuracy"]["low"])
    assert widths[1] < widths[0] / 2


def test_the_difference_of_a_model_to_itself_is_none_at_all() -> None:
    chances, truth = three_classes(6)
    scored = scores(chances, truth, resamples(300, np.random.default_rng(7)))
    assert set(figures({"auc": scored["auc"] - scored["auc"]})["auc"].values()) == {0.0}


def test_a_class_that_the_test_lacks_is_left_out_of_the_means() -> None:
    found = scores(np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]), np.array([0, 1]), np.ones((1, 2)))
    assert found["balanced_accuracy"][0] == found["auc"][0] == 1
