"""Sun's running example, typed in by hand, and small helpers of these tests."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shoal.verification import Verification

Row = dict[str, Any]

CATEGORIES = {
    "Top Secret": ["HIV", "Cancer"],
    "Secret": ["Phthisis", "Hepatitis"],
    "Less Secret": ["Heart Disease", "Asthma"],
    "Non Secret": ["Flu", "Indigestion"],
}
TABLE_1 = [
    (27, "USA", "14248", "HIV"),
    (28, "Canada", "14207", "HIV"),
    (26, "USA", "14246", "Cancer"),
    (25, "Canada", "14249", "Cancer"),
    (41, "China", "13053", "Hepatitis"),
    (48, "Japan", "13074", "Phthisis"),
    (45, "India", "13064", "Asthma"),
    (42, "India", "13062", "Heart Disease"),
    (33, "USA", "14242", "Flu"),
    (37, "Canada", "14204", "Flu"),
    (36, "Canada", "14205", "Flu"),
    (35, "USA", "14248", "Indigestion"),
]
NAMES = ("age", "country", "zip", "condition")


def rows_of(records: list[tuple[Any, ...]], names: tuple[str, ...] = NAMES) -> list[Row]:
    return [dict(zip(names, record, strict=True)) for record in records]


def by_cells(rows: list[Row]) -> list[Row]:
    """In the order of a release: by the text of the cells from left to right, missing ones last."""
    return sorted(
        rows, key=lambda row: [(value is None, "" if value is None else str(value)) for value in row.values()]
    )


def table(rows: list[Row]) -> pa.Table:
    """The rows as a release has them, sorted."""
    return as_it_stands(by_cells(rows))


def as_it_stands(rows: list[Row]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows]) for name in rows[0]})


def failed(verification: Verification) -> set[str]:
    return {check.name for check in verification.failures}
