"""Everything that can be chosen on the page: models, algorithms, options and measures, by the names of the policy."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import resources
from typing import Any

from shoal.declarations import Parameter, ParameterKind
from shoal.metrics import METRICS
from shoal.models import MODELS, Model
from shoal.policy.algorithm_spec import AlgorithmSpec
from shoal.policy.yaml_text import parse_yaml
from shoal.present.people import in_people
from shoal.search import ALGORITHMS, all_options, shared_options
from shoal.ui.desk.desk import Desk


def choices(_: Desk, __: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that can be chosen, with what the page says about it."""
    return {
        "models": [_model(model, str) for model in MODELS.values()],
        "models_in_people": [_model(model, in_people) for model in MODELS.values()],
        "algorithms": [_algorithm(name) for name in ALGORITHMS],
        "options": {
            name: {
                "kind": option.kind.value,
                "label": option.label,
                "help": option.help,
                "choices": [[choice, meaning] for choice, meaning in option.choices.items()],
                "default": AlgorithmSpec.model_fields[name].get_default(call_default_factory=True),
            }
            for name, option in all_options().items()
        },
        "measures": [
            {"name": name, "text": metric.short, "higher": metric.higher_is_better} for name, metric in METRICS.items()
        ],
        "presets": starting_points(),
    }


def starting_points() -> Any:
    """Common starting points for a policy, each with its reasons."""
    text = resources.files("shoal.data").joinpath("starting_points.yaml").read_text(encoding="utf-8")
    return parse_yaml(text, "the starting points")


def _model(model: type[Model], words: Callable[[str], str]) -> dict[str, Any]:
    """A model as the page has it; its words are those for what it counts."""
    return {
        "name": model.name,
        "title": model.title,
        **asdict(model.card),
        "protects": words(model.card.protects),
        "example": words(model.card.example),
        "sensitive": model.reads_sensitive(),
        "categories": model.needs_categories,
        "numbers": model.needs_numbers,
        "parameters": [{**_parameter(each), "help": words(each.help)} for each in model.parameters],
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    """A parameter as the page has it: no bound is null."""
    return {
        **{key: getattr(parameter, key) for key in ("name", "label", "help", "start", "low", "open_low", "step")},
        "kind": parameter.kind.value,
        "high": None if math.isinf(parameter.high) else parameter.high,
        "parts": [part.name for part in parameter.parts],
        "choices": [[choice, f"{choice}: {meaning}"] for choice, meaning in parameter.choices.items()],
    }


def _algorithm(name: str) -> dict[str, Any]:
    algorithm = ALGORITHMS[name]
    weights = next((option for option in algorithm.options if option.kind is ParameterKind.WEIGHTS), None)
    return {
        "name": name,
        "scope": {"full-domain": "one level per column", "local": "each class separately"}[algorithm.scope],
        **{key: getattr(algorithm, key) for key in ("does", "when", "drawback")},
        "options": [option for option in all_options() if option in algorithm.option_names | {"seed"}],
        "needs": sorted(algorithm.needs),
        "shared": sorted(shared_options(name)),
        "weights": {"role": weights.of, "help": weights.help} if weights else {"role": "", "help": ""},
    }
