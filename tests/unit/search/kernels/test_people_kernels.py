"""People counted by kernels, compiled and plain, against sets of people."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.search.kernels import compiled, plain
from shoal.search.people_index import ClassPeople, PeopleIndex
from shoal.table.classes import UNITS, ClassStats, SensitiveDomain
from shoal.table.encoded import encode_table
from shoal.table.people import row_stats

KERNELS = [compiled, plain]
UNIT = 7  # does not divide by most numbers of values, so that there is something left over
KNOWN = {0, 1, 3, 4}
KNOWN_MASK = np.array([value in KNOWN for value in range(5)])

rows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(-1, 4)), min_size=1, max_size=60)
classes = st.lists(st.integers(-1, 3), min_size=10, max_size=10)


def arguments(given_rows: list[tuple[int, int, int]]) -> tuple[Any, Any, Any]:
    ordered = sorted(given_rows, key=lambda row: row[0])
    people = [person for person, _, _ in ordered]
    starts = [place for place, person in enumerate(people) if not place or person != people[place - 1]]
    items, values = ([row[column] for row in ordered] for column in (1, 2))
    return np.array(items, np.int32), np.array(values, np.int32), np.array([*starts, len(people)], np.int64)


def by_hand(
    given_rows: list[tuple[int, int, int]], owner: list[int]
) -> tuple[dict[int, set[int]], dict[tuple[int, int], tuple[int, int]]]:
    """The people of each class, and for each class and value how many people have it and what they weigh."""
    people: dict[int, set[int]] = defaultdict(set)
    held: dict[tuple[int, int], set[int]] = defaultdict(set)
    for person, item, value in given_rows:
        if owner[item] >= 0:
            people[owner[item]].add(person)
        if owner[item] >= 0 and value >= 0:
            held[owner[item], person].add(value)
    figures: dict[tuple[int, int], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for (cls, _), every in held.items():
        for values in (sorted(every & KNOWN), sorted(every - KNOWN)):
            for rank, value in enumerate(values):
                count, weight = figures[cls, value]
                figures[cls, value] = count + 1, weight + UNIT // len(values) + (rank < UNIT % len(values))
    return people, figures


@pytest.mark.parametrize("kernels", KERNELS)
@settings(max_examples=60, deadline=None)
@given(given_rows=rows, owner=classes)
def test_everybody_counts_once_in_each_class(
    kernels: Any, given_rows: list[tuple[int, int, int]], owner: list[int]
) -> None:
    items, _, starts = arguments(given_rows)
    found = kernels.class_people(np.array(owner, np.int32), items, starts, 4)
    people, _ = by_hand(given_rows, owner)
    assert found.tolist() == [len(people[cls]) for cls in range(4)]


@pytest.mark.parametrize("kernels", KERNELS)
@settings(max_examples=60, deadline=None)
@given(given_rows=rows, owner=classes)
def test_everybody_weighs_the_same_in_each_class(
    kernels: Any, given_rows: list[tuple[int, int, int]], owner: list[int]
) -> None:
    items, values, starts = arguments(given_rows)
    found = kernels.people_histogram(np.array(owner, np.int32), items, values, starts, 4, KNOWN_MASK, UNIT)
    entries, found_values, counts, weights = (each.tolist() for each in found)
    _, figures = by_hand(given_rows, owner)
    expected = sorted((cls, value, *figure) for (cls, value), figure in figures.items())
    owners = [cls for cls in range(4) for _ in range(entries[cls], entries[cls + 1])]
    assert list(zip(owners, found_values, counts, weights, strict=True)) == expected


def same(one: ClassStats, other: ClassStats) -> None:
    assert one.sizes.tolist() == other.sizes.tolist()
    assert one.records.tolist() == other.records.tolist()
    for these, those in ((one.histograms, other.histograms), (one.categories, other.categories)):
        assert set(these) == set(those)
        for name, histogram in these.items():
            for field in ("starts", "values", "counts", "weights"):
                assert getattr(histogram, field).tolist() == getattr(those[name], field).tolist()


@pytest.mark.parametrize("kernels", KERNELS)
@settings(max_examples=40, deadline=None)
@given(given_rows=rows, in_order=st.booleans(), left_out=st.integers(0, 3))
def test_all_rows_give_the_statistics_of_any_rows(
    kernels: Any, given_rows: list[tuple[int, int, int]], in_order: bool, left_out: int
) -> None:
    given_rows = [(person, item, max(value, 0)) for person, item, value in given_rows]
    ordered = sorted(given_rows) if in_order else given_rows
    person, item, value = (np.array(column, np.int32) for column in zip(*ordered, strict=True))
    owner = np.unique(item % 4, return_inverse=True)[1].astype(np.int32)
    n_classes = int(owner.max()) + 1
    table = encode_table({"q": (item, 10)}, {"s": value}, len(item), None, person)
    unknown = frozenset("c")
    domain = SensitiveDomain(
        "s", tuple("abcde"), False, ("x", "y"), np.array([0, 0, -1, 1, 0], np.int32), unknown=unknown
    )
    people = ClassPeople(PeopleIndex(table, np.arange(len(item), dtype=np.int32)), owner, kernels)
    found = people.stats(np.bincount(owner), {"s": domain}, ["s"])
    expected = row_stats(table, owner, n_classes, {"s": domain}, ["s"])
    same(found, expected)
    kept = np.arange(n_classes) != left_out
    if kept.any():
        same(found.restricted_to(kept), expected.restricted_to(kept))
        totals = [each.restricted_to(kept).view("s").totals.tolist() for each in (found, expected)]
        assert totals[0] == totals[1]
        released = zip(person, owner, value, strict=True)
        assert sum(totals[0]) == UNITS * len({who for who, cls, code in released if kept[cls] and code != 2})
