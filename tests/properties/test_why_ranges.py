"""Answers to "why?" where columns are released as ranges, which are parted at the intervals below them."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import DisclosureWarning, InfeasibleError
from shoal.pipeline.why.explain import Why

pytestmark = pytest.mark.slow

WIDTHS = (10, 20)
ALGORITHMS: dict[str, dict[str, Any]] = {
    "range, safe": {"name": "range", "group": {"zip": 1}, "ranges": ["age"], "safe": True},
    "range": {"name": "range", "group": {"zip": 1}, "ranges": ["age"]},
    "mondrian": {"name": "mondrian", "ranges": ["age"]},
    "top-down": {"name": "top-down", "ranges": ["age"]},
    "greedy-clustering": {"name": "greedy-clustering", "ranges": ["age"]},
}
rows_of = st.lists(
    st.tuples(st.integers(20, 59), st.sampled_from(["110", "112", "130", "240"])), min_size=4, max_size=25
)


def levels(age: int) -> list[str]:
    starts = [(age // width * width, width) for width in WIDTHS]
    return [str(age), *(f"[{start}, {start + width})" for start, width in starts), "*"]


def parts(ages: list[int], low: int, high: int) -> dict[int, str]:
    """For each age of a class the interval that it would go to."""
    lowest = next(level for level in range(len(WIDTHS) + 2) if levels(low)[level] == levels(high)[level])
    return {age: levels(age)[lowest - 1] for age in ages}


def anonymized(rows: list[tuple[int, str]], algorithm: str, k: int) -> shoal.Release | None:
    table = pa.table({"age": [age for age, _ in rows], "zip": [code for _, code in rows]})
    policy = shoal.Policy(
        columns={
            "age": {"role": "quasi", "hierarchy": {"intervals": list(WIDTHS)}},
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        },
        privacy=[{"model": "k-anonymity", "k": k}],
        algorithm=ALGORITHMS[algorithm],
        suppression=0.2,
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisclosureWarning)  # the published range method warns, as it should
            return shoal.anonymize(table, policy)
    except InfeasibleError:
        return None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=40)
@given(rows=rows_of, k=st.integers(1, 4), pick=st.integers(0, 10**6))
def test_a_range_parted_fails_as_the_answer_says(
    algorithm: str, rows: list[tuple[int, str]], k: int, pick: int
) -> None:
    release = anonymized(rows, algorithm, k)
    if release is None:
        return
    recoding = release.recoding
    cells = {
        place: None
        if at < 0
        else tuple(h.labels[node] for h, node in zip(recoding.hierarchies, recoding.nodes[at], strict=True))
        for place, at in enumerate(recoding.row_class.tolist())
    }
    number = pick % len(rows)
    found = release.why(number + 1)
    assert isinstance(found, Why)
    assert list(found.values.values()) == [str(rows[number][0]), rows[number][1]]
    mine = cells[number]
    if mine is None:
        assert found.left_out[0].where == ("release" if algorithm.startswith("range") else "boundary")
        assert found.left_out[0].size < k
        assert found.left_out[0].lacks[0].lacks[0].required == k
        return
    column = found.columns[0]
    assert column.released == mine[0]
    members = [row for row, each in cells.items() if each == mine]
    if "<=" not in mine[0]:
        assert bool(column.splits) == (not mine[0].isdigit())
        return
    low, high = map(int, mine[0].split("<="))
    intervals = parts([rows[row][0] for row in members], low, high)
    after = dict(cells)
    for row in members:
        same = [rows[other][0] for other in members if intervals[rows[other][0]] == intervals[rows[row][0]]]
        label = str(min(same)) if min(same) == max(same) else f"{min(same)}<={max(same)}"
        after[row] = (label, *mine[1:])
    sizes = Counter(each for each in after.values() if each is not None)
    expected = {after[row]: sum(after[other] == after[row] for other in members) for row in members}
    whole = column.splits[0]
    assert {(part.value, part.records) for part in whole.parts} == {(key[0], count) for key, count in expected.items()}
    for part in whole.parts:
        assert part.class_size == sizes[part.value, *mine[1:]]
        assert bool(part.lacks) == (part.class_size < k)
        assert part.own == (after[number][0] == part.value)
    failing = [size for size in sizes.values() if size < k]
    assert [(f.classes, f.records) for f in whole.judgement.fails] == (
        [(len(failing), sum(failing))] if failing else []
    )
    assert whole.judgement.clean == (not failing)
    assert found.cheapest is None
