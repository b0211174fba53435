"""Intersection: a person who is in several releases has only sensitive values that all of them allow.

S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", 2008: the
intersection attack. In each release the candidates of a person are the values in the classes that the person fits;
what is left in all of them is the person's value. Each release may keep its promise and together they break it.

One engine for two questions. `shoal attack --earlier` tries everybody in the original and trusts every earlier release
that a person fits; where what is left does not hold the true value, the attacker is misled. A registry knows who is in
the new release and trusts only the earlier releases that hold the person's own value: no attacker whose belief is
right is left with fewer candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.attacks.fitting import CodePairs, fitting_pairs
from shoal.attacks.released_classes import Codes, Ints
from shoal.table.classes import Mask


@dataclass(frozen=True, eq=False)
class View:
    """One release as some people see it."""

    people: Codes
    """``people[j, i]``: what person ``i`` has in quasi-identifier ``j``."""
    classes: Codes
    """``classes[j, c]``: what class ``c`` shows there."""
    covers: Sequence[CodePairs]  # for each quasi-identifier which of the two go together
    allowed: CodePairs  # the sensitive values that each class allows, in a numbering that all releases share

    def pairs(self) -> tuple[Ints, Ints]:
        """People with the classes that they fit."""
        return fitting_pairs(self.people, self.classes, self.covers)

    def keys(self, some: Ints, width: int) -> Ints:
        """The distinct keys ``person x width + value`` that the release leaves to some people."""
        item, cls = replace(self, people=self.people[:, some]).pairs()
        return allowed_keys(item, cls, self.allowed, width)


def allowed_keys(item: Ints, cls: Ints, allowed: CodePairs, width: int) -> Ints:
    """The distinct keys ``item x width + value`` of what items may have by the classes that they go with."""
    index, lengths = allowed.indices(cls)
    return np.unique(np.repeat(item, lengths) * width + allowed.others[index])


@dataclass(frozen=True, eq=False)
class Promise:
    """How many candidates must be left to a person."""

    category_of: Ints  # the category of each value, counted from 0; its length is how many values there are
    values: int = 2
    categories: int = 0  # distinct categories; 0 where no model counts them


@dataclass(frozen=True, eq=False)
class RemainingValues:
    """What is left to some people when releases are intersected."""

    inside: Mask  # who fits a class of the new release
    shared: Mask  # who fits, or was possibly in, an earlier release
    values_left: Ints
    values_alone: Ints  # the fewest values that any of these releases leaves alone
    right: Mask  # whose true value is left
    contradicted: Mask  # who fits an earlier release that does not hold the person's own value
    exposed: Mask
    """Who has fewer candidates left than promised, the true one among them, and fewer than any release leaves alone."""
    by_release: Mask
    """``by_release[r, i]``: whether earlier release ``r`` alone exposes person ``i`` together with the new one."""

    @staticmethod
    def joined(parts: Sequence[RemainingValues]) -> RemainingValues:
        """Several lots of people as one."""
        return RemainingValues(
            *(
                np.concatenate([getattr(part, name) for part in parts], axis=-1)
                for name in RemainingValues.__annotations__
            )
        )


def intersect(
    this: View, earlier: Sequence[View], truth: Ints, some: Ints, promise: Promise, *, only_if_possible: bool
) -> RemainingValues:
    """Intersect what releases leave to some people; ``truth`` is everybody's own value.

    ``only_if_possible``: an earlier release that does not hold a person's own value is left out for that person.
    """
    n, width = len(some), len(promise.category_of)
    true_keys = np.arange(n) * width + truth[some]
    own = this.keys(some, width)
    left, mine = own, _Counts.of(own, promise, n)
    alone, shared, contradicted = mine, np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    by_release = np.zeros((len(earlier), n), dtype=np.bool_)
    for index, view in enumerate(earlier):
        keys = view.keys(some, width)
        fits, holds = np.bincount(keys // width, minlength=n) > 0, np.isin(true_keys, keys)
        believed = holds if only_if_possible else fits
        contradicted |= fits & ~holds
        shared |= believed
        there = _Counts.of(keys, promise, n).where(believed, mine)
        alone = alone.least(there)
        both = _Counts.of(_intersected(own, keys, believed, width), promise, n)
        by_release[index] = believed & both.too_few(mine.least(there), promise)
        left = _intersected(left, keys, believed, width)
    remaining, inside = _Counts.of(left, promise, n), mine.values > 0
    right = np.isin(true_keys, left)
    exposed = inside & shared & right & remaining.too_few(alone, promise)
    return RemainingValues(inside, shared, remaining.values, alone.values, right, contradicted, exposed, by_release)


def _intersected(left: Ints, keys: Ints, believed: Mask, width: int) -> Ints:
    """What is left after a release, for those for whom it counts."""
    concerned = believed[left // width]
    return np.union1d(left[~concerned], np.intersect1d(left[concerned], keys, assume_unique=True))


@dataclass(frozen=True, eq=False)
class _Counts:
    """How many different values, and categories of them, each person has left."""

    values: Ints
    categories: Ints

    @staticmethod
    def of(keys: Ints, promise: Promise, n: int) -> _Counts:
        person, value = np.divmod(keys, len(promise.category_of))
        kinds = int(promise.category_of.max(initial=0)) + 1
        pairs = np.unique(person * kinds + promise.category_of[value])
        return _Counts(np.bincount(person, minlength=n), np.bincount(pairs // kinds, minlength=n))

    def least(self, other: _Counts) -> _Counts:
        """The smaller of two."""
        return _Counts(np.minimum(self.values, other.values), np.minimum(self.categories, other.categories))

    def where(self, which: Mask, other: _Counts) -> _Counts:
        """These for some people, others for the rest."""
        return _Counts(np.where(which, self.values, other.values), np.where(which, self.categories, other.categories))

    def too_few(self, alone: _Counts, promise: Promise) -> Mask:
        """Who has fewer than promised left, and fewer than each release leaves alone."""
        values = (self.values < promise.values) & (self.values < alone.values)
        return np.asarray(values | ((self.categories < promise.categories) & (self.categories < alone.categories)))
