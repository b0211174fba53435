"""The columns of a release: their roles, what generalizing cost them, and their distributions before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.evidence.distribution import distribution
from shoal.metrics import METRICS, CellMetric, ReleaseSummary
from shoal.policy import Policy
from shoal.table.recoding import Recoding

Codes = NDArray[np.int32]


def describe_columns(
    policy: Policy, summary: ReleaseSummary, recoding: Recoding, codes: Mapping[str, Codes]
) -> dict[str, Any]:
    """For each column of the policy its role and, for quasi-identifiers, what generalizing cost and what is left.

    ``codes`` are the leaf codes of each quasi-identifier, a code a row.
    """
    ncp = METRICS["ncp"]
    assert isinstance(ncp, CellMetric)
    crowd = crowd_of(policy, recoding)
    columns: dict[str, Any] = {}
    for name, column in policy.columns.items():
        columns[name] = {"role": column.role}
        if column.role == "sensitive":
            columns[name]["published"] = policy.published(name)
        if column.role == "quasi":
            place = recoding.quasi.index(name)
            hierarchy = recoding.hierarchies[place]
            columns[name] |= {
                "height": hierarchy.height,
                "values": hierarchy.n_leaves,
                "labels_released": len(np.unique(recoding.nodes[:, place])),
                "ncp": round(ncp.column_mean(summary, place), 12),
                "distribution": distribution(
                    hierarchy,
                    before=_released(recoding, codes[name], hierarchy.n_leaves),
                    after=np.bincount(
                        recoding.nodes[:, place], weights=recoding.sizes, minlength=len(hierarchy.labels)
                    ).astype(np.int64),
                    crowd=crowd,
                ),
            }
    return columns


def crowd_of(policy: Policy, recoding: Recoding) -> int:
    """How many records a group must have to be shown: the k asked for, or else the smallest class; two at least."""
    asked = [model.least_records for model in policy.models() if model.only_counts and model.column is None]
    return max(2, max(asked, default=int(recoding.sizes.min(initial=2))))


def _released(recoding: Recoding, codes: Codes, n_leaves: int) -> NDArray[np.int64]:
    """Released records by the value they had; suppressed ones are not looked at."""
    kept = recoding.row_class >= 0
    weights = None if recoding.weights is None else recoding.weights[kept]
    return np.bincount(codes[kept], weights=weights, minlength=n_leaves).astype(np.int64)
