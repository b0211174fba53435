"""Everything that can be chosen on the page: models, algorithms, options and measures, by the names of the policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.metrics import METRICS
from shoal.models import MODELS
from shoal.policy.model_specs import MODEL_SPECS, SensitiveModelSpec
from shoal.policy.spec import AlgorithmSpec
from shoal.search import ALGORITHMS, shared_options
from shoal.ui import words
from shoal.ui.desk.desk import Desk


def choices(_: Desk, __: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that can be chosen, with what the page says about it."""
    return {
        "models": [_model(name) for name in MODEL_SPECS],
        "algorithms": [_algorithm(name) for name in ALGORITHMS],
        "options": {
            name: {"kind": kind, "label": label, "help": help_, "default": _default(name)}
            for name, (kind, label, help_) in words.OPTIONS.items()
        },
        "measures": [
            {"name": name, "text": words.MEASURES[name], "higher": metric.higher_is_better}
            for name, metric in METRICS.items()
        ],
        "distances": [list(pair) for pair in words.DISTANCES.items()],
        "presets": [preset.to_dict() for preset in words.PRESETS],
    }


def _model(name: str) -> dict[str, Any]:
    spec, text = MODEL_SPECS[name], words.MODEL_CARDS[name]
    shapes = spec.model_json_schema()["properties"]
    return {
        "name": name,
        "title": words.model_title(name),
        "fear": text.fear,
        "protects": text.protects,
        "audience": text.audience,
        "example": text.example,
        "leaves_open": list(text.leaves_open),
        "sensitive": issubclass(spec, SensitiveModelSpec),
        "categories": MODELS[name].needs_categories,
        "parameters": [
            {"name": each, "kind": kind_of(shapes[each]), **words.PARAMETERS[name][each].to_dict()}
            for each in spec.model_fields
            if each not in {"model", "sensitive"}
        ],
    }


def kind_of(shape: Mapping[str, Any]) -> str:
    """What a parameter is, from the policy's schema: the page has a control for each kind."""
    if "enum" in shape:
        return "choice"
    if "oneOf" in shape:
        return "by-value-or-one"
    if shape.get("type") == "object":
        return "by-category" if shape["additionalProperties"].get("type") == "number" else "limits"
    return {"integer": "whole", "number": "number"}[shape["type"]]


def _algorithm(name: str) -> dict[str, Any]:
    entry, text = ALGORITHMS[name], words.ALGORITHM_CARDS[name]
    role, help_ = words.WEIGHTS.get(name, ("", ""))
    return {
        "name": name,
        "scope": text.scope,
        "does": text.does,
        "when": text.when,
        "drawback": text.drawback,
        "options": [option for option in words.OPTIONS if option in entry.options | {"seed"}],
        "needs": sorted(entry.needs),
        "shared": sorted(shared_options(name)),
        "weights": {"role": role, "help": help_},
    }


def _default(option: str) -> Any:
    default = AlgorithmSpec.model_fields[option].get_default(call_default_factory=True)
    return list(default) if isinstance(default, (set, tuple)) else default


ANSWERS = {"choices": choices}
