"""What the release is still worth for the task that the policy names: model scores and errors of count queries."""

from collections.abc import Mapping
from typing import Any

from shoal.evidence.evidence import Evidence
from shoal.formatting import listing, number, percent, pluralize
from shoal.present.html.markup import Markup, join, more, name_of, paragraph, table, tag
from shoal.present.plots.bars import error_plot, score_plot, tenths

LEARNERS = {"logistic-regression": "Logistic regression", "gradient-boosting": "Gradient-boosted trees"}
MEASURES = {"accuracy": "Accuracy", "balanced_accuracy": "Balanced accuracy", "auc": "AUC"}
_FEW = 10  # fewer queries than this need no plot
_TRAINED = {"original": "original", "release": "release", "difference": "lost"}

Figures = Mapping[str, Any]


def task_section(evidence: Evidence) -> list[Markup]:
    """The scores of models on a target column, and the errors of count queries."""
    utility = evidence.utility or {}
    parts: list[Markup] = []
    if model := utility.get("model"):
        measured = (
            _model(model) if "not_measured" not in model else [paragraph("Not measured: ", model["not_measured"])]
        )
        parts += [tag("h3", "Predicting ", name_of(model["target"])), *measured]
    if queries := utility.get("queries"):
        parts += [tag("h3", "Counting records"), *_queries(queries)]
    return parts


def _model(model: Figures) -> list[Markup]:
    records, guessing = model["records"], model["baseline"]["accuracy"]
    said = (
        f"{percent(model['test_share'])} of the original records ({number(records['test'])}) were held out, and the "
        f"others ({number(records['train'])}) were anonymized under the same policy. One model was trained on these "
        "originals and one on their release, and each predicts the held-out records, which are unchanged. Training "
        f"used {pluralize(records['train_used'], 'original record')} and "
        f"{pluralize(records['released_used'], 'released record')}, the test "
        f"{pluralize(records['test_used'], 'record')}. Always guessing the most common of the "
        f"{number(model['classes'])} classes scores {tenths(guessing)}; a model that scores no more has learned "
        "nothing."
    )
    drawn, rows = [], []
    for name, each in model["scores"].items():
        title = LEARNERS.get(name, name)
        drawn.append((title, {trained: each[trained]["accuracy"]["value"] for trained in ("original", "release")}))
        for trained, words in _TRAINED.items():
            cells = [_with_interval(each[trained].get(key), points=trained == "difference") for key in MEASURES]
            rows.append((f"{title}, {words}", *cells))
    title = "Accuracy on the held-out records, by what the model was trained on."
    caption = (
        "Scores on the held-out records, with 95% intervals (bootstrap). Balanced accuracy is the mean over classes of "
        "the share found; AUC is the chance that a record of a class ranks above one that is not in it."
    )
    return [
        paragraph(said),
        tag("figure", tag("figcaption", title), score_plot(drawn, guessing)),
        table(caption, ["Model, trained on", *MEASURES.values()], rows),
        _how(model),
    ]


def _how(model: Figures) -> Markup:
    """How cells became numbers, and what it takes to repeat the scores."""
    said = (
        "A generalized cell stands for all values under it, each equally likely: a column of categories becomes the "
        "share of each, a column of numbers their mean. So a generalized training record and an ungeneralized test "
        "record are measured on the same scale."
    )
    rows = [(name_of(name), words) for name, words in model["columns"].items()]
    libraries = listing([f"{name} {version}" for name, version in model["libraries"].items()])
    notes = [f"Seed {model['seed']}. Models by {libraries}."]
    for name, each in model["scores"].items():
        if stopped := [trained for trained, ended in each.get("converged", {}).items() if not ended]:
            notes.append(
                f"{LEARNERS.get(name, name)} was stopped before it had fully converged on: {listing(stopped)}."
            )
    columns = table("The columns that the models read.", ["Column", "Read as"], rows)
    return more("How the models read the records", paragraph(said), columns, *map(paragraph, notes))


def _queries(queries: Figures) -> list[Markup]:
    errors, count = queries["relative_error"], queries["count"]
    said = (
        f"{'One query asks' if count == 1 else f'{number(count)} queries ask'} how many records have certain values. "
        "Each is answered from the release, taking every value under a generalized label as equally likely, and "
        f"compared with the count in the original. Half of the answers are off by at most {_share(errors['median'])} "
        f"of the true count; the mean error is {_share(errors['mean'])}, the largest {_share(errors['largest'])}. "
        f"Counts below {_rounded(queries['sanity_bound'])} are taken as that number, so that errors on next to nothing "
        "do not outweigh all others. If every quasi-identifier were released as *, half of the answers would be off by "
        f"{_share(queries['all_generalized']['median'])} or more."
    )
    parts = [paragraph(said)]
    if "listed" in queries:
        rows = []
        for each in queries["listed"]:
            query = {
                name: f"[{', '.join(map(str, values))}]" if isinstance(values, list) else values
                for name, values in each["query"].items()
            }
            asked = [f"{name} {values}" for name, values in query.items()]
            counts = number(each["records"]), _rounded(each["estimate"]), _share(each["relative_error"])
            rows.append((name_of(listing(asked)), *counts))
        heads = ["Records with", "Original", "From the release", "Off by"]
        parts.append(table("The queries of the policy.", heads, rows))
    bins = [(each["error"], each["queries"]) for each in queries["bins"]]
    if sum(number for _, number in bins) >= _FEW:
        caption = tag("figcaption", "How many queries are off by how much of the true count.")
        parts.append(tag("figure", caption, error_plot(bins)))
    return parts


def _rounded(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _share(value: float | None) -> str:
    """An error as a percentage of the true count, or as a multiple where it is many times that."""
    if value is None:
        return "an unknown share"
    return percent(value) if value < 10 else f"{value:,.0f} times"


def _with_interval(figure: Figures | None, *, points: bool) -> Markup:
    """A score, or a difference of scores in percentage points, which never has a minus before zero."""
    if figure is None or figure["value"] is None:
        return join("not measured")
    value, low, high = (f"{round(figure[key] * 100, 1) + 0.0:.1f}" for key in ("value", "low", "high"))
    if not points:
        return join(f"{value}% ", tag("small", f"({low}–{high}%)"))
    value, low, high = (each.replace("-", "−") for each in (value, low, high))
    return join(f"{value} points ", tag("small", f"({low} to {high})"))
