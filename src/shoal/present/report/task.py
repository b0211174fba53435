"""What the release is still worth for the task that the policy names: model scores and errors of count queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.present.html.markup import Markup, join, more, name_of, paragraph, row, table, tag
from shoal.present.plots.task_plots import Score, error_plot, score_plot
from shoal.present.report.figures import UNSTATED, counted, entries_of, is_number, number, part_of, percent
from shoal.present.report.yaml_like import yaml_like

LEARNERS = {"logistic-regression": "Logistic regression", "gradient-boosting": "Gradient-boosted trees"}
MEASURES = {"accuracy": "Accuracy", "balanced_accuracy": "Balanced accuracy", "auc": "AUC"}
_FEW = 10
"""Fewer queries than this need no plot."""
_TRAINED = {"original": "original", "release": "release", "difference": "lost"}


def task_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """The scores of models on a target column, and the errors of count queries."""
    utility = part_of(evidence, "utility")
    model, queries = part_of(utility, "model"), part_of(utility, "queries")
    parts: list[Markup] = []
    if model:
        parts += [tag("h3", "Predicting ", name_of(number(model.get("target")))), *_model(model)]
    if queries:
        parts += [tag("h3", "Counting records"), *_queries(queries)]
    return parts or [paragraph("The evidence holds no figures of a task.")]


def _model(model: Mapping[str, Any]) -> list[Markup]:
    if model.get("not_measured"):
        return [paragraph("Not measured: ", number(model["not_measured"]))]
    records = part_of(model, "records")
    share = percent(model["test_share"]) if is_number(model.get("test_share")) else UNSTATED
    said = (
        f"{share} of the original records ({number(records.get('test'))}) were held out, and the others "
        f"({number(records.get('train'))}) anonymized under the same policy. A model trained on these originals and "
        "one trained on their release each predict the held-out records, which stand as they are. "
    )
    used = (records.get("train_used"), records.get("released_used"), records.get("test_used"))
    sizes = (
        f"Training used {counted(used[0], 'original record')} and {counted(used[1], 'released record')}, "
        f"the test {counted(used[2], 'record')}."
    )
    baseline = part_of(model, "baseline")
    always = f" Always guessing the commonest of the {number(model.get('classes'))} classes scores "
    scored = f"{_score(baseline.get('accuracy'))}; a model that scores no more has learned nothing."
    return [paragraph(said, sizes, always, scored), *_scores(model, baseline), *_how(model)]


def _scores(model: Mapping[str, Any], baseline: Mapping[str, Any]) -> list[Markup]:
    learners = {str(name): each for name, each in part_of(model, "scores").items() if isinstance(each, Mapping)}
    drawn, rows = [], []
    for name, each in learners.items():
        title = LEARNERS.get(name, name)
        values = {name: part_of(part_of(each, name), "accuracy").get("value") for name in ("original", "release")}
        known = {name: float(value) for name, value in values.items() if is_number(value)}
        if known:
            drawn.append(Score(title, known))
        for trained, words in _TRAINED.items():
            figures = part_of(each, trained)
            cells = [_with_interval(part_of(figures, measure), sign=trained == "difference") for measure in MEASURES]
            rows.append(row(join(title, ", ", words), *cells))
    if not rows:
        return []
    caption = (
        "Scores on the held-out records, with 95% intervals (bootstrap). Balanced accuracy is the mean over classes of "
        "the share found; AUC is the chance that a record of a class ranks above one that is not of it."
    )
    shown = [table(caption, ["Model, trained on", *MEASURES.values()], rows)]
    if drawn:
        always = float(baseline["accuracy"]) if is_number(baseline.get("accuracy")) else None
        title = "Accuracy on the held-out records, by what the model was trained on."
        shown.insert(0, tag("figure", tag("figcaption", title), score_plot(drawn, always)))
    return shown


def _how(model: Mapping[str, Any]) -> list[Markup]:
    """How cells became numbers, and what it takes to repeat the scores."""
    rows = [row(name_of(str(name)), number(words)) for name, words in part_of(model, "columns").items()]
    said = (
        "A generalized cell stands for all values under it, each equally likely: a column of categories becomes the "
        "share of each, a column of numbers their mean. So a generalized training record and an ungeneralized test "
        "record are measured on the same scale."
    )
    named = ", ".join(f"{name} {version}" for name, version in part_of(model, "libraries").items())
    facts = paragraph(f"Seed {number(model.get('seed'))}. {f'Models by {named}.' if named else ''}")
    slow = [str(name) for name, each in part_of(model, "scores").items() if part_of(each, "converged")]
    stopped = [
        paragraph(f"{LEARNERS.get(name, name)} was stopped before it had fully converged on: {_stopped(model, name)}.")
        for name in slow
        if _stopped(model, name)
    ]
    columns = [table("The columns that the models read.", ["Column", "Read as"], rows)] if rows else []
    return [more("How the models read the records", paragraph(said), *columns, facts, *stopped)]


def _stopped(model: Mapping[str, Any], name: str) -> str:
    converged = part_of(part_of(part_of(model, "scores"), name), "converged")
    return ", ".join(str(trained) for trained, ended in converged.items() if ended is False)


def _queries(queries: Mapping[str, Any]) -> list[Markup]:
    errors, blurred = part_of(queries, "relative_error"), part_of(queries, "all_generalized")
    count, bound = queries.get("count"), _figure(queries.get("sanity_bound"))
    asked = "One query asks" if count == 1 else f"{number(count)} queries ask"
    said = (
        f"{asked} how many records have certain values. Each is answered from the release, taking every value under a "
        "generalized label as equally likely, and compared with the count in the original. Half of the answers are off "
        f"by at most {_share(errors.get('median'))} of the true count; the mean error is {_share(errors.get('mean'))}, "
        f"the largest {_share(errors.get('largest'))}. Counts below {bound} are taken as that number, so that errors "
        "on next to nothing do not outweigh all others. Were every quasi-identifier "
        f"released as *, half of the answers would be off by {_share(blurred.get('median'))} or more."
    )
    parts = [paragraph(said)]
    listed = entries_of(queries, "listed")
    if listed:
        parts.append(_listed(listed))
    bins = [(str(each.get("error")), int(each["queries"])) for each in entries_of(queries, "bins")]
    if bins and sum(queries for _, queries in bins) >= _FEW:
        caption = tag("figcaption", "How many queries are off by how much of the true count.")
        parts.append(tag("figure", caption, error_plot(bins)))
    return parts


def _listed(listed: list[Mapping[str, Any]]) -> Markup:
    rows = [
        row(
            name_of(yaml_like(each.get("query")).strip().replace("\n", ", ")),
            number(each.get("records")),
            _figure(each.get("estimate")),
            _share(each.get("relative_error")),
        )
        for each in listed
    ]
    heads = ["Records with", "Original", "From the release", "Off by"]
    return table("The queries of the policy.", heads, rows)


def _figure(value: object) -> str:
    return f"{value:,.1f}".removesuffix(".0") if is_number(value) else number(value)


def _share(value: object) -> str:
    """An error as a percentage of the true count, or as a multiple where it is many times that."""
    if not is_number(value):
        return number(value)
    return percent(value) if value < 10 else f"{value:,.0f} times"


def _score(value: object) -> str:
    """A score with its tenth always shown: models differ by little."""
    return f"{value * 100:.1f}%" if is_number(value) else number(value)


def _interval(figure: Mapping[str, Any]) -> str:
    if not is_number(figure.get("low")) or not is_number(figure.get("high")):
        return UNSTATED
    return f"{figure['low'] * 100:.1f}–{figure['high'] * 100:.1f}%"


def _with_interval(figure: Mapping[str, Any], *, sign: bool) -> Markup:
    if not is_number(figure.get("value")):
        return join(UNSTATED)
    if sign:
        value, low, high = (_points(figure.get(key)) for key in ("value", "low", "high"))
        return join(f"{value} points ", tag("small", f"({low} to {high})"))
    return join(_score(figure["value"]), " ", tag("small", f"({_interval(figure)})"))


def _points(value: object) -> str:
    """A difference of scores in percentage points; never a minus before zero."""
    return f"{round(value * 100, 1) + 0.0:.1f}".replace("-", "−") if is_number(value) else number(value)
