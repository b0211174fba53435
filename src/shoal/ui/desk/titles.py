"""One name for each model wherever the page speaks of it: that of the report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from shoal.evidence import Evidence
from shoal.pipeline.why.explain import Why
from shoal.present.attacks import by_severity, remedy_sentence
from shoal.present.report.words import MODELS
from shoal.search.bounds.cheapest_box import Box
from shoal.search.diagnosis.failures import Failure, Lack

_NAMES = re.compile(rf"(?<![\w-])({'|'.join(sorted(MODELS, key=len, reverse=True))})(?![\w-])")


def title_of(model: str) -> str:
    """A model as the page calls it."""
    return MODELS[model].title if model in MODELS else model


def titled(answer: Why) -> Why:
    """An answer to "why?" that calls models as the page does."""
    models = tuple({**each, "model": title_of(each["model"])} for each in answer.models)
    found: Why = _titled(replace(answer, models=models))
    return found


def _titled(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_titled, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    if isinstance(value, Lack | Failure):
        return replace(value, model=title_of(value.model))
    if isinstance(value, Box):
        return replace(value, fails=tuple(_NAMES.sub(lambda name: title_of(name[0]), each, 1) for each in value.fails))
    return replace(value, **{each.name: _titled(getattr(value, each.name)) for each in fields(value)})


def remedies(evidence: Evidence) -> list[dict[str, Any]]:
    """What helps against each attack that leaks, in parts: text, or a model to ask for.

    With its place among the attackers of the report, counted from 0.
    """
    return [
        {"place": place, "parts": list(_parts(remedy_sentence(attack)))}
        for place, attack in enumerate(by_severity(evidence.attacks))
        if attack.leak and remedy_sentence(attack)
    ]


def _parts(text: str) -> Iterator[dict[str, str | None]]:
    for place, part in enumerate(_NAMES.split(text)):
        if part:
            yield {"text": title_of(part), "model": part} if place % 2 else {"text": part, "model": None}
