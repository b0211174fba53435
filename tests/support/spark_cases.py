"""A small table of every type, policies for every algorithm, and releases as bytes to compare."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal.encode.result import as_written
from shoal.io import write_table
from shoal.search import ALGORITHMS

ROWS = 160
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}, "boundary": 3},
    "Zip.code": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "joined": {"role": "quasi", "hierarchy": {"dates": ["month", "year"]}},
    "condition": {
        "role": "sensitive",
        "publish": "both",
        "categories": {"grave": ["HIV", "cancer"], "mild": ["flu", "cold", "asthma"]},
    },
    "weight": {"role": "insensitive"},
    "seen": {"role": "insensitive"},
    "fee": {"role": "insensitive"},
    "id": {"role": "identifier"},
}
PRIVACY = [{"model": "k-anonymity", "k": 4}, {"model": "p-sensitive", "p": 2, "sensitive": "condition"}]
RUNS: dict[str, dict[str, Any]] = {
    **{name: {"name": name} for name, entry in sorted(ALGORITHMS.items()) if not entry.needs},
    **{
        f"{name} in ranges": {"name": name, "ranges": ["age"]}
        for name, entry in sorted(ALGORITHMS.items())
        if "ranges" in entry.option_names and not entry.needs
    },
    "greedy-clustering, faithful": {"name": "greedy-clustering", "faithful": True, "seed": 3},
    "mondrian, refined": {"name": "mondrian", "refine": 60},
    "range, safe": {"name": "range", "group": {"Zip.code": 2, "joined": 2}, "ranges": ["age"], "safe": True},
}
"""Every algorithm, and the options that change how it looks at records."""


def table(rows: int = ROWS) -> pa.Table:
    """Records with missing values, equal records, and values of every type that has a text."""
    random = np.random.default_rng(11)
    some = random.integers(0, 60, rows)  # several records of each person's values

    def pick(values: list[Any], share: float = 0.0) -> list[Any]:
        drawn = random.integers(0, len(values), 60)
        lost = random.random(60) < share
        return [None if lost[person] else values[drawn[person]] for person in some]

    return pa.table(
        {
            "id": pa.array([f"p{row}" for row in range(rows)]),
            "age": pa.array(pick(list(range(20, 60)), 0.1), pa.int64()),
            "Zip.code": pa.array(pick(["10115", "10117", "20095", "20097", "80331", "?"])),
            "joined": pa.array(pick([datetime.date(2020 + n // 6, 1 + n % 12, 3) for n in range(12)]), pa.date32()),
            "condition": pa.array(random.choice(["HIV", "cancer", "flu", "cold", "asthma"], rows).tolist()),
            "weight": pa.array(pick([61.0, 72.5, float("nan"), 0.1, -0.0]), pa.float64()),
            "seen": pa.array(pick([datetime.datetime(2024, 1, n, 9, 30, tzinfo=datetime.UTC) for n in range(1, 4)]),
                             pa.timestamp("us", "UTC")),
            "fee": pa.array(pick([Decimal("1.50"), Decimal("20.00"), None]), pa.decimal128(10, 2)),
        }
    )  # fmt: skip


def policy(algorithm: dict[str, Any], **changes: Any) -> shoal.Policy:
    """A policy for the table; a tenth of the records may be suppressed."""
    privacy = [{"model": "k-anonymity", "k": 1}] if algorithm["name"] == "range" else PRIVACY
    content = {
        "data": {"path": "", "missing": ["", "?"]},
        "columns": COLUMNS,
        "privacy": privacy,
        "algorithm": algorithm,
        "suppression": 0.1,
        **changes,
    }
    return shoal.Policy.model_validate(content)


def as_bytes(released: pa.Table, folder: Path) -> bytes:
    """A released table as the file of text that it is written as."""
    path = folder / "as bytes.csv"
    write_table(as_written(released, path), path)
    return path.read_bytes()
