"""A table that is read and encoded once while its policy changes under a person's hands.

What takes long is reading the file and turning its values into codes. Both depend only on the columns of a policy (and
on what is published of sensitive ones); models, algorithm and suppression replace the earlier ones at once. Files of
hierarchies are read when columns are encoded: an edit to such a file needs a new `prepare`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from shoal.encode.resolve import Resolved, data_problems, resolve, resolve_again, unknown_columns, used_columns
from shoal.encode.survey import survey_columns
from shoal.errors import DataError, PolicyError, ShoalError
from shoal.formatting import listing
from shoal.io import column_names, read_table, separator_hint
from shoal.io.source import Reading, TableSource, load_table
from shoal.policy import Policy
from shoal.policy.location import Location, parse_location
from shoal.policy.spec import DataSpec
from shoal.search.problem import Progress
from shoal.table.distinct_rows import DistinctRows


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table read and encoded as a policy says; a source for policies with the same columns."""

    source: TableSource
    reading: Reading
    resolved: Resolved
    policy: Policy

    def snapshot(self) -> AbstractContextManager[object]:
        """Nothing is open."""
        return nullcontext()

    def read(self, policy: Policy, progress: Progress) -> Reading:  # noqa: ARG002 - it is read already
        """The rows as they were read, in codes."""
        return replace(self.reading, resolved=self.resolved)

    def identifiers(self, policy: Policy, columns: Sequence[str]) -> DistinctRows | None:
        """Those of these columns that were read."""
        return self.source.identifiers(policy, columns)


def prepare(data: Any, policy: Policy) -> Prepared:
    """Read and encode a table; one that is a table source is not read again, one prepared before not encoded again.

    Raises `PolicyError` like `resolve`, and `DataError` where the policy needs the table to be read again.
    """
    if isinstance(data, Prepared):
        if data.policy.data != policy.data:
            raise DataError("data: has changed, so the table must be read again.", code="data-changed")
        source = data.source
    else:
        source = data if isinstance(data, TableSource) else load_table(data, policy)
    wanted = [*used_columns(policy), *survey_columns(policy).values()]
    unread = [name for name in wanted if name in source.names and name not in source.table.column_names]
    if unread:
        names = listing([repr(name) for name in unread])
        raise DataError(f"the columns {names} have not been read. Read the table again.", code="columns-not-read")
    if isinstance(data, Prepared) and same_columns(data.policy, policy):
        return Prepared(source, data.reading, resolve_again(policy, data.resolved), policy)
    reading = source.read(policy)
    return Prepared(source, reading, resolve(policy, reading.rows), policy)


def same_columns(one: Policy, other: Policy) -> bool:
    """Whether two policies encode a table alike: same columns, folder and values published."""
    if one is other:
        return True
    names = used_columns(one)
    if names != used_columns(other) or one.path(".") != other.path(".") or one.person_columns != other.person_columns:
        return False
    if survey_columns(one) != survey_columns(other) or one.listed_orders != other.listed_orders:
        return False
    return all(one.columns[name] == other.columns[name] for name in names) and all(
        one.published(name) == other.published(name) for name in one.names("sensitive")
    )


def complete_problems(error: PolicyError, path: Path, data: str | Location | None = None) -> PolicyError:
    """The problems of a policy file, and those that its right parts have with the data where that can be read."""
    partial = error.partial
    if partial is None or not partial.columns:
        return error
    try:
        given = DataSpec.model_validate(partial.data)
        if data is None and not given.path:
            return error
        found = parse_location(data if data is not None else given.path)
        target = path.parent / found if data is None and isinstance(found, Path) else found
        source = given.source(target)
        names = column_names(source)
        named = [name for name, column in partial.columns.items() if column.role not in {"identifier", "pseudonym"}]
        rows = DistinctRows.of(read_table(source, [name for name in names if name in named]))
    except (ShoalError, ValidationError):
        return error
    lacking = unknown_columns(partial.columns, names, separator_hint(source, names))
    others = data_problems(partial.columns, partial.models, rows, path.parent) if rows.n_rows else []
    return PolicyError([*error.problems, *lacking, *others], error.source)
