"""Questions about privacy: what can be chosen, what is wrong, what can be reached, and how long a run takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from shoal.declarations import Parameter, ParameterKind
from shoal.encode.resolve import data_problems, unknown_columns
from shoal.errors import PolicyError, PolicyProblem
from shoal.io.source import TableSource
from shoal.metrics import METRICS
from shoal.models import MODELS, model_title
from shoal.pipeline.forecast import Forecast, estimate_time
from shoal.pipeline.forecast import forecast as forecast_of
from shoal.pipeline.forecast.words import change_sentences, fact_sentences, model_sentences
from shoal.pipeline.prepare import Prepared, prepare_again
from shoal.pipeline.run import check_utility
from shoal.policy import Policy
from shoal.policy.algorithm_spec import AlgorithmSpec
from shoal.search import ALGORITHMS, all_options, shared_options
from shoal.search.local.range_method import RangeOptions
from shoal.search.local.ranged_columns import ranged_columns
from shoal.table.distinct_rows import DistinctRows
from shoal.ui.desk import document, privacy_words
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.relaxations import label, relaxed
from shoal.ui.server.runs import STATUS
from shoal.ui.server.workspace import read_json

_PREPARED = "prepared"
"""Where the desk keeps the encoded table."""


def choices(_: Desk, __: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that can be chosen, by the names that the code knows, with what is said of each."""
    return {
        "models": [_model(name) for name in MODELS],
        "algorithms": [_algorithm(name) for name in ALGORITHMS],
        "options": {
            name: {"kind": option.kind.value, "label": option.label, "help": option.help, "default": _default(option)}
            for name, option in all_options().items()
        },
        "measures": [
            {"name": name, "text": metric.short, "higher": metric.higher_is_better} for name, metric in METRICS.items()
        ],
        "presets": [preset.to_dict() for preset in privacy_words.PRESETS],
    }


def _model(name: str) -> dict[str, Any]:
    model, card = MODELS[name], MODELS[name].card
    return {
        "name": name,
        "title": model.title,
        "fear": card.fear,
        "protects": card.protects,
        "whom": card.audience,
        "example": card.example,
        "not": list(card.leaves_open),
        "sensitive": model.reads_sensitive(),
        "categories": model.needs_categories,
        "parameters": [
            {
                "name": each.name,
                "kind": each.kind.value,
                "label": each.label,
                "help": each.help,
                "start": each.start,
                "low": each.low,
                "high": None if math.isinf(each.high) else each.high,
                "open_low": each.open_low,
                "step": each.step,
                "parts": [part.name for part in each.parts],
                "choices": [[choice, f"{choice}: {meaning}"] for choice, meaning in each.choices.items()],
            }
            for each in model.parameters
        ],
    }


def _algorithm(name: str) -> dict[str, Any]:
    algorithm = ALGORITHMS[name]
    weights = next((option for option in algorithm.options if option.kind is ParameterKind.WEIGHTS), None)
    return {
        "name": name,
        "kind": {"full-domain": "one level per column", "local": "each class on its own"}[algorithm.scope],
        "does": algorithm.does,
        "when": algorithm.when,
        "not": algorithm.drawback,
        "options": [option for option in all_options() if option in algorithm.option_names | {"seed"}],
        "needs": sorted(algorithm.needs),
        "shared": sorted(shared_options(name)),
        "weights": {"role": weights.of, "help": weights.help} if weights else {"role": "", "help": ""},
    }


def _default(option: Parameter) -> Any:
    """What the policy has where an option is left out."""
    return AlgorithmSpec.model_fields[option.name].get_default(call_default_factory=True)


def check(desk: Desk, _: Mapping[str, Any]) -> dict[str, Any]:
    """Every problem that the policy has, in itself and with the data."""
    return {"problems": [document.problem_to_page(each) for each in problems(desk)]}


def problems(desk: Desk) -> list[PolicyProblem]:
    """The problems of the policy as it stands."""
    try:
        policy = desk.policy()
    except PolicyError as error:
        return [*error.problems, *_with_the_data(desk, error.draft)]
    try:
        ready = prepared(desk, policy)
    except PolicyError as error:
        return list(error.problems)
    return list(_of_the_options(ready))


