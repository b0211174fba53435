"""`verify`, and the verify stage: what was written and what was read, handed to the independent verifier as plain data.

A release in a cluster is judged by a count of its rows as they were written. Nothing that recoded them has a part in
it: the original is counted a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import verification
from shoal.formatting import listing, number
from shoal.io import DatabaseTable, read_batches, to_arrow
from shoal.io.sink import WrittenRelease
from shoal.io.source import CountedTable, Reading
from shoal.policy import Policy
from shoal.policy.location import place
from shoal.policy.spec import DataSpec
from shoal.verification import Check, CountedRows, Verification, stated
from shoal.verification.canonical_text import text_column
from shoal.verification.read import Original


def verify(
    release: Any, policy: Policy | Mapping[str, Any] | str | Path, original: Any = None, *, apart: Sequence[str] = ()
) -> Verification:
    """Check a release against its policy and, where it is at hand, against the original.

    ``release`` is the path of a CSV or Parquet file, or a pandas, polars or Arrow table; ``policy`` a `Policy`, its
    content or its path; ``original`` a path, read as the policy's ``data`` says, or a table. Raises `PolicyError` for a
    policy that is wrong and `DataError` for a release or an original that cannot be read at all; everything else that
    is wrong is a failing check. ``apart`` is explained at `shoal.verification.verify`.
    """
    if isinstance(policy, Mapping):
        policy = Policy.model_validate(policy)
    elif not isinstance(policy, Policy):
        policy = Policy.load(policy)
    baggage: list[str] = []
    if not isinstance(release, str | Path | pa.Table | CountedRows):
        baggage = frame_baggage(release)
        release = to_arrow(release)[0]
    return verification.verify(release, stated(policy), _readable(original, policy), apart=apart, baggage=baggage)


def _readable(original: Any, policy: Policy) -> Original | None:
    """The original as the verifier takes it."""
    if original is None or isinstance(original, CountedRows):
        return original
    data = policy.data or DataSpec(path="")
    if isinstance(original, str | Path | DatabaseTable):
        source = data.source(place(original))
        return lambda names: read_batches(source, names)
    return lambda names: to_arrow(original, names, missing=data.missing)[0]


def frame_baggage(frame: Any) -> list[str]:
    """What a DataFrame carries besides its cells: row labels other than a count from 0, names, attrs, categories."""
    found = []
    for name, kind in _categoricals(frame):
        held = len(frame[name].dropna().unique())
        if held < len(kind.categories):
            unused = len(kind.categories) - held
            found.append(f"the categorical column {name!r} lists {unused:,} values that no record holds")
    index: Any = getattr(frame, "index", None)
    columns: Any = getattr(frame, "columns", None)
    if not hasattr(index, "nlevels") or not hasattr(columns, "nlevels"):
        return found
    if index.nlevels > 1 or index.tolist() != list(range(len(index))):
        found.append("its index holds values: row labels go with it; call reset_index(drop=True)")
    if named := [name for name in (*index.names, *columns.names) if name is not None]:
        found.append(f"its index or the list of its columns has a name ({', '.join(map(str, named))})")
    if attrs := getattr(frame, "attrs", None):
        found.append(f"it carries attrs ({', '.join(sorted(map(str, attrs)))})")
    return found


def _categoricals(frame: Any) -> list[tuple[str, Any]]:
    """The columns of a DataFrame that carry a list of categories, told by what they have."""
    dtypes = getattr(frame, "dtypes", None)
    if dtypes is None or not hasattr(dtypes, "items"):
        return []
    return [(name, kind) for name, kind in dtypes.items() if hasattr(kind, "categories") and hasattr(kind, "ordered")]


def verify_written(policy: Policy, reading: Reading, written: WrittenRelease) -> Verification:
    """Check a release as it was written, against the data as it was read."""
    original = _given(reading.original())
    if not isinstance(written.release, CountedTable):
        return verify(written.release, policy, original=original, apart=reading.uncounted)
    judged = _without(policy, reading.uncounted) if reading.uncounted else policy
    found = verify(_given(written.release), judged, original=original)
    checks = [*_checks(found.checks, written), *_uncounted(policy, reading.uncounted, written, found.suppressed or 0)]
    return Verification(tuple(checks), found.records, found.classes, found.suppressed)


def _given(table: Any) -> Any:
    if not isinstance(table, CountedTable):
        return table
    return CountedRows(table.table, table.counts, table.records, table.blank)


def _without(policy: Policy, names: Sequence[str]) -> Policy:
    content = policy.model_dump(exclude_unset=True)
    columns = {name: column for name, column in content["columns"].items() if name not in names}
    return policy.changed(columns=columns, utility=None)


def _checks(checks: Sequence[Check], written: WrittenRelease) -> Iterator[Check]:
    """The checks, with the order of the rows as it is in the files: the counts were put in order here."""
    for check in checks:
        if check.name != "order":
            yield check
        elif written.rows_out_of_order is not None:
            wrong = written.rows_out_of_order(text_column)
            message = (
                "the rows are sorted by their cells, file by file"
                if not wrong
                else f"{number(wrong)} rows stand before one that sorts ahead of them: their order may be the input's"
            )
            yield Check("order", not wrong, message, {"out_of_order": wrong})


def _uncounted(policy: Policy, names: Sequence[str], written: WrittenRelease, stars: int) -> Iterator[Check]:
    """The insensitive columns that were not counted: no combination of them more often than the original has it."""
    if written.rows_not_in_original is None:
        return
    lacking = written.rows_not_in_original(text_column)
    passed = lacking <= (stars if policy.suppressed == "star" else 0)  # rows of * have nothing in these columns
    message = (
        f"no combination of {listing(names)} is released more often than the original has it"
        if passed
        else f"{number(lacking)} rows have combinations of {listing(names)} that the original does not have as often"
    )
    yield Check("insensitive", passed, message, {"rows": lacking, "columns": list(names)})
