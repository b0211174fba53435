"""Constraint violations (Campan Def. 6): cells generalized beyond their boundary."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.base import Metric, ReleaseSummary
from shoal.table.recoding import Recoding


class ConstraintViolations(Metric):
    """Number of released cells that lie above the boundary of their original value."""

    name = "constraint_violations"
    title = "Boundary violations"
    summary = "Released values that are generalized further than the boundary that the policy sets for them."
    short = "cells beyond their boundary: 0 in every release"
    position = 100
    source = "Campan, Truta & Cooper 2010, Definition 6 and Table 5"

    def of(self, release: ReleaseSummary) -> float:
        """Cells beyond their boundary."""
        return float(release.violations)


def count_violations(
    recoding: Recoding, row_codes: Iterable[NDArray[np.int32]], caps: Sequence[NDArray[np.int32]]
) -> int:
    """Count the released cells whose node covers more than the boundary of the row's own leaf allows.

    The codes are asked for one column at a time, since there may be many rows.
    """
    kept = recoding.row_class >= 0
    weights = None if recoding.weights is None else recoding.weights[kept]
    count = 0
    for j, (hierarchy, codes) in enumerate(zip(recoding.hierarchies, row_codes, strict=True)):
        node = recoding.nodes[recoding.row_class[kept], j]
        cap = caps[j][codes[kept]]
        wider = (hierarchy.first[node] < hierarchy.first[cap]) | (hierarchy.last[node] > hierarchy.last[cap])
        same = (hierarchy.first[node] == hierarchy.first[cap]) & (hierarchy.last[node] == hierarchy.last[cap])
        raised = same & (hierarchy.node_levels[node] > hierarchy.node_levels[cap])  # a chain: a further name
        beyond = wider | raised
        count += int(np.count_nonzero(beyond) if weights is None else weights[beyond].sum())
    return count
