"""Attacks by single columns in words: which column reveals what, and what chance explains of it."""

from collections.abc import Mapping
from typing import Any

from shoal.attacks.attack import AttackResult
from shoal.formatting import listing, number, percent, pluralize
from shoal.present.people import people_phrase

Details = Mapping[str, Any]


def homogeneity_insensitive(result: AttackResult, details: Details) -> str:
    """What insensitive columns make certain."""
    more = details["records_in_mixed_classes"]
    if not result.columns:
        return f"No insensitive column makes {result.sensitive} certain for anybody whose class does not do so already."
    chance = f"{_rounded(details['expected_by_chance'])} expected by chance"
    if not result.leak:
        return (
            f"Knowing {listing(result.columns)} as well makes {result.sensitive} certain for "
            f"{pluralize(more, 'more record')}, no more than chance explains ({chance})."
        )
    return (
        f"To anybody who knows {listing(result.columns)}, {result.sensitive} is certain for "
        f"{exposed_records(result)}, {number(more)} of them in classes with other values too ({chance})."
    )


def columns(result: AttackResult, details: Details) -> str:
    """What other columns tell of a secret, or of what generalization hides."""
    secret = details.get("hidden", result.sensitive)
    if not result.leak:
        columns = f"None of the {number(details['columns_tested'])} other columns tells"
        if details["columns_tested"] == 1:
            columns = "The only other column does not tell"
        what = (
            f"{secret}"
            if "hidden_columns" not in details
            else f"what is hidden of {listing(details['hidden_columns'])}"
        )
        return f"{columns} {what} better than chance explains."
    names, few = listing(result.columns or ()), len(result.columns or ()) == 1
    guessed = f"{percent(result.rate or 0)} of the guesses are right, {percent(result.baseline or 0)} by chance"
    said = f"{names} {'gives' if few else 'give'} away {secret}"
    if details["guessed"] == "categories":
        said = f"{names} {'gives' if few else 'give'} away the category of {secret}"
    elif details["guessed"] == "tenths":
        said = f"{names} {'narrows' if few else 'narrow'} {secret} down to a tenth of the records"
    if "hidden" in details:
        said += " as it was before it was generalized"
    if result.certain:
        said += (
            f": it is certain for {pluralize(result.certain, 'record')} ({_rounded(details['certain_by_chance'])} by "
        )
        said += "chance)"
    said += f"; {guessed}."
    if further := details.get("further_columns"):
        names = listing([" with ".join(each) for each in further], 6)
        said += f" So do {pluralize(len(further), 'further column')}: {names}."
    return said


def identifying_secret(result: AttackResult, _details: Details) -> str:
    """Whether a sensitive column is a key to the records."""
    unique = f"{number(result.records or 0)} of {pluralize(result.of or 0, 'value')} of {result.sensitive}"
    occur = "occurs" if result.records == 1 else "occur"
    if result.leak:
        return f"{unique} {occur} once, so whoever knows a person's value finds the record and everything in it."
    if result.outcome == "nothing":
        return f"Every value of {result.sensitive} occurs several times."
    return f"{unique} {occur} once, too few for {result.sensitive} to identify records."


def chance_of_linking(result: AttackResult, details: Details) -> str:
    """What chance explains of linking by insensitive columns, and which other columns narrow people down."""
    said = ""
    if "expected_by_chance" in details:
        said = f" If its values were shuffled at random, there would be {_rounded(details['expected_by_chance'])}"
        said += "." if result.leak else ", so chance explains it. The release relies on nobody knowing the column."
    others = {
        name: each for name, each in details.get("by_column", {}).items() if name not in details.get("linked_by", ())
    }
    if others:
        found = [f"{name} ({number(each['records'])})" for name, each in others.items()]
        left = len(result.columns or ()) - len(others) - 1
        said += f" Other columns that do so: {listing([*found, *([f'{number(left)} more'] if left > 0 else [])])}."
    if not result.records and details.get("by_all_columns"):
        columns = pluralize(details["insensitive_columns"], "insensitive column")
        said += f" Knowing all {columns} would leave {number(details['by_all_columns'])} among fewer."
    return said


def _rounded(expected: float) -> str:
    """A number of records that is an average."""
    return number(round(expected)) if expected >= 10 or not expected else f"{expected:.1f}"


def exposed_records(result: AttackResult) -> str:
    """``3 records``, and of how many people where these are counted."""
    records = pluralize(result.records or 0, "record")
    return records if result.people is None else f"{records} of {people_phrase(result.people)}"
