"""The verify stage: what was written and what was read, handed to the independent verifier.

A release in a cluster is judged by a count of its rows as they were written. Nothing that recoded them has a part in
it: the original is counted a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from shoal.formatting import listing, number
from shoal.io.sink import Written
from shoal.io.source import CountedTable, Reading
from shoal.policy import Policy
from shoal.verification import Check, Counted, Verification, verify
from shoal.verification.text import text_column


def verify_written(policy: Policy, reading: Reading, written: Written) -> Verification:
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
    return Counted(table.table, table.counts, table.records, table.blank)


def _without(policy: Policy, names: Sequence[str]) -> Policy:
    content = policy.model_dump(exclude_unset=True)
    columns = {name: column for name, column in content["columns"].items() if name not in names}
    return policy.changed(columns=columns, utility=None)


def _checks(checks: Sequence[Check], written: Written) -> Iterator[Check]:
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


def _uncounted(policy: Policy, names: Sequence[str], written: Written, stars: int) -> Iterator[Check]:
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
