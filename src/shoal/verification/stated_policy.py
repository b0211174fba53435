"""The policy as the verifier reads it: plain data, with every default filled in, by a reader of its own.

`shoal.policy` reads and checks policy files; what it hands over here is the mapping that a complete policy file would
have. Nothing else of it is used, so that no mistake in a model, a hierarchy or a search can hide itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.verification.canonical_text import Label

if TYPE_CHECKING:
    from shoal.policy import Policy


@dataclass(frozen=True)
class StatedColumn:
    """A column as the policy states it."""

    role: str
    hierarchy: Mapping[str, Any]  # the kind of the hierarchy with its declaration; empty where none is declared
    boundary: int | list[Label] | None  # A level, or labels
    categories: Mapping[str, list[Label]]  # the values of each category, the most sensitive first
    publish: str  # of a sensitive column: ``values``, ``categories``, ``both`` or ``bins``
    read_as: Mapping[str, str]  # spellings of sensitive values, each with the value that stands for it
    different: Sequence[Sequence[str]]  # values that differ although their spellings are alike
    relative: str | None  # of a date that is released as days: ``first``, or the column that they count from
    bins: float | list[float] | None  # of a sensitive column: the width of its bins, or the points between them
    unknown: Collection[Label]  # sensitive values that say nothing; a missing one too, unless the policy counts them


@dataclass(frozen=True)
class StatedTable:
    """One of several tables that are released together."""

    columns: tuple[str, ...]  # those of the policy that it has
    join: Mapping[str, str]  # columns of it, each with the table that it is looked up in


@dataclass(frozen=True)
class StatedPolicy:
    """What a release must satisfy."""

    columns: Mapping[str, StatedColumn]
    privacy: tuple[Mapping[str, Any], ...]  # each model with its parameters
    ranges: Mapping[str, Mapping[str, Any] | None]
    """The quasi-identifiers that may be released as ranges, with what divides them; None for ranges of numbers."""
    suppression: float  # the largest share of records that may be left out
    suppressed: str  # ``drop``, or ``star`` where suppressed records are rows of ``*``
    folder: Path
    person: tuple[str, ...] = ()  # the columns that say who a record is about; then models count people
    events: int = 1  # records of a person that somebody may know and still k people fit
    tables: Mapping[str, StatedTable] = field(default_factory=dict)  # empty where there is one table

    @property
    def pseudonym(self) -> str | None:
        """The column that is released as a pseudonym, if one is."""
        return next(iter(self.names("pseudonym")), None)

    def names(self, role: str) -> list[str]:
        """The columns of a role, in the policy's order."""
        return [name for name, column in self.columns.items() if column.role == role]


def stated(policy: Policy) -> StatedPolicy:
    """A policy as the verifier reads it: of the object only its plain data, and its folder."""
    document = policy.complete()
    return StatedPolicy(
        {name: _column(column) for name, column in document["columns"].items()},
        tuple(document["privacy"]),
        _ranges((document.get("algorithm") or {}).get("ranges")),
        document["suppression"],
        document["suppressed"],
        policy.path(""),
        _person(document.get("person")),
        (document.get("person") or {}).get("events", 1),
        {
            name: StatedTable(tuple(each["columns"]), each.get("join") or {})
            for name, each in (document.get("tables") or {}).items()
        },
    )


def _person(stated: Any) -> tuple[str, ...]:
    if stated is None:
        return ()
    columns = stated["column"]
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _ranges(stated: Any) -> dict[str, Mapping[str, Any] | None]:
    """A list of columns, or what is said of each of some."""
    said = stated if isinstance(stated, Mapping) else dict.fromkeys(stated or ())
    return {name: form if isinstance(form, Mapping) else None for name, form in said.items()}


def _column(content: Mapping[str, Any]) -> StatedColumn:
    kinds = content.get("hierarchy") or {}
    return StatedColumn(
        content["role"],
        {kind: declared for kind, declared in kinds.items() if declared is not None},
        content.get("boundary"),
        content.get("categories") or {},
        content.get("publish") or "values",
        _read_as(content.get("same") or {}),
        content.get("different") or (),
        content.get("relative"),
        content.get("bins"),
        () if content.get("unknown_counts") else (None, *(content.get("unknown") or ())),
    )


def _read_as(same: Mapping[str, Sequence[str]]) -> dict[str, str]:
    found = {}
    for value, spellings in same.items():
        for spelling in spellings:
            if spelling != value:
                found[spelling] = value
    return found
