"""The classes of a release: how large they are, and which give a secret away."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.attacks.exposure import homogeneity, similarity
from shoal.attacks.missing import smallest_if_missing_matches
from shoal.table.classes import ClassStats
from shoal.table.recoding import Recoding


def describe_sizes(recoding: Recoding) -> dict[str, Any]:
    """The distribution of class sizes: extremes, quartiles, and how many classes have each size."""
    sizes = recoding.sizes
    if not len(sizes):
        return {}
    distinct, classes = np.unique(sizes, return_counts=True)
    quartiles = np.percentile(sizes, [25, 50, 75])
    return {
        "smallest": int(sizes.min()),
        "smallest_if_missing_matches_anything": smallest_if_missing_matches(recoding),
        "largest": int(sizes.max()),
        "mean": round(float(sizes.mean()), 6),
        "quartiles": [float(each) for each in quartiles],
        "classes_by_size": {str(size): int(count) for size, count in zip(distinct, classes, strict=True)},
    }


def describe_exposure(stats: ClassStats) -> dict[str, Any]:
    """Records open to the homogeneity and the similarity attack, by sensitive column."""
    exposure: dict[str, Any] = {}
    for name in stats.histograms:
        view = stats.view(name)
        found = {"homogeneity": homogeneity(view), "similarity": similarity(view)}
        exposure[name] = {
            attack: {"classes": each.classes, "records": each.records} for attack, each in found.items() if each
        }
    return exposure
