"""Class statistics: leaving classes out, totals, categories; and the result that every algorithm gives."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.table.classes import ClassStats
from shoal.table.recoding import Recoding
from support.builders import hierarchy_of, stats_of
from support.model_cases import CATEGORIES, COLUMN, DOMAIN, VALUES, classes


@settings(max_examples=80)
@given(classes(min_classes=1), st.lists(st.booleans(), min_size=4, max_size=4))
def test_statistics_of_some_classes_are_those_of_a_table_of_them_alone(
    given_classes: list[list[str | None]], mask: list[bool]
) -> None:
    kept = np.array(mask[: len(given_classes)])
    part = stats_of(given_classes, DOMAIN).keep(kept)
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
