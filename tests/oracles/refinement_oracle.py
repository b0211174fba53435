"""What a release tells about the values behind its labels, by trying every original table of a size.

An original is a multiset of records over a domain. Those that an algorithm turns into the same release cannot be told
apart by anybody who has only the release; so what is the same in all of them is certain, and nothing else is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

Labels = tuple[str | None, ...]
Chains = Mapping[str, Sequence[str]]  # of each value of a column, its labels from itself to the root
Release = frozenset[tuple[Labels, int]]  # the label tuples that are shown, and by how many records
Pairs = Sequence[tuple[Labels, Labels]]  # of each record its values and its labels


@dataclass(frozen=True)
class Known:
    """How many records of a class have a finer label, at least and at most, over all originals of the release."""

    least: int
    most: int


def originals(columns: Sequence[Chains], records: int) -> Iterable[tuple[Labels, ...]]:
    """Every table of so many records."""
    return combinations_with_replacement(list(product(*columns)), records)


def by_release(
    columns: Sequence[Chains], records: int, recode: Callable[[Sequence[Labels]], Pairs | None]
) -> dict[Release, list[Pairs]]:
    """The originals of each release; those that nothing is released of are left out."""
    found: dict[Release, list[Pairs]] = defaultdict(list)
    for table in originals(columns, records):
        pairs = recode(table)
        if pairs is not None:
            found[frozenset(Counter(labels for _, labels in pairs).items())].append(pairs)
    return found


def finer_labels(chains: Chains, label: str | None) -> list[str]:
    """The labels one step below a label; none below a value."""
    steps = [(chain[chain.index(label) - 1], chain.index(label)) for chain in chains.values() if label in chain]
    return list(dict.fromkeys(below for below, index in steps if index))


def certain_counts(columns: Sequence[Chains], tables: Sequence[Pairs]) -> dict[tuple[Labels, int], dict[str, Known]]:
    """For each class and generalized column of a release, given by its originals, what is certain of finer labels."""
    classes = {labels for _, labels in tables[0]}
    found = {}
    for labels, (j, chains) in product(classes, enumerate(columns)):
        counts = {
            below: [
                sum(shown == labels and below in chains[str(values[j])] for values, shown in pairs) for pairs in tables
            ]
            for below in finer_labels(chains, labels[j])
        }
        if counts:
            found[labels, j] = {below: Known(min(each), max(each)) for below, each in counts.items()}
    return found


def certain_cells(counts: Mapping[str, Known], records: int) -> int:
    """Cells of a class that are narrowed down, or placed if none is."""
    if any(known.most == 0 for known in counts.values()):
        return records
    return sum(known.least for known in counts.values())
