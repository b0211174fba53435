"""The risk of a table against its definitions, worked out record by record."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracles import risk_oracle as oracle
from shoal.attacks.risk.risk import class_size_for

NAMES = ("a", "b", "c", "d")
POLICY = {
    "columns": {**{name: {"role": "quasi"} for name in NAMES}, "free": {"role": "insensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}
cell = st.sampled_from(["x", "y", None])
wide = st.sampled_from(["p", "q", "r", "s", None])
rows_of = st.lists(st.tuples(wide, cell, cell, wide, cell), min_size=1, max_size=25)


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(
        {name: pa.array(list(each), pa.string()) for name, each in zip((*NAMES, "free"), columns, strict=True)}
    )


def has_values(rows: list[tuple[Any, ...]]) -> bool:
    return all(any(row[j] is not None for row in rows) for j in range(len(NAMES)))


filled = rows_of.filter(has_values)
ALL = tuple(range(len(NAMES)))


@given(rows=filled, most=st.integers(1, 5))
def test_every_subset_is_what_counting_its_records_gives(rows: list[tuple[Any, ...]], most: int) -> None:
    found = shoal.risk(table(rows), POLICY, max_columns=most)
    sizes = range(1, min(most, 4) + 1)
    expected = {places for size in sizes for places in combinations(ALL, size)}
    assert {tuple(map(NAMES.index, each.columns)) for each in found.subsets} == expected
    for each in found.subsets:
        places = tuple(map(NAMES.index, each.columns))
        in_class = oracle.class_sizes(rows, places)
        assert each.uniques == len(oracle.uniques(rows, places))
        assert each.smallest_class == min(in_class)
        assert each.classes == len({oracle.part(row, places) for row in rows})
        assert each.average_risk == pytest.approx(float(oracle.risks(in_class, Fraction(1))[1]))
        assert each.minimal_uniques == len(oracle.minimal_uniques(rows, places))


@given(rows=filled, most=st.integers(1, 4))
def test_a_column_is_charged_with_what_it_adds(rows: list[tuple[Any, ...]], most: int) -> None:
    found = shoal.risk(table(rows), POLICY, max_columns=most)
    minimal = {
        places: oracle.minimal_uniques(rows, places)
        for size in range(1, most + 1)
        for places in combinations(ALL, size)
    }
    for each in found.columns:
        j = NAMES.index(each.column)
        others = tuple(place for place in ALL if place != j)
        assert each.distinct_values == len({row[j] for row in rows})
        assert each.uniques_alone == len(oracle.uniques(rows, (j,)))
        assert each.uniques_without == len(oracle.uniques(rows, others))
        assert each.contribution == pytest.approx(float(oracle.contribution(rows, j, 4, most)))
        assert each.records_with_a_minimal_unique == len(
            set().union(*(found for places, found in minimal.items() if j in places))
        )
    assert [each.contribution for each in found.columns] == sorted(
        (c.contribution for c in found.columns), reverse=True
    )
    fewest = {row: min(len(places) for places, keys in minimal.items() if row in keys)
              for row in set().union(*minimal.values())}  # fmt: skip
    assert found.singled_out_by_columns == {size: list(fewest.values()).count(size) for size in range(1, most + 1)}


@settings(max_examples=40)
@given(rows=filled)
def test_over_all_subsets_contributions_are_shapley_values_and_add_up_to_the_uniques(
    rows: list[tuple[Any, ...]],
) -> None:
    found = shoal.risk(table(rows), POLICY, max_columns=4)
    for each in found.columns:
        assert each.contribution == pytest.approx(float(oracle.shapley(rows, NAMES.index(each.column), 4)))
    assert sum(each.contribution for each in found.columns) == pytest.approx(found.uniques - (len(rows) == 1))


@given(rows=filled, most=st.integers(1, 3))
def test_a_column_beside_adds_what_it_would_as_a_quasi_identifier(rows: list[tuple[Any, ...]], most: int) -> None:
    (free,) = shoal.risk(table(rows), POLICY, max_columns=most).extra_columns
    before, after = len(oracle.uniques(rows, ALL)), len(oracle.uniques(rows, (*ALL, 4)))
    assert (free.column, free.role) == ("free", "insensitive")
    assert free.distinct_values == len({row[4] for row in rows})
    assert free.uniques_alone == len(oracle.uniques(rows, (4,)))
    assert free.added_uniques == after - before
    assert free.average_risk == pytest.approx(len(set(rows)) / len(rows))
    assert free.contribution == pytest.approx(float(oracle.contribution(rows, 4, 5, most)))
    assert free.acts_as_quasi_identifier == (free.added_uniques > 0 or free.contribution > 0)
    assert (free.outcome == "identifies") == (free.uniques_alone == len(rows))


@given(rows=filled, threshold=st.sampled_from(["0.05", "0.09", "0.1", "0.2", "0.25", "0.34", "0.5", "1"]))
def test_the_three_attackers(rows: list[tuple[Any, ...]], threshold: str) -> None:
    found = shoal.risk(table(rows), POLICY, max_columns=1, threshold=float(threshold))
    sizes = oracle.class_sizes(rows, ALL)
    highest, average, above = oracle.risks(sizes, Fraction(threshold))
    assert found.prosecutor.highest == pytest.approx(float(highest))
    assert found.prosecutor.average == pytest.approx(float(average))
    assert found.prosecutor.records_above_threshold == above
    assert found.prosecutor.above_threshold == pytest.approx(above / len(rows))
    assert found.journalist is None
    assert found.marketer.expected_share_linked == found.prosecutor.average
    assert (found.records, found.classes, found.uniques) == (len(rows), len({r[:4] for r in rows}), sizes.count(1))
    assert found.k == min(sizes)
    assert found.classes_by_size == Counter(Counter(row[:4] for row in rows).values())
    assert found.records_with_missing == sum(None in row[:4] for row in rows)
    assert found.k_if_missing_matches_anything == min(
        sum(all(a is None or b is None or a == b for a, b in zip(one[:4], other[:4], strict=True)) for other in rows)
        for one in rows
    )


@given(rows=filled, population=filled)
def test_a_journalist_picks_from_the_population(rows: list[tuple[Any, ...]], population: list[tuple[Any, ...]]) -> None:
    people = [*population, *rows[: len(rows) // 2]]
    counted, own = Counter(row[:4] for row in people), Counter(row[:4] for row in rows)
    if not any(row[:4] in counted for row in rows):
        with pytest.raises(shoal.errors.DataError, match="written in the same way"):
            shoal.risk(table(rows), POLICY, population=table(people))
        return
    found = shoal.risk(table(rows), POLICY, max_columns=1, threshold=0.3, population=table(people))
    among = [max(counted[row[:4]], own[row[:4]]) for row in rows]
    highest, average, above = oracle.risks(among, Fraction("0.3"))
    assert found.journalist is not None
    assert found.population is not None
    assert found.journalist.highest == pytest.approx(float(highest))
    assert found.journalist.average == found.marketer.expected_share_linked == pytest.approx(float(average))
    assert found.journalist.records_above_threshold == above
    facts = found.population
    assert facts.records == len(people)
    assert facts.records_absent == sum(row[:4] not in counted for row in rows)
    assert facts.classes_absent == len(own.keys() - counted.keys())
    assert facts.records_with_fewer == sum(0 < counted[row[:4]] < own[row[:4]] for row in rows)
    assert facts.classes_with_fewer == sum(0 < counted[key] < size for key, size in own.items())


def test_a_threshold_is_read_by_its_digits() -> None:
    assert [class_size_for(each) for each in (0.2, 0.1, 0.05, 0.09, 0.3, 0.33, 0.34, 1.0)] == [
        5,
        10,
        20,
        12,
        4,
        4,
        3,
        1,
    ]


@settings(max_examples=30)
@given(rows=filled, random=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(rows: list[tuple[Any, ...]], random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    assert shoal.risk(table(rows), POLICY).to_dict() == shoal.risk(table(shuffled), POLICY).to_dict()


def test_progress_counts_the_subsets() -> None:
    told: list[tuple[str, float]] = []
    shoal.risk(table([("p", "x", "x", "q", "x")] * 3), POLICY, max_columns=2, progress=lambda *each: told.append(each))
    assert [share for _, share in told] == [0.0, *(n / 10 for n in range(10)), 1.0]
    assert told[-2][0].startswith("subset 10 of 10")
    assert told[-1][0].startswith("free, ")
