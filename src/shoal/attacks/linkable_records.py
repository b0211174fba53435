"""The released records that each person of the original fits: what is left of an attempt to link people to records.

Consistency after Gionis, Mazza & Tassa 2008 (k-Anonymization Revisited). Where labels overlap, a class that a person
fits may be out of the question, its records all belonging to others. Whoever matches all people at once sees that
(`shoal.attacks.matchings`): a person's candidates are then the records that some assignment allows. Nobody has fewer
candidates than the smallest class has records, so this is done only where a class has fewer than k records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.attacks.fitting import CodePairs, fitting_pairs, label_pairs
from shoal.attacks.matchings import possible_pairs
from shoal.attacks.original import Original
from shoal.attacks.released_classes import Ints, Released
from shoal.attacks.statistics import Interval, mean_interval

VICTIMS = 20_000  # people who are looked for where each may fit several classes; a random sample where there are more
MOST_PAIRS = 1_000_000
"""Pairs of a distinct row and a class, as the sample has them, up to which all people are matched at once."""


@dataclass(frozen=True, eq=False)
class LinkableRecords:
    """How many released records people fit."""

    sizes: Ints  # released records that the people of each distinct row fit, 0 left out
    people: Ints  # how many people each of these figures is about
    of: int  # people of the original who fit any released record, in all
    sampled: bool
    matching: str
    """Whether all people were matched at once: ``done``, ``not needed``, ``impossible`` or ``too many pairs``."""

    @property
    def fewest(self) -> int:
        """The fewest records that anybody fits; 0 where nobody fits any."""
        return int(self.sizes.min()) if len(self.sizes) else 0

    def mean(self) -> float:
        """Mean number of records that a person fits."""
        return float((self.sizes * self.people).sum() / max(self.people.sum(), 1))

    def rate(self) -> float:
        """Expected share of right links."""
        return float((self.people / self.sizes).sum() / max(self.people.sum(), 1))

    def interval(self) -> Interval | None:
        """The interval of the rate; None where everybody was looked for."""
        return mean_interval(np.repeat(1.0 / self.sizes, self.people)) if self.sampled else None

    def below(self, k: int) -> int:
        """People who fit fewer than k records, scaled up from the sample."""
        few = int(self.people[self.sizes < k].sum())
        return few if not self.sampled else round(few * self.of / max(int(self.people.sum()), 1))


def linkable_records(
    released: Released, original: Original, seed: int, *, insensitive: bool = False
) -> LinkableRecords:
    """Count the released records that people fit, with the insensitive columns or without."""
    covers = label_pairs(original)
    codes, counts, cells, sizes = original.codes, original.counts, released.cells, released.sizes
    if insensitive:
        assert released.extras is not None
        assert original.extras is not None
        extra, owner, counts = original.extras
        codes = np.vstack([codes[:, owner], extra])
        cells = np.vstack([cells[:, released.extras.owner], released.extras.codes])
        sizes = released.extras.sizes
        covers += [CodePairs.same(int(max(a.max(initial=0), b.max(initial=0))) + 1)
                   for a, b in zip(extra, released.extras.codes, strict=True)]  # fmt: skip
    chosen, people = np.arange(len(counts)), counts
    many = any(bool((cover.lengths > 1).any()) for cover in covers)
    if many and len(counts) > VICTIMS:
        chosen, people = sampled_people(counts, VICTIMS, seed)
    sampled = len(chosen) < len(counts)
    item, box = fitting_pairs(codes[:, chosen], cells, covers)
    matching = "not needed"
    if many and bool((sizes < released.k).any()):
        matching = "too many pairs"
        if len(item) * len(counts) <= MOST_PAIRS * len(chosen):
            rows, boxes = fitting_pairs(codes, cells, covers) if sampled else (item, box)
            possible = possible_pairs((rows, boxes), counts, sizes)
            matching = "impossible" if possible is None else "done"
            if possible is not None:
                index = np.full(len(counts), -1, dtype=np.int64)
                index[chosen] = np.arange(len(chosen))
                possible &= index[rows] >= 0
                item, box = index[rows[possible]], boxes[possible]
    candidates = np.bincount(item, weights=sizes[box], minlength=len(chosen)).astype(np.int64)
    found = candidates > 0
    of = int(people[found].sum())
    if sampled:
        of = round(of * int(counts.sum()) / max(int(people.sum()), 1))
    return LinkableRecords(candidates[found], people[found], of, sampled, matching)


def sampled_people(counts: Ints, size: int, seed: int) -> tuple[Ints, Ints]:
    """A sample of people without replacement, from distinct rows with counts: the rows met, and how often each."""
    drawn = np.random.default_rng(seed).choice(int(counts.sum()), size=min(size, int(counts.sum())), replace=False)
    rows, people = np.unique(np.searchsorted(np.cumsum(counts), drawn, side="right"), return_counts=True)
    return rows.astype(np.int64), people.astype(np.int64)
