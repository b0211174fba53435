"""Composition: a person who is in two releases has only secrets that both allow.

S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", 2008: the
intersection attack. In each release the candidates of a person are the values in the classes that the person fits;
what is left in all of them is the secret. Each release may keep its promise and together they break it.

With the original everybody is tried. Exposed is whose single candidate left is the true secret although no release
alone makes it certain, which is the baseline. Whoever fits no class of an earlier release was not in it and loses
nothing; where what is left does not hold the true secret, the person was not in it either, or the secret has changed,
and the attacker is misled. Without the original the classes are held against each other: a record of this release is
*surely* exposed, if its person was in an earlier release, when every class there that can hold the same people has
several values of which one is left, and *possibly* when some has.

Where a release publishes categories, a category stands for all its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.estimate import Estimate, counted
from shoal.attacks.fits import Cover, fitting_pairs
from shoal.attacks.scene import Codes, Ints
from shoal.attacks.statistics import wilson

NAME = "composition"
ATTACKER = "Somebody who knows a person's quasi-identifiers and that the person is in this release and in earlier ones."
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class View:
    """One release as the people tried see it."""

    people: Codes
    """``people[j, i]``: what person ``i`` has in quasi-identifier ``j``."""
    classes: Codes
    """``classes[j, c]``: what class ``c`` shows there."""
    covers: Sequence[Cover]
    """For each quasi-identifier which of the two go together."""
    allowed: Cover
    """The secrets that each class allows, in a numbering that all releases share."""
    promised: int = 1
    """Distinct values that its policy promises."""

    def pairs(self) -> tuple[Ints, Ints]:
        """People with the classes that they fit."""
        return fitting_pairs(self.people, self.classes, self.covers)


@dataclass(frozen=True, eq=False)
class People:
    """Whom the attack is tried on: distinct people, or classes of a release, and how many records each stands for."""

    counts: Ints
    of: int
    """Records of the whole table."""
    sampled: bool

    def records(self, which: Mask) -> int:
        """Records of some of them, scaled up from the sample."""
        some, all_tried = int(self.counts[which].sum()), int(self.counts.sum())
        return round(some * self.of / all_tried) if self.sampled and all_tried else some


def allowed_keys(item: Ints, cls: Ints, allowed: Cover, width: int) -> Ints:
    """The distinct keys ``item x width + secret`` of what items may have by the classes that they go with."""
    place, lengths = allowed.places(cls)
    return np.unique(np.repeat(item, lengths) * width + allowed.others[place])


def compose(column: str, views: Sequence[View], truth: Ints, width: int, people: People) -> Estimate:
    """Intersect what this release (the first view) and the earlier ones allow for each person.

    ``truth`` is each person's own secret, ``width`` how many secrets there are.
    """
    n = len(truth)
    left, inside, alone = _allowed(views[0], width, n)
    shared = np.zeros(n, dtype=np.bool_)
    for view in views[1:]:
        keys, fits, certain = _allowed(view, width, n)
        left = np.union1d(np.intersect1d(left, keys, assume_unique=True), left[~fits[left // width]])
        shared |= fits
        alone |= certain
    tried = inside & shared
    remaining = np.bincount(left // width, minlength=n)
    right = np.isin(np.arange(n) * width + truth, left)
    certain = tried & (remaining == 1) & right
    promised = min(view.promised for view in views)
    exposed = certain & ~alone
    counts = {
        "people_in_several_releases": people.records(tried),
        "certain_by_one_release_alone": people.records(certain & alone),
        "certain_by_all_together": people.records(certain),
        "fewer_than_promised": people.records(tried & right & (remaining < promised)),
        "values_promised": promised,
        "misled": people.records(tried & ~right),
    }
    weight = int(people.counts[tried].sum())
    success = int(people.counts[certain].sum())
    whom = f"a random sample of {int(people.counts.sum()):,} people" if people.sampled else "everybody"
    return Estimate(
        name=NAME,
        status="tried",
        sensitive=column,
        attacker=ATTACKER,
        tried=f"Intersected the values of {column} that the releases allow for {whom}; a success is a person with one "
        "value left, the true one.",
        records=people.records(exposed),
        of=counts["people_in_several_releases"],
        rate=success / weight if weight else 0.0,
        baseline=int(people.counts[certain & alone].sum()) / weight if weight else 0.0,
        baseline_is="people for whom one of the releases alone makes it certain",
        interval=wilson(success, weight) if people.sampled else None,
        leak=bool(exposed.any()),
        verdict=_verdict(column, people.records(exposed), bool(tried.any()), len(views) - 1),
        details=counts,
    )


def _allowed(view: View, width: int, n: int) -> tuple[Ints, Mask, Mask]:
    """What each person may have by one release, who fits a class of it, and who has one value left by it alone."""
    item, cls = view.pairs()
    keys = allowed_keys(item, cls, view.allowed, width)
    fits = np.bincount(item, minlength=n) > 0
    return keys, fits, np.bincount(keys // width, minlength=n) == 1


def _verdict(column: str, exposed: int, tried: bool, earlier: int) -> str:
    releases = counted(earlier, "earlier release")
    if exposed:
        whom = counted(exposed, "person", "people")
        return f"Together with {releases} {column} becomes certain for {whom} for whom no release alone tells it."
    if tried:
        return f"Together with {releases} {column} becomes certain for nobody for whom one release does not tell it."
    return f"Nobody of the original fits this release and one of {releases}."


def bound(column: str, own: Ints, earlier: Sequence[View], width: int, classes: People) -> Estimate:
    """Without the original: classes of this release against those of earlier ones that can hold the same people.

    ``own`` are the keys of what the classes of this release allow; they stand as the people of each earlier view.
    """
    n = len(classes.counts)
    surely, possibly = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    for view in earlier:
        item, cls = view.pairs()
        common = allowed_keys(np.arange(len(item)), cls, view.allowed, width)
        held = np.isin(item[common // width] * width + common % width, own)
        left = np.bincount(common[held] // width, minlength=len(item))
        one = (left == 1) & (view.allowed.lengths[cls] > 1)
        single, others = np.bincount(item[one], minlength=n), np.bincount(item[(left > 0) & ~one], minlength=n)
        possibly |= single > 0
        surely |= (single > 0) & (others == 0)
    known = np.bincount(own // width, minlength=n) == 1
    least, most = classes.records(surely & ~known), classes.records(possibly & ~known)
    total = int(classes.counts.sum())
    found = int(classes.counts[surely & ~known].sum())
    return Estimate(
        name=NAME,
        status="tried",
        sensitive=column,
        attacker=ATTACKER,
        tried=f"Intersected the values of {column} of classes that can hold the same people; a success is a record "
        "whose class keeps one value with every such class of an earlier release. Without the original these are "
        "bounds.",
        records=least,
        of=classes.of,
        classes=None if classes.sampled else int(np.count_nonzero(surely & ~known)),
        rate=found / total,
        baseline=0.0,
        baseline_is="records of classes that have several values in this release",
        interval=wilson(found, total) if classes.sampled else None,
        leak=found > 0,
        verdict=f"If their people were in an earlier release, {column} is certain for {counted(least, 'record')} at "
        f"least and {most:,} at most; the original would tell.",
        details={"at_least": least, "at_most": most},
    )
