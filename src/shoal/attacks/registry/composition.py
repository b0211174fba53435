"""What a new release tells beside the earlier ones of a registry, person by person.

S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", 2008. In
each release the candidates of a person are the sensitive values of the classes that the person fits. Whoever knows
that the person is in several releases intersects them.

The new release is at hand with its original, so everybody in it is tried and nothing is estimated. Of an earlier one
only classes are known. A person was possibly in it when the person fits a class there that holds the person's own
value; where no fitting class holds it the person was not in it, or the value has changed, and an attacker who thinks
otherwise is misled. Intersected are the new release and all earlier ones that the person was possibly in: no attacker
whose belief is right is left with fewer candidates.

Exposed is whoever is left with fewer than p candidates, and with fewer than each of these releases leaves alone. p is
what the policy asks for on the column - distinct values, and distinct categories where a model counts those - and two
at least: with one candidate the secret is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.composition import NAME, View, allowed_keys
from shoal.attacks.estimate import Estimate, counted, not_applicable, not_tried
from shoal.attacks.registry.entry import Entry
from shoal.attacks.registry.people import NewRelease, Scene, scene_of
from shoal.attacks.scene import Ints

ATTACKER = "Somebody who knows a person's quasi-identifiers and that the person is in this release and in earlier ones."
ASSUMPTION = (
    "The person is in this release and in the earlier ones, the attacker knows that, and the secret has not changed in "
    "between. Whoever does not know that the person is in both cannot intersect them, and learns what each tells alone."
)
_PEOPLE_AT_A_TIME = 100_000
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Composition:
    """What came of a new release beside earlier ones."""

    estimates: tuple[Estimate, ...]
    """One for each sensitive column."""
    earlier: tuple[Entry, ...]
    """The releases that it was held against."""
    notes: tuple[str, ...] = ()
    """What the reader should know of how labels were read."""

    @property
    def exposed(self) -> int:
        """Records exposed in the column in which most are."""
        return max((each.records or 0 for each in self.estimates), default=0)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data, ready for JSON."""
        return {
            "assumption": ASSUMPTION,
            "earlier": [entry.facts() for entry in self.earlier],
            "notes": list(self.notes),
            "estimates": [each.to_dict() for each in self.estimates],
        }


def compose_with(new: NewRelease, earlier: Sequence[Entry]) -> Composition:
    """Hold a new release against earlier ones, column by column.

    A column that an earlier release publishes and whose labels can no longer be read is *not tried*, with the reason:
    half an answer would look like a whole one.
    """
    estimates, notes = [], list[str]()
    columns = list(new.problem.domains)
    if not columns:
        reason = "the policy names no sensitive column."
        return Composition((not_applicable(NAME, ATTACKER, reason),), tuple(earlier))
    for column in columns:
        sharing = [entry for entry in earlier if entry.signature.secret(column) is not None]
        if not sharing:
            whose = "there is no earlier release" if not earlier else f"no earlier release publishes {column}"
            estimates.append(not_applicable(NAME, ATTACKER, f"{whose}.", column))
            continue
        scene = scene_of(new, column, sharing)
        notes += [note for note in scene.notes if note not in notes]
        if scene.unreadable:
            estimates.append(not_tried(NAME, ATTACKER, "; ".join(scene.unreadable) + ".", column))
        elif not scene.earlier:
            reason = "the data has none of the quasi-identifiers of the earlier releases."
            estimates.append(not_applicable(NAME, ATTACKER, reason, column))
        else:
            estimates.append(_tried(scene))
    return Composition(tuple(estimates), tuple(earlier), tuple(notes))


@dataclass(frozen=True, eq=False)
class _Found:
    """What is left to some people, each with the records they stand for."""

    counts: Ints
    shared: Mask
    """Who was possibly in an earlier release."""
    exposed: Mask
    certain: Mask
    misled: Mask
    by_release: NDArray[np.bool_]
    """``by_release[r, i]``: whether earlier release ``r`` alone exposes person ``i`` beside the new one."""

    @staticmethod
    def together(parts: Sequence[_Found]) -> _Found:
        """Several lots of people as one."""
        return _Found(
            counts=np.concatenate([part.counts for part in parts]),
            shared=np.concatenate([part.shared for part in parts]),
            exposed=np.concatenate([part.exposed for part in parts]),
            certain=np.concatenate([part.certain for part in parts]),
            misled=np.concatenate([part.misled for part in parts]),
            by_release=np.concatenate([part.by_release for part in parts], axis=1),
        )

    def records(self, which: Mask) -> int:
        """Records of some of them."""
        return int(self.counts[which].sum())


