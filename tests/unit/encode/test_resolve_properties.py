"""The encoded table is what a naive reading of the rows gives, in whatever order they come."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal.encode.resolve import Resolved
from shoal.policy import Policy
from support.resolved import resolve

TREE = {"A": ["x", "y"], "B": {"C": ["z"], "w": None}}
CATEGORIES = {"hi": ["a", "b"], "mid": [None], "lo": ["c"]}

rows = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", "z", "w", None]),
        st.sampled_from(["3", "12", "7.5", "12.0", None]),
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from(["1", "10", "9"]),
    ),
    min_size=1,
    max_size=25,
).filter(lambda each: all(any(row[place] is not None for row in each) for place in range(4)))
publishing = st.sampled_from(["values", "categories", "both"])


def policy(publish: str) -> Policy:
    return Policy(
        columns={
            "p": {"role": "quasi", "hierarchy": {"tree": TREE}, "boundary": ["A"]},
            "q": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
            "s": {"role": "sensitive", "categories": CATEGORIES, "publish": publish},
            "t": {"role": "sensitive"},
        },
        privacy=[{"model": "k-anonymity", "k": 1}, {"model": "p-sensitive", "p": 1}],
        suppression=0.29,
    )


def resolved(given_rows: list[tuple[Any, ...]], publish: str) -> Resolved:
    columns = dict(zip("pqst", zip(*given_rows, strict=True), strict=True))
    return resolve(policy(publish), pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}))


def naive(row: tuple[Any, ...], publish: str) -> tuple[Any, ...]:
    """What a row says: its quasi-identifiers by leaf, its secrets as published."""
    p, q, s, t = row
    leaf = {"12.0": "12"}.get(q, q)
    category = next((name for name, values in CATEGORIES.items() if s in values and s is not None), None)
    return p, leaf, category if publish == "categories" else s, t


@given(rows, publishing)
def test_every_row_is_encoded_as_what_it_says(given_rows: list[tuple[Any, ...]], publish: str) -> None:
    found = resolved(given_rows, publish)
    table, hierarchies = found.problem.table, found.problem.hierarchies
    for place, row in enumerate(given_rows):
        codes = table.codes[:, table.row_tuple[place]]
        read = [hierarchy.labels[code] for hierarchy, code in zip(hierarchies, codes, strict=True)]
        read += [found.problem.domains[name].values[table.row_sensitive[name][place]] for name in "st"]
        assert tuple(read) == naive(row, publish)


@given(rows, publishing)
def test_tuples_and_pairs_count_the_records(given_rows: list[tuple[Any, ...]], publish: str) -> None:
    found = resolved(given_rows, publish)
    table, hierarchies, domains = found.problem.table, found.problem.hierarchies, found.problem.domains
    said = [naive(row, publish) for row in given_rows]
    tuples = [tuple(h.labels[code] for h, code in zip(hierarchies, codes, strict=True)) for codes in table.codes.T]
    assert dict(zip(tuples, table.counts.tolist(), strict=True)) == Counter(row[:2] for row in said)
    for name, place in (("s", 2), ("t", 3)):
        pairs = table.pairs[name]
        values = [domains[name].values[code] for code in pairs.values]
        counted = zip(zip((tuples[i] for i in pairs.tuples), values, strict=True), pairs.counts.tolist(), strict=True)
        assert dict(counted) == Counter((row[:2], row[place]) for row in said)


@given(rows, publishing, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing_but_their_order(
    given_rows: list[tuple[Any, ...]], publish: str, random: Any
) -> None:
    order = list(range(len(given_rows)))
    random.shuffle(order)
    one, other = resolved(given_rows, publish), resolved([given_rows[i] for i in order], publish)
    assert [h.labels for h in one.problem.hierarchies] == [h.labels for h in other.problem.hierarchies]
    assert {name: domain.values for name, domain in one.problem.domains.items()} == {
        name: domain.values for name, domain in other.problem.domains.items()
    }
    assert np.array_equal(one.problem.table.codes, other.problem.table.codes)
    assert np.array_equal(one.problem.table.counts, other.problem.table.counts)
    assert np.array_equal(one.problem.table.row_tuple[order], other.problem.table.row_tuple)
    for name in "st":
        for part in ("tuples", "values", "counts"):
            assert np.array_equal(
                getattr(one.problem.table.pairs[name], part), getattr(other.problem.table.pairs[name], part)
            )
    assert one.problem.budget == other.problem.budget == len(given_rows) * 29 // 100


@given(rows)
def test_categories_beside_values_are_those_of_the_policy(given_rows: list[tuple[Any, ...]]) -> None:
    column = resolved(given_rows, "both").sensitive["s"]
    assert column.category_codes is not None
    told = [(*column.domain.categories, None)[code] for code in column.category_codes]
    assert told == [naive(row, "categories")[2] for row in given_rows]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=20), st.integers(0, 3))
def test_the_type_of_a_column_changes_nothing(numbers: list[int], missing: int) -> None:
    cells = [*numbers, *[None] * missing]
    content = Policy(
        columns={"q": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}}, "s": {"role": "sensitive"}},
        privacy=[{"model": "p-sensitive", "p": 1}],
    )
    found = []
    for kind in (pa.int64(), pa.float64(), pa.string(), pa.dictionary(pa.int32(), pa.string())):
        texts = [None if cell is None else str(cell) for cell in cells]
        array = pa.array(texts if kind == pa.string() or pa.types.is_dictionary(kind) else cells, kind)
        found.append(resolve(content, pa.table({"q": array, "s": array})))
    first = found[0]
    for other in found[1:]:
        assert other.problem.hierarchies[0].labels == first.problem.hierarchies[0].labels
        assert np.array_equal(other.quasi["q"].codes, first.quasi["q"].codes)
        assert other.problem.domains["s"].values == first.problem.domains["s"].values
        assert np.array_equal(other.sensitive["s"].codes, first.sensitive["s"].codes)
