"""What is not protected, whatever the policy requires: the limits of the models, and the columns as released."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.evidence.evidence import Evidence, SensitiveFacts
from shoal.present.html.markup import Markup, bullets, join, name_of, names_of, paragraph, row, table, tag
from shoal.present.report.words import NOT_PROTECTED, PUBLISHED, RELEASED_AS, ROLES


def limitations_section(evidence: Evidence) -> list[Markup]:
    """What the models do not protect from, and the columns."""
    watched = {model.sensitive for model in evidence.models}
    unwatched = [name for name in _of_role(evidence, "sensitive") if name not in watched]
    open_columns = [
        join(tag("strong", "No model on ", name_of(name), "."), " A class may reveal the value of this column.")
        for name in unwatched
    ]
    always = [join(tag("strong", short), " ", sentence) for short, sentence in NOT_PROTECTED]
    lead = "The models limit what the quasi-identifiers reveal. They do not make a release harmless."
    return [paragraph(lead), bullets([*open_columns, *always]), tag("h3", "Columns"), *_columns(evidence)]


def _of_role(evidence: Evidence, role: str) -> list[str]:
    return [name for name, column in evidence.columns.items() if column.role == role]


def _columns(evidence: Evidence) -> list[Markup]:
    rows = [
        row(name_of(name), ROLES[column.role], _released(evidence, name)) for name, column in evidence.columns.items()
    ]
    as_is = _of_role(evidence, "insensitive")
    return [
        table("The columns of the policy.", ["Column", "Role", "Released"], rows),
        _listed(
            as_is,
            "Released unchanged (insensitive): ",
            "Make sure that nobody can be recognized by them: the classes do not take them into account.",
        )
        if as_is
        else paragraph("No insensitive column is released."),
        *([_listed(names, "Not released (identifiers): ")] if (names := _of_role(evidence, "identifier")) else []),
        _listed(evidence.not_named, "Not released (not named in the policy): ")
        if evidence.not_named
        else paragraph("The policy names every column of the data."),
    ]


def _listed(names: Sequence[str], head: str, tail: str = "") -> Markup:
    return paragraph(head, names_of(names), f". {tail}" if tail else ".")


def _released(evidence: Evidence, name: str) -> str:
    column = evidence.columns[name]
    if isinstance(column, SensitiveFacts):
        return PUBLISHED[column.published]
    if column.role == "quasi" and (evidence.levels or {}).get(name) == 0:
        return "not generalized (level 0)"
    return RELEASED_AS[column.role]
