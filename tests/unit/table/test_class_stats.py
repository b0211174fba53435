"""Class statistics: leaving classes out, totals, categories; and the result that every algorithm gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.table.classes import UNITS, ClassStats
from shoal.table.people import PeopleRows, people_stats
from shoal.table.recoding import Recoding
from support.builders import hierarchy_of, stats_of
from support.model_cases import CATEGORIES, COLUMN, DOMAIN, READINGS, VALUES, classes


@settings(max_examples=80)
@given(classes(min_classes=1), st.lists(st.booleans(), min_size=4, max_size=4))
def test_statistics_of_some_classes_are_those_of_a_table_of_them_alone(
    given_classes: list[list[str | None]], mask: list[bool]
) -> None:
    kept = np.array(mask[: len(given_classes)])
    part = stats_of(given_classes, DOMAIN).restricted_to(kept)
    alone = stats_of([each for each, stays in zip(given_classes, kept, strict=True) if stays], DOMAIN)
    assert part.sizes.tolist() == alone.sizes.tolist()
    one, other = part.histograms[COLUMN], alone.histograms[COLUMN]
    assert one.starts.tolist() == other.starts.tolist()
    assert one.values.tolist() == other.values.tolist()
    assert one.counts.tolist() == other.counts.tolist()


@settings(max_examples=80)
@given(classes())
def test_totals_and_categories_count_every_record(given_classes: list[list[str | None]]) -> None:
    view = stats_of(given_classes, DOMAIN).view(COLUMN)
    counted = Counter(value for each in given_classes for value in each)
    assert view.totals.tolist() == [counted[value] for value in VALUES]
    expected = [[sum(value in block for value in each) for block in CATEGORIES.values()] for each in given_classes]
    assert view.category_counts.reshape(len(given_classes), len(CATEGORIES)).tolist() == expected
    assert view.histogram.distinct.tolist() == [len(set(each)) for each in given_classes]
    assert view.histogram.per_class_sum(view.histogram.counts).tolist() == [len(each) for each in given_classes]
    most = [max(Counter(each).values()) for each in given_classes]
    assert view.histogram.per_class_max(view.histogram.counts).tolist() == most


def test_a_model_without_a_sensitive_column_sees_sizes_only() -> None:
    view = ClassStats(np.array([2, 3]), {}, {}).view(None)
    assert view.sizes.tolist() == [2, 3]
    with pytest.raises(AssertionError, match="without a sensitive column"):
        _ = view.histogram
    with pytest.raises(AssertionError, match="without a sensitive column"):
        _ = view.domain


def test_a_recoding_counts_its_classes_and_what_is_left_out() -> None:
    hierarchy = hierarchy_of(["a", "b"])
    rows = np.array([1, -1, 0, 1, -1, 1], dtype=np.int32)
    recoding = Recoding(("q",), (hierarchy,), rows, np.array([[0], [1]], dtype=np.int32))
    assert recoding.sizes.tolist() == [1, 3]
    assert (recoding.n_rows, recoding.n_classes, recoding.suppressed) == (6, 2, 2)


def test_a_recoding_that_releases_nothing_has_no_classes() -> None:
    hierarchy = hierarchy_of(["a"])
    rows = np.full(3, -1, dtype=np.int32)
    recoding = Recoding(("q",), (hierarchy,), rows, np.zeros((0, 1), dtype=np.int32))
    assert recoding.sizes.tolist() == []
    assert recoding.suppressed == 3


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from(VALUES[:-1])), min_size=1, max_size=12),
    READINGS,
)
def test_people_weigh_by_what_is_known_of_them(
    rows: list[tuple[int, int, str | None]], unknown: frozenset[str | None]
) -> None:
    """A person counts, and divides a weight, over the values known of them in the class; the unknown take no part."""
    number = {owner: place for place, owner in enumerate(sorted({owner for owner, _, _ in rows}))}
    rows = [(number[owner], person, value) for owner, person, value in rows]
    domain = replace(DOMAIN, unknown=unknown)
    owner, person = (np.array([row[place] for row in rows]) for place in (0, 1))
    codes = np.array([VALUES.index(value) for _, _, value in rows], dtype=np.int32)
    records = np.bincount(owner, minlength=len(number)).astype(np.int64)
    people = PeopleRows(owner.astype(np.int64), person.astype(np.int32), {COLUMN: codes})
    view = people_stats(people, records, {COLUMN: domain}).view(COLUMN)
    told = {(each, who, value) for each, who, value in rows if value not in unknown}
    values_of = Counter((each, who) for each, who, _ in told)
    assert view.known.tolist() == [sum(each == place for each, _ in values_of) for place in number.values()]
    found = {}
    for entry, (place, code) in enumerate(zip(view.histogram.class_of, view.histogram.values, strict=True)):
        found[int(place), VALUES[code]] = (view.histogram.counts[entry], view.histogram.weights[entry] / UNITS)
    expected = {}
    for place, value in {(each, value) for each, _, value in told}:
        having = [who for each, who, other in told if (each, other) == (place, value)]
        weight = sum(1 / values_of[place, who] for who in having)
        expected[place, value] = (len(having), pytest.approx(weight, abs=1e-4))
    assert found == expected
