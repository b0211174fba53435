"""What was asked and what is reached, model by model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shoal.models import MODELS, at_least, model_title
from shoal.present.html.markup import Markup, join, name_of, paired_table, paragraph, row, tag
from shoal.present.report.figures import UNSTATED, counted, entries_of, exactly, is_number, number, part_of
from shoal.present.report.words import CLASS

_MISSING = "(missing)"
_GREEK = {"alpha": "α"}


def asked_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """A row for each model with what it means under it."""
    models = entries_of(evidence, "models")
    if not models:
        return [paragraph("The evidence names no privacy model.")]
    return [
        paragraph(CLASS),
        paired_table(
            "The privacy models. Reached is what even the weakest class has; it may be better than what was asked.",
            ["Model", "Asked", "Reached", "Holds"],
            [_pair(model) for model in models],
        ),
    ]


def _pair(model: Mapping[str, Any]) -> tuple[Markup, str]:
    name = str(model.get("model"))
    title, summary = model_title(name), MODELS[name].summary if name in MODELS else ""
    column = model.get("sensitive")
    head = join(title, " on ", name_of(str(column))) if column is not None else join(title)
    asked, reached = dict(flat_parameters(model.get("asked"))), dict(flat_parameters(model.get("reached")))
    holds = model.get("holds")
    said = number if holds is True else exactly  # a figure that misses its limit by little must not look equal to it
    asked_lines = [_asked(name, parameter, value) for parameter, value in asked.items()]
    reached_lines = [join(parameter_name(parameter), " =\u00a0", said(value)) for parameter, value in reached.items()]
    explained = join(summary, *(join(" ", each) for each in _weakest(part_of(model, "weakest"))))
    return row(head, _lines(asked_lines), _lines(reached_lines), _mark(holds)), explained


def _weakest(weakest: Mapping[str, Any]) -> Iterator[Markup]:
    """For each parameter the class that satisfies it least, by the labels that everybody sees in the release."""
    for parameter, found in weakest.items():
        if not isinstance(found, Mapping) or not is_number(found.get("size")):
            continue
        labels = [
            join(name_of(str(column)), " ", name_of(str(label) if label is not None else _MISSING))
            for column, label in part_of(found, "labels").items()
        ]
        classes = found.get("classes")
        alike = f", one of {number(classes)} as weak" if is_number(classes) and classes > 1 else ""
        yield tag(
            "span",
            "Weakest by ", parameter_name(str(parameter)), f": a class of {counted(found['size'], 'record')}{alike} – ",
            join(*labels, between="; "), ".",
            class_="line",
        )  # fmt: skip


def flat_parameters(parameters: object) -> Iterator[tuple[str, object]]:
    """Parameters under the names that what is reached has: ``alpha[HIV]`` for a limit of one value."""
    if not isinstance(parameters, Mapping):
        return
    for name, value in parameters.items():
        if not isinstance(value, Mapping):
            yield str(name), value
            continue
        for key, limit in value.items():
            of = str(key) if key not in {"", None} else _MISSING
            if isinstance(limit, Mapping):
                yield from ((f"{part}[{of}]", each) for part, each in limit.items())
            else:
                yield f"{name}[{of}]", limit


def _asked(model: str, parameter: str, value: object) -> Markup:
    bound = {True: "at least", False: "at most", None: ""}[at_least(model, parameter)]
    return join(parameter_name(parameter), f" {bound}\u00a0" if bound else ": ", number(value))


def parameter_name(parameter: str) -> Markup:
    """A parameter as the papers write it; ``alpha[HIV]`` is α of HIV."""
    name, bracket, rest = parameter.partition("[")
    shown = _GREEK.get(name, name)
    return join(shown, " of ", name_of(rest.removesuffix("]"))) if bracket else join(shown)


def _lines(lines: list[Markup]) -> Markup:
    return join(*(tag("span", line, class_="line") for line in lines)) if lines else join(UNSTATED)


def _mark(holds: object) -> Markup:
    if holds is True:
        return tag("span", "yes", class_="mark good")
    return tag("span", "no" if holds is False else UNSTATED, class_="mark")
