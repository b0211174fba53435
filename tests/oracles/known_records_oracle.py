"""Known records by the definition: everybody is compared with every set of records of everybody."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

Records = Mapping[Hashable, Sequence[Hashable]]  # the classes of each person's records


def by_person(pairs: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, list[Hashable]]:
    """The classes of each person's records, from (class, person) of each record."""
    found: dict[Hashable, list[Hashable]] = {}
    for cls, person in pairs:
        found.setdefault(person, []).append(cls)
    return found


def fits(records: Records, known: Sequence[Hashable]) -> int:
    """How many people have as many records in each class as the known ones take up."""
    needed = Counter(known)
    return sum(all(Counter(classes)[cls] >= n for cls, n in needed.items()) for classes in records.values())


def fits_of(records: Records, person: Hashable, size: int) -> list[int]:
    """The people that fit each set of so many records of a person, or all where there are fewer."""
    classes = records[person]
    return [fits(records, known) for known in combinations(classes, min(size, len(classes)))]


def fewest(records: Records, size: int) -> int:
    """The fewest people that fit at most so many records of anybody."""
    return min((min(fits_of(records, person, size)) for person in records), default=0)


def singled_out(records: Records, size: int, k: int = 2) -> int:
    """People whom some records leave among fewer than k."""
    return sum(min(fits_of(records, person, size)) < k for person in records)


def success(records: Records, size: int) -> float:
    """The expected share of right guesses."""
    found = [fits_of(records, person, size) for person in records]
    return sum(sum(1 / n for n in each) / len(each) for each in found) / len(found)
