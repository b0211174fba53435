"""Questions about privacy: what can be chosen, what is wrong, what can be reached, and how long a run takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from shoal.encode.resolve import data_problems, unknown_columns
from shoal.errors import PolicyError, PolicyProblem
from shoal.io import Kind
from shoal.metrics import METRICS
from shoal.models import MODELS
from shoal.pipeline.cached_table import prepare_again
from shoal.pipeline.forecast import Forecast, estimate_time
from shoal.pipeline.forecast import forecast as forecast_of
from shoal.pipeline.forecast.words import change_sentences, fact_sentences, model_sentences
from shoal.pipeline.run import Loaded, Prepared
from shoal.policy import Policy
from shoal.policy.model_specs import MODEL_SPECS, SensitiveModelSpec
from shoal.policy.spec import AlgorithmSpec
from shoal.search import ALGORITHMS, shared_options
from shoal.search.local.range_method import RangeOptions
from shoal.search.local.ranged_columns import ranged_columns
from shoal.ui.desk import algorithm_words, document, privacy_words
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.relaxations import label, relaxed
from shoal.ui.desk.titles import title_of
from shoal.ui.server.runs import STATUS
from shoal.ui.server.workspace import read_json
from shoal.utility import check_task

_PREPARED = "prepared"
"""Where the desk keeps the encoded table."""


def choices(_: Desk, __: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that can be chosen, by the names that the code knows, with what is said of each."""
    return {
        "models": [_model(name) for name in MODEL_SPECS],
        "algorithms": [_algorithm(name) for name in ALGORITHMS],
        "options": {
            name: {"kind": kind, "label": text, "help": help_, "default": _default(name)}
            for name, (kind, text, help_) in algorithm_words.OPTIONS.items()
        },
        "measures": [
            {"name": name, "text": algorithm_words.MEASURES[name], "higher": metric.higher_is_better}
            for name, metric in METRICS.items()
        ],
        "distances": [list(pair) for pair in privacy_words.DISTANCES.items()],
        "presets": [preset.to_dict() for preset in privacy_words.PRESETS],
    }


def _model(name: str) -> dict[str, Any]:
    spec, words = MODEL_SPECS[name], privacy_words.MODELS[name]
    shapes = spec.model_json_schema()["properties"]
    return {
        "name": name,
        "title": title_of(name),
        "fear": words.fear,
        "protects": words.protects,
        "whom": words.whom,
        "example": words.example,
        "not": list(words.not_),
        "sensitive": issubclass(spec, SensitiveModelSpec),
        "categories": MODELS[name].needs_categories,
        "parameters": [
            {"name": each, "kind": kind_of(shapes[each]), **privacy_words.PARAMETERS[name][each].to_dict()}
            for each in spec.model_fields
            if each not in {"model", "sensitive"}
        ],
    }


def kind_of(shape: Mapping[str, Any]) -> str:
    """What a parameter is, from its place in the policy's schema: the page has a control for each kind."""
    if "enum" in shape:
        return "choice"
    if "oneOf" in shape:
        return "by-value-or-one"
    if shape.get("type") == "object":
        return "by-category" if shape["additionalProperties"].get("type") == "number" else "limits"
    return {"integer": "whole", "number": "number"}[shape["type"]]


def _algorithm(name: str) -> dict[str, Any]:
    entry, words = ALGORITHMS[name], algorithm_words.ALGORITHMS[name]
    role, meaning = algorithm_words.WEIGHTS.get(name, ("", ""))
    return {
        "name": name,
        "kind": words.kind,
        "does": words.does,
        "when": words.when,
        "not": words.not_,
        "options": [option for option in algorithm_words.OPTIONS if option in entry.options | {"seed"}],
        "needs": sorted(entry.needs),
        "shared": sorted(shared_options(name)),
        "weights": {"role": role, "help": meaning},
    }


def _default(option: str) -> Any:
    default = AlgorithmSpec.model_fields[option].get_default(call_default_factory=True)
    return list(default) if isinstance(default, (set, tuple)) else default


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
    return [*lacking, *data_problems(draft.columns, draft.models, table, desk.workspace.folder)]


def _of_the_options(ready: Prepared) -> Iterator[PolicyProblem]:
    """What is wrong with the algorithm's options and the task, which a run would say only after it began."""
    problem, policy = ready.resolved.problem, ready.policy
    try:
        if "group" in ALGORITHMS[policy.algorithm.name].options:
            RangeOptions.read(problem)
        else:
            ranged_columns(problem)
    except PolicyError as error:
        yield from error.problems
    try:
        check_task(policy, ready.loaded.table, ready.resolved)
    except PolicyError as error:
        yield from error.problems


def prepared(desk: Desk, policy: Policy) -> Prepared:
    """The table, encoded; once for as long as only models, algorithm and suppression change."""
    table = desk.table()
    kept: Prepared | None = desk.notes.get(_PREPARED)
    known = kept is not None and kept.loaded.table is table and kept.policy.data == policy.data
    before = kept if known and kept is not None else Loaded(table, table.column_names, Kind.ARROW)
    lacking = unknown_columns(policy.columns, table.column_names, "")
    if lacking:
        models = policy.placed_models()
        others = data_problems(policy.columns, models, table, desk.workspace.folder)
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
        titled = replace(each, model=title_of(each.model))
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
