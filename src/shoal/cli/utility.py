"""``shoal utility``: what a release is worth for a task, without writing anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from shoal.cli.commands import interruptible, load_policy
from shoal.cli.progress import progress_bar
from shoal.cli.show import aligned
from shoal.errors import InputError
from shoal.pipeline import anonymize

_MEASURES = ("accuracy", "balanced_accuracy", "auc")


@interruptible
def run_utility(
    policy_path: Path, *, data: Path | None, target: str | None, queries: int | None, as_json: bool
) -> None:
    """Anonymize in memory and measure; options are put in the place of what the policy says."""
    policy = load_policy(policy_path, data)
    given = policy.utility.model_dump(exclude_unset=True) if policy.utility is not None else {}
    asked = {"target": target, "queries": queries}
    given |= {key: value for key, value in asked.items() if value is not None}
    if not given:
        raise InputError(
            "no task is named. Set utility: in the policy, or name a column to predict with --target, "
            "or a number of random count queries with --queries."
        )
    with progress_bar() as progress:
        release = anonymize(data, policy.changed(utility=given, registry=None), progress=progress)
    utility = release.evidence["utility"]
    if as_json:
        typer.echo(json.dumps(utility))
        return
    show_utility(utility)


def show_utility(utility: Mapping[str, Any]) -> None:
    """Scores and errors as text."""
    if "model" in utility:
        _show_model(utility["model"])
    if "model" in utility and "queries" in utility:
        typer.echo("")
    if "queries" in utility:
        _show_queries(utility["queries"])


def _show_model(model: Mapping[str, Any]) -> None:
    typer.echo(f"Predicting {model['target']}:")
    if "not_measured" in model:
        typer.echo(f"  not measured: {model['not_measured']}")
        return
    records = model["records"]
    typer.echo(
        f"  trained on {records['train_used']} of {records['train']} original and {records['released_used']} of "
        f"{records['released']} released records,"
    )
    typer.echo(
        f"  tested on {records['test_used']} of {records['test']} held-out original records "
        f"({model['classes']} classes, seed {model['seed']})"
    )
    rows = [["  model", "trained on", "accuracy", "balanced accuracy", "AUC"]]
    for learner, by_table in model["scores"].items():
        for trained in ("original", "release"):
            scores = by_table[trained]
            late = "" if by_table["converged"][trained] else " (not converged)"
            rows.append([f"  {learner}", trained + late, *(_figure(scores[measure]) for measure in _MEASURES)])
    rows.append(["  commonest class", _NO_TABLE, *(f"{model['baseline'][measure]:.4f}" for measure in _MEASURES)])
    for line in aligned(rows, str.ljust):
        typer.echo(line.rstrip())


_NO_TABLE = "-"


def _figure(score: Mapping[str, float | None]) -> str:
    if score["value"] is None:
        return _NO_TABLE
    return f"{score['value']:.4f} ({score['low']:.4f} to {score['high']:.4f})"


def _show_queries(queries: Mapping[str, Any]) -> None:
    errors, blurred = queries["relative_error"], queries["all_generalized"]
    typer.echo(f"{queries['count']} count queries, relative error:")
    typer.echo(
        f"  median {errors['median']:.4f}, mean {errors['mean']:.4f}, quartiles {errors['lower_quartile']:.4f} and "
        f"{errors['upper_quartile']:.4f}, largest {errors['largest']:.4f}"
    )
    typer.echo(f"  counts below {queries['sanity_bound']:g} are taken as that")
    typer.echo(
        f"  with every quasi-identifier released as *: median {blurred['median']:.4f}, mean {blurred['mean']:.4f}"
    )
    for each in queries.get("listed", ()):
        asked = ", ".join(f"{name}: {json.dumps(wanted, ensure_ascii=False)}" for name, wanted in each["query"].items())
        typer.echo(f"  {{{asked}}}: {each['records']} records, from the release {each['estimate']:.1f}")
