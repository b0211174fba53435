"""A table in codes with a row per record, in the order of the table: what tests compare records by."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shoal.encode import resolve as encoding
from shoal.table.distinct_rows import DistinctRows


def resolve(policy: Any, table: pa.Table) -> encoding.Resolved:
    """Encode a table as its policy says."""
    rows = DistinctRows.of(table)
    return encoding.resolve(policy, rows).of_records(rows)
