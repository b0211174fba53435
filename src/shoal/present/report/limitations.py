"""What is not protected, whatever the policy requires: the limits of the models, and the columns as released."""

from shoal.evidence.evidence import Evidence, SensitiveFacts
from shoal.formatting import pluralize
from shoal.present.html.markup import Markup, bullets, join, name_of, names_of, paragraph, table, tag

_RELEASED_AS = {
    "identifier": "not released",
    "pseudonym": "as a pseudonym, made with a key",
    "quasi": "generalized",
    "insensitive": "unchanged",
}
_PUBLISHED = {
    "values": "values, unchanged",
    "categories": "categories instead of values",
    "both": "values and their categories",
    "bins": "bins instead of numbers",
}
_SEVERAL_RECORDS = "Several records of one person."
_NOT_PROTECTED = {
    _SEVERAL_RECORDS: (
        "The models count records, not people. If a person has several records, a class of k records may hold "
        "fewer than k people, perhaps only one. Classes count people only if the table has one row per person, or if "
        "the policy names the column that tells people apart (person)."
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
_WITH_PEOPLE = (
    "The models count people, but they look at one class at a time. Someone who knows several records of a "
    "person, say two visits, may find that only few people are in all of their classes."
)
_WITH_EVENTS = (
    "Someone who knows more than {events} records of a person may find that fewer than k people are in all of their "
    "classes."
)
_WITH_PSEUDONYM = (
    "The pseudonym links all records of a person, and the models hold for them together. It also links what the models "
    "do not look at: insensitive values of several records may together single a person out."
)
_LINKED = (
    ". It shows which records belong to the same person, so people hide among those with the same records: a linked "
    "class. The models hold for all records of these people together. Whoever has the key can work out everybody's "
    "pseudonym; tables that are released with the same key can be joined by it, and the models look at this one only."
)


def limitations_section(evidence: Evidence) -> list[Markup]:
    """What the models do not protect from, and the columns."""
    of_role: dict[str, list[str]] = {"sensitive": [], "insensitive": [], "identifier": []}
    rows = []
    for name, column in evidence.columns.items():
        of_role.setdefault(column.role, []).append(name)
        released = _PUBLISHED[column.published] if isinstance(column, SensitiveFacts) else _RELEASED_AS[column.role]
        if isinstance(column, SensitiveFacts) and column.spellings_merged:
            merged, records = (
                pluralize(column.spellings_merged, "spelling"),
                pluralize(column.records_merged or 0, "record"),
            )
            released += f"; {merged} merged into other values ({records})"
        if column.role == "quasi" and (evidence.levels or {}).get(name) == 0:
            released = "not generalized (level 0)"
        if column.relative is not None:
            since = "the person's first" if column.relative == "first" else f"that in {column.relative}"
            released += f"; in days since {since}"
        rows.append((name_of(name), "quasi-identifier" if column.role == "quasi" else column.role, released))
    watched = {model.sensitive for model in evidence.models}
    open_columns = [
        join(tag("strong", "No model on ", name_of(name), "."), " A class may reveal the value of this column.")
        for name in of_role["sensitive"]
        if name not in watched
    ]
    not_protected = _NOT_PROTECTED
    if evidence.people is not None:
        not_protected = _NOT_PROTECTED | {_SEVERAL_RECORDS: _several_records(evidence, "pseudonym" in of_role)}
    always = [join(tag("strong", short), " ", sentence) for short, sentence in not_protected.items()]
    parts = [
        paragraph("The models limit what the quasi-identifiers reveal. They do not make a release harmless."),
        bullets([*open_columns, *always]),
        tag("h3", "Columns"),
        table("The columns of the policy.", ["Column", "Role", "Released"], rows),
    ]
    if as_is := of_role["insensitive"]:
        recognized = ". Make sure that nobody can be recognized by them: the classes do not take them into account."
        parts.append(paragraph("Released unchanged (insensitive): ", names_of(as_is), recognized))
    else:
        parts.append(paragraph("No insensitive column is released."))
    if identifiers := of_role["identifier"]:
        parts.append(paragraph("Not released (identifiers): ", names_of(identifiers), "."))
    if linked := of_role.get("pseudonym"):
        parts.append(paragraph("Released as a pseudonym: ", names_of(linked), _LINKED))
    if evidence.not_named:
        parts.append(paragraph("Not released (not named in the policy): ", names_of(evidence.not_named), "."))
    else:
        parts.append(paragraph("The policy names every column of the data."))
    return parts


def _several_records(evidence: Evidence, linked: bool) -> str:
    """What several records of a person reveal although the models count people."""
    events = max((model.asked["events"] for model in evidence.models if model.model == "known-events"), default=1)
    return _WITH_PSEUDONYM if linked else _WITH_EVENTS.format(events=events) if events > 1 else _WITH_PEOPLE
