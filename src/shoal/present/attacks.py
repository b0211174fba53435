"""Attacks in words: who tried what, what came of it, and what helps, made from an `AttackResult`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from shoal.attacks.attack import AttackResult
from shoal.attacks.battery import ATTACKS
from shoal.formatting import listing, number, percent, pluralize
from shoal.models import MODELS

COMPOSITION_ASSUMPTION = (
    "This assumes that the person is in this release and in the earlier ones, that the attacker knows it, and that the "
    "sensitive value has not changed in between. An attacker who does not know that the person is in both learns only "
    "what each release reveals alone."
)
_NOT_MADE = {
    "needs-original": "it needs the original, which was not given",
    "columns-not-compared": "at this size insensitive columns are released without being compared in memory",
    "no-earlier-release": "no earlier release was given",
    "unreadable-labels": "{unreadable}",
    "no-sensitive-column": "the policy names no sensitive column",
    "no-insensitive-column": "the policy releases no insensitive column",
    "no-categories": "{column} declares no categories",
    "one-value": "{column} does not have two values that labels could tell apart",
    "not-least-general": "the algorithm does not promise a least general node, so its choices prove nothing",
    "no-sensitive-model": "no model is on a sensitive column, so k explains every level",
    "records-suppressed": "records are suppressed, which explains why less general nodes would not do",
    "not-one-node": "the release is not one full-domain node of the original",
    "not-range-method": "the policy does not use the range method",
    "only-ranges": "every quasi-identifier is released as ranges, whose labels do not nest",
    "not-published-earlier": "no earlier release publishes {column}",
    "no-shared-columns": "the releases have no quasi-identifier in common",
}
"""For each reason why an attack was not made, a clause."""
_UNREADABLE = {
    "hierarchy-gone": "the policy no longer declares the {kind} of {column}",
    "labels-gone": "the {kind} of {column} no longer has {labels}",
    "categories-gone": "the policy no longer has the categories {labels} of {column}",
}
_NOTES = {
    "column-not-in-data": "{release}: the data has no {column}, so labels of that column were ignored.",
    "hierarchy-changed": "{release}: the {kind} of {column} has changed; labels are read by the current one.",
    "categories-changed": "{release}: the categories of {column} have changed; they are read by the current ones.",
}


def declared(result: AttackResult, key: Literal["title", "attacker", "attempt", "baseline", "remedy"]) -> str:
    """What an attack says of itself; of one that is not installed only the name is known."""
    attack = ATTACKS.get(result.name)
    return str(getattr(attack, key)) if attack is not None else result.name if key == "title" else ""


def remedy_sentence(result: AttackResult) -> str:
    """What makes a release less open to the attack, and the models that are made to stop it."""
    models = [model.title for model in MODELS.values() if result.name in model.stops]
    return declared(result, "remedy") + (f" Models made to stop it: {listing(models)}." if models else "")


def success_phrase(result: AttackResult) -> str:
    """The share of successes against the baseline; nothing where the attack was not made."""
    if result.rate is None or result.baseline is None:
        return ""
    low_high = result.interval
    between = "" if low_high is None else f" (95% interval {percent(low_high[0])} to {percent(low_high[1])})"
    return (
        f"Success {percent(result.rate)}{between}, baseline {percent(result.baseline)}: {declared(result, 'baseline')}"
    )


def verdict_sentence(result: AttackResult) -> str:
    """What came of an attack, or why it was not made."""
    if result.status != "tried":
        head = "Not tried" if result.status == "not tried" else "Does not apply"
        return f"{head}: {reason_clause(result)}."
    return _VERDICTS.get(result.name, _figures)(result, result.sensitive or "", result.details)


def composition_notes(notes: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the reader should know about how labels of earlier releases were read."""
    return [_NOTES[note["code"]].format_map(note) for note in notes]


def by_severity(results: Sequence[AttackResult]) -> list[AttackResult]:
    """The attacks that were made: leaks before the rest, and of these the larger share of records first."""
    tried = [each for each in results if each.status == "tried"]
    return sorted(tried, key=lambda each: (not each.leak, -(each.records or 0) / (each.of or 1)))


