"""Attacks in words: who tried what, what came of it, and what helps, made from an `AttackResult`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from shoal.attacks.attack import AttackResult
from shoal.attacks.battery import ATTACKS
from shoal.formatting import listing, number, percent, pluralize
from shoal.present.column_attacks import (
    chance_of_linking,
    columns,
    exposed_records,
    homogeneity_insensitive,
    identifying_secret,
)
from shoal.present.people import in_people, people_phrase

Details = Mapping[str, Any]

COMPOSITION_ASSUMPTION = (
    "This assumes that the person is in this release and in the earlier ones, that the attacker knows it, and that the "
    "sensitive value has not changed in between. An attacker who does not know that the person is in both learns only "
    "what each release reveals alone."
)
COUNTED_IN_RECORDS = (
    "The models count people. Attacks without a number of people treat every record as a different person."
)
_NOT_MADE = {
    "needs-original": "it needs the original, which was not given",
    "columns-not-compared": "the table is too large to compare its insensitive columns in memory",
    "no-earlier-release": "no earlier release was given",
    "unreadable-labels": "{unreadable}",
    "no-sensitive-column": "the policy names no sensitive column",
    "no-other-column": "no other column is released besides the quasi-identifiers",
    "nothing-hidden": "every released value is the original one",
    "no-insensitive-column": "the policy releases no insensitive column",
    "no-categories": "{column} declares no categories",
    "not-numbers": "{column} is not published as numbers",
    "nothing-known": "no released record has a known value of {column}",
    "one-value": "{column} does not have two values that labels could tell apart",
    "secrets-not-read": "the algorithm does not look at {column}, so who has which value does not change the release",
    "people-counted": "the models count people, and the table is too large to run the algorithm on every alternative",
    "records-linked": "pseudonyms link records, which the attack does not support",
    "too-many-beliefs": "there are too many different people and values of {column} to compare all of them",
    "too-large-to-run-again": "the algorithm would have to be run many times, which takes too long for this table",
    "not-reproduced": "this version of the program makes a different release from the original",
    "refined": "a release that was improved for a number of seconds cannot be made again exactly",
    "key-unknown": "only the run that made the release, or its owner, has the key that conceals its choices",
    "unexplained": "people who were left out have values that the release does not show",
    "not-range-method": "the policy does not use the range method",
    "labels-chosen-earlier": "the records took the labels of an earlier release, which were not chosen for them",
    "nothing-chosen": "the algorithm has one result and chooses nothing",
    "choices-not-declared": "the algorithm does not declare what its labels mean",
    "maybe-coarsened": "only the run that made the release knows whether values were generalized before the search",
    "nothing-generalized": "no quasi-identifier is generalized",
    "only-ranges": "every quasi-identifier is released as ranges, whose labels do not nest",
    "not-published-earlier": "no earlier release publishes {column}",
    "classes-overlap": "labels overlap, so only the run that made the release knows the class of each record",
    "no-shared-columns": "the releases have no quasi-identifier in common",
}
"""For each reason why an attack was not made, a clause."""
_DECISIONS = "The decisions of the algorithm were examined one by one; somebody who combines them may find more."
_UNREADABLE = {
    "hierarchy-gone": "the policy no longer declares the {kind} of {column}",
    "labels-gone": "the {kind} of {column} no longer has {labels}",
    "categories-gone": "the policy no longer has the categories {labels} of {column}",
}
_CELLS_KNOWN = ("narrowed", "placed", "placed_by_labels")  # figures of the refinement attack, by column
_NOTES = {
    "entry-completed": "{release}: its run was stopped while the release was put in place. It counts as published.",
    "column-not-in-data": "{release}: the data has no {column}, so labels of that column were ignored.",
    "hierarchy-changed": "{release}: the {kind} of {column} has changed; labels are read by the current one.",
    "categories-changed": "{release}: the categories of {column} have changed; they are read by the current ones.",
}

_SMALLEST_SHOWN = 0.001


def declared(result: AttackResult, key: Literal["title", "attacker", "attempt", "baseline"]) -> str:
    """What an attack says of itself; of one that is not installed only the name is known."""
    attack = ATTACKS.get(result.name)
    if attack is None:
        return result.name if key == "title" else ""
    said = str(getattr(attack, key))
    return in_people(said) if attack.finds_people and result.people is not None else said


def success_phrase(result: AttackResult) -> str:
    """The share of successes against the baseline; nothing where the attack was not made."""
    if result.rate is None or result.baseline is None:
        return ""
    low, high = map(percent, result.interval or (0.0, 0.0))
    between = "" if result.interval is None else f" (95% interval {low} to {high})"
    known = f"baseline {percent(result.baseline)}: {declared(result, 'baseline')}"
    return f"Success {percent(result.rate)}{between}, {known}{_chance_phrase(result)}"


def _chance_phrase(result: AttackResult) -> str:
    """How probable it is that chance alone gives as much; nothing where that was not asked."""
    if result.p_value is None or not result.records:
        return ""
    return f"; chance alone finds as much with a probability of {_probability(result.p_value)}"


def _probability(p_value: float) -> str:
    return percent(p_value) if p_value >= _SMALLEST_SHOWN else f"less than {percent(_SMALLEST_SHOWN)}"


def exposed_phrase(result: AttackResult) -> str:
    """Who is exposed: ``3 of 120 records``, and the people where these are counted."""
    records = f"{result.records or 0:,} of {pluralize(result.of or 0, 'record')}"
    if result.people is None or result.of_people is None:
        return records
    return f"{records}, {result.people:,} of {people_phrase(result.of_people)}"


def whom_phrase(result: AttackResult, count: int) -> str:
    """A number of people with ``who``, or of records where these are not told apart by person: ``3 people who``."""
    return f"{pluralize(count, 'record')} that" if result.counted else f"{people_phrase(count)} who"


def verdict_sentence(result: AttackResult) -> str:
    """What came of an attack, or why it was not made."""
    if result.status != "tried":
        head = "Not tried" if result.status == "not tried" else "Does not apply"
        return f"{head}: {reason_clause(result)}."
    if result.name in _VERDICTS:
        return _VERDICTS[result.name](result, result.details)
    return f"{number(result.records or 0)} of {pluralize(result.of or 0, 'record')} are exposed."


def composition_notes(notes: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the reader should know about how labels of earlier releases were read."""
    return [_NOTES[note["code"]].format_map(note) for note in notes]


