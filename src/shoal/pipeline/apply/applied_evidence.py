"""The evidence of new records that were recoded by a published recoding.

It has the keys of every evidence. Its figures are those of the new records; ``applied`` says what they joined, what is
true of everything together, and why records are withheld - in counts, never in values. Where the earlier release is
withdrawn, the union is what is published: then models, sizes of classes, exposure and attacks are those of the union.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.missing import company_if_missing_matches
from shoal.attacks.released_classes import released_scene, rows_of_release
from shoal.encode.result import Result
from shoal.evidence.describe import class_sizes, describe_exposure, describe_models
from shoal.pipeline.apply.published import Base
from shoal.pipeline.apply.withheld import Withheld
from shoal.policy import Policy
from shoal.search.extension.extend import Extension, ExtensionResult
from shoal.search.extension.published_classes import Groups, Perspective
from shoal.table.classes import ClassStats


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
    stats = _union_stats(extension, extended)
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


def _union_stats(extension: Extension, extended: ExtensionResult) -> ClassStats:
    """Statistics of everything published, for the sensitive columns that a model reads."""
    groups = Groups.of(extended.row_class, extension.secrets, extension.domains)
    perspective = Perspective(groups, extension.before, extension.domains, together=True)
    return perspective.stats(groups.counts, np.flatnonzero(perspective.sizes(groups.counts)))


def _together(policy: Policy, union: pa.Table) -> dict[str, Any]:
    """What is true of everything published, read from the table itself."""
    rows = rows_of_release(union, policy)
    scene = released_scene(rows, policy)
    sizes = scene.sizes
    missing = np.array(
        [
            np.array([label is None for label in labels])[cells]
            for labels, cells in zip(rows.labels, rows.cells, strict=True)
        ]
    )
    smallest = int(company_if_missing_matches(rows.cells, missing, sizes).min())
    return {
        "records": int(sizes.sum()),
        "classes": len(sizes),
        "exposure": describe_exposure(scene.stats),
        "sizes": class_sizes(sizes, smallest),
    }
