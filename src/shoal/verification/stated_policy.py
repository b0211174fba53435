"""The policy as the verifier reads it: plain data, with every default filled in, by a reader of its own.

`shoal.policy` reads and checks policy files; what it hands over here is the mapping that a complete policy file would
have. Nothing else of it is used, so that no mistake in a model, a hierarchy or a search can hide itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    publish: str
    """Of a sensitive column: ``values``, ``categories`` or ``both``."""


@dataclass(frozen=True)
class StatedPolicy:
    """What a release must satisfy."""

    columns: Mapping[str, StatedColumn]
    privacy: tuple[Mapping[str, Any], ...]
    """Each model with its parameters; ``sensitive`` where it is about sensitive columns."""
    ranges: frozenset[str]  # the quasi-identifiers that may be released as ranges of numbers
    suppression: float  # the largest share of records that may be left out
    suppressed: str
    """``drop``, or ``star`` where suppressed records are rows of ``*``."""
    folder: Path

    def names(self, role: str) -> list[str]:
        """The columns of a role, in the policy's order."""
        return [name for name, column in self.columns.items() if column.role == role]

    def path(self, relative: str) -> Path:
        """A path of the policy."""
        return self.folder / relative


def stated(policy: Policy) -> StatedPolicy:
    """A policy as the verifier reads it: of the object only its plain data, and its folder."""
    document = policy.complete()
    return StatedPolicy(
        {name: _column(column) for name, column in document["columns"].items()},
        tuple(document["privacy"]),
        frozenset((document.get("algorithm") or {}).get("ranges") or ()),
        document["suppression"],
        document["suppressed"],
        policy.path(""),
    )


def _column(given: Mapping[str, Any]) -> StatedColumn:
    kinds = given.get("hierarchy") or {}
    return StatedColumn(
        given["role"],
        {kind: declared for kind, declared in kinds.items() if declared is not None},
        given.get("boundary"),
        given.get("categories") or {},
        given.get("publish") or "values",
    )
