"""The privacy requirements and what the release reaches, model by model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shoal.evidence.evidence import Evidence, ModelFacts, WeakestClass
from shoal.formatting import number, pluralize
from shoal.models import MODELS, at_least, model_title
from shoal.present.html.markup import Markup, join, name_of, paired_table, paragraph, row, tag

_CLASS = (
    "A class is a group of released records that are equal in all quasi-identifiers, the columns by which a person "
    "might be recognized. Someone who recognizes a person by them finds the class, not the record."
)
MISSING = "(missing)"
_GREEK = {"alpha": "α", "beta": "β", "delta": "δ", "epsilon": "ε"}


def requirements_section(evidence: Evidence) -> list[Markup]:
    """A row for each model with what it means under it."""
    return [
        paragraph(_CLASS),
        paired_table(
            "The privacy models. Reached is what even the weakest class has; it may be better than what is required.",
            ["Model", "Required", "Reached", "Holds"],
            [_pair(model) for model in evidence.models],
        ),
    ]


def model_head(model: ModelFacts) -> Markup:
    """A model by its title and the column it is on."""
    title = model_title(model.model)
    return join(title, " on ", name_of(model.sensitive)) if model.sensitive is not None else join(title)


def _pair(model: ModelFacts) -> tuple[Markup, Markup]:
    summary = MODELS[model.model].summary if model.model in MODELS else ""
    asked = [_required(model.model, parameter, value) for parameter, value in flat_parameters(model.asked)]
    got = [
        join(parameter_name(parameter), " =\u00a0", reached_text(model, value))
        for parameter, value in flat_parameters(model.reached)
    ]
    mark = tag("span", "yes" if model.holds else "no", class_="mark good" if model.holds else "mark")
    weakest = (_weakest(parameter, found) for parameter, found in (model.weakest or {}).items())
    explained = join(summary, *(join(" ", each) for each in weakest))
    return row(model_head(model), _lines(asked), _lines(got), mark), explained


def reached_text(model: ModelFacts, value: object) -> str:
    """What a model reaches; a figure that misses its limit by little must not look equal to it."""
    return _value(value) if model.holds or value is None else repr(value)


def _value(value: object) -> str:
    if value is None:
        return "no limit"
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _weakest(parameter: str, found: WeakestClass) -> Markup:
    """The class that satisfies a parameter least, by the labels that everybody sees in the release."""
    labels = [
        join(name_of(column), " ", name_of(label if label is not None else MISSING))
        for column, label in found.labels.items()
    ]
    alike = f", one of {number(found.classes)} as weak" if found.classes > 1 else ""
    return tag(
        "span",
        "Weakest by ", parameter_name(parameter), f": a class of {pluralize(found.size, 'record')}{alike} – ",
        join(*labels, between="; "), ".",
        class_="line",
    )  # fmt: skip


def numeric_parameters(model: ModelFacts) -> Iterator[tuple[str, float, float | None]]:
    """Each parameter that is a number: its name, what is required, and what is reached."""
    for parameter, required in flat_parameters(model.asked):
        if isinstance(required, (int, float)) and parameter in model.reached:
            yield parameter, required, model.reached[parameter]


def flat_parameters(parameters: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Parameters under the names that what is reached has: ``alpha[HIV]`` for a limit of one value."""
    for name, value in parameters.items():
        if not isinstance(value, Mapping):
            yield name, value
            continue
        for key, limit in value.items():
            of = str(key) if key not in {"", None} else MISSING
            if isinstance(limit, Mapping):
                yield from ((f"{part}[{of}]", each) for part, each in limit.items())
            else:
                yield f"{name}[{of}]", limit


def _required(model: str, parameter: str, value: object) -> Markup:
    bound = {True: "at least", False: "at most", None: ""}[at_least(model, parameter)]
    return join(parameter_name(parameter), f" {bound}\u00a0" if bound else ": ", _value(value))


def parameter_name(parameter: str) -> Markup:
    """A parameter as the papers write it; ``alpha[HIV]`` is α of HIV."""
    name, bracket, rest = parameter.partition("[")
    greek = _GREEK.get(name, name)
    return join(greek, " of ", name_of(rest.removesuffix("]"))) if bracket else join(greek)


def _lines(lines: list[Markup]) -> Markup:
    return join(*(tag("span", line, class_="line") for line in lines))
