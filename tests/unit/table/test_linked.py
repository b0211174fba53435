"""Linked classes: people with the same records, found at once and step by step."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.table.linked import link_records, linked_classes, same_records

RECORDS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7), st.integers(1, 3)), min_size=1, max_size=25)
Record = tuple[int, int, int]


def naive(records: list[Record]) -> dict[int, frozenset[tuple[int, int]]]:
    """What each person has: each key with how often."""
    found: dict[int, dict[int, int]] = {}
    for person, key, count in records:
        own = found.setdefault(person, {})
        own[key] = own.get(key, 0) + count
    return {person: frozenset(own.items()) for person, own in found.items()}


def arrays(records: list[Record]) -> list[np.ndarray]:
    return [np.array(column, dtype=np.int64) for column in zip(*records, strict=True)]


def test_a_table_by_hand() -> None:
    """u and v come twice to a and once to b; w comes to both once; x only to a, twice."""
    person, keys = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3]), np.array([7, 7, 9, 9, 7, 7, 7, 9, 7, 7])
    numbers = same_records(person, keys, np.ones(10, dtype=np.int64))
    assert numbers[0] == numbers[1]
    assert len({numbers[0], numbers[2], numbers[3]}) == 3
    owner, first, links = link_records(person, keys, np.ones(10, dtype=np.int64))
    assert len(first) == 5, "a and b of u and v, a and b of w, a of x"
    assert sorted(links.each.tolist()) == [1, 1, 1, 2, 2]
    assert owner[0] == owner[4] != owner[6]


@given(RECORDS)
def test_people_share_a_number_exactly_if_they_have_the_same(records: list[Record]) -> None:
    person, keys, counts = arrays(records)
    numbers, own = same_records(person, keys, counts), naive(records)
    for one in own:
        for other in own:
            assert (numbers[one] == numbers[other]) == (own[one] == own[other])


@given(RECORDS, st.permutations(range(6)))
def test_numbers_depend_on_what_people_have_and_not_on_who_they_are(records: list[Record], names: list[int]) -> None:
    person, keys, counts = arrays(records)
    renamed = np.array(names)[person]
    numbers, again = same_records(person, keys, counts), same_records(renamed, keys, counts)
    assert (numbers[person] == again[renamed]).all()


@given(RECORDS, st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_more_general_classes_follow_from_finer_ones(records: list[Record], general: list[int]) -> None:
    person, keys, counts = arrays(records)
    coarse = np.array(general)[keys]
    direct, _, links = link_records(person, coarse, counts)
    owner, first, fine = link_records(person, keys, counts)
    of_set, _, rolled = fine.regrouped(coarse[first])
    assert (of_set[owner] == direct).all()
    assert (rolled.linked == links.linked).all()
    assert (rolled.each == links.each).all()


@given(RECORDS)
def test_the_linked_class_of_each_class_of_a_release(records: list[Record]) -> None:
    person, keys, counts = arrays(records)
    owner, _, links = link_records(person, keys, counts)
    found = linked_classes(person.astype(np.int32), owner.astype(np.int32), counts)
    for one in range(len(found)):
        for other in range(len(found)):
            assert (found[one] == found[other]) == (links.linked[one] == links.linked[other])
