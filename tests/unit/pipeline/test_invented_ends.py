"""Ranges whose ends no record has, and the order of rows, through the doors that people use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError

PEOPLE = pa.table(
    {
        "age": [5, 9, 10, 100, 20, 30, 7, 8, 101, 99, 21, 35],
        "sex": list("ffmmffmmffmm"),
        "stay": [2.5, 10.0, None, 9.0, 100.0, 1.0, 2.0, 3.0, 2.5, 10.0, 11.0, None],
    }
)
RANGES = {"name": "mondrian", "ranges": ["age"]}


def policy(**changes: Any) -> shoal.Policy:
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}}, "sex": {"role": "quasi"},
               "stay": {"role": "sensitive"}}  # fmt: skip
    asked = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "algorithm": RANGES}
    return shoal.Policy(**{**asked, **changes})


def test_an_attack_on_a_range_with_an_invented_end_says_what_is_wrong() -> None:
    table = pa.table({"age": ["5<=98"] * 12, "sex": ["*"] * 12, "stay": PEOPLE.column("stay")})
    with pytest.raises(DataError, match="ranges of 'age' with an end that no record of the original has: '5<=98'"):
        shoal.attack(table, policy(), original=PEOPLE)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize(
    "changes",
    [{}, {"algorithm": {"name": "optimal"}}, {"suppression": 0.3, "suppressed": "star", "algorithm": "optimal"}],
)
def test_what_shoal_makes_is_in_order_in_every_form(kind: str, changes: dict[str, Any], tmp_path: Path) -> None:
    frames = {"pandas": PEOPLE.to_pandas, "polars": lambda: pl.from_arrow(PEOPLE), "arrow": lambda: PEOPLE}
    data = frames[kind]()
    if isinstance(data, pd.DataFrame):
        data.index = pd.Index([f"person {place}" for place in range(len(data))])
    asked = policy(**changes)
    release = shoal.anonymize(data, asked)
    assert shoal.verify(release.data, asked, original=data).passed
    for name in ("table.csv", "columns.parquet"):
        release.write(tmp_path / name)
        assert shoal.verify(tmp_path / name, asked, original=data).passed
