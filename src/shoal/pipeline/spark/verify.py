"""The independent check of a release that lies in a cluster: from a count of its rows as they were written.

The rows are counted where they lie, and the verifier judges the counts as it judges a file. Nothing that made the
release has a part in it: the original is read and counted a second time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.io import canonical_text, order_of_cells, to_arrow
from shoal.io.spark import check as spark_check
from shoal.pipeline.spark.input import SparkInput
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.verification import Check, CountedTable, Verification
from shoal.verification.canonical_text import text_column


@dataclass(frozen=True, eq=False)
class Checked:
    """What a verification found, and the hash of what it looked at."""

    verification: Verification
    sha256: str


def verify_frame(
    released: Any,
    given: SparkInput,
    policy: Policy,
    *,
    beside: Sequence[str],
    against_original: bool,
    files: bool,
) -> Checked:
    """Check a released frame. ``beside`` are insensitive columns that are checked apart; ``files``: the order, too."""
    names = [name for name in released.columns if name not in beside]
    places = [place for place, name in enumerate(released.columns) if name in names]
    table, counts = spark_check.counted_rows(_columns(released, places))
    order = order_of_cells(table)
    table, counts = table.take(pa.array(order)), counts[order]
    judged = policy if not beside else _without(policy, beside)
    original = _original(given, judged) if against_original else None
    found = verify(CountedTable(table, counts), judged, original=original)
    checks: list[Check] = []
    for check in found.checks:  # the counts were put in order here: what stands in the files is another question
        if check.name != "order":
            checks.append(check)
        elif files:
            checks.append(_order(released))
    if beside:
        checks.append(_beside(released, given, policy, beside, found.suppressed or 0))
    verification = Verification(tuple(checks), found.records, found.classes, found.suppressed)
    return Checked(verification, content_hash(table, counts))


def content_hash(table: pa.Table, counts: NDArray[np.int64]) -> str:
    """The hash of a release that is no single file: of its distinct rows in order, each with how often it occurs."""
    digest = hashlib.sha256("\x1f".join(table.column_names).encode())
    step = 1 << 16
    for start in range(0, table.num_rows, step):
        cells = [canonical_text(column).cast(pa.large_string()) for column in table.slice(start, step).columns]
        number = pa.array(counts[start : start + step]).cast(pa.large_string())
        separator = pa.scalar("\x1f", pa.large_string())
        lines = pc.binary_join_element_wise(*cells, number, separator, null_handling="replace", null_replacement="\x00")
        digest.update("\n".join(["", *lines.to_pylist()]).encode())
    return digest.hexdigest()


def _columns(frame: Any, places: Sequence[int]) -> Any:
    """Some columns of a frame by their places, with their own names."""
    names = list(frame.columns)
    plain = frame.toDF(*(f"p{place}" for place in range(len(names))))
    return plain.select([f"p{place}" for place in places]).toDF(*(names[place] for place in places))


def _original(given: SparkInput, policy: Policy) -> CountedTable:
    """The original as it lies there, counted anew."""
    wanted = [name for name in given.raw.names if name in policy.columns]
    frame = _columns(given.raw.public(), [given.raw.names.index(name) for name in wanted])
    table, counts = spark_check.counted_rows(frame)
    plain, _ = to_arrow(table, wanted, missing=given.missing)
    return CountedTable(plain, counts)


def _without(policy: Policy, names: Sequence[str]) -> Policy:
    content = policy.model_dump(exclude_unset=True)
    columns = {name: column for name, column in content["columns"].items() if name not in names}
    return policy.changed(columns=columns, utility=None)


def _order(released: Any) -> Check:
    wrong = spark_check.rows_out_of_order(released, text_column)
    message = (
        "the rows are sorted by their cells, file by file"
        if not wrong
        else f"{wrong:,} rows stand before one that sorts ahead of them: their order may be that of the input"
    )
    return Check("order", not wrong, message, {"out_of_order": wrong})


def _beside(released: Any, given: SparkInput, policy: Policy, beside: Sequence[str], stars: int) -> Check:
    """The insensitive columns kept out of the count: no combination of them more often than the original has it."""
    names = [name for name in released.columns if name in beside]
    ours = _columns(released, [released.columns.index(name) for name in names])
    theirs = _columns(given.frame.public(), [given.frame.names.index(name) for name in names])
    lacking = spark_check.rows_not_in(ours, theirs, text_column)
    allowed = stars if policy.suppressed == "star" else 0  # rows of * have nothing in these columns
    passed = lacking <= allowed
    message = (
        f"no combination of {', '.join(names)} is released more often than the original has it"
        if passed
        else f"{lacking:,} rows have combinations of {', '.join(names)} that the original does not have as often"
    )
    return Check("insensitive", passed, message, {"rows": lacking, "columns": names})
