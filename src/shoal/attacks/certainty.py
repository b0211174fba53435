"""What the attacks on single classes share: a class in which too few values are left makes a secret certain.

An attacker who can place a person in a class, and who can rule out m of its values for that person, is certain of the
secret where the class has at most m + 1 values. m = 0 is the homogeneity attack. The honest baseline is the same
attacker with the release as one class, that is with the overall frequencies of the secret alone: where those suffice -
a secret with two values, one of which is ruled out - the classes gave nothing away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.attacks.estimate import shown
from shoal.attacks.scene import Ints, Released
from shoal.attacks.statistics import log_choose
from shoal.table.classes import ClassStats

_LISTED = 10
"""Values or classes that details list; they say how many there are in all."""


@dataclass(frozen=True)
class Certain:
    """Records whose secret is certain."""

    records: int
    """Those with a value that the policy's models speak of."""
    free: int
    """Those with a value that the models leave free."""
    classes: int
    without_classes: int
    """Records (of protected values) that the overall frequencies alone make certain."""
    by_value: Mapping[str, int]
    """Those with a protected value, by value."""
    by_free_value: Mapping[str, int]
    """Those with a value left free."""


def certain(released: Released, column: str, ruled_out: int, *, stats: ClassStats | None = None) -> Certain:
    """Records in classes that have at most one value more than can be ruled out.

    ``stats`` are groups to look at instead of the classes, of the same columns and values.
    """
    view = (released.stats if stats is None else stats).view(column)
    histogram, names = view.histogram, [shown(value) for value in view.domain.values]
    open_classes = histogram.distinct <= ruled_out + 1
    entries = np.repeat(open_classes, histogram.distinct)
    counts = np.bincount(histogram.values[entries], weights=histogram.counts[entries], minlength=len(names))
    protected = released.is_protected(column)
    alone = int(np.count_nonzero(view.totals)) <= ruled_out + 1
    owner = histogram.class_of[entries & protected[histogram.values]]
    return Certain(
        records=int(counts[protected].sum()),
        free=int(counts[~protected].sum()),
        classes=len(np.unique(owner)),
        without_classes=int(view.totals[protected].sum()) if alone else 0,
        by_value=most_first(names, np.where(protected, counts, 0).astype(np.int64)),
        by_free_value=most_first(names, np.where(protected, 0, counts).astype(np.int64)),
    )


def expected_by_chance(sizes: Ints, totals: Ints) -> float:
    """Records in classes of a single kind if kinds were dealt at random: Σ n · Σ_v C(total_v, n) / C(N, n)."""
    distinct, times = np.unique(sizes, return_counts=True)
    everyone = np.full_like(distinct, int(totals.sum()))
    alike = sum(np.exp(log_choose(np.full_like(distinct, total), distinct) - log_choose(everyone, distinct))
                for total in totals[totals > 0])  # fmt: skip
    return float((distinct * times * alike).sum())


def most_first(names: list[str], counts: Ints) -> dict[str, int]:
    """Names with their counts, the largest first, at most ten; without those that have none."""
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda place: (-int(counts[place]), names[place]))
    return {names[place]: int(counts[place]) for place in order[:_LISTED]}
