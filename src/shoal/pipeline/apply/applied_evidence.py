"""The evidence of new records that were recoded by a published recoding.

It has the keys of every evidence. Its figures are those of the new records; ``applied`` says what they joined, what is
true of everything together, and why records are withheld - in counts, never in values. Where the earlier release is
withdrawn, the union is what is published: then models, sizes of classes, exposure and attacks are those of the union.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attacks.missing import company_if_missing_matches
from shoal.attacks.released_classes import released_scene, rows_of_release
from shoal.encode.result import Result
from shoal.evidence.describe import class_sizes, describe_exposure, describe_models
from shoal.formatting import pluralize
from shoal.models.base import Model
from shoal.pipeline.apply.encode_new import NewRecords
from shoal.pipeline.apply.published import Base
from shoal.policy import Policy
from shoal.search.extension.extend import Extension, ExtensionResult
from shoal.search.extension.published_classes import Groups, Perspective
from shoal.table.classes import ClassStats

_PLACES = 6
NO_CLASS = "no class"


@dataclass(frozen=True)
class Withheld:
    """Some records that are withheld for one reason."""

    reason: str
    """``value``, ``no class`` or ``model``."""
    records: int
    column: str | None = None
    what: str | None = None  # for an unreadable value: not in the hierarchy, or in no category
    values: int | None = None  # how many different values that is
    model: str | None = None
    sensitive: str | None = None
    together: bool | None = None
    """Whether the model would fail with the records published before; else by the new records alone."""
    classes: int | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    reached: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """For each parameter the least and the most that these classes would reach."""

    def to_dict(self) -> dict[str, Any]:
        """The reason as plain data, ready for JSON: what belongs to it, and its count."""
        if self.reason == "value":
            return {"reason": self.reason, "records": self.records, "column": self.column, "what": self.what,
                    "values": self.values}  # fmt: skip
        if self.reason == NO_CLASS:
            return {"reason": self.reason, "records": self.records}
        return {
            "reason": self.reason,
            "records": self.records,
            "classes": self.classes,
            "model": self.model,
            "sensitive": self.sensitive,
            "seen": "together" if self.together else "alone",
            "asked": dict(self.asked),
            "reached": {name: list(ends) for name, ends in self.reached.items()},
        }

    def __str__(self) -> str:
        """The reason in words, after the number of records."""
        if self.reason == "value":
            return f"a value of {self.column} that is {self.what} ({pluralize(self.values or 0, 'value')})"
        if self.reason == NO_CLASS:
            return "no published class covers their values"
        on = f" on {self.sensitive}" if self.sensitive else ""
        seen = "with the records published before" if self.together else "by the new records alone"
        return f"their class would fail {self.model}{on} {seen}"


def row_reasons(new: NewRecords, extended: ExtensionResult) -> NDArray[np.int64]:
    """A number for each record's reason: equal for equal reasons, -1 for a record that is released.

    Unreadable values come first, then records that no class covers, then models in the order of the policy.
    """
    models = {id(model): place for place, model in enumerate(new.resolved.problem.models)}
    base = len(new.unreadable)
    found = np.full(len(extended.row_class), -1, dtype=np.int64)
    withheld = extended.row_class < 0
    found[withheld] = base
    of_class = {each: base + 1 + 2 * models[id(why.model)] + why.together for each, why in extended.why.items()}
    judged = np.flatnonzero(withheld & (extended.tried >= 0))
    found[judged] = [of_class[each] for each in extended.tried[judged].tolist()]
    unreadable = new.reason >= 0
    found[unreadable] = new.reason[unreadable]
    return found


def withheld_reasons(new: NewRecords, extension: Extension, extended: ExtensionResult) -> Iterator[Withheld]:
    """Every reason with its records, in a fixed order."""
    reasons = row_reasons(new, extended)
    for place, each in enumerate(new.unreadable):
        if records := int(np.count_nonzero(reasons == place)):
            yield Withheld("value", records, column=each.column, what=each.what, values=each.values)
    base = len(new.unreadable)
    if records := int(np.count_nonzero(reasons == base)):
        yield Withheld(NO_CLASS, records)
    for place, model in enumerate(new.resolved.problem.models):
        for together in (False, True):
            rows = np.flatnonzero(reasons == base + 1 + 2 * place + together)
            if len(rows):
                classes = np.unique(extended.tried[rows]).astype(np.int64)
                every, stats = _stats(extension, extended.tried, together=together)
                yield Withheld(
                    "model",
                    len(rows),
                    model=model.name,
                    sensitive=model.column,
                    together=together,
                    classes=len(classes),
                    asked=describe_models([model], stats)[0]["asked"],
                    reached=_reached(model, stats, np.searchsorted(every, classes)),
                )


def _stats(
    extension: Extension, class_of: NDArray[np.int32], *, together: bool
) -> tuple[NDArray[np.int64], ClassStats]:
    """The classes that have records if the new ones join as given, and their statistics."""
    groups = Groups.of(class_of, extension.secrets, extension.domains)
    perspective = Perspective(groups, extension.before, extension.domains, together=together)
    classes = np.flatnonzero(perspective.sizes(groups.counts))
    return classes, perspective.stats(groups.counts, classes)


def _reached(model: Model, stats: ClassStats, places: NDArray[np.intp]) -> dict[str, tuple[float, float]]:
    """The least and the most that some classes reach in each parameter that is about classes."""
    found = {}
    for name, strength in model.strengths(stats.view(model.column)).items():
        finite = strength.per_class[places][np.isfinite(strength.per_class[places])]
        if strength.of_class and len(finite):
            found[name] = (round(float(finite.min()), _PLACES), round(float(finite.max()), _PLACES))
    return found


def applied_evidence(
    result: Result,
    union: pa.Table,
    base: Base,
    extension: Extension,
    extended: ExtensionResult,
    withheld: Sequence[Withheld],
    *,
    replaces: bool,
) -> dict[str, Any]:
    """What the evidence of applied records says beside what every evidence has."""
    joined = np.unique(extended.row_class[extended.row_class >= 0])
    whole = _together(result.policy, union)
    _, stats = _stats(extension, extended.row_class, together=True)
    models = tuple(replace(each, weakest={}) for each in describe_models(result.resolved.problem.models, stats))
    applied = {
        "to": [file.sha256 for file in base.files],
        "replaces": replaces,
        "records_before": int(extension.before.sizes.sum()),
        "classes_joined": int(np.count_nonzero(extension.before.sizes[joined])),
        "classes_added": int(np.count_nonzero(extension.before.sizes[joined] == 0)),
        "together": {"records": whole["records"], "classes": whole["classes"], "models": models},
        "withheld": [each.to_dict() for each in withheld],
    }
    changes: dict[str, Any] = {"applied": applied}
    if replaces:
        changes |= {"models": models, "class_sizes": whole["sizes"], "exposure": whole["exposure"]}
    return changes


def _together(policy: Policy, union: pa.Table) -> dict[str, Any]:
    """What is true of everything published, read from the table itself."""
    rows = rows_of_release(union, policy)
    scene = released_scene(rows, policy)
    sizes = scene.sizes
    lacking = [np.array([label is None for label in labels]) for labels in rows.labels]
    missing = np.array([of_label[cells] for of_label, cells in zip(lacking, rows.cells, strict=True)])
    smallest = int(company_if_missing_matches(rows.cells, missing, sizes).min())
    return {
        "records": int(sizes.sum()),
        "classes": len(sizes),
        "exposure": describe_exposure(scene.stats),
        "sizes": class_sizes(sizes, smallest),
    }
