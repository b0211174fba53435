"""Counts tell the verifier what all rows would: releases and originals as distinct rows with how often each occurs."""

from __future__ import annotations

import io
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.io import in_order_of_cells, write_table
from shoal.pipeline.verify import verify
from shoal.verification import CountedRows
from shoal.verification import file_blocks as reading
from shoal.verification.canonical_text import code
from shoal.verification.counted_rows import RowOrder
from shoal.verification.file_blocks import records
from shoal.verification.read import read_release

POLICY = shoal.Policy.model_validate(
    {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
            "sex": {"role": "quasi"},
            "condition": {"role": "sensitive"},
            "ward": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "p": 2, "sensitive": "condition"}],
        "suppression": 0.5,
    }
)
ORIGINAL = st.tuples(
    st.sampled_from(["20", "25", "31", "38"]), st.sampled_from(["f", "m"]), st.sampled_from(["HIV", "Flu"]),
    st.sampled_from(["w1", "w2"]),
)  # fmt: skip
RELEASED = st.tuples(
    st.sampled_from(["20", "[20, 30)", "[30, 40)", "*", "strange"]), st.sampled_from(["f", "m", "*"]),
    st.sampled_from(["HIV", "Flu"]), st.sampled_from(["w1", "w2"]),
)  # fmt: skip


def table_of(rows: list[tuple[str, ...]]) -> pa.Table:
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(POLICY.columns)})


def as_counts(table: pa.Table) -> CountedRows:
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    distinct = sorted(set(rows))
    return CountedRows(table_of(distinct), np.array([rows.count(row) for row in distinct], dtype=np.int64))


def outcome(found: Any) -> dict[str, Any]:
    """Everything but the example of a failure, of which there may be several."""
    facts = [{**each.facts, "example": None} for each in found.checks]
    return {**found.to_dict(), "checks": [(each.name, each.passed) for each in found.checks], "facts": facts}


@given(st.lists(RELEASED, min_size=1, max_size=12), st.lists(ORIGINAL, min_size=1, max_size=12))
def test_counts_and_rows_are_judged_alike(released: list[tuple[str, ...]], original: list[tuple[str, ...]]) -> None:
    table, people = in_order_of_cells(table_of(released)), table_of(original)
    by_rows = outcome(verify(table, POLICY, original=people))
    assert outcome(verify(as_counts(table), POLICY, original=as_counts(people))) == by_rows
    assert outcome(verify(table, POLICY, original=as_counts(people))) == by_rows


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_is_judged_as_the_table_in_it_and_an_original_as_its_file(tmp_path: Path, suffix: str) -> None:
    people = table_of([("20", "f", "HIV", "w1"), ("25", "f", "Flu", "w2"), ("25", "f", "Flu", "w2")] * 3)
    released = table_of([("[20, 30)", "f", "HIV", "w1"), ("[20, 30)", "f", "Flu", "w2")] * 3)
    table = in_order_of_cells(released)
    write_table(table, tmp_path / f"release{suffix}")
    write_table(people, tmp_path / "people.csv")
    found = verify(tmp_path / f"release{suffix}", POLICY, original=tmp_path / "people.csv")
    assert found.passed
    assert outcome(found) == outcome(verify(table, POLICY, original=people))


@given(st.lists(st.sampled_from(["a", "b,c", 'd"e', "", "f\ng", "x\r"]), max_size=30))
def test_a_record_ends_at_a_line_feed_outside_quotes(texts: list[str]) -> None:
    lines = ['"' + text.replace('"', '""') + '"' if set(text) & set('",\n') else text for text in texts]
    raw = "".join(line + "\n" for line in lines).encode()
    assert list(records(io.BytesIO(raw), Path("release.csv"))) == [line.encode() for line in lines]


@given(st.lists(st.sampled_from(["a", "b,c", 'd"e', "", "f\ng"]), min_size=1, max_size=30), st.integers(1, 9))
def test_neighbouring_equal_records_are_counted_as_one_whatever_the_blocks(texts: list[str], block: int) -> None:
    cells = ['"' + text.replace('"', '""') + '"' for text in texts]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "release.csv"
        path.write_bytes("".join(["x,y\n\n", *(f"{cell},1\n" for cell in cells)]).encode())
        whole = read_release(path)
        patch.setattr(reading, "_RECORDS_AT_A_TIME", block)
        parts = read_release(path)
    assert whole.counts.tolist() == [len(list(same)) for _, same in groupby(texts)]
    for found in (whole, parts):
        shown = zip(found.columns["x"].to_pylist(), found.counts.tolist(), strict=True)
        assert [text for text, count in shown for _ in range(count)] == texts
    assert (parts.order.wrong, parts.order.first) == (whole.order.wrong, whole.order.first)


PAIRS = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", "", None]))


