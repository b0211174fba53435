"""The informed adversary by its definition: every assignment of secrets to people that gives the same release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

Person = tuple[str, ...]
"""What is known of somebody: the quasi-identifiers."""
Labels = tuple[str | None, ...] | None
"""What is released of somebody; None for those left out."""
Release = Callable[[Sequence[Person], Sequence[str]], list[Labels] | None]
"""The algorithm: what is released of each person, or None where nothing is."""


class Believed(NamedTuple):
    """The mean belief in the true secret, and what would be believed otherwise; how many secrets are certain."""

    rate: Fraction
    baseline: Fraction
    certain: int
    exposed: int
    explaining: int


def believed(
    people: Sequence[Person],
    secrets: Sequence[str],
    release: Release,
    *,
    named: Sequence[str] = (),
    raised: Fraction = Fraction(1, 10),
) -> Believed | None:
    """What somebody believes who knows the people, the release and the algorithm; None where nothing is released."""
    shown = release(people, secrets)
    if shown is None:
        return None
    prior = Counter(secret for secret, labels in zip(secrets, shown, strict=True) if labels is not None)
    for value in named:
        prior[value] = prior[value] or 1
    shares = {value: Fraction(count, sum(prior.values())) for value, count in prior.items()}
    explaining = [
        (world, weight)
        for world, weight in worlds(secrets, shown, shares)
        if _same(people, world, shown, release(people, world))
    ]
    if not explaining:
        return Believed(Fraction(0), Fraction(0), 0, 0, 0)
    total = sum((weight for _, weight in explaining), Fraction(0))
    rate = baseline = Fraction(0)
    certain = exposed = 0
    for me, secret in zip(people, secrets, strict=True):
        twins = [index for index, other in enumerate(people) if other == me]
        after = sum(
            (weight * Fraction(sum(world[i] == secret for i in twins), len(twins)) for world, weight in explaining),
            Fraction(0),
        )
        before = sum((_without(i, secret, secrets, shown, shares) for i in twins), Fraction(0)) / len(twins)
        sure = before < 1 and all(all(world[i] == secret for i in twins) for world, _ in explaining)
        rate, baseline = rate + after / total, baseline + before
        certain += sure
        exposed += sure or after / total - before >= raised
    return Believed(rate / len(people), baseline / len(people), certain, exposed, len(explaining))


def worlds(
    secrets: Sequence[str], shown: Sequence[Labels], shares: Mapping[str, Fraction]
) -> Iterator[tuple[list[str], Fraction]]:
    """Every assignment in which each class has the secrets that it shows, and how probable it is before anything else
    is known."""
    classes = {labels: [i for i, each in enumerate(shown) if each == labels] for labels in shown}
    ways: list[list[tuple[tuple[str, ...], Fraction]]] = []
    for labels, members in classes.items():
        if labels is None:
            drawn = product(shares, repeat=len(members))
            ways.append([(each, _chance(each, shares)) for each in drawn])
        else:
            ways.append([(each, Fraction(1)) for each in arrangements(Counter(secrets[i] for i in members))])
    for chosen in product(*ways):
        world, weight = [""] * len(secrets), Fraction(1)
        for members, (dealt, chance) in zip(classes.values(), chosen, strict=True):
            weight *= chance
            for i, secret in zip(members, dealt, strict=True):
                world[i] = secret
        yield world, weight


def arrangements(left: Counter[str]) -> Iterator[tuple[str, ...]]:
    """Every order of some secrets, equal ones not told apart."""
    if not +left:
        yield ()
    for secret in +left:
        for rest in arrangements(left - Counter([secret])):
            yield (secret, *rest)


def _chance(drawn: Sequence[str], shares: Mapping[str, Fraction]) -> Fraction:
    result = Fraction(1)
    for each in drawn:
        result *= shares[each]
    return result


def _without(
    i: int, secret: str, secrets: Sequence[str], shown: Sequence[Labels], shares: Mapping[str, Fraction]
) -> Fraction:
    """The belief in a secret by the release alone."""
    if shown[i] is None:
        return shares.get(secret, Fraction(0))
    members = [other for other, labels in zip(secrets, shown, strict=True) if labels == shown[i]]
    return Fraction(members.count(secret), len(members))


def _same(
    people: Sequence[Person], secrets: Sequence[str], shown: Sequence[Labels], made: Sequence[Labels] | None
) -> bool:
    """Whether the same people are in the same classes, with the secrets that they have in this world."""
    return made is not None and Counter(zip(people, secrets, shown, strict=True)) == Counter(
        zip(people, secrets, made, strict=True)
    )
