"""A recoder turns any batch into what the release has of its records."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encode import recoder as recoding
from shoal.encode.recoder import Recoder
from shoal.encode.result import Result
from shoal.errors import DataError, InfeasibleError, InputError
from shoal.io import in_order_of_cells
from shoal.io.counting import count_rows
from shoal.io.source import Reading
from shoal.pipeline import run as running
from shoal.pipeline.run import Clock, Job, make_release
from shoal.search.problem import no_progress

CONDITIONS = {"Grave": ["HIV", "Cancer"], "Light": ["Flu", "Cough"]}


def records(n: int = 300) -> pa.Table:
    draw = np.random.default_rng(9)
    return pa.table(
        {
            "note": [f"note {place}" for place in range(n)],
            "age": pa.array(draw.integers(20, 50, n)),
            "sex": pa.array([("f", "m", None)[place] for place in draw.choice(3, n, p=[0.5, 0.4, 0.1])]),
            "condition": [("HIV", "Cancer", "Flu", "Cough")[place] for place in draw.integers(0, 4, n)],
        }
    )


def policy(algorithm: str = "mondrian", publish: str = "both") -> shoal.Policy:
    columns: dict[str, Any] = {
        "note": {"role": "insensitive"},
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
        "sex": {"role": "quasi"},
        "condition": {"role": "sensitive", "publish": publish, "categories": CONDITIONS},
    }
    privacy = [{"model": "k-anonymity", "k": 7}]
    asked = {"columns": columns, "privacy": privacy, "algorithm": algorithm, "suppression": 0.2}
    return shoal.Policy.model_validate(asked)


def searched(asked: shoal.Policy, table: pa.Table, names: list[str]) -> Result:
    """The result of a stream of the records, of which only some columns are counted."""
    reading, job = Reading(count_rows([table], names), table.column_names, lambda: table), Job(asked)
    return job.search(reading, job.encode(reading), Clock(), no_progress)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
@pytest.mark.parametrize("publish", ["both", "values", "categories"])
def test_recoded_batches_are_the_release(algorithm: str, publish: str) -> None:
    table, asked = records(), policy(algorithm, publish)
    found = searched(asked, table, ["age", "sex", "condition"])
    recoder = pickle.loads(pickle.dumps(Recoder.of(found)))
    batches = [recoder.recode(batch) for batch in table.to_batches(max_chunksize=37)]
    assert in_order_of_cells(pa.concat_tables(batches)).equals(make_release(table, asked).table)


def test_counts_tell_the_same_release() -> None:
    table, asked = records(), policy("top-down")
    found = searched(asked, table, table.column_names)
    assert found.table.equals(make_release(table, asked).table)


def test_tuples_are_found_where_their_keys_outgrow_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recoding, "_KEY_LIMIT", 20)
    table, asked = records(), policy()
    found = searched(asked, table, ["age", "sex", "condition"])
    assert found.rows.n_rows > 20
    small = Recoder.of(found)
    assert small.index.ranks
    monkeypatch.undo()
    assert small.recode(table).equals(Recoder.of(found).recode(table))


def test_a_value_that_was_not_counted_is_an_error_of_the_data() -> None:
    recoder = Recoder.of(searched(policy(), records(), ["age", "sex", "condition"]))
    strange = records(4).set_column(1, "age", pa.array([20, 21, 22, 99]))
    with pytest.raises(DataError, match="age") as caught:
        recoder.recode(strange)
    assert caught.value.code == "data-changed"


def test_quasi_identifiers_that_nobody_had_are_an_error_of_the_data() -> None:
    table = records(40).set_column(1, "age", pa.array([20] * 20 + [30] * 20))
    table = table.set_column(2, "sex", pa.array(["m"] * 20 + ["f"] * 20))
    recoder = Recoder.of(searched(policy(), table, ["age", "sex", "condition"]))
    new = table.slice(0, 1).set_column(2, "sex", pa.array(["f"]))
    with pytest.raises(DataError) as caught:
        recoder.recode(new)
    assert caught.value.code == "data-changed"


def test_a_recoding_that_splits_duplicates_has_no_recoder() -> None:
    found = searched(policy("top-down"), records(), records().column_names)
    with pytest.raises(InputError) as caught:
        Recoder.of(found)
    assert caught.value.code == "splits-duplicates"


ROWS = st.lists(
    st.tuples(
        st.integers(20, 32), st.sampled_from(["f", "m", None]), st.sampled_from(["HIV", "Cancer", "Flu", "Cough"])
    ),
    min_size=7,
    max_size=60,
).filter(lambda rows: any(sex is not None for _, sex, _ in rows))  # a column without any value is refused


@pytest.mark.slow
@given(ROWS, st.sampled_from(["optimal", "greedy-lattice", "mondrian", "top-down", "greedy-clustering"]), st.booleans())
def test_a_search_on_distinct_rows_finds_what_a_search_on_records_finds(
    rows: list[tuple[int, str | None, str]], algorithm: str, diverse: bool
) -> None:
    ages, sexes, conditions = zip(*rows, strict=True)
    notes = [f"note {place % 4}" for place in range(len(rows))]
    table = pa.table({"note": notes, "age": ages, "sex": pa.array(sexes, pa.string()), "condition": conditions})
    privacy = [{"model": "k-anonymity", "k": 4}]
    if diverse:
        privacy.append({"model": "p-sensitive", "p": 2, "sensitive": "condition"})
    asked = policy(algorithm).changed(privacy=privacy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "works_on_records", lambda _: True)
        try:
            by_record = make_release(table, asked)
        except InfeasibleError:
            by_record = None
    if by_record is None:
        with pytest.raises(InfeasibleError):
            searched(asked, table, table.column_names)
        return
    found = searched(asked, table, table.column_names)
    assert found.recoding.n_rows == len(rows)
    assert found.table.equals(by_record.table)
    held = make_release(table, asked)
    assert held.table.equals(by_record.table)
    assert len(held.record_recoding.row_class) == len(rows)
    assert np.array_equal(held.record_recoding.sizes, found.recoding.sizes)
    assert dict(found.search) == dict(held.search)
    assert found.bound == held.bound


def test_types_of_the_data_are_kept() -> None:
    numbers = pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("1.50")] * 10, pa.decimal64(6, 2))
    moments = pa.array([1, 2, 3] * 10, pa.timestamp("us", "Europe/Berlin"))
    table = records(30).append_column("price", numbers).append_column("at", moments)
    asked = policy()
    columns = {
        **asked.model_dump(exclude_unset=True)["columns"],
        "price": {"role": "insensitive"},
        "at": {"role": "insensitive"},
    }
    asked = asked.changed(columns=columns)
    found = searched(asked, table, table.column_names)
    assert found.table.equals(make_release(table, asked).table)
    assert found.table.schema.field("price").type == numbers.type
    assert found.table.schema.field("at").type == moments.type