@given(st.lists(PAIRS, min_size=1, max_size=20), st.integers(1, 6))
def test_the_order_of_rows_is_seen_in_blocks_as_in_one(rows: list[tuple[str | None, str | None]], size: int) -> None:
    table = pa.table(
        {"p": pa.array([p for p, _ in rows], pa.string()), "q": pa.array([q for _, q in rows], pa.string())}
    )
    whole, parts = RowOrder(), RowOrder()
    whole.see(table.columns)
    for start in range(0, table.num_rows, size):
        parts.see(table.slice(start, size).columns)
    assert (parts.wrong, parts.first, parts.rows) == (whole.wrong, whole.first, whole.rows)
    keys = [tuple((cell is None, cell or "") for cell in row) for row in rows]
    assert whole.wrong == sum(one > other for one, other in pairwise(keys))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_apart_are_judged_by_their_order_only(tmp_path: Path, suffix: str) -> None:
    people = table_of([("20", "f", "HIV", "w1"), ("25", "f", "Flu", "w2")] * 2)
    released = in_order_of_cells(table_of([("[20, 30)", "f", "HIV", "w1"), ("[20, 30)", "f", "Flu", "w2")] * 2))
    path = tmp_path / f"release{suffix}"
    write_table(released, path)
    found = verify(path, POLICY, original=_without_ward(people), apart=["ward"])
    assert found.passed
    assert next(each for each in found.checks if each.name == "truthfulness").facts["not_compared"] == ["ward"]
    write_table(released.take(pa.array([0, 3, 1, 2])), path)
    wrong = verify(path, POLICY, original=_without_ward(people), apart=["ward"])
    assert [each.name for each in wrong.failures] == ["order"]


STARS = POLICY.changed(suppressed="star", privacy=[{"model": "k-anonymity", "k": 2}])
CELLS = st.tuples(
    st.sampled_from(["[20, 30)", "*"]), st.sampled_from(["f", "*"]), st.sampled_from(["Flu", None]),
    st.sampled_from(["w1", "w2", None]),
)  # fmt: skip


@given(st.lists(CELLS, min_size=1, max_size=12))
def test_suppressed_records_are_told_by_columns_apart_as_by_columns_that_are_held(rows: list[tuple[str, ...]]) -> None:
    table = in_order_of_cells(table_of(rows).cast(pa.schema([(name, pa.string()) for name in POLICY.columns])))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "release.parquet"
        write_table(table, path)
        held, apart = verify(path, STARS), verify(path, STARS, apart=["ward"])
    assert outcome(apart) == outcome(held)


def test_rows_of_stars_beyond_the_limit_are_no_class_of_records_for_lack_of_a_column(tmp_path: Path) -> None:
    people = table_of([("20", "f", None, "w1"), ("25", "f", None, "w2")] * 3).cast(  # type: ignore[list-item]
        pa.schema([(name, pa.string()) for name in POLICY.columns])
    )
    stars = pa.table({name: pa.array(["*" if name in ("age", "sex") else None] * 4) for name in POLICY.columns})
    kept = pa.table({**{name: people.column(name).slice(0, 2) for name in POLICY.columns}, "age": ["[20, 30)"] * 2})
    path = tmp_path / "release.csv"
    write_table(in_order_of_cells(pa.concat_tables([kept, stars.cast(kept.schema)])), path)
    counts = np.ones(people.num_rows, dtype=np.int64)
    original = people.drop_columns(["ward"])
    wrong = verify(path, STARS, original=CountedRows(original, counts, blank=0), apart=["ward"])
    assert [(each.name, each.facts["suppressed"]) for each in wrong.failures] == [("suppression", 4)]
    right = verify(path, STARS, original=CountedRows(original, counts, blank=4), apart=["ward"])
    assert right.passed  # four records have nothing in the column: the rows may be theirs
    assert right.suppressed == 0


@pytest.mark.parametrize(("read", "failing"), [(None, []), (4, []), (5, ["original"]), (3, ["original"])])
def test_an_original_whose_counts_are_not_those_of_the_records_read_is_refused(
    read: int | None, failing: list[str]
) -> None:
    people = table_of([("20", "f", "HIV", "w1"), ("25", "f", "Flu", "w2")])
    released = table_of([("[20, 30)", "f", "Flu", "w2"), ("[20, 30)", "f", "HIV", "w1")])
    found = verify(released, POLICY, original=CountedRows(people, np.array([1, 3]), read))
    assert [each.name for each in found.failures] == failing
    assert all(each.facts == {"read": read, "counted": 4} for each in found.failures)


def _without_ward(people: pa.Table) -> CountedRows:
    return CountedRows(people.drop_columns(["ward"]), np.ones(people.num_rows, dtype=np.int64))


def test_a_line_that_holds_several_records_is_counted_right(tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_bytes(b"x,y\na,b\rc,d\na,b\rc,d\n")
    given_rows = read_release(tmp_path / "release.csv")
    assert given_rows.rows == 4
    assert given_rows.columns["x"].to_pylist() == ["a", "c", "a", "c"]


def test_codes_with_a_dictionary_are_read_as_the_texts_they_stand_for() -> None:
    column = pa.DictionaryArray.from_arrays(
        pa.array([1, None, 3, 0, 4], pa.int32()), pa.array(["b", "a", "never", "b", None, "ä"])
    )
    coded = code(column)
    assert coded.values == ["a", "b", None]
    assert coded.codes.tolist() == [0, 2, 1, 1, 2]
