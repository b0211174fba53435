"""People in classes, against sets and dicts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles import people_oracle as oracle
from shoal.table.classes import UNITS
from shoal.table.people import class_people, people_histogram
from support.model_cases import CATEGORIES, COLUMN, DOMAIN, READINGS, VALUES
from support.people_cases import Events, events, people_stats_of


@given(drawn=events(), data=st.data())
def test_sizes_counts_and_weights_are_those_of_people(drawn: Events, data: st.DataObject) -> None:
    n = sum(map(len, drawn))
    repeats = data.draw(st.none() | st.lists(st.integers(1, 3), min_size=n, max_size=n))
    stats = people_stats_of(drawn, repeats)
    seen = stats.view(COLUMN)
    assert stats.sizes.tolist() == [len(oracle.people(each)) for each in drawn]
    parts = np.split(np.array(repeats or [1] * n, dtype=int), np.cumsum([len(each) for each in drawn])[:-1])
    assert stats.records.tolist() == [int(part.sum()) for part in parts[: len(drawn)]]
    for at, each in enumerate(drawn):
        entries = slice(seen.histogram.starts[at], seen.histogram.starts[at + 1])
        values = [VALUES[code] for code in seen.histogram.values[entries]]
        assert values == sorted(oracle.values_in(each), key=VALUES.index)
        assert seen.histogram.counts[entries].tolist() == [len(oracle.having(each, [value])) for value in values]
        weighed = oracle.weights(each)
        assert seen.histogram.weights[entries].tolist() == [weighed[value] * UNITS for value in values]
        assert seen.category_counts[at].tolist() == [len(oracle.having(each, b)) for b in CATEGORIES.values()]
    everything = oracle.weights([event for each in drawn for event in each])
    assert seen.totals.tolist() == [everything.get(value, 0) * UNITS for value in VALUES]


@given(drawn=events(), unknown=READINGS)
def test_unknown_values_weigh_nothing_and_known_ones_as_if_they_were_all(
    drawn: Events, unknown: frozenset[str | None]
) -> None:
    seen = people_stats_of(drawn, unknown=unknown).view(COLUMN)
    known = oracle.known(drawn, unknown)
    assert seen.sizes.tolist() == [len(oracle.people(each)) for each in drawn]
    assert seen.known.tolist() == [len(oracle.people(each)) for each in known]
    for at, each in enumerate(known):
        own = slice(seen.histogram.starts[at], seen.histogram.starts[at + 1])
        found = dict(zip([VALUES[v] for v in seen.histogram.values[own]], seen.histogram.weights[own], strict=True))
        assert found == {value: weight * UNITS for value, weight in oracle.weights(each).items()}
        blocks = CATEGORIES.values()
        assert seen.category_counts[at].tolist() == [len(oracle.having(each, block)) for block in blocks]
    everything = oracle.weights([event for each in known for event in each])
    assert seen.totals.tolist() == [everything.get(value, 0) * UNITS for value in VALUES]


@given(drawn=events(min_classes=1), data=st.data())
def test_some_of_the_classes_are_counted_as_if_they_were_all(drawn: Events, data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(drawn), max_size=len(drawn)))
    rest = people_stats_of(drawn).restricted_to(np.array(kept))
    fresh = people_stats_of([each for each, stays in zip(drawn, kept, strict=True) if stays])
    one, other = rest.view(COLUMN), fresh.view(COLUMN)
    assert rest.sizes.tolist() == fresh.sizes.tolist()
    assert rest.records.tolist() == fresh.records.tolist()
    assert one.totals.tolist() == other.totals.tolist()
    assert one.summed.tolist() == other.summed.tolist()
    assert one.category_counts.tolist() == other.category_counts.tolist()
    assert one.histogram.weights.tolist() == other.histogram.weights.tolist()


@given(drawn=events(min_classes=1), seed=st.integers(0, 2**20))
def test_the_order_of_the_rows_and_the_numbers_of_people_change_nothing(drawn: Events, seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = np.array([(at, p, VALUES.index(v)) for at, each in enumerate(drawn) for p, v in each])
    other = rows[generator.permutation(len(rows))]
    names = generator.permutation(40) * 1000
    one = people_histogram(rows[:, 0], rows[:, 1].astype(np.int32), rows[:, 2], len(drawn), DOMAIN.known)
    two = people_histogram(other[:, 0], names[other[:, 1]].astype(np.int32), other[:, 2], len(drawn), DOMAIN.known)
    for name in ("starts", "values", "counts", "weights"):
        assert getattr(one, name).tolist() == getattr(two, name).tolist()


def test_a_person_with_many_values_weighs_as_much_as_anybody() -> None:
    for n in (17, 19, 100):
        found = people_histogram(*(np.zeros(n, dtype=np.int64),) * 2, np.arange(n), 1, np.ones(n, dtype=np.bool_))
        assert found.weights.sum() == UNITS
        assert set(found.weights.tolist()) == {UNITS // n, UNITS // n + 1}
        assert (np.diff(found.weights) <= 0).all()


def test_nobody_is_in_a_class_of_no_rows() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    assert class_people(nobody, nobody.astype(np.int32), 0).tolist() == []
    assert class_people(np.array([0, 2, 2]), np.array([5, 5, 5], dtype=np.int32), 3).tolist() == [1, 0, 1]
