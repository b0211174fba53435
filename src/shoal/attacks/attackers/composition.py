"""Composition: what a release reveals together with earlier ones.

S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", 2008: the
intersection attack. In each release the candidates of a person are the sensitive values in the classes that the person
fits; what is left in all of them is the person's value. Each release may keep its promise and together they break it.
Exposed is whoever is left with fewer candidates than promised, the true one among them, and with fewer than any release
leaves alone, which is the baseline. One engine (`intersect`) answers two questions:

- **The attack** has earlier releases with their policies and, with the original, tries everybody in it. It trusts every
  earlier release that a person fits, and two candidates are promised. Whoever fits no class of an earlier release was
  not in it and loses nothing; where what is left does not hold the true value, the person was not in it either, or the
  value has changed, and the attacker is misled. Without the original, classes are compared with each other: a record of
  this release is *surely* exposed, if its person was in an earlier release, when every class there that can hold the
  same people has several values of which one is left, and *possibly* when some has. Where a release publishes
  categories, a category stands for all its values.
- **A registry** knows who is in the new release, and of earlier ones only classes. A person was possibly in one when
  the person fits a class there that holds the person's own value; others do not count, so no attacker whose belief is
  right is left with fewer candidates. Promised is what the policy requires for the column - distinct values, and
  distinct categories where a model counts those - and two at least: with one candidate the value is certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, not_tried, share, tried
from shoal.attacks.chance.statistics import wilson
from shoal.attacks.class_fit import allowed_keys, fitting_pairs
from shoal.attacks.linkable_records import VICTIMS, sampled_people
from shoal.attacks.registry.entry import Entry, ReleaseIdentity
from shoal.attacks.registry.people import EarlierRelease, NewRelease, People, Secrets, people_of, promised
from shoal.attacks.released_classes import Ints
from shoal.attacks.released_labels import overlapping_labels
from shoal.facts import Facts
from shoal.table.classes import Mask
from shoal.table.encoded import distinct_codes
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.stated_policy import stated

_PEOPLE_AT_A_TIME = 100_000


class CompositionAttack(Attack):
    """Intersects the values that several releases allow."""

    name = "composition"
    title = "Joining earlier releases"
    attacker = (
        "Somebody who knows a person's quasi-identifiers and that the person is in this release and in earlier ones."
    )
    attempt = (
        "Intersects the sensitive values that the releases leave for each person; a success is a person who is left "
        "with too few."
    )
    baseline = "people for whom one release alone leaves as few"
    position = 110
    on_sensitive = True
    needs_earlier = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:
        """Compare with the earlier releases that publish the column."""
        sharing = [each for each in scene.earlier if each.signature.secret(column) is not None]
        if not sharing:
            return not_applicable("not-published-earlier")
        return _bounds(scene, sharing, column) if scene.original is None else _everybody(scene, sharing, column)


NAME = CompositionAttack.name


class RemainingValues(NamedTuple):
    """What is left to people when releases are intersected."""

    inside: Mask  # who fits a class of the new release
    shared: Mask  # who fits, or was possibly in, an earlier release
    values_left: Ints
    values_alone: Ints  # the fewest values that any of these releases leaves alone
    right: Mask  # whose true value is left
    contradicted: Mask  # who fits an earlier release that does not hold the person's own value
    exposed: Mask  # who has fewer candidates left than promised, as defined above
    by_release: Mask  # ``by_release[r, i]``: whether earlier release ``r`` and the new one alone expose person ``i``


def intersect(people: People, some: Ints, *, only_if_possible: bool) -> RemainingValues:
    """Intersect what releases leave to some people.

    ``only_if_possible``: an earlier release that does not hold a person's own value is left out for that person.
    """
    starts = range(0, max(len(some), 1), _PEOPLE_AT_A_TIME)
    lots = [_intersect_lot(people, some[start : start + _PEOPLE_AT_A_TIME], only_if_possible) for start in starts]
    return RemainingValues(*(np.concatenate(parts, axis=-1) for parts in zip(*lots, strict=True)))


def _intersect_lot(people: People, some: Ints, only_if_possible: bool) -> RemainingValues:
    n, secrets = len(some), people.secrets
    width, required = len(secrets.category_of), secrets.required[:, None]
    true_keys = np.arange(n) * width + people.truth[some]
    own = people.this.keys(some, width)
    left, mine = own, _candidates(own, secrets, n)
    alone, shared, contradicted = mine, np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    by_release = np.zeros((len(people.views), n), dtype=np.bool_)
    for index, view in enumerate(people.views):
        keys = view.keys(some, width)
        fits, holds = np.bincount(keys // width, minlength=n) > 0, np.isin(true_keys, keys)
        believed = holds if only_if_possible else fits
        contradicted |= fits & ~holds
        shared |= believed
        there = np.where(believed, _candidates(keys, secrets, n), mine)
        alone = np.minimum(alone, there)
        both = _candidates(_intersected(own, keys, believed, width), secrets, n)
        by_release[index] = believed & ((both < required) & (both < np.minimum(mine, there))).any(axis=0)
        left = _intersected(left, keys, believed, width)
    remaining, inside, right = _candidates(left, secrets, n), mine[0] > 0, np.isin(true_keys, left)
    exposed = inside & shared & right & ((remaining < required) & (remaining < alone)).any(axis=0)
    return RemainingValues(inside, shared, remaining[0], alone[0], right, contradicted, exposed, by_release)


def _intersected(left: Ints, keys: Ints, believed: Mask, width: int) -> Ints:
    """What is left after a release, for those for whom it counts."""
    concerned = believed[left // width]
    return np.union1d(left[~concerned], np.intersect1d(left[concerned], keys, assume_unique=True))


def _candidates(keys: Ints, secrets: Secrets, n: int) -> Ints:
    """How many different values, and categories of them, each person has left, in two rows."""
    person, value = np.divmod(keys, len(secrets.category_of))
    kinds = int(secrets.category_of.max(initial=0)) + 1
    pairs = distinct_codes(person * kinds + secrets.category_of[value])
    return np.array([np.bincount(person, minlength=n), np.bincount(pairs // kinds, minlength=n)])


@dataclass(frozen=True, eq=False)
class Composition(Facts):
    """What came of comparing a new release with those of a registry."""

    earlier: tuple[ReleaseIdentity, ...]
    """The releases that it was compared with."""
    notes: tuple[Mapping[str, str], ...]
    """What the reader should know about how labels were read: a ``code`` and its facts."""
    results: tuple[AttackResult, ...]
    """One for each sensitive column."""


def compose_with(new: NewRelease, earlier: Sequence[Entry]) -> Composition:
    """Compare a new release with the earlier ones of a registry, column by column.

    A column that an earlier release publishes and whose labels can no longer be read is *not tried*, with the reason:
    half an answer would look like a whole one.
    """
    notes = list[Mapping[str, str]]()
    results = []
    for column in new.problem.domains:
        found = replace(_column(new, column, earlier, notes), name=NAME, sensitive=column)
        results.append(replace(found, counted="records") if new.policy.person_columns else found)
    if not results:
        results = [replace(not_applicable("no-sensitive-column"), name=NAME)]
    return Composition(tuple(entry.identity for entry in earlier), tuple(notes), tuple(results))


def _column(new: NewRelease, column: str, earlier: Sequence[Entry], notes: list[Mapping[str, str]]) -> AttackResult:
    sharing = [EarlierRelease(each.name, each.signature) for each in earlier if each.signature.secret(column)]
    if not sharing:
        return not_applicable("not-published-earlier" if earlier else "no-earlier-release")
    people = people_of(new, column, sharing)
    notes += [note for note in people.notes if note not in notes]
    if people.unreadable:
        return not_tried("unreadable-labels", unreadable=tuple(people.unreadable))
    if not people.earlier:
        return not_applicable("no-shared-columns")
    everybody = _Sample(np.arange(len(people.counts)), people.counts, None)
    found, records = intersect(people, everybody.some, only_if_possible=True), everybody.records
    values, categories = people.secrets.required.tolist()
    return tried(
        records=records(found.exposed),
        of=records(found.shared),
        values_required=values,
        categories_required=categories,
        certain=records(found.exposed & (found.values_left == 1)),
        not_in_an_earlier_release=records(~found.shared),
        misled=records(found.contradicted),
        by_earlier_release={each.name: records(found.by_release[index]) for index, each in enumerate(people.earlier)},
    )


class _Sample(NamedTuple):
    """Some items with the records that they stand for: all of them, or a sample."""

    some: Ints
    weights: Ints
    of: int | None  # the records that a sample is scaled up to

    @staticmethod
    def of_items(counts: Ints, seed: int) -> _Sample:
        """All items, or a sample where there are too many."""
        if len(counts) <= VICTIMS:
            return _Sample(np.arange(len(counts)), counts, None)
        return _Sample(*sampled_people(counts, VICTIMS, seed), int(counts.sum()))

    def records(self, which: Mask) -> int:
        """Records of some items; scaled up where they are a sample."""
        some, tested = int(self.weights[which].sum()), int(self.weights.sum())
        return some if self.of is None or not tested else round(some * self.of / tested)


def _everybody(scene: Scene, sharing: Sequence[EarlierRelease], column: str) -> AttackResult:
    """With the original: everybody, or a sample of the people."""
    assert scene.original is not None
    new = NewRelease(scene.policy, scene.original.rows, scene.original.problem, shown=scene.signature)
    people = people_of(new, column, sharing, as_values=True)
    if not people.earlier:
        return not_applicable("no-shared-columns")
    sample = _Sample.of_items(people.counts, scene.seed)
    found, weights, records = intersect(people, sample.some, only_if_possible=False), sample.weights, sample.records
    tested = found.inside & found.shared
    certain = tested & (found.values_left == 1) & found.right
    alone = certain & (found.values_alone == 1)
    policies = [scene.policy, *(each.policy or scene.policy for each in people.earlier)]
    values = min(max(promised(policy.models(), column)) for policy in policies)
    weight, success = int(weights[tested].sum()), int(weights[certain].sum())
    sampled: dict[str, Any] = {} if sample.of is None else {"people_looked_up": int(weights.sum())}
    return tried(
        records=records(found.exposed),
        of=records(tested),
        rate=share(success, weight),
        baseline=share(int(weights[alone].sum()), weight),
        interval=None if sample.of is None else wilson(success, weight),
        leak=bool(found.exposed.any()),
        certain=records(certain & ~alone),
        people_in_several_releases=records(tested),
        certain_by_one_release_alone=records(alone),
        certain_by_all_together=records(certain),
        fewer_than_promised=records(tested & found.right & (found.values_left < values)),
        values_promised=values,
        misled=records(tested & ~found.right),
        earlier_releases=len(people.earlier),
        **sampled,
    )


def _bounds(scene: Scene, sharing: Sequence[EarlierRelease], column: str) -> AttackResult:
    """Without the original: the classes of this release, or those of a sample of its records."""
    this = EarlierRelease("", scene.signature, scene.policy)
    shown = [(each.signature.secret(column), each.policy or scene.policy) for each in (this, *sharing)]
    published = [(secret, policy) for secret, policy in shown if secret]
    secrets = Secrets.of(scene.policy, column, (), (), published, as_values=True)
    sample, width = _Sample.of_items(scene.signature.sizes, scene.seed), len(secrets.category_of)
    releases = zip((this, *sharing), secrets.groups, strict=True)
    allowed, *others = (each.signature.allowed_values(column, groups) for each, groups in releases)
    n, own = len(sample.some), allowed_keys(np.arange(len(sample.some)), sample.some, allowed, width)
    surely, possibly = np.zeros((2, n), dtype=np.bool_)
    comparable = False
    for each, leaves in zip(sharing, others, strict=True):
        pairs = _overlapping(scene, each, sample.some)
        if pairs is None:
            continue
        comparable, (item, cls) = True, pairs
        common = allowed_keys(np.arange(len(item)), cls, leaves, width)
        held = np.isin(item[common // width] * width + common % width, own)
        left = np.bincount(common[held] // width, minlength=len(item))
        one = (left == 1) & (leaves.lengths[cls] > 1)
        single, more = np.bincount(item[one], minlength=n), np.bincount(item[(left > 0) & ~one], minlength=n)
        possibly |= single > 0
        surely |= (single > 0) & (more == 0)
    if not comparable:
        return not_applicable("no-shared-columns")
    several = np.bincount(own // width, minlength=n) != 1
    surely, possibly = surely & several, possibly & several
    found, total, least = int(sample.weights[surely].sum()), int(sample.weights.sum()), sample.records(surely)
    return tried(
        records=least,
        of=scene.released.records,
        classes=int(np.count_nonzero(surely)) if sample.of is None else None,
        rate=found / total,
        interval=None if sample.of is None else wilson(found, total),
        certain=least,
        at_least=least,
        at_most=sample.records(possibly),
    )


def _overlapping(scene: Scene, earlier: EarlierRelease, some: Ints) -> tuple[Ints, Ints] | None:
    """Pairs of a class of this release and one of an earlier release that can hold the same people; None where the
    two share no column."""
    ours, theirs = quasi_labels(stated(scene.policy)), quasi_labels(stated(earlier.policy or scene.policy))
    there = {each.name: index for index, each in enumerate(earlier.signature.quasi)}
    shared = [(i, there[each.name]) for i, each in enumerate(scene.signature.quasi) if each.name in there]
    if not shared:
        return None
    covers = []
    for i, j in shared:
        here, other = scene.signature.quasi[i], earlier.signature.quasi[j]
        covers.append(overlapping_labels(ours[here.name], here.labels, theirs[here.name], other.labels))
    own, others = (list(each) for each in zip(*shared, strict=True))
    return fitting_pairs(scene.signature.cells[own][:, some], earlier.signature.cells[others], covers)
