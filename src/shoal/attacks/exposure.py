"""Records whose sensitive value a class reveals.

*Homogeneity* (Wang et al. 2011, section IV): every record of the class has the same sensitive value. *Similarity* (Sun
et al. 2008, section 6): every record of the class falls in the same category. Both are counted on every candidate
release.

An attacker who can find a person in a class, and who can rule out m of its values for that person, is *certain* of the
value where the class has at most m + 1 values; m = 0 is homogeneity. The honest baseline is the same attacker with the
release as one class, that is with the overall frequencies alone: where those suffice - a column with two values, one of
which is ruled out - the classes reveal nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.attacks.released_classes import Ints, Released
from shoal.facts import Facts
from shoal.table.classes import ClassStats, ClassView, Mask

_LISTED = 10  # values or classes that details list; they say how many there are in all


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


@dataclass(frozen=True)
class Certain:
    """Records whose sensitive value is certain."""

    records: int  # those with a value that the policy's models protect
    unprotected: int  # those with a value that no model protects
    classes: int
    without_classes: int  # records (of protected values) that are certain from the overall frequencies alone
    by_value: Mapping[str, int]
    by_value_unprotected: Mapping[str, int]


def certain(released: Released, column: str, ruled_out: int, *, stats: ClassStats | None = None) -> Certain:
    """Records in classes that have at most one value more than can be ruled out.

    ``stats`` are groups to look at instead of the classes, of the same columns and values.
    """
    view = (released.stats if stats is None else stats).view(column)
    histogram, names = view.histogram, [value_name(value) for value in view.domain.values]
    entries = np.repeat(histogram.distinct <= ruled_out + 1, histogram.distinct)
    counts = np.bincount(histogram.values[entries], weights=histogram.counts[entries], minlength=len(names))
    protected = released.is_protected(column)
    alone = int(np.count_nonzero(view.totals)) <= ruled_out + 1
    return Certain(
        records=int(counts[protected].sum()),
        unprotected=int(counts[~protected].sum()),
        classes=len(np.unique(histogram.class_of[entries & protected[histogram.values]])),
        without_classes=int(view.totals[protected].sum()) if alone else 0,
        by_value=most_first(names, np.where(protected, counts, 0).astype(np.int64)),
        by_value_unprotected=most_first(names, np.where(protected, 0, counts).astype(np.int64)),
    )


def value_name(value: str | None) -> str:
    """A sensitive value as results name it."""
    return "(missing)" if value is None else value


def most_first(names: list[str], counts: Ints) -> dict[str, int]:
    """Names with their counts, the largest first, at most ten; without those that have none."""
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda index: (-int(counts[index]), names[index]))
    return {names[index]: int(counts[index]) for index in order[:_LISTED]}
