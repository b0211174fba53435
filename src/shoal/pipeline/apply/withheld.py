"""Why new records are withheld that cannot join a published recoding: in counts, never in values."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.evidence.describe import describe_models
from shoal.pipeline.apply.encode_new import NewRecords
from shoal.search.extension import Extension, ExtensionResult, Groups, Perspective
from shoal.table.classes import ClassStats, Mask

_DECIMAL_PLACES = 6


Withheld = Mapping[str, Any]
"""Why some records are withheld, and how many: a ``reason`` and its facts, as the evidence has them.

``value``: a column has values that the policy cannot read. ``no class``: no published class covers them. ``model``:
their classes would fail a model, ``seen`` alone or together with the records published before.
"""


def withheld_reasons(
    new: NewRecords, extension: Extension, extended: ExtensionResult
) -> Iterator[tuple[Mask, Withheld]]:
    """Every reason for which records are withheld, and which these are.

    Unreadable values come first, then records that no class covers, then models in the order of the policy.
    """
    for index, each in enumerate(new.unreadable):
        rows = new.reason == index
        if rows.any():
            yield rows, {"reason": "value", "records": int(rows.sum()), **each}
    uncovered = (extended.tried < 0) & (new.reason < 0)
    if uncovered.any():
        yield uncovered, {"reason": "no class", "records": int(uncovered.sum())}
    for model in new.resolved.problem.models:
        for together in (False, True):
            failed = [at for at, why in extended.why.items() if why.model is model and why.together == together]
            rows = (extended.row_class < 0) & np.isin(extended.tried, failed)
            if rows.any():
                every, stats = joined_stats(extension, extended.tried, together=together)
                classes = np.unique(extended.tried[rows]).astype(np.int64)
                reached = {}
                for name, strength in model.strengths(stats.view(model.column)).items():
                    figures = strength.per_class[np.searchsorted(every, classes)]
                    finite = figures[np.isfinite(figures)]
                    if strength.of_class and len(finite):
                        reached[name] = [round(float(end), _DECIMAL_PLACES) for end in (finite.min(), finite.max())]
                facts: dict[str, Any] = {
                    "classes": len(classes),
                    "model": model.name,
                    "sensitive": model.column,
                    "seen": "together" if together else "alone",
                    "asked": describe_models([model], stats)[0]["asked"],
                    "reached": reached,
                }
                yield rows, {"reason": "model", "records": int(rows.sum()), **facts}


def joined_stats(
    extension: Extension, class_of: NDArray[np.int32], *, together: bool
) -> tuple[NDArray[np.int64], ClassStats]:
    """The classes that have records if the new ones join as given, and their statistics."""
    groups = Groups.of(class_of, extension.secrets, extension.before.domains)
    perspective = Perspective(groups, extension.before, together=together)
    classes = np.flatnonzero(perspective.sizes(groups.counts))
    return classes, perspective.stats(groups.counts, classes)