def by_severity(results: Sequence[AttackResult]) -> list[AttackResult]:
    """The attacks that were made: leaks before the rest, and of these the larger share of records first."""
    tried = [each for each in results if each.status == "tried"]
    return sorted(tried, key=lambda each: (not each.leak, -(each.records or 0) / (each.of or 1)))


def not_made_clause(code: str) -> str:
    """Why an attack was not made, by the code alone."""
    clause = _NOT_MADE.get(code, code)
    return "earlier releases can no longer be read" if "{unreadable}" in clause else clause


def reason_clause(result: AttackResult) -> str:
    """Why an attack was not made."""
    unreadable = []
    for facts in result.details.get("unreadable", ()):
        labels = listing([repr(label) for label in facts.get("labels", ())], 6)
        said = _UNREADABLE[facts["code"]].format_map({**facts, "labels": labels})
        unreadable.append(f"{facts['release']}: {said}" if "release" in facts else said)
    clause = _NOT_MADE.get(result.outcome, result.outcome)
    return clause.format(column=result.sensitive, unreadable="; ".join(unreadable))


def _homogeneity(result: AttackResult, details: Details) -> str:
    column, unprotected = result.sensitive, details["records_unprotected"]
    if result.leak:
        whom = "this person" if result.records == 1 else "these people"
        said = f"{_in_classes(result)} the same {column} as the rest of the class, which makes it certain for {whom}."
    elif result.outcome == "nothing":
        said = f"No class has only one value of {column}{' that the policy protects' if unprotected else ''}."
    else:
        said = f"Everybody has the same {column}, so the classes reveal nothing that the table as a whole does not."
    if unprotected:
        have = pluralize(unprotected, "record has", "records have")
        said += f" {have} a value that the policy does not protect and that fills the class."
    return said


