"""Composition: what this release reveals together with earlier ones that are at hand with their policies.

With the original everybody is tried (`shoal.attacks.intersection`). Exposed is whose single candidate left is the true
value although no release alone makes it certain, which is the baseline. Whoever fits no class of an earlier release was
not in it and loses nothing; where what is left does not hold the true value, the person was not in it either, or the
value has changed, and the attacker is misled. Without the original classes are compared with each other: a record of
this release is *surely* exposed, if its person was in an earlier release, when every class there that can hold the same
people has several values of which one is left, and *possibly* when some has.

Where a release publishes categories, a category stands for all its values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, tried
from shoal.attacks.intersection import Promise, View, allowed_keys, intersect
from shoal.attacks.linkable_records import VICTIMS, sampled_people
from shoal.attacks.registry.people import EarlierRelease, NewRelease, allowed_values, people_of
from shoal.attacks.registry.secrets import Secrets, promised
from shoal.attacks.registry.signature import Signature
from shoal.attacks.released_classes import Ints
from shoal.attacks.released_labels import overlapping_labels
from shoal.attacks.statistics import wilson
from shoal.policy import Policy
from shoal.table.classes import Mask
from shoal.verification.ranges import quasi_labels
from shoal.verification.stated_policy import stated


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
    remedy = "Withdraw an earlier release, or keep the same classes for the same people."
    position = 110
    on_sensitive = True
    needs_earlier = True

    @staticmethod
    def run(scene: Scene, column: str | None) -> AttackResult:
        """Compare with the earlier releases that publish the column."""
        assert column is not None
        sharing = [each for each in scene.earlier if each.signature.secret(column) is not None]
        if not sharing:
            return not_applicable("not-published-earlier")
        if scene.distinct is None or scene.problem is None:
            return _bounds(scene, sharing, column)
        new = NewRelease(scene.policy, scene.distinct, scene.problem, shown=scene.signature)
        return _everybody(scene, new, sharing, column)


def _everybody(scene: Scene, new: NewRelease, sharing: Sequence[EarlierRelease], column: str) -> AttackResult:
    """With the original: everybody, or a sample of the people."""
    people = people_of(new, column, sharing, as_values=True)
    if not people.earlier:
        return not_applicable("no-shared-columns")
    some, weights = np.arange(len(people.counts)), people.counts
    sampled = len(some) > VICTIMS
    if sampled:
        some, weights = sampled_people(weights, VICTIMS, scene.seed)
    promise = Promise(people.secrets.category_of)
    found = intersect(people.this, people.views, people.truth, some, promise, only_if_possible=False)
    tested = found.inside & found.shared
    certain = tested & (found.values_left == 1) & found.right
    policies = [scene.policy, *(each.policy or scene.policy for each in people.earlier)]
    values = min(max(promised(policy.models(), column)) for policy in policies)
    weight, success = int(weights[tested].sum()), int(weights[certain].sum())
    alone = certain & (found.values_alone == 1)

    def records(which: Mask) -> int:
        return _scaled(weights, which, new.rows.n_records if sampled else None)

    return tried(
        records=records(found.exposed),
        of=records(tested),
        rate=success / weight if weight else 0.0,
        baseline=int(weights[alone].sum()) / weight if weight else 0.0,
        interval=wilson(success, weight) if sampled else None,
        leak=bool(found.exposed.any()),
        people_in_several_releases=records(tested),
        certain_by_one_release_alone=records(alone),
        certain_by_all_together=records(certain),
        fewer_than_promised=records(tested & found.right & (found.values_left < values)),
        values_promised=values,
        misled=records(tested & ~found.right),
        earlier_releases=len(people.earlier),
        **({"people_looked_up": int(weights.sum())} if sampled else {}),
    )


def _scaled(weights: Ints, which: Mask, of: int | None) -> int:
    """Records of some people; scaled up to all records where they are a sample."""
    some, tested = int(weights[which].sum()), int(weights.sum())
    return some if of is None or not tested else round(some * of / tested)


def _bounds(scene: Scene, sharing: Sequence[EarlierRelease], column: str) -> AttackResult:
    """Without the original: the classes of this release, or those of a sample of its records."""
    this = scene.signature
    releases = [(this, scene.policy), *((each.signature, each.policy or scene.policy) for each in sharing)]
    published = [(secret, policy) for signature, policy in releases if (secret := signature.secret(column)) is not None]
    secrets = Secrets.of(scene.policy, column, (), (), published, as_values=True)
    width = len(secrets.number)
    some, weights = np.arange(len(this.sizes)), this.sizes
    sampled = len(some) > VICTIMS
    if sampled:
        some, weights = sampled_people(weights, VICTIMS, scene.seed)
    own = allowed_keys(np.arange(len(some)), some, allowed_values(this, column, secrets.groups[0]), width)
    views = [
        view
        for (signature, policy), groups in zip(releases[1:], secrets.groups[1:], strict=True)
        if (view := _overlapping(scene, signature, policy, column, groups, some)) is not None
    ]
    if not views:
        return not_applicable("no-shared-columns")
    surely, possibly = _exposed_classes(own, views, width, len(some))
    of = scene.released.records if sampled else None
    found, total = int(weights[surely].sum()), int(weights.sum())
    least = _scaled(weights, surely, of)
    return tried(
        records=least,
        of=scene.released.records,
        classes=None if sampled else int(np.count_nonzero(surely)),
        rate=found / total,
        baseline=0.0,
        interval=wilson(found, total) if sampled else None,
        leak=found > 0,
        at_least=least,
        at_most=_scaled(weights, possibly, of),
    )


def _exposed_classes(own: Ints, views: Sequence[View], width: int, n: int) -> tuple[Mask, Mask]:
    """The classes of this release that are surely exposed if their people are in an earlier one, and possibly."""
    surely, possibly = np.zeros((2, n), dtype=np.bool_)
    for view in views:
        item, cls = view.pairs()
        common = allowed_keys(np.arange(len(item)), cls, view.allowed, width)
        held = np.isin(item[common // width] * width + common % width, own)
        left = np.bincount(common[held] // width, minlength=len(item))
        one = (left == 1) & (view.allowed.lengths[cls] > 1)
        single, others = np.bincount(item[one], minlength=n), np.bincount(item[(left > 0) & ~one], minlength=n)
        possibly |= single > 0
        surely |= (single > 0) & (others == 0)
    several = np.bincount(own // width, minlength=n) != 1
    return surely & several, possibly & several


def _overlapping(
    scene: Scene, earlier: Signature, policy: Policy, column: str, groups: Sequence[Ints], some: Ints
) -> View | None:
    """An earlier release as the classes of this one see it: which of its classes can hold the same people."""
    here = {each.name: index for index, each in enumerate(scene.signature.quasi)}
    there = {each.name: index for index, each in enumerate(earlier.quasi)}
    shared = [name for name in here if name in there]
    if not shared:
        return None
    ours, theirs = quasi_labels(stated(scene.policy)), quasi_labels(stated(policy))
    covers = [
        overlapping_labels(
            ours[name], scene.signature.quasi[here[name]].labels, theirs[name], earlier.quasi[there[name]].labels
        )
        for name in shared
    ]
    return View(
        people=scene.signature.cells[[here[name] for name in shared]][:, some],
        classes=earlier.cells[[there[name] for name in shared]],
        covers=covers,
        allowed=allowed_values(earlier, column, groups),
    )