def _with_the_data(desk: Desk, draft: Any) -> list[PolicyProblem]:
    """What the right parts of a policy with problems have against the data."""
    if draft is None or not draft.columns or draft.data is None:
        return []
    table = desk.table()
    lacking = unknown_columns(draft.columns, table.column_names, "")
    return [*lacking, *data_problems(draft.columns, draft.models, _rows(table, draft.columns), desk.workspace.folder)]


def _rows(table: pa.Table, columns: Mapping[str, Any]) -> DistinctRows:
    """The distinct rows of the columns that a policy uses."""
    used = [name for name in table.column_names if name in columns and columns[name].role != "identifier"]
    return DistinctRows.of(table.select(used))


def _of_the_options(ready: Prepared) -> Iterator[PolicyProblem]:
    """What is wrong with the algorithm's options and the task, which a run would say only after it began."""
    problem, policy = ready.resolved.problem, ready.policy
    try:
        if ALGORITHMS[policy.algorithm.name].strategy == "by-options":
            RangeOptions.read(problem)
        else:
            ranged_columns(problem)
    except PolicyError as error:
        yield from error.problems
    try:
        check_utility(policy, ready.reading, ready.resolved)
    except PolicyError as error:
        yield from error.problems


def prepared(desk: Desk, policy: Policy) -> Prepared:
    """The table, encoded; once for as long as only models, algorithm and suppression change."""
    table = desk.table()
    kept: Prepared | None = desk.notes.get(_PREPARED)
    known = kept is not None and kept.source.table is table and kept.policy.data == policy.data
    before = kept if known and kept is not None else TableSource(table, table.column_names)
    lacking = unknown_columns(policy.columns, table.column_names, "")
    if lacking:
        models = policy.placed_models()
        others = data_problems(policy.columns, models, _rows(table, policy.columns), desk.workspace.folder)
        raise PolicyError([*lacking, *others], policy.source)
    ready = prepare_again(before, policy)
    desk.notes[_PREPARED] = ready
    return ready


def forecast(desk: Desk, __: Mapping[str, Any]) -> dict[str, Any]:
    """What the policy can reach, what blocks, and what would help, in sentences and figures."""
    policy = desk.policy()
    found = forecast_of(prepared(desk, policy), policy)
    told = found.to_dict()
    for model, each, (where, _) in zip(told["models"], found.models, policy.placed_models(), strict=True):
        titled = replace(each, model=model_title(each.model))
        model |= {"where": where, "sentences": list(model_sentences(titled, found.facts.may_suppress))}
    for change in told["relaxations"]:
        change["label"] = label(policy, change)
    return {**told, "general": _general(found), "facts_in_words": list(fact_sentences(found.facts))}


def _general(found: Forecast) -> list[str]:
    """The sentences about the whole: those of single models, of changes and of the table stand elsewhere."""
    elsewhere = {sentence for model in found.models for sentence in model.sentences}
    elsewhere |= {*change_sentences(found.relaxations), *fact_sentences(found.facts)}
    return [sentence for sentence in found.sentences if sentence not in elsewhere]


def estimate(desk: Desk, _: Mapping[str, Any]) -> dict[str, Any]:
    """How long a run of the policy takes."""
    policy = desk.policy()
    return estimate_time(prepared(desk, policy), policy).to_dict()


def relax(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The policy, or that of a run, with a suggested change made to it."""
    run = asked.get("run")
    policy = desk.policy() if run is None else _policy_of(desk, run)
    return {"policy": document.to_page(relaxed(policy, asked))}


def way_out(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that the diagnosis of a failed run suggests, each as a button says it."""
    policy = _policy_of(desk, asked.get("run"))
    status = read_json(desk.workspace.run(str(asked.get("run"))) / STATUS)
    changes = status.get("error", {}).get("diagnosis", {}).get("relaxations", [])
    return {"changes": [{**each, "label": label(policy, each)} for each in changes]}


def _policy_of(desk: Desk, run: Any) -> Policy:
    return Policy.load(desk.workspace.run(str(run)) / "policy.yaml")


ANSWERS = {
    "choices": choices,
    "check": check,
    "forecast": forecast,
    "estimate": estimate,
    "relax": relax,
    "way_out": way_out,
}