def _tried(scene: Scene) -> Estimate:
    parts = [
        _candidates(scene, np.arange(start, min(start + _PEOPLE_AT_A_TIME, len(scene.counts))))
        for start in range(0, len(scene.counts), _PEOPLE_AT_A_TIME)
    ]
    found = _Found.together(parts)
    of, exposed = found.records(found.shared), found.records(found.exposed)
    secrets = scene.secrets
    asked = f"{secrets.values_asked} values" + (
        f" or {secrets.categories_asked} categories" if secrets.categories_asked else ""
    )
    releases = counted(len(scene.earlier), "earlier release")
    whom = f"{exposed:,}" if exposed else "none"
    return Estimate(
        name=NAME,
        status="tried",
        attacker=ATTACKER,
        tried=f"Intersected the values of {secrets.column} that the releases leave for everybody in this one; exposed "
        f"is who has fewer than {asked} left, and fewer than each release leaves alone.",
        verdict=f"Together with {releases} {secrets.column} is left with too few values for {whom} of "
        f"{counted(of, 'person', 'people')} who may be in several.",
        sensitive=secrets.column,
        records=exposed,
        of=of,
        rate=exposed / of if of else 0.0,
        baseline=0.0,
        baseline_is="people for whom this release or an earlier one leaves as few alone are not counted",
        leak=exposed > 0,
        details={
            "values_asked": secrets.values_asked,
            "categories_asked": secrets.categories_asked,
            "certain": found.records(found.certain),
            "not_in_an_earlier_release": found.records(~found.shared),
            "misled": found.records(found.misled),
            "by_earlier_release": {
                entry.name: found.records(found.by_release[place]) for place, entry in enumerate(scene.earlier)
            },
        },
    )


def _candidates(scene: Scene, some: Ints) -> _Found:
    """What is left to some of the people."""
    secrets, n, width = scene.secrets, len(some), len(scene.secrets.number)
    truth = np.arange(n) * width + scene.truth[some]
    own = _keys(scene.this, some, width)
    left, tighter = own, _Counts.of(own, secrets.category_of, n, width)
    alone, shared, misled = tighter, np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    by_release = np.zeros((len(scene.earlier), n), dtype=np.bool_)
    for place, view in enumerate(scene.views):
        keys = _keys(view, some, width)
        fits = np.bincount(keys // width, minlength=n) > 0
        inside = np.isin(truth, keys)
        misled |= fits & ~inside
        shared |= inside
        there = _Counts.of(keys, secrets.category_of, n, width).where(inside, tighter)
        alone = alone.least(there)
        both = _intersected(own, keys, inside, width)
        pair = _Counts.of(both, secrets.category_of, n, width)
        by_release[place] = inside & _fewer(pair, tighter.least(there), scene)
        left = _intersected(left, keys, inside, width)
    remaining = _Counts.of(left, secrets.category_of, n, width)
    exposed = shared & _fewer(remaining, alone, scene)
    certain = exposed & (remaining.values == 1)
    return _Found(scene.counts[some], shared, exposed, certain, misled, by_release)


def _keys(view: View, some: Ints, width: int) -> Ints:
    """The distinct keys ``person x width + secret`` that a release leaves to some people."""
    part = View(view.people[:, some], view.classes, view.covers, view.allowed)
    item, cls = part.pairs()
    return allowed_keys(item, cls, view.allowed, width)


def _intersected(left: Ints, keys: Ints, inside: Mask, width: int) -> Ints:
    """What is left after a release, for those who were possibly in it."""
    concerned = inside[left // width]
    return np.union1d(left[~concerned], np.intersect1d(left[concerned], keys, assume_unique=True))


@dataclass(frozen=True, eq=False)
class _Counts:
    """How many different values, and categories of them, each person has left."""

    values: Ints
    categories: Ints

    @staticmethod
    def of(keys: Ints, category_of: Ints, n: int, width: int) -> _Counts:
        person = keys // width
        kinds = int(category_of.max(initial=0)) + 1
        pairs = np.unique(person * kinds + category_of[keys % width])
        return _Counts(np.bincount(person, minlength=n), np.bincount(pairs // kinds, minlength=n))

    def least(self, other: _Counts) -> _Counts:
        """The smaller of two."""
        return _Counts(np.minimum(self.values, other.values), np.minimum(self.categories, other.categories))

    def where(self, which: Mask, other: _Counts) -> _Counts:
        """These for some people, others for the rest."""
        return _Counts(np.where(which, self.values, other.values), np.where(which, self.categories, other.categories))


def _fewer(left: _Counts, alone: _Counts, scene: Scene) -> Mask:
    """Who has too few values or categories left, and fewer than each release leaves alone."""
    secrets = scene.secrets
    values = (left.values < secrets.values_asked) & (left.values < alone.values)
    categories = (left.categories < secrets.categories_asked) & (left.categories < alone.categories)
    return np.asarray(values | categories)
