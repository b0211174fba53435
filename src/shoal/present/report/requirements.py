"""The privacy requirements and what the release reaches, model by model."""

from collections.abc import Iterator, Mapping
from typing import Any

from shoal.evidence.evidence import Evidence, ModelFacts, SensitiveFacts, WeakestClass
from shoal.formatting import number, pluralize
from shoal.models import at_least, model_summary, model_title
from shoal.present.html.markup import Markup, join, mark, name_of, paired_table, paragraph, tag
from shoal.present.people import in_people, records_and_people
from shoal.present.warnings import warning_sentence

_CLASS = (
    "A class is a group of released records that are equal in all quasi-identifiers, the columns by which a person "
    "might be recognized. Someone who recognizes a person by them finds the class, not the record."
)
_LINKED_CLASS = (
    " A pseudonym links all records of a person, so a class holds only records of people who share the "
    "quasi-identifiers of all their records: a linked class."
)
MISSING = "(missing)"
_GREEK = {"alpha": "α", "beta": "β", "delta": "δ", "epsilon": "ε"}


def requirements_section(evidence: Evidence) -> list[Markup]:
    """A row for each model with what it means under it."""
    caption = "The privacy models. Reached is what even the weakest class has; it may be better than what is required."
    pairs = []
    for model in evidence.models:
        asked, got = [], []
        for parameter, value in flat_parameters(model.asked):
            bound = {True: " at least\u00a0", False: " at most\u00a0", None: ": "}[at_least(model.model, parameter)]
            asked.append(tag("span", parameter_name(parameter), bound, _value(value), class_="line"))
        for parameter, value in flat_parameters(model.reached):
            reached = reached_text(model, value)
            got.append(tag("span", parameter_name(parameter), " =\u00a0", reached, class_="line"))
        summary = model_summary(model.model)
        summary = summary if evidence.people is None else in_people(summary)
        weakest = (_weakest(parameter, found) for parameter, found in (model.weakest or {}).items())
        cells = (model_head(model), join(*asked), join(*got), mark(model.holds, "yes", "no"))
        pairs.append((cells, join(summary, *(join(" ", each) for each in weakest))))
    warnings = [paragraph(tag("strong", "Warning: "), warning_sentence(each)) for each in evidence.warnings or ()]
    unknown = [
        paragraph(name_of(name), ": ", unknown_sentence(column.unknown))
        for name, column in evidence.columns.items()
        if isinstance(column, SensitiveFacts) and column.unknown is not None
    ]
    table = paired_table(caption, ["Model", "Required", "Reached", "Holds"], pairs)
    linked = any(column.role == "pseudonym" for column in evidence.columns.values())
    return [paragraph(_CLASS, _LINKED_CLASS if linked else ""), table, *unknown, *warnings]


def unknown_sentence(facts: Mapping[str, Any]) -> str:
    """How many values of a sensitive column are unknown, and what its classes show under both readings."""
    records, total = facts["records"], facts["records"] + facts["known_records"]
    reading = "The policy counts unknown values." if facts["counted"] else "Unknown values do not count."
    said = f"unknown in {number(records)} of {pluralize(total, 'record')}. {reading}"
    if facts["classes_without_known"]:
        said += f" In {pluralize(facts['classes_without_known'], 'class')}, nothing is known."
    values, single = pluralize(facts["fewest_values"], "value"), pluralize(facts["single_value_records"], "record")
    said += f" The least varied class has {values} ({facts['fewest_values_if_counted']} counting unknown ones)."
    with_unknown = f"({number(facts['single_value_records_if_counted'])} counting unknown ones)"
    return f"{said} Classes with a single value reveal it for {single} {with_unknown}."


def model_head(model: ModelFacts) -> Markup:
    """A model by its title and the column it is on."""
    title = model_title(model.model)
    return join(title, " on ", name_of(model.sensitive)) if model.sensitive is not None else join(title)


def reached_text(model: ModelFacts, value: object) -> str:
    """What a model reaches; a figure that misses its limit by little must not look equal to it."""
    return _value(value) if model.holds or value is None else repr(value)


def _value(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "no limit" if value is None else "yes" if value else "no"
    return number(value) if isinstance(value, (int, float)) else str(value)


def _weakest(parameter: str, weakest: WeakestClass) -> Markup:
    """The class that satisfies a parameter least, by the labels that everybody sees in the release."""
    cells = ((name_of(column), MISSING if label is None else label) for column, label in weakest.labels.items())
    labels = join(*(join(column, " ", name_of(label)) for column, label in cells), between="; ")
    alike = f", one of {number(weakest.classes)} as weak" if weakest.classes > 1 else ""
    size = f": a class of {records_and_people(weakest.size, weakest.people)}{alike} – "
    return tag("span", "Weakest by ", parameter_name(parameter), size, labels, ".", class_="line")


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


def parameter_name(parameter: str) -> Markup:
    """A parameter as the papers write it; ``alpha[HIV]`` is α of HIV."""
    name, bracket, rest = parameter.partition("[")
    greek = _GREEK.get(name, name)
    return join(greek, " of ", name_of(rest.removesuffix("]"))) if bracket else join(greek)
