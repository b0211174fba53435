"""Small tables with trees and numbers, anonymized, and the same releases as plain sets of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from shoal.encode.result import Result
from shoal.pipeline.run import make_release
from shoal.policy import Policy
from shoal.utility.columns import ValueColumn, original_columns, released_columns

TREE = {"America": ["USA", "Canada"], "Asia": {"East": ["China", "Japan"], "India": []}}
UNDER = {
    "America": {"USA", "Canada"},
    "East": {"China", "Japan"},
    "Asia": {"China", "Japan", "India"},
    "*": {"USA", "Canada", "China", "Japan", "India"},
}
COUNTRIES = ("USA", "Canada", "China", "Japan", "India")
SECRETS = ("HIV", "Flu", "Cancer")
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20]}},
    "country": {"role": "quasi", "hierarchy": {"tree": TREE}},
    "condition": {"role": "sensitive"},
    "ward": {"role": "insensitive"},
}

Row = tuple[int | None, str, str, str]

rows = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(20, 45)),
        st.sampled_from(COUNTRIES),
        st.sampled_from(SECRETS),
        st.sampled_from("AB"),
    ),
    min_size=4,
    max_size=24,
).filter(lambda drawn: any(row[0] is not None for row in drawn))


@dataclass(frozen=True)
class Case:
    """A table, its release, and both as columns of cells."""

    table: pa.Table
    made: Result
    originals: Mapping[str, ValueColumn]
    released: Mapping[str, ValueColumn]


def table_of(drawn: Sequence[Row]) -> pa.Table:
    age, country, condition, ward = zip(*drawn, strict=True)
    return pa.table({"age": age, "country": country, "condition": condition, "ward": ward})


def policy_of(k: int, algorithm: str, **keys: Any) -> Policy:
    privacy = [{"model": "k-anonymity", "k": k}]
    return Policy(columns=COLUMNS, privacy=privacy, algorithm={"name": algorithm}, **keys)


def released(drawn: Sequence[Row], k: int, algorithm: str) -> Case:
    policy = policy_of(min(k, len(drawn)), algorithm)
    table = table_of(drawn)
    made = make_release(table, policy)
    resolved = made.resolved.of_records(made.rows)
    originals = original_columns(policy, table, resolved)
    columns = released_columns(originals, table, made)
    return Case(table, made, originals, columns)


def values_under(name: str, label: str | None, present: Sequence[str | None]) -> set[str | None]:
    """The values of a column that a label stands for, read off the label."""
    if name == "country":
        return set(UNDER.get(str(label), {label}))
    if name != "age" or label is None:
        return {label}
    if label == "*":
        return set(present)
    if not label.startswith("["):
        return {label}
    low, high = (int(end) for end in label.strip("[)").split(","))
    return {value for value in present if value is not None and low <= int(value) < high}


def cells_of(table: pa.Table, present: Sequence[str | None]) -> list[dict[str, set[str | None]]]:
    """Every record of a table as the sets of values that its cells may be."""
    return [
        {name: values_under(name, None if cell is None else str(cell), present) for name, cell in row.items()}
        for row in table.to_pylist()
    ]
