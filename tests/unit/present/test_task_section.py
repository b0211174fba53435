"""The section of the task: scores and errors in words, tables and plots, and nothing where there is no task."""

from __future__ import annotations

from typing import Any

from page_reader import read_page, rows, section
from report_evidence import hospital

from shoal.present.report.page import write_report


def score(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.01, "high": value + 0.01}


def scores(value: float) -> dict[str, Any]:
    return {name: score(value) for name in ("accuracy", "balanced_accuracy", "auc")}


def task() -> dict[str, Any]:
    learner = {
        "original": scores(0.8431),
        "release": scores(0.8312),
        "difference": scores(0.0119),
        "converged": {"original": True, "release": True},
    }
    return {
        "model": {
            "target": "income",
            "classes": 2,
            "seed": 7,
            "test_share": 0.25,
            "records": {
                "train": 22_621, "train_used": 10_000, "released": 22_000, "released_used": 9_000,
                "test": 7_541, "test_used": 7_541,
            },
            "columns": {"age": "a number", "country": "41 categories"},
            "baseline": {"accuracy": 0.7511, "balanced_accuracy": 0.5, "auc": 0.5},
            "scores": {"logistic-regression": learner, "gradient-boosting": learner},
            "libraries": {"scikit-learn": "1.9.1"},
        },
        "queries": {
            "count": 200,
            "seed": 7,
            "sanity_bound": 30.162,
            "relative_error": {"mean": 1.07, "median": 0.207, "largest": 18.07},
            "all_generalized": {"median": 1.436},
            "bins": [{"error": "at most 1%", "queries": 150}, {"error": "over 100%", "queries": 50}],
        },
    }  # fmt: skip


def page(utility: object) -> str:
    return write_report({**hospital(), "utility": utility})


def test_without_a_task_there_is_no_section() -> None:
    for evidence in (hospital(), {**hospital(), "utility": None}, {**hospital(), "utility": {}}):
        assert "Utility for the task" not in read_page(write_report(evidence)).text


def test_scores_stand_beside_what_guessing_would_score() -> None:
    cells = rows(page(task()), "task")
    assert ["Gradient-boosted trees, release", *["83.1% (82.1–84.1%)"] * 3] in cells
    assert ["Gradient-boosted trees, lost", *["1.2 points (0.2 to 2.2)"] * 3] in cells
    assert ["country", "41 categories"] in cells


def test_errors_of_queries_are_told_and_drawn() -> None:
    found = section(page(task()), "task")
    plots = {plot.attributes["aria-labelledby"]: plot for plot in found.all("svg")}
    assert set(plots) == {"score-plot-title score-plot-desc", "error-plot-title error-plot-desc"}
    assert len(found.all("line")) == 1, "what guessing scores"


def test_the_queries_of_the_policy_are_listed_one_by_one() -> None:
    utility = task()
    utility["queries"] |= {
        "count": 1,
        "bins": [{"error": "at most 1%", "queries": 1}],
        "listed": [{"query": {"age": ["30", "39"]}, "records": 1234, "estimate": 1200.25, "relative_error": 0.027}],
    }
    cells = rows(page(utility), "task")
    assert ["age [30, 39]", "1,234", "1,200.2", "2.7%"] in cells
    assert "One query asks" in section(page(utility), "task").text
    assert "error-plot" not in page(utility)


def test_a_score_that_could_not_be_measured_says_why() -> None:
    text = section(page({"model": {"target": "income", "not_measured": "too few <records>"}}), "task").text
    assert "Not measured: too few <records>" in text


def test_a_model_that_did_not_converge_is_said_to() -> None:
    utility = task()
    utility["model"]["scores"]["logistic-regression"] = {
        **utility["model"]["scores"]["logistic-regression"],
        "converged": {"original": True, "release": False},
    }
    assert "stopped before it had fully converged on: release." in section(page(utility), "task").text
    assert "stopped before" not in section(page(task()), "task").text


def test_the_section_needs_nothing_outside_itself_and_no_minus_before_zero() -> None:
    utility = task()
    utility["model"]["scores"]["gradient-boosting"] = utility["model"]["scores"]["gradient-boosting"] | {
        "difference": {"auc": {"value": -0.0001, "low": -0.02, "high": 0.0}}
    }
    document = read_page(page(utility))
    assert not document.all("script")
    assert "0.0 points (−2.0 to 0.0)" in section(page(utility), "task").text
