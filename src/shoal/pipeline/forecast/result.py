"""What a forecast says: plain facts first, each with a sentence that a person can read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shoal.hierarchies.hierarchy import Label
from shoal.search.diagnosis.relaxations import Relaxation

Verdict = Literal["reachable", "unreachable", "open"]
"""Whether a release exists; ``open`` where only a run tells."""


@dataclass(frozen=True)
class Reach:
    """How strong one parameter of a model can be."""

    parameter: str
    asked: float | None
    alone: float | None
    """The strongest value reached at the most general node if only this model were asked; None where no value is."""
    together: float | None
    """The same with all other models as asked."""
    at_least: bool
    """Whether a larger value is the stronger one."""
    proven: bool
    """Whether no release at all reaches more; else a less general one may."""

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "parameter": self.parameter,
            "asked": _finite(self.asked),
            "alone": _finite(self.alone),
            "together": _finite(self.together),
            "stronger_is": "larger" if self.at_least else "smaller",
            "proven": self.proven,
        }


@dataclass(frozen=True)
class BlockedClass:
    """A class of the most general release allowed that fails a model."""

    labels: Mapping[str, Label]
    """The labels that boundaries keep apart, by column; every other column is fully generalized."""
    records: int
    lacks: str

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {"labels": dict(self.labels), "records": self.records, "lacks": self.lacks}


@dataclass(frozen=True)
class BlockedColumn:
    """The values of one bounded column whose records fail a model, most records first."""

    column: str
    values: tuple[tuple[Label, int], ...]
    """Labels with the records that fail under each."""
    more_values: int
    more_records: int
    """How many values with how many records are not listed."""

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "column": self.column,
            "values": [{"label": label, "records": records} for label, records in self.values],
            "more_values": self.more_values,
            "more_records": self.more_records,
        }


@dataclass(frozen=True)
class ModelForecast:
    """One model of the policy: what of it can be reached, and what blocks."""

    model: str
    sensitive: str | None
    alone: Verdict
    reaches: tuple[Reach, ...]
    failing_classes: int
    failing_records: int
    suppressed: int | None
    """Records left out at the most general node for this model alone; None where leaving out does not help."""
    examples: tuple[BlockedClass, ...]
    columns: tuple[BlockedColumn, ...]
    table_lacks: str | None
    """What the most general release as a whole lacks where every class of it holds; None where it lacks nothing."""
    sentences: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "model": self.model,
            "sensitive": self.sensitive,
            "alone": self.alone,
            "reaches": [each.to_dict() for each in self.reaches],
            "failing_classes": self.failing_classes,
            "failing_records": self.failing_records,
            "suppressed": self.suppressed,
            "examples": [each.to_dict() for each in self.examples],
            "columns": [each.to_dict() for each in self.columns],
            "table_lacks": self.table_lacks,
            "sentences": list(self.sentences),
        }


@dataclass(frozen=True)
class Facts:
    """What the table is like before anything is done."""

    records: int
    tuples: int
    """Different combinations of quasi-identifiers."""
    unique: int
    """Records that are the only ones with their combination."""
    lattice: int
    """Nodes of the lattice of full-domain recodings, boundaries counted."""
    levels: Mapping[str, int]
    """Levels of each quasi-identifier in it."""
    top_classes: int
    smallest_at_top: int
    """Records of the smallest class when everything is generalized as far as the boundaries allow."""
    may_suppress: int

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "records": self.records,
            "tuples": self.tuples,
            "unique": self.unique,
            "lattice": self.lattice,
            "levels": dict(self.levels),
            "top_classes": self.top_classes,
            "smallest_at_top": self.smallest_at_top,
            "may_suppress": self.may_suppress,
        }


@dataclass(frozen=True)
class Forecast:
    """What a policy can reach on a table, before it runs."""

    facts: Facts
    verdict: Verdict
    """Whether a release satisfies all models together, whichever algorithm looks for it."""
    by_algorithm: Verdict
    """Whether the policy's own algorithm finds one."""
    models: tuple[ModelForecast, ...]
    suppressed: int | None
    """Records left out at the most general node for all models together; None where leaving out does not help."""
    relaxations: tuple[Relaxation, ...]
    """Single changes that were tried and make a release possible; empty where nothing need change."""
    sentences: tuple[str, ...]
    """The whole in words, the most important first."""

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """The forecast as plain data, ready for JSON."""
        return {
            "facts": self.facts.to_dict(),
            "verdict": self.verdict,
            "by_algorithm": self.by_algorithm,
            "models": [each.to_dict() for each in self.models],
            "suppressed": self.suppressed,
            "relaxations": [each.to_dict() for each in self.relaxations],
            "sentences": list(self.sentences),
        }


def _finite(value: float | None) -> float | int | None:
    if value is None or not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else value
