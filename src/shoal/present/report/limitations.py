"""What is not protected, whatever the policy requires: the limits of the models, and the columns as released."""

from __future__ import annotations

from shoal.evidence.evidence import Evidence, SensitiveFacts
from shoal.present.html.markup import Markup, bullets, join, name_of, names_of, paragraph, row, table, tag

_ROLES = {
    "identifier": "identifier",
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}

_RELEASED_AS = {"identifier": "not released", "quasi": "generalized", "insensitive": "unchanged"}

_PUBLISHED = {
    "values": "values, unchanged",
    "categories": "categories instead of values",
    "both": "values and their categories",
}

_NOT_PROTECTED = {
    "Several records of one person.": (
        "The models count records, not people. If a person has several records, a class of k records may hold "
        "fewer than k people, perhaps only one. Classes count people only if the table has one row per person."
    ),
    "Knowledge from elsewhere.": (
        "Someone who knows more about a person than the quasi-identifiers (a date of admission, a relative's "
        "illness, an answer that can be ruled out) may narrow down a class further than the figures say."
    ),
    "Likely guesses.": (
        "A class with several sensitive values can still make one of them much more likely than the others. Only "
        "models on sensitive columns limit this, and only as far as their limits go."
    ),
    "Presence.": (
        "The models do not hide whether a person is in the table. If being in it is itself sensitive, that is not "
        "protected."
    ),
    "Other releases.": (
        "Two releases about the same people, each safe alone, can be joined. The models look at this one only."
    ),
    "Wrong roles.": (
        "A column by which people can be recognized, but which the policy does not declare as a quasi-identifier, "
        "is not generalized, and the classes do not take it into account."
    ),
    "General patterns.": (
        "What the table shows about groups (a region, an age band) is true of the people in these groups, whether "
        "or not their records are in it."
    ),
}
"""What the models do not protect from, whichever are required: in short, and in a sentence."""


def limitations_section(evidence: Evidence) -> list[Markup]:
    """What the models do not protect from, and the columns."""
    watched = {model.sensitive for model in evidence.models}
    unwatched = [name for name in _of_role(evidence, "sensitive") if name not in watched]
    open_columns = [
        join(tag("strong", "No model on ", name_of(name), "."), " A class may reveal the value of this column.")
        for name in unwatched
    ]
    always = [join(tag("strong", short), " ", sentence) for short, sentence in _NOT_PROTECTED.items()]
    lead = "The models limit what the quasi-identifiers reveal. They do not make a release harmless."
    return [paragraph(lead), bullets([*open_columns, *always]), tag("h3", "Columns"), *_columns(evidence)]


def _of_role(evidence: Evidence, role: str) -> list[str]:
    return [name for name, column in evidence.columns.items() if column.role == role]


def _columns(evidence: Evidence) -> list[Markup]:
    rows = [
        row(name_of(name), _ROLES[column.role], _released(evidence, name)) for name, column in evidence.columns.items()
    ]
    said = [paragraph("No insensitive column is released.")]
    if as_is := _of_role(evidence, "insensitive"):
        recognized = ". Make sure that nobody can be recognized by them: the classes do not take them into account."
        said = [paragraph("Released unchanged (insensitive): ", names_of(as_is), recognized)]
    if identifiers := _of_role(evidence, "identifier"):
        said.append(paragraph("Not released (identifiers): ", names_of(identifiers), "."))
    if evidence.not_named:
        said.append(paragraph("Not released (not named in the policy): ", names_of(evidence.not_named), "."))
    else:
        said.append(paragraph("The policy names every column of the data."))
    return [table("The columns of the policy.", ["Column", "Role", "Released"], rows), *said]


def _released(evidence: Evidence, name: str) -> str:
    column = evidence.columns[name]
    if isinstance(column, SensitiveFacts):
        return _PUBLISHED[column.published]
    if column.role == "quasi" and (evidence.levels or {}).get(name) == 0:
        return "not generalized (level 0)"
    return _RELEASED_AS[column.role]
