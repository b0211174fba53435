"""What follows from an original and its release about who became what, against a list of everything possible."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.verification.matching import fitting_pairs
from shoal.verification.matching.assign import OPEN, SUPPRESSED, assign
from shoal.verification.matching.match import Pairing

LABELS = 3
FITS = st.lists(st.integers(0, LABELS - 1), max_size=LABELS, unique=True).map(lambda each: tuple(sorted(each)))


def possible(under: list[tuple[int, ...]], values: list[int], released: list[int]) -> list[tuple[int, ...]]:
    """Every way in which the originals can have become these released records."""
    ways = product(*((SUPPRESSED, *under[value]) for value in values))
    return [way for way in ways if [way.count(label) for label in range(LABELS)] == released]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_is_certain_is_found_and_nothing_else(data):
    under = data.draw(st.lists(FITS, min_size=1, max_size=4))
    values = data.draw(st.lists(st.integers(0, len(under) - 1), min_size=1, max_size=6))
    became = [data.draw(st.sampled_from((SUPPRESSED, *under[value]))) for value in values]  # so that there is a way
    released = [became.count(label) for label in range(LABELS)]
    shown = [label for label in range(LABELS) if released[label]]
    if not shown:
        return
    column = Pairing(np.array(shown), np.array(values), LABELS, under)
    counts = np.array([released[label] for label in shown])
    found = assign([column], counts, np.ones(len(values), dtype=np.int64)).tolist()
    ways = possible(under, values, released)
    certain = [{way[record] for way in ways} for record in range(len(values))]
    for record, row in enumerate(found):
        if row != OPEN:
            assert certain[record] == {SUPPRESSED if row == SUPPRESSED else shown[row]}
    if all(len(each) == 1 for each in certain):
        assert OPEN not in found


def test_rows_that_stand_for_several_records_go_together():
    column = Pairing(np.array([0, 1]), np.array([0, 1]), 2, [(0, 1), (1,)])
    assert assign([column], np.array([3, 2]), np.array([3, 2])).tolist() == [0, 1]
    assert assign([column], np.array([2, 3]), np.array([3, 2])).tolist() == [OPEN, 1]


def test_a_release_that_cannot_be_of_the_original_settles_nothing():
    column = Pairing(np.array([0, 1]), np.array([0, 0]), 2, [(0,)])
    assert assign([column], np.array([1, 1]), np.array([1, 1])).tolist() == [OPEN, OPEN]


def test_too_many_pairs_leave_everything_open(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fitting_pairs, "_STORED", 1)
    column = Pairing(np.array([0, 1]), np.array([0, 1]), 2, [(0, 1), (1,)])
    assert assign([column], np.array([1, 1]), np.array([1, 1])).tolist() == [OPEN, OPEN]
