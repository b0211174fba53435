"""What stays open whatever is asked: the limits of the models, and the columns as released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.present.html.markup import Markup, join, listing, name_of, paragraph, row, table, tag
from shoal.present.report.figures import entries_of, number, part_of
from shoal.present.report.words import NOT_PROTECTED, PUBLISHED, RELEASED_AS, ROLES


def told_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """What is not protected, and the columns."""
    return [
        tag("h3", "What these models do not protect from"),
        *_limits(evidence),
        tag("h3", "Columns"),
        *_columns(evidence),
    ]


def _limits(evidence: Mapping[str, Any]) -> list[Markup]:
    lead = "The models above limit what the quasi-identifiers give away. They do not make a release harmless."
    watched = {model.get("sensitive") for model in entries_of(evidence, "models")}
    unwatched = [name for name, role in _roles(evidence).items() if role == "sensitive" and name not in watched]
    asked = [
        join(tag("strong", "No model on ", name_of(name), "."), " A class may tell the value of this sensitive column.")
        for name in unwatched
    ]
    always = [join(tag("strong", short), " ", sentence) for short, sentence in NOT_PROTECTED]
    return [paragraph(lead), listing([*asked, *always])]


def _columns(evidence: Mapping[str, Any]) -> list[Markup]:
    columns, parts = part_of(evidence, "columns"), []
    if columns:
        levels = part_of(evidence, "levels")
        rows = [_column(name, column, levels) for name, column in columns.items() if isinstance(column, Mapping)]
        parts.append(table("The columns of the policy.", ["Column", "Role", "Released"], rows))
        as_is = [name for name, role in _roles(evidence).items() if role == "insensitive"]
        warning = ". Make sure that nobody can be recognized by them: the classes do not take them into account."
        kept = paragraph("Released as they are (insensitive): ", *_names(as_is), warning)
        parts.append(kept if as_is else paragraph("No insensitive column is released."))
    identifiers = [name for name, role in _roles(evidence).items() if role == "identifier"]
    if identifiers:
        parts.append(paragraph("Identifiers, removed: ", *_names(identifiers), "."))
    unnamed = evidence.get("not_named")
    if isinstance(unnamed, (list, tuple)):
        names = [str(name) for name in unnamed]
        text = ["Not named in the policy, so not released: ", *_names(names), "."]
        parts.append(paragraph(*text) if names else paragraph("The policy names every column of the data."))
    return parts


def _column(name: str, column: Mapping[str, Any], levels: Mapping[str, Any]) -> Markup:
    role = str(column.get("role"))
    released = RELEASED_AS.get(role, "")
    if role == "quasi" and levels.get(name) == 0:
        released = "not generalized (level 0)"
    if role == "sensitive":
        published = number(column.get("published"))
        released = PUBLISHED.get(published, published)
    return row(name_of(name), ROLES.get(role, role), released)


def _names(names: list[str]) -> list[Markup]:
    return [join(*(name_of(name) for name in names), between=", ")]


def _roles(evidence: Mapping[str, Any]) -> dict[str, str]:
    columns = part_of(evidence, "columns")
    return {name: str(column.get("role")) for name, column in columns.items() if isinstance(column, Mapping)}
