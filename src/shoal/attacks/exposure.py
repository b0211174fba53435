"""Records whose sensitive value a class reveals: the two attacks that the papers count on every candidate release.

*Homogeneity* (Wang et al. 2011, section IV): every record of the class has the same sensitive value.
*Similarity* (Sun et al. 2008, section 6): every record of the class falls in the same category.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.facts import Facts
from shoal.table.classes import ClassView, Mask


@dataclass(frozen=True, eq=False)
class Exposure(Facts):
    """How many classes, and how many records in them, are open to an attack."""

    classes: int
    records: int


def homogeneity(view: ClassView) -> Exposure:
    """Classes with one sensitive value only."""
    return _count(view, view.histogram.distinct == 1)


def similarity(view: ClassView) -> Exposure | None:
    """Classes with one category only; None where the column declares no categories."""
    if not view.domain.categories:
        return None
    return _count(view, np.count_nonzero(view.category_counts, axis=1) == 1)


def _count(view: ClassView, exposed: Mask) -> Exposure:
    return Exposure(int(np.count_nonzero(exposed)), int(view.sizes[exposed].sum()))