def _similarity(result: AttackResult, details: Details) -> str:
    column = result.sensitive
    if result.outcome == "nothing":
        return f"No class has only one category of {column}."
    if not result.leak:
        return f"Everybody's {column} is of one category, so the classes reveal nothing that the table does not."
    category, records = next(iter(details["by_category"].items()))
    same = f"{_in_classes(result)} values of {column} in the same category as the rest of the class"
    return f"{same}, {number(records)} of them in {category!r}."


def _skewness(result: AttackResult, details: Details) -> str:
    if not result.leak and details["beyond_chance"]:
        gain = pluralize(round(100 * details["meaningful_gain"]), "percentage point")
        return f"Classes make values of {result.sensitive} more likely than chance explains, but by less than {gain}."
    if not result.leak:
        return f"No class makes a value of {result.sensitive} more likely than chance explains."
    if not details["largest_gains"]:
        return (
            f"No class stands out, but together they tell more than chance explains: on average, the true value of "
            f"{result.sensitive} makes up {percent(details['mean_belief'])} of a record's class, by chance "
            f"{percent(details['mean_belief_by_chance'])}. About {pluralize(result.records or 0, 'more record')} can "
            "be guessed right."
        )
    worst = details["largest_gains"][0]
    return (
        f"In {pluralize(result.classes or 0, 'class')} a value of {result.sensitive} is more frequent than chance "
        f"explains, which affects {pluralize(result.records or 0, 'record')}. The largest gain is for "
        f"{worst['value']!r}: {percent(worst['posterior'])} in its class, {percent(worst['prior'])} overall."
    )


def _proximity(result: AttackResult, details: Details) -> str:
    share, column = percent(details["narrow_share"]), result.sensitive
    if result.outcome == "nothing":
        return f"In no class do the numbers of {column} lie within {share} of their usual range."
    if not result.leak and result.baseline:
        return f"Everybody has the same {column}, so the classes reveal nothing that the table as a whole does not."
    worst = details["narrowest"]
    said = f"{_in_classes(result)} a {column} that the class narrows down to {share} of its usual range or less"
    if not result.leak:
        return f"{said}, which is no more than chance explains."
    return (
        f"{said}. In the narrowest class, of {pluralize(worst['records'], 'record')}, it goes from {worst['from']} to "
        f"{worst['to']}."
    )


def _background(result: AttackResult, details: Details) -> str:
    column = result.sensitive
    steps = {int(m): records for m, records in details["by_values_ruled_out"].items()}
    if result.outcome == "nothing":
        return f"Nobody's {column} is certain, even after ruling out {pluralize(max(steps), 'value')} for each person."
    if not result.leak and result.baseline:
        return f"{column} has so few values that ruling some out is enough even without the release."
    counts = ((pluralize(records, "record"), pluralize(m, "value")) for m, records in steps.items() if records)
    said = f"{column} is certain for {listing([f'{records} after ruling out {values}' for records, values in counts])}"
    if not result.leak:
        return f"{said}, which is no more than chance explains."
    said += "."
    if result.people is not None:
        ruled_out = pluralize(details["values_ruled_out"], "value")
        said += f" After ruling out {ruled_out}, these records belong to {people_phrase(result.people)}."
    return said


def _informed(result: AttackResult, details: Details) -> str:
    column, of = result.sensitive, pluralize(result.of or 0, "record")
    if details["method"] == "witnesses":
        share = percent(details["open_interval"][0])
        return (
            f"For {number(details['open'])} of {people_phrase(details['looked_at'])} picked at random, another "
            f"{column} would have led to the same release, so theirs is not certain (at least {share} of all people, "
            "with 95% confidence). For the others nothing was shown either way."
        )
    how = {"exact": "All possible originals were compared."}.get(details["method"], _DECISIONS)
    if details.get("unfollowed") or details.get("keys", 1) > 1:
        how = "The most probable originals were compared."
    if not result.leak:
        return f"Knowing how the release was made makes nobody's {column} certain or much more likely. {how}"
    said = f"Knowing how the release was made exposes the {column} of {number(result.records or 0)} of {of}"
    certain, left_out = result.certain or 0, details["suppressed_exposed"]
    parts = [f"{number(certain)} with certainty"] if certain else []
    parts += [f"{number(left_out)} of them left out of the release"] if left_out else []
    rise = (
        f"A true value becomes more likely by up to {number(round(100 * details['largest_rise']))} percentage points."
    )
    return f"{said}{', ' + listing(parts) if parts else ''}. {rise} {how}"


