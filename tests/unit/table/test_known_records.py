"""Known records: the people who fit them, against the definition; the verifier counts by its own code."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import known_records_oracle as oracle
from shoal.errors import InputError
from shoal.table import known_records
from shoal.table.known_records import FittingPeople, alike_people, combinations
from shoal.verification.known_events import fewest_fitting

Pairs = Sequence[tuple[int, int]]
RECORDS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=24)


def split(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The class, the person and the count of each distinct row."""
    counted = Counter(pairs)
    owner, person = zip(*counted, strict=True)
    return np.array(owner, dtype=np.int64), np.array(person, dtype=np.int32), np.array(list(counted.values()))


@given(pairs=RECORDS, size=st.integers(1, 3), capped=st.booleans())
def test_everybody_who_has_the_classes_fits(pairs: Pairs, size: int, capped: bool) -> None:
    records = oracle.by_person(pairs)
    people = alike_people(*split(pairs), most=3 if capped else None)
    fitting = FittingPeople.of(people, 5, size)
    found = {
        tuple(classes): n
        for classes, n in zip(
            fitting.classes(np.ones(len(fitting.people), dtype=bool)).tolist(), fitting.people.tolist(), strict=True
        )
    }
    known = {tuple(sorted(each)) for classes in records.values() for each in itertools.combinations(classes, size)}
    assert found == {each: oracle.fits(records, each) for each in known}


@given(pairs=RECORDS, size=st.integers(1, 3), at_a_time=st.integers(1, 5))
def test_all_sets_of_records_are_counted_however_few_at_a_time(pairs: Pairs, size: int, at_a_time: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_records, "_AT_A_TIME", at_a_time)
        patch.setattr(known_records, "_HELD", 2)
        people = alike_people(*split(pairs))
        for each in people:
            ways = np.zeros(len(each.people))
            for some in combinations(each, size):
                ways += np.bincount(some.row, weights=some.ways, minlength=len(ways))
            assert ways.tolist() == [math.comb(n, size) for n in each.records.tolist()]
        small = FittingPeople.of(people, 5, size)
    whole = FittingPeople.of(people, 5, size)
    assert small.keys.tolist() == whole.keys.tolist()
    assert small.people.tolist() == whole.people.tolist()


@given(pairs=RECORDS, at_a_time=st.integers(1, 5), ordered=st.booleans(), left_out=st.integers(-1, 4))
def test_people_are_the_same_however_few_rows_at_a_time(
    pairs: Pairs, at_a_time: int, ordered: bool, left_out: int
) -> None:
    owner, person, counts = split(sorted(pairs, key=lambda pair: pair[1]) if ordered else pairs)
    kept = owner != left_out
    whole = alike_people(owner[kept], person[kept], counts[kept])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_records, "_ROWS_AT_A_TIME", at_a_time)
        patch.setattr(known_records, "_INT32", 20)
        parts = alike_people(np.where(kept, owner, -1), person, counts)
    for one, other in zip(whole, parts, strict=True):
        assert one.classes.tolist() == other.classes.tolist()
        assert one.counts.tolist() == other.counts.tolist()
        assert one.people.tolist() == other.people.tolist()


@given(pairs=RECORDS, size=st.integers(1, 3))
def test_numbers_beyond_64_bits_change_nothing(pairs: Pairs, size: int) -> None:
    people = alike_people(*split(pairs))
    usual = FittingPeople.of(people, 5, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_records, "_KEY_LIMIT", 1)
        wide = FittingPeople.of(people, 5, size)
        assert wide.keys.dtype == object
        every = np.ones(len(wide.people), dtype=bool)
        assert wide.classes(every).tolist() == usual.classes(every).tolist()
        assert wide.of_combinations(usual.classes(every)).tolist() == usual.people.tolist()


@given(pairs=RECORDS, events=st.integers(1, 3))
def test_the_verifier_counts_the_same_by_its_own_code(pairs: Pairs, events: int) -> None:
    owner, person, counts = split(pairs)
    assert fewest_fitting(owner, person.astype(np.int64), counts, events) == oracle.fewest(
        oracle.by_person(pairs), events
    )


def test_the_verifier_finds_nobody_where_there_are_no_records() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert fewest_fitting(none, none, none, 2) == 0


def test_more_combinations_than_can_be_counted_are_refused() -> None:
    classes = np.arange(3000)
    people = alike_people(classes, np.zeros(3000, dtype=np.int32))
    with pytest.raises(InputError) as caught:
        FittingPeople.of(people, 3000, 3)
    assert caught.value.code == "too-many-combinations"
