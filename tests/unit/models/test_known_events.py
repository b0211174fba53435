"""Known events: a table by hand, the definition, and what merging and leaving out do to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles import known_records_oracle as oracle
from shoal.models import MODELS, KnownEvents, model_title
from shoal.search.evaluation import evaluate_stats
from shoal.table.classes import ClassStats
from shoal.table.people import PeopleRows, people_stats

BY_HAND = {"Ann": "AAB", "Bob": "AB", "Cid": "AA", "Dee": "B", "Eve": "AAB"}
PEOPLE = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=9)


def stats_of(people: Mapping[str, str] | Sequence[Sequence[int]]) -> ClassStats:
    """Classes in people, from the classes of each person's records."""
    records = list(people.values()) if isinstance(people, Mapping) else people
    names = {name: number for number, name in enumerate(sorted({cls for each in records for cls in each}))}
    counted = Counter((names[cls], person) for person, each in enumerate(records) for cls in each)
    owner, person = (np.array(each) for each in zip(*counted, strict=True))
    counts = np.array(list(counted.values()))
    rows = PeopleRows(owner.astype(np.int64), person.astype(np.int32), {}, counts)
    return people_stats(rows, np.bincount(owner, weights=counts).astype(np.int64), {})


def test_a_table_by_hand() -> None:
    """A: 4 people, B: 4; two in A: Ann, Cid, Eve; A and B: Ann, Bob, Eve; two in A and B: Ann, Eve."""
    view = stats_of(BY_HAND).view(None)
    assert [KnownEvents(1, m).strengths(view)["k"].per_class.tolist() for m in (1, 2, 3)] == [[4, 4], [3, 3], [2, 2]]
    assert KnownEvents(3, 2).holds(view).all()
    assert not KnownEvents(4, 2).holds(view).all()
    assert not KnownEvents(3, 3).holds(view).all()
    assert KnownEvents(4, 2).shortfalls(view, 0)[0].reached == 3


def test_the_smaller_class_of_a_combination_fails() -> None:
    stats = stats_of(["AAAB", "A", "A", "B", "C", "C"])
    assert KnownEvents(2, 2).holds(stats.view(None)).tolist() == [False, True, True]  # without A, {A, B} is gone
    stats = stats_of(["AB", "A", "A", "B", "C", "C"])
    assert KnownEvents(2, 2).holds(stats.view(None)).tolist() == [True, False, True]
    assert KnownEvents(2, 1).holds(stats.view(None)).all()


def test_policies_ask_for_it_under_person_only() -> None:
    assert "known-events" not in MODELS
    assert model_title("known-events") == "known events"


@given(people=PEOPLE, k=st.integers(1, 4), events=st.integers(1, 3))
def test_it_holds_where_the_definition_does(people: Sequence[Sequence[int]], k: int, events: int) -> None:
    view, model = stats_of(people).view(None), KnownEvents(k, events)
    fewest = oracle.fewest(dict(enumerate(people)), events)
    assert model.holds(view).all() == (fewest >= k)
    reached = [m for m in range(1, events + 1) if oracle.fewest(dict(enumerate(people)), m) >= k]
    assert model.reached(view) == {"k": fewest, "events": max(reached, default=0)}


@given(people=PEOPLE, k=st.integers(1, 4), events=st.integers(1, 3), merged=st.permutations(range(4)))
def test_merging_classes_keeps_it(people: Sequence[Sequence[int]], k: int, events: int, merged: Sequence[int]) -> None:
    coarse = [[min(merged[cls], 1) for cls in each] for each in people]
    if KnownEvents(k, events).holds(stats_of(people).view(None)).all():
        assert KnownEvents(k, events).holds(stats_of(coarse).view(None)).all()


@given(people=PEOPLE, k=st.integers(1, 4), events=st.integers(1, 3))
def test_what_is_left_holds(people: Sequence[Sequence[int]], k: int, events: int) -> None:
    stats = stats_of(people)
    satisfied, kept = evaluate_stats([KnownEvents(k, events)], stats, int(stats.records.sum()))
    assert satisfied == kept.any()
    names = sorted({cls for each in people for cls in each})
    left = {cls for cls, stays in zip(names, kept, strict=True) if stays}
    rest = {person: [cls for cls in each if cls in left] for person, each in enumerate(people)}
    rest = {person: each for person, each in rest.items() if each}
    assert not rest or oracle.fewest(rest, events) >= k


def test_adding_records_breaks_it() -> None:
    assert KnownEvents(2, 2).holds(stats_of(["A", "A", "B", "B"]).view(None)).all()
    assert not KnownEvents(2, 2).holds(stats_of(["AB", "A", "B", "B"]).view(None)).all()


def test_where_classes_may_be_left_out_a_coarser_release_may_fail() -> None:
    fine = ["ab", "b", "b", "a", *["c"] * 10]
    coarse = [each.replace("c", "a") for each in fine]
    assert evaluate_stats([KnownEvents(2, 2)], stats_of(fine), 2)[0]
    assert not evaluate_stats([KnownEvents(2, 2)], stats_of(coarse), 2)[0]
