"""Groups and cells as counted record by record, in a table and by sorting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attacks.between_columns.counting import ColumnGroups, cells, mixed_classes
from shoal.table.encoded import numbered

records = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 2), st.integers(1, 3)), min_size=1)
SPREAD = [1, 100_000]  # codes that far apart are too many for a table


@pytest.mark.parametrize("spread", SPREAD)
@given(records)
def test_groups_are_the_records_that_agree_in_class_and_code(spread: int, rows: list[tuple[int, ...]]) -> None:
    owner, codes, _, weights = np.array(rows, dtype=np.int64).T
    found = ColumnGroups.of(owner, 4, codes * spread, 5 * spread, weights)
    expected: Counter[tuple[int, int]] = Counter()
    for cls, code, _, weight in rows:
        expected[cls, code] += weight
    by_group = [(cls, expected[cls, code]) for cls, code in sorted(expected)]
    assert list(zip(found.class_of.tolist(), found.sizes.tolist(), strict=True)) == by_group
    ranks = {key: rank for rank, key in enumerate(sorted(expected))}
    assert found.of_record.tolist() == [ranks[cls, code] for cls, code, *_ in rows]


@pytest.mark.parametrize("spread", SPREAD)
@pytest.mark.parametrize("weighted", [False, True])
@given(records)
def test_cells_are_groups_and_secrets_that_occur_together(
    spread: int, weighted: bool, rows: list[tuple[int, ...]]
) -> None:
    owner, _, secrets, weights = np.array(rows, dtype=np.int64).T
    groups, counts = cells(owner, 4, secrets * spread, 3 * spread, weights if weighted else None)
    expected: Counter[tuple[int, int]] = Counter()
    for cls, _, secret, weight in rows:
        expected[cls, secret] += weight if weighted else 1
    assert list(zip(groups.tolist(), counts.tolist(), strict=True)) == [
        (cls, expected[cls, secret]) for cls, secret in sorted(expected)
    ]


@given(records)
def test_a_class_is_mixed_if_it_has_two_codes(rows: list[tuple[int, ...]]) -> None:
    owner, codes, *_ = np.array(rows, dtype=np.int64).T
    assert mixed_classes(owner, 4, codes).tolist() == [
        len({code for cls, code, *_ in rows if cls == each}) > 1 for each in range(4)
    ]


def test_nothing_has_no_numbers() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    for space in (0, 1, 10_000):
        distinct, ranks = numbered(nothing, space)
        assert (ranks.tolist(), len(distinct)) == ([], 0)
