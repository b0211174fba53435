"""Records that pseudonyms link, read off the definitions: people, Counters and fractions, nothing of the package.

A record is (person, labels of its quasi-identifiers, sensitive value), as released. The linked class of a person is the
multiset of the labels of all their records. A model must hold for everything that the people of a linked class have,
and for what they have under each combination of labels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Record = tuple[str, tuple[str, ...], str]
Spec = Mapping[str, Any]


def linked_classes(records: Sequence[Record]) -> list[set[str]]:
    """The people of each linked class."""
    shown: dict[str, Counter[tuple[str, ...]]] = {}
    for person, labels, _ in records:
        shown.setdefault(person, Counter())[labels] += 1
    found: dict[frozenset[tuple[tuple[str, ...], int]], set[str]] = {}
    for person, labels in shown.items():
        found.setdefault(frozenset(labels.items()), set()).add(person)
    return list(found.values())


def sets_of(people: set[str], records: Sequence[Record]) -> list[list[Record]]:
    """What must hide these people: all their records, and those with each combination of labels."""
    own = [record for record in records if record[0] in people]
    return [own, *([each for each in own if each[1] == labels] for labels in sorted({each[1] for each in own}))]


def weights(records: Sequence[Record]) -> dict[str, Fraction]:
    """What each value weighs: everybody one, over the different values they have."""
    values: dict[str, set[str]] = {}
    for person, _, value in records:
        values.setdefault(person, set()).add(value)
    found: Counter[str] = Counter()
    for own in values.values():
        for value in own:
            found[value] += Fraction(1, len(own))
    return {value: Fraction(weight, len(values)) for value, weight in found.items()}


def holds(spec: Spec, records: Sequence[Record], release: Sequence[Record]) -> bool:
    people, values = {record[0] for record in records}, {record[2] for record in records}
    if spec["model"] == "k-anonymity":
        return len(people) >= spec["k"]
    if spec["model"] == "p-sensitive":
        return len(values) >= spec["p"]
    if spec["model"] == "alpha-k-anonymity":
        shares = [Fraction(len({each[0] for each in records if each[2] == value}), len(people)) for value in values]
        return max(shares) <= Fraction(str(spec["alpha"]))
    if spec["model"] == "entropy-l-diversity":
        entropy = -math.fsum(float(weight) * math.log(weight) for weight in weights(records).values())
        return entropy >= math.log(spec["l"]) - 1e-9
    assert spec["model"] == "t-closeness"
    here, everywhere = weights(records), weights(release)
    apart = sum(abs(here.get(value, Fraction(0)) - weight) for value, weight in everywhere.items()) / 2
    return float(apart) <= spec["t"] + 1e-9


def released_people(models: Sequence[Spec], records: Sequence[Record]) -> set[str]:
    """Who is left when linked classes that fail are left out, until nothing fails."""
    kept = list(records)
    stages = [[spec for spec in models if spec["model"] != "t-closeness"], list(models)]
    for stage in stages:
        while True:
            failing = set[str]()
            for people in linked_classes(kept):
                if not all(holds(spec, each, kept) for each in sets_of(people, kept) for spec in stage):
                    failing |= people
            if not failing:
                break
            kept = [record for record in kept if record[0] not in failing]
    return {record[0] for record in kept}


def satisfying_nodes(
    models: Sequence[Spec],
    records: Sequence[Record],
    heights: Sequence[int],
    recode: Callable[[tuple[str, ...], tuple[int, ...]], tuple[str, ...]],
    budget: int,
) -> dict[tuple[int, ...], set[str]]:
    """Every node at which few enough records are left out, and who is released there."""
    found = {}
    for node in product(*(range(height + 1) for height in heights)):
        shown = [(person, recode(labels, node), value) for person, labels, value in records]
        kept = released_people(models, shown)
        if kept and sum(person not in kept for person, _, _ in records) <= budget:
            found[node] = kept
    return found


def minimal(nodes: Mapping[tuple[int, ...], Any]) -> set[tuple[int, ...]]:
    def below(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    return {node for node in nodes if not any(below(other, node) for other in nodes)}
