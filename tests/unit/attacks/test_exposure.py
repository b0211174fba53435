"""What a release gives away: homogeneity, similarity, and k when a missing cell matches anything."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.attacks.exposure import Exposure, homogeneity, similarity
from shoal.attacks.risk.risk import smallest_if_missing_matches
from shoal.hierarchies import Flat
from shoal.table.recoding import Recoding
from support.builders import domain_of, view_of

CATEGORIES = {"Top Secret": ["HIV", "Cancer"], "Non Secret": ["Flu"]}


def test_a_class_with_one_value_is_open_to_homogeneity() -> None:
    view = view_of([["HIV", "HIV"], ["HIV", "Cancer", "HIV"], ["Flu"]])
    assert homogeneity(view) == Exposure(classes=2, records=3)


def test_a_class_in_one_category_is_open_to_similarity_though_its_values_differ() -> None:
    view = view_of([["HIV", "Cancer"], ["HIV", "Flu"]], domain_of(["HIV", "Cancer", "Flu"], categories=CATEGORIES))
    assert similarity(view) == Exposure(classes=1, records=2)
    assert homogeneity(view) == Exposure(classes=0, records=0)


def test_without_categories_there_is_no_similarity_to_count() -> None:
    assert similarity(view_of([["a"], ["b"]])) is None


def recoding_of(rows: list[tuple[str | None, ...]]) -> Recoding:
    columns = list(zip(*rows, strict=True))
    built = [Flat().build(sorted(set(column), key=str), [1] * len(set(column)), "") for column in columns]
    hierarchies = tuple(each.hierarchy for each in built)
    classes = sorted(set(rows), key=str)
    nodes = np.array(
        [[hierarchy.by_label[cell] for hierarchy, cell in zip(hierarchies, row, strict=True)] for row in classes],
        dtype=np.int32,
    )
    row_class = np.array([classes.index(row) for row in rows], dtype=np.int32)
    return Recoding(tuple(f"q{j}" for j in range(len(columns))), hierarchies, row_class, nodes)


cells = st.sampled_from(["a", "b", None])


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=12))
def test_a_missing_cell_matches_anything_as_counted_pair_by_pair(rows: list[tuple[str | None, ...]]) -> None:
    def could_be(one: tuple[str | None, ...], other: tuple[str | None, ...]) -> bool:
        return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))

    expected = min(sum(could_be(row, other) for other in rows) for row in rows)
    assert smallest_if_missing_matches(recoding_of(rows)) == expected


def test_without_missing_cells_both_readings_agree() -> None:
    rows = list(product("ab", "cd")) * 3
    assert smallest_if_missing_matches(recoding_of(rows)) == 3
