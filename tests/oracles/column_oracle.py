"""What columns tell of secrets, counted record by record and over every dealing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product

Record = tuple[Hashable, Hashable, Hashable]  # class, what is known, secret


def groups(records: Sequence[Record]) -> dict[tuple[Hashable, Hashable], list[Hashable]]:
    """The secrets of the records that agree in class and in what is known."""
    found = defaultdict(list)
    for cls, known, secret in records:
        found[cls, known].append(secret)
    return dict(found)


def belief(records: Sequence[Record]) -> Fraction:
    """Right guesses of somebody who guesses each secret as often as it occurs among the records that agree."""
    return sum(
        (
            Fraction(count, len(secrets)) * count
            for secrets in groups(records).values()
            for count in Counter(secrets).values()
        ),
        Fraction(0),
    )


def certain(records: Sequence[Record]) -> int:
    """Records that agree with no other secret, in classes with several."""
    mixed = {cls for cls, _, one in records if any(one != other for c, _, other in records if c == cls)}
    return sum(len(each) for (cls, _), each in groups(records).items() if cls in mixed and len(set(each)) == 1)


def dealings(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Every way to deal the secrets within the classes, equal ones as often as they come up."""
    classes = sorted({str(cls) for cls, _, _ in records})
    members = [[each for each in records if str(each[0]) == cls] for cls in classes]
    for orders in product(*(permutations([secret for _, _, secret in each]) for each in members)):
        yield [
            (cls, known, secret)
            for each, order in zip(members, orders, strict=True)
            for (cls, known, _), secret in zip(each, order, strict=True)
        ]
