"""Features: expectations over the values under a label, in one space for originals and releases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from utility_cases import cells_of, released, rows

from oracles.utility_oracle import expected_indicators, expected_number
from shoal.hierarchies import Mask
from shoal.utility.columns import MOST_INDICATORS, Domain, ValueColumn, layout_of


@settings(max_examples=60)
@given(rows, st.integers(1, 6), st.sampled_from(["optimal", "mondrian"]))
def test_a_cell_is_the_expectation_over_the_values_that_it_may_be(drawn: Any, k: int, algorithm: str) -> None:
    case = released(drawn, k, algorithm)
    ages = case.originals["age"].domain.labels
    known = {str(age): float(age) for age in ages if age is not None}
    middle = sum(known.values()) / len(known)
    by_released = {}
    for name in ("age", "country"):
        layout = layout_of(case.originals[name])
        found = layout.cells(case.released[name])
        by_released[name] = sorted(map(tuple, found.round(9).tolist()))
        expected = []
        for record in cells_of(case.made.table, ages):
            cell = record[name]
            if name == "country":
                expected.append([float(each) for each in expected_indicators(cell, layout.domain.labels)])
                continue
            present = [value for value in cell if value is not None]
            number = expected_number(present, known) if present else middle
            expected.append([number] if None not in ages else [number, float(None in cell) / len(cell)])
        assert by_released[name] == sorted(map(tuple, np.round(expected, 9).tolist()))


def column(domain: Domain, first: list[int], last: list[int] | None = None) -> ValueColumn:
    ends = np.array(first if last is None else last, dtype=np.int64)
    return ValueColumn(domain, np.array(first, dtype=np.int64), ends)


def test_an_ungeneralized_cell_has_exactly_its_own_number() -> None:
    numbers = np.array([0.1, 0.2, 0.3, 1e9])
    domain = Domain("x", ("0.1", "0.2", "0.3", "1e9"), "numbers", numbers)
    layout = layout_of(column(domain, [0, 1, 2, 3]))
    assert layout.cells(column(domain, [0, 1, 2, 3])).ravel().tolist() == numbers.tolist()
    assert layout.cells(column(domain, [0], [1])).ravel() == pytest.approx([0.15])


def test_many_codes_are_read_by_the_finest_level_that_has_few_groups() -> None:
    codes = [f"{place:03d}" for place in range(300)]
    built = Mask("right").build(codes, [1] * 300, "zip")
    domain = Domain("zip", built.hierarchy.labels[:300], "categories", None, built.hierarchy)
    layout = layout_of(column(domain, [0]))
    assert layout.words == "30 groups of 300 values (level 1 of the hierarchy)"
    assert layout.cells(column(domain, [0], [14]))[0, :3].tolist() == pytest.approx([10 / 15, 5 / 15, 0])


def test_without_a_level_the_commonest_values_count_and_all_others_are_one() -> None:
    domain = Domain("x", tuple(f"v{place}" for place in range(100)), "categories")
    layout = layout_of(column(domain, [99, 99, 7, *range(100)]))
    assert "commonest of 100" in layout.words
    cells = layout.cells(column(domain, [99, 7, 98]))
    assert cells.shape[1] == MOST_INDICATORS
    assert cells[:, :2].tolist() == [[1, 0], [0, 1], [0, 0]]
    assert cells[2, -1] == 1