def _inversion(result: AttackResult, details: Details) -> str:
    names = listing(list(details["by_column"]))
    if result.leak:
        records = pluralize(result.records or 0, "record")
        return f"The exact {names} of {records} can be read off the ranges, so the ranges hide nothing."
    if details["safe"]:
        return f"All records of a group share one range of {names}, so nothing tells them apart."
    return f"No range of {names} reveals its value: no group shows three values or more."


def _downcoding(result: AttackResult, details: Details) -> str:
    said, show = "No label can be narrowed down by what the other records show.", ("record shows", "records show")
    if result.leak:
        names = listing(list(details["by_column"]))
        records = pluralize(result.records or 0, *show)
        said = f"{records} a label of {names} that can be narrowed down to a lower one."
    if apart := details["records_with_branches_without_people"]:
        hides = "a label that hides less than it seems to, since all people under it are in one branch."
        said += f" {pluralize(apart, *show)} {hides}"
    if left_out := details["columns_left_out_for_ranges"]:
        said += f" Not looked at: {listing(left_out)}, released as ranges, whose labels do not nest."
    return said


def _refinement(result: AttackResult, details: Details) -> str:
    columns, cells = details["by_column"].values(), pluralize(details["cells"], "generalized cell")
    narrowed, placed, by_labels = (sum(each[key] for each in columns) for key in _CELLS_KNOWN)
    if not result.leak:
        said = "The algorithm's choices say nothing certain about more precise values beyond what the labels say."
        if by_labels:
            said += f" For {number(by_labels)} of {cells} these say that a certain value occurs, but not whose it is."
        return said
    found = [f"rule out a more precise value for {number(narrowed)}"] if narrowed else []
    if placed:
        alone = f" (for {number(by_labels)} by the labels alone)" if by_labels else ""
        found.append(f"show for {number(placed)}{alone} that a more precise value occurs, but not whose it is")
    said = f"Of {cells}, the algorithm's choices {listing(found)}."
    if guesses := details["guesses"]["cells"]:
        said += f" For {number(guesses)} they rule out the value that is most frequent in the release."
    return said


def _linkage(result: AttackResult, details: Details) -> str:
    fewest, alone = details["fewest_candidates"], details["linked_with_certainty"]
    if not fewest:
        return "Nobody in the original fits a released record."
    links = f"{percent(result.rate or 0)} of the links would be right"
    if result.people is not None or result.counted:
        said = _linkage_of_records(result, details, fewest, links)
    elif result.leak or result.columns:
        people = pluralize(result.records or 0, "person fits", "people fit")
        only = f", {number(alone)} of them only one" if alone else ""
        said = f"{people} fewer than {number(details['k'])} records{only}; {links}."
        if result.columns:
            said = (
                f"To anybody who knows {listing(details.get('linked_by', result.columns))}, {said[0].lower()}{said[1:]}"
            )
    else:
        sample = f" in a random sample of {pluralize(details['people_looked_up'], 'person', 'people')}"
        whom = f"Everybody{sample if result.interval is not None else ''}"
        said = f"{whom} fits {number(fewest)} records or more; {links}."
    said += chance_of_linking(result, details)
    if details["matching_all_at_once"] in {"impossible", "too many pairs"}:
        said += " People were looked up one by one, not matched all at once."
    return said


