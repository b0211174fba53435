"""What the release still tells: exposure in words, limits of the models, and the columns as released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.report.figures import counted, entries_of, is_number, number, part_of, share
from shoal.report.markup import Markup, join, listing, name_of, paragraph, row, table, tag
from shoal.report.words import NOT_PROTECTED, PUBLISHED, RELEASED_AS, ROLES
from shoal.report.yaml_like import yaml_like

_ATTACKS = {
    "homogeneity": ("value", "the same value"),
    "similarity": ("category", "values of one category"),
}
"""For each attack, what a class open to it gives away, and what its records have."""


def told_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """Exposure, what is not protected, columns."""
    return [
        tag("h3", "Classes that give a secret away"),
        *_exposure(evidence),
        tag("h3", "What these models do not protect from"),
        *_limits(evidence),
        tag("h3", "Columns"),
        *_columns(evidence),
    ]


def _exposure(evidence: Mapping[str, Any]) -> list[Markup]:
    exposure = part_of(evidence, "exposure")
    if not exposure:
        if "sensitive" in _roles(evidence).values():
            return [paragraph("The evidence holds no exposure figures for the sensitive columns.")]
        return [paragraph("The policy names no sensitive column, so there is nothing of this kind to count.")]
    items = []
    for name, attacks in exposure.items():
        if isinstance(attacks, Mapping):
            items += [_attack(evidence, str(name), str(attack), found) for attack, found in attacks.items()]
    return [listing(items)]


def _attack(evidence: Mapping[str, Any], column: str, attack: str, found: object) -> Markup:
    """One attack on one column in a sentence."""
    classes = found.get("classes") if isinstance(found, Mapping) else None
    records = found.get("records") if isinstance(found, Mapping) else None
    if not is_number(classes) or not is_number(records):
        return join(name_of(column), ", ", name_of(attack), f": {yaml_like(found).strip()}")
    count = f"{counted(records, 'record')} in {counted(classes, 'class')}"
    if attack not in _ATTACKS:
        return join(name_of(column), ", ", name_of(attack), f": {count}.")
    secret, shared = _ATTACKS[attack]
    if classes == 0:
        return join(f"No class has only one {secret} of ", name_of(column), f" ({attack} attack).")
    of_all = share(records, evidence.get("released"))
    part = f", {of_all} of those released," if of_all else ""
    verb = "has" if records == 1 else "have"
    hidden = " The release itself shows only categories of this column." if _hides(evidence, column, attack) else ""
    knows = f" throughout the class. Whoever knows a person's class there knows the {secret} ({attack} attack).{hidden}"
    return join(tag("strong", count), f"{part} {verb} {shared} of ", name_of(column), knows)


def _hides(evidence: Mapping[str, Any], column: str, attack: str) -> bool:
    """Whether the values that an attack would need are not released."""
    published = part_of(part_of(evidence, "columns"), column).get("published")
    return attack == "homogeneity" and published == "categories"


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
