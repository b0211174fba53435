"""The attacks by their definitions, trying everything that can be: for tiny tables only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import comb

Label = str | None
Row = tuple[Label, ...]
Chains = Mapping[Label, Sequence[Label]]
"""For each value its labels from itself to the root."""


def certain_records(classes: Iterable[Sequence[Label]], ruled_out: int) -> int:
    """Records whose secret is certain once the worst choice of values has been ruled out for their person."""
    return sum(len(secrets) for secrets in classes if len(set(secrets)) - ruled_out <= 1)


def tail(found: int, drawn: int, marked: int, total: int) -> Fraction:
    """P(X ≥ found): at least so many marked ones among those drawn."""
    ways = sum(comb(marked, x) * comb(total - marked, drawn - x) for x in range(found, min(drawn, marked) + 1))
    return Fraction(ways, comb(total, drawn))


def mean_belief(classes: Sequence[Sequence[Label]]) -> Fraction:
    """The mean share that a record's own value has in its class."""
    shares = [Fraction(secrets.count(secret), len(secrets)) for secrets in map(list, classes) for secret in secrets]
    return sum(shares, Fraction(0)) / len(shares)


def mean_belief_if_dealt(classes: Sequence[Sequence[Label]]) -> Fraction:
    """The same, averaged over every way to deal the secrets over the classes."""
    secrets = [secret for each in classes for secret in each]
    sizes = [len(each) for each in classes]
    total, ways = Fraction(0), 0
    for dealt in permutations(secrets):
        total += mean_belief(hands(dealt, sizes))
        ways += 1
    return total / ways


def hands(dealt: Iterable[Label], sizes: Iterable[int]) -> list[list[Label]]:
    """Secrets in the order in which they are dealt over classes of some sizes."""
    places = iter(dealt)
    return [[next(places) for _ in range(size)] for size in sizes]


def possible_values(chains: Chains, people: Sequence[Label], labels: Sequence[Label]) -> list[set[Label]]:
    """For each record of one column the values it has in any assignment of people to records that fits the labels."""
    found: list[set[Label]] = [set() for _ in labels]

    def assign(place: int, left: Counter[Label], chosen: list[Label]) -> None:
        if place == len(labels):
            for record, value in enumerate(chosen):
                found[record].add(value)
            return
        for value in [value for value, count in left.items() if count and labels[place] in chains[value]]:
            assign(place + 1, left - Counter([value]), [*chosen, value])

    assign(0, Counter(people), [])
    return found


def common_ancestor(chains: Chains, values: Iterable[Label]) -> Label:
    """The lowest label that stands above all values."""
    paths = [chains[value] for value in values]
    return next(label for label in paths[0] if all(label in path for path in paths))


def crowd(person: Row, records: Iterable[Row], chains: Sequence[Chains]) -> int:
    """Released records that a person fits."""
    return sum(
        all(label in chain[value] for value, label, chain in zip(person, record, chains, strict=True))
        for record in records
    )


def possible_crowd(person: int, people: Sequence[Row], records: Sequence[Row], chains: Sequence[Chains]) -> int:
    """Records that a person has in some assignment of different people to all records, each fitting theirs."""

    def fits(one: int, record: Row) -> bool:
        return bool(crowd(people[one], [record], chains))

    def assignable(open_records: Sequence[Row], left: frozenset[int]) -> bool:
        if not open_records:
            return True
        first, *others = open_records
        return any(fits(one, first) and assignable(others, left - {one}) for one in left)

    others = frozenset(range(len(people))) - {person}
    return sum(
        fits(person, record) and assignable([*records[:place], *records[place + 1 :]], others)
        for place, record in enumerate(records)
    )


def ranges(values: Sequence[int]) -> list[tuple[int, int]]:
    """The range method on one group: each value from the next smaller to the next larger one, itself without."""
    distinct = sorted(set(values))
    shown = []
    for value in values:
        place = distinct.index(value)
        shown.append((distinct[max(place - 1, 0)], distinct[min(place + 1, len(distinct) - 1)]))
    return shown


def preimages(shown: Sequence[tuple[int, int]], domain: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every original of a group that the range method turns into these ranges."""
    return (values for values in product(domain, repeat=len(shown)) if ranges(values) == list(shown))


def candidates(person: Row, release: Sequence[tuple[Row, Label]], chains: Sequence[Chains]) -> set[Label]:
    """The secrets of released records that a person fits."""
    return {
        secret
        for record, secret in release
        if all(label in chain[value] for value, label, chain in zip(person, record, chains, strict=True))
    }