def _events(result: AttackResult, details: Details) -> str:
    alone, before = (listing([number(each["singled_out"]) for each in details[key]]) for key in ("known", "before"))
    said = (
        f"Knowing one, two and three records of a person singles out {alone} of "
        f"{people_phrase(result.of_people or 0)}, respectively; in the original, {before} of "
        f"{number(details['people_before'])}."
    )
    if result.leak:
        left = people_phrase(result.people or 0)
        said += f" Three known records leave {left} among fewer than {number(details['k'])} people."
    elif result.people:
        left = f"{people_phrase(result.people)} among fewer than {number(details['k'])} people"
        said += f" Three known records leave {left}, but only because so few have as many records."
    else:
        said += f" Three known records leave everybody among at least {number(details['known'][-1]['fewest'])} people."
    if result.interval is not None:
        looked_at = people_phrase(details["known"][-1]["people_looked_at"])
        said += f" Estimated from a random sample of {looked_at}."
    return said


def _inference(result: AttackResult, details: Details) -> str:
    more = "That is more than chance explains." if result.leak else "That is no more than chance explains."
    if (result.rate or 0) <= details["base_rate"]:
        more = "Nothing is learned."
    return (
        f"{percent(result.rate or 0)} of the values of {result.sensitive} are guessed right by rules learned "
        f"from other records; always guessing the most frequent value gives {percent(details['base_rate'])}. {more}"
    )


def _composition(result: AttackResult, details: Details) -> str:
    column = result.sensitive
    if "at_least" in details:
        return (
            f"If the people were also in an earlier release, {column} is certain for at least "
            f"{pluralize(details['at_least'], 'record')} and at most {number(details['at_most'])}; only the original "
            "would tell exactly."
        )
    if "values_required" in details:
        together = f"Together with {pluralize(len(details['by_earlier_release']), 'earlier release')}"
        required = pluralize(details["values_required"], "value")
        if categories := details["categories_required"]:
            required += f" or {pluralize(categories, 'category', 'categories')}"
        if not result.records:
            return f"{together}, at least {required} of {column} are left for everybody who may be in several."
        whom = f"{number(result.records)} of {whom_phrase(result, result.of or 0)} may be in several"
        return f"{together}, fewer than {required} of {column} are left for {whom}."
    if not result.of:
        return "Nobody in the original fits both this release and an earlier one."
    releases = pluralize(details["earlier_releases"], "earlier release")
    whom = "nobody for whom"
    if result.leak:
        whom = (
            f"{pluralize(result.records or 0, 'record')} for which"
            if result.counted
            else (f"{people_phrase(result.records or 0)} for whom")
        )
    return f"Together with {releases}, {column} becomes certain for {whom} no release alone reveals it."


def _linkage_of_records(result: AttackResult, details: Details, fewest: int, links: str) -> str:
    """How many people, or else records, fit a record that is known of a person."""
    fitting = "records" if result.people is None else "people"
    if result.leak or result.columns:
        known = pluralize(result.records or 0, "record of the original", "records of the original")
        fit = "fits" if result.records == 1 else "fit"
        said = f"{known} {fit} fewer than {number(details['k'])} {fitting}"
        if result.people is not None:
            said = f"{people_phrase(result.people)} {'has' if result.people == 1 else 'have'} a record that fewer than "
            said += f"{number(details['k'])} people fit"
        said = f"{said}; {links}."
        return (
            f"To anybody who knows {listing(details.get('linked_by', result.columns))}: {said}"
            if result.columns
            else said
        )
    sample = " of a random sample" if result.interval is not None else ""
    return f"Whichever record{sample} is known, {number(fewest)} {fitting} or more fit it; {links}."


def _in_classes(result: AttackResult) -> str:
    """``3 records in 2 classes have``, or ``3 records of 2 people in 2 classes have``."""
    records, classes = exposed_records(result), pluralize(result.classes or 0, "class")
    return f"{records} in {classes} {'has' if result.records == 1 else 'have'}"


_VERDICTS: dict[str, Callable[[AttackResult, Details], str]] = {
    "homogeneity": _homogeneity, "homogeneity-insensitive": homogeneity_insensitive, "similarity": _similarity,
    "skewness": _skewness, "proximity": _proximity, "background": _background, "informed": _informed,
    "inversion": _inversion, "downcoding": _downcoding, "refinement": _refinement, "linkage": _linkage,
    "linkage-insensitive": _linkage,
    "columns": columns, "undone": columns, "identifying-secret": identifying_secret, "inference": _inference,
    "composition": _composition, "events": _events,
}  # fmt: skip
