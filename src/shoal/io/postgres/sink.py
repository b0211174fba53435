"""A release into a table of a database: written and verified as a file first, then placed in one transaction.

The file lies in a hidden folder while the run lasts. The table is read back in the transaction that wrote it and must
be the verified file cell by cell; evidence and report are put in place, and only then is the transaction committed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from shoal.encode.result import Result
from shoal.errors import OutputError
from shoal.io.batches import read_batches
from shoal.io.digest import sha256_of
from shoal.io.postgres.connection import connected
from shoal.io.postgres.tables import database_columns
from shoal.io.postgres.writer import PostgresWriter, check_target
from shoal.io.read import column_names
from shoal.io.sink import (
    ReleaseData,
    ReleaseTable,
    WrittenRelease,
    document_paths,
    policy_files,
    write_documents,
    write_result,
)
from shoal.io.source import Reading
from shoal.io.staging import Staged
from shoal.io.write import write_table
from shoal.policy import Policy
from shoal.policy.data_source import DataSource, release_source
from shoal.policy.location import DatabaseTable
from shoal.search.problem import Progress
from shoal.table.arrow_types import decoded
from shoal.table.row_order import in_order_of_cells


class PostgresSink:
    """A table of a PostgreSQL database; evidence and report go beside the policy, or to ``evidence``."""

    def __init__(
        self,
        policy: Policy,
        target: DatabaseTable,
        source: DataSource,
        *,
        evidence: str | Path | None = None,
        force: bool = False,
    ) -> None:
        self.location = target
        self.stem = file_name(target)
        self.documents = document_paths(policy.path("."), self.stem, evidence)
        self._force = force
        inputs = policy_files(policy) if source.database is not None else [source.path, *policy_files(policy)]
        check_target(target, source.database, force=force)
        self._types = _kept_types(policy, source)
        self._stage = Staged(list(self.documents.values()), inputs=inputs, force=force)
        self._open = ExitStack()
        self._file = Path()
        self._streamed = False

    def __enter__(self) -> Self:
        self._open.enter_context(self._stage)
        folder = tempfile.TemporaryDirectory(prefix=".shoal-", dir=self.documents["evidence"].parent)
        self._file = Path(self._open.enter_context(folder)) / f"{self.stem}.csv"
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:
        """Write the release to a hidden file, where it is verified."""
        self._streamed = reading.table is None
        write_result(result, reading, self._file, progress)
        return WrittenRelease(self._file, sha256_of(self._file))

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:
        """Write the table, read it back, and commit it together with its documents."""
        write_documents(self._stage, self.documents, texts)
        with connected(self.location, "writing to", OutputError) as connection:
            writer = self._written(connection)
            table = self._read_back(writer)
            writer.place(force=self._force)
            self._stage.commit(writer.commit)
        return ReleaseTable(table) if self._streamed else None

    def _written(self, connection: Any) -> PostgresWriter:
        """The release in the database, in the order of the file, not yet committed."""
        names = column_names(release_source(self._file))
        types = {name: self._types.get(name, "text") for name in names}
        writer = PostgresWriter.begin(connection, self.location, types)
        writer.write(_texts(self._file, names), types)
        return writer

    def _read_back(self, writer: PostgresWriter) -> pa.Table:
        """What the table holds, in the order of a release; it must be the very file that was verified."""
        table = in_order_of_cells(writer.read_back())
        again = self._file.with_name("read back.csv")
        write_table(table, again)
        if sha256_of(again) != sha256_of(self._file):
            raise OutputError(
                f"{writer.target} does not hold what was written to it, so it is removed again.", code="not-as-written"
            )
        return table


def file_name(target: DatabaseTable) -> str:
    """The table's name as the name of a file: what is no letter, digit, dash or dot becomes an underscore."""
    return re.sub(r"[^\w.-]", "_", target.parts[1]).lstrip(".") or "release"


def _kept_types(policy: Policy, source: DataSource) -> dict[str, str]:
    """The SQL types of columns whose values are released as they are, where the input is a database."""
    if source.database is None:
        return {}
    sensitive = [name for name in policy.names("sensitive") if policy.published(name) != "categories"]
    shown = {*policy.names("insensitive"), *sensitive}
    return {column.name: column.kept for column in database_columns(source) if column.name in shown}


def _texts(release: Path, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for batch in read_batches(release_source(release), names):
        columns = [decoded(pa.chunked_array([column])).combine_chunks() for column in batch.columns]
        yield pa.RecordBatch.from_arrays([_one(column) for column in columns], names=list(names))


def _one(column: Any) -> pa.Array:
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