def reason_clause(result: AttackResult) -> str:
    """Why an attack was not made."""
    unreadable = "; ".join(map(_unreadable, result.details.get("unreadable", ())))
    return _NOT_MADE.get(result.outcome, result.outcome).format(column=result.sensitive, unreadable=unreadable)


def _unreadable(facts: Mapping[str, Any]) -> str:
    labels = listing([repr(label) for label in facts.get("labels", ())], 6)
    said = _UNREADABLE[facts["code"]].format_map({**facts, "labels": labels})
    return f"{facts['release']}: {said}" if "release" in facts else said


def _figures(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:  # noqa: ARG001 - see _VERDICTS
    """For an attack that this package has no words for."""
    return f"{number(result.records or 0)} of {pluralize(result.of or 0, 'record')} are exposed."


def _homogeneity(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:
    unprotected = details["records_unprotected"]
    if result.outcome == "nothing":
        said = f"No class has only one value of {column}{' that the policy protects' if unprotected else ''}."
    elif not result.leak:
        said = f"Everybody has the same {column}, so the classes reveal nothing that the table as a whole does not."
    else:
        said = (
            f"{_in_classes(result)} the same {column} as the rest of the class, which makes it certain for "
            f"{'this person' if result.records == 1 else 'these people'}."
        )
    if unprotected:
        said += f" {_has(unprotected, 'record')} a value that the policy does not protect and that fills the class."
    return said


def _homogeneity_insensitive(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:
    known = listing(details["columns"])
    if not result.leak:
        return f"Knowing {known} as well makes {column} certain for nobody whose class does not do so already."
    return (
        f"To anybody who knows {known}, {column} is certain for {pluralize(result.records or 0, 'record')}, "
        f"{number(details['records_in_mixed_classes'])} of them in classes with other values too."
    )


def _similarity(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:
    if result.outcome == "nothing":
        return f"No class has only one category of {column}."
    if not result.leak:
        return f"Everybody's {column} is of one category, so the classes reveal nothing that the table does not."
    category, records = next(iter(details["by_category"].items()))
    return (
        f"{_in_classes(result)} values of {column} in the same category as the rest of the class, "
        f"{number(records)} of them in {category!r}."
    )


def _skewness(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:
    if not result.leak:
        return f"No class makes a value of {column} more likely than chance explains."
    worst = details["largest_gains"][0]
    return (
        f"In {pluralize(result.classes or 0, 'class')} a value of {column} is more frequent than chance explains, "
        f"which affects {pluralize(result.records or 0, 'record')}. The largest gain is for {worst['value']!r}: "
        f"{percent(worst['posterior'])} in its class, {percent(worst['prior'])} overall."
    )


def _background(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:
    steps = {int(m): records for m, records in details["by_values_ruled_out"].items()}
    if result.outcome == "nothing":
        return f"Nobody's {column} is certain, even after ruling out {pluralize(max(steps), 'value')} for each person."
    if not result.leak:
        return f"{column} has so few values that ruling some out is enough even without the release."
    found = [f"{pluralize(records, 'record')} after ruling out {pluralize(m, 'value')}"
             for m, records in steps.items() if records]  # fmt: skip
    return f"{column} is certain for {listing(found)}."


def _minimality(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:  # noqa: ARG001 - on no column
    if result.leak:
        return (
            f"{_has(result.records, 'record', 'belongs', 'belong')} to a group that must have failed a model at a less "
            "general level, so the promise is known not to hold for it."
        )
    if all(found["explained_by_k"] for found in details["by_column"].values()):
        return "k explains every level that was released, so nothing follows about sensitive values."
    return "Several groups can have failed at each less general level, so it stays open which did."


def _inversion(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:  # noqa: ARG001 - on no column
    names = listing(list(details["by_column"]))
    if result.leak:
        records = pluralize(result.records or 0, "record")
        return f"The exact {names} of {records} can be read off the ranges, so the ranges hide nothing."
    if details["safe"]:
        return f"All records of a group share one range of {names}, so nothing tells them apart."
    return f"No range of {names} reveals its value: no group shows three values or more."


def _downcoding(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:  # noqa: ARG001 - on no column
    said = "No label can be narrowed down by what the other records show."
    if result.leak:
        names = listing(list(details["by_column"]))
        said = (
            f"{_has(result.records, 'record', 'shows', 'show')} a label of {names} that can be narrowed down to a "
            "lower one."
        )
    apart, left_out = details["records_with_branches_without_people"], details["columns_left_out_for_ranges"]
    if apart:
        said += (
            f" {_has(apart, 'record', 'shows', 'show')} a label that hides less than it seems to, since all people "
            "under it are in one branch."
        )
    if left_out:
        said += f" Not looked at: {listing(left_out)}, released as ranges, whose labels do not nest."
    return said


def _linkage(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:  # noqa: ARG001 - on no column
    fewest, k = details["fewest_candidates"], details["k"]
    if not fewest:
        return "Nobody in the original fits a released record."
    links = f"{percent(result.rate or 0)} of the links would be right"
    whom = "Everybody"
    if result.interval is not None:
        whom = f"Everybody in a random sample of {pluralize(details['people_looked_up'], 'person', 'people')}"
    if not result.leak:
        said = f"{whom} fits {number(fewest)} records or more; {links}."
    else:
        alone = details["linked_with_certainty"]
        people = _has(result.records, "person", "fits", "fit", "people")
        said = (
            f"{people} fewer than {number(k)} records{f', {number(alone)} of them only one' if alone else ''}; {links}."
        )
        if "columns" in details:
            said = f"To anybody who knows {listing(details['columns'])}, {said[0].lower()}{said[1:]}"
    if details["matching_all_at_once"] in {"impossible", "too many pairs"}:
        said += " People were looked up one by one, not matched all at once."
    return said


def _inference(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:
    return (
        f"{percent(result.rate or 0)} of the values of {column} are guessed right for records learnt from and "
        f"{percent(result.baseline or 0)} for others; always guessing the most frequent value gives "
        f"{percent(details['base_rate'])}. "
        + ("The difference comes from being in the release." if result.leak else "Being in the release makes no "
           "difference beyond chance.")
    )  # fmt: skip


def _composition(result: AttackResult, column: str, details: Mapping[str, Any]) -> str:
    if "at_least" in details:
        return (
            f"If the people were also in an earlier release, {column} is certain for at least "
            f"{pluralize(details['at_least'], 'record')} and at most {number(details['at_most'])}; only the original "
            "would tell exactly."
        )
    people = pluralize(result.of or 0, "person", "people")
    if "values_required" in details:
        together = f"Together with {pluralize(len(details['by_earlier_release']), 'earlier release')}"
        required = f"{pluralize(details['values_required'], 'value')}" + (
            f" or {pluralize(details['categories_required'], 'category', 'categories')}"
            if details["categories_required"]
            else ""
        )
        if not result.records:
            return f"{together}, at least {required} of {column} are left for everybody who may be in several."
        whom = f"{number(result.records)} of {people} who may be in several"
        return f"{together}, fewer than {required} of {column} are left for {whom}."
    releases = pluralize(details["earlier_releases"], "earlier release")
    if not result.of:
        return "Nobody in the original fits both this release and an earlier one."
    whom = pluralize(result.records or 0, "person", "people") if result.leak else "nobody"
    return f"Together with {releases}, {column} becomes certain for {whom} for whom no release alone reveals it."


def _in_classes(result: AttackResult) -> str:
    """``3 records in 2 classes have``."""
    records, classes = pluralize(result.records or 0, "record"), pluralize(result.classes or 0, "class")
    return f"{records} in {classes} {'has' if result.records == 1 else 'have'}"


def _has(count: int | None, noun: str, one: str = "has", many: str = "have", plural: str | None = None) -> str:
    """A count with its noun and verb: ``1 record has``, ``2 records have``."""
    return f"{pluralize(count or 0, noun, plural)} {one if count == 1 else many}"


_VERDICTS: dict[str, Callable[[AttackResult, str, Mapping[str, Any]], str]] = {
    "homogeneity": _homogeneity,
    "homogeneity-insensitive": _homogeneity_insensitive,
    "similarity": _similarity,
    "skewness": _skewness,
    "background": _background,
    "minimality": _minimality,
    "inversion": _inversion,
    "downcoding": _downcoding,
    "linkage": _linkage,
    "linkage-insensitive": _linkage,
    "inference": _inference,
    "composition": _composition,
}
