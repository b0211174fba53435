"""A release into a table of a database: written and verified as a file first, then placed in one transaction.

The file lies in a hidden folder while the run lasts. The table is read back in the transaction that wrote it and must
be the verified file cell by cell; evidence and report are put in place, and only then is the transaction committed.
"""

from __future__ import annotations

import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from shoal.encode.result import Result
from shoal.errors import OutputError
from shoal.io.postgres.connection import called, connected, fetched, kind_of
from shoal.io.postgres.tables import batches_within, database_columns
from shoal.io.read import column_names, read_batches
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
from shoal.io.staging import FORCE, Staged
from shoal.io.write import sha256_of, write_table
from shoal.policy import Policy
from shoal.policy.data_source import DataSource, release_source
from shoal.policy.location import DatabaseTable, quoted
from shoal.search.problem import Progress
from shoal.table.canonical_text import decoded, in_order_of_cells

_STATE = """
SELECT n.oid IS NOT NULL, n.oid IS NOT NULL AND has_schema_privilege(n.oid, 'CREATE'), c.relkind::text,
       EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
  FROM (SELECT $1::text AS schema) asked
  LEFT JOIN pg_namespace n ON n.nspname = asked.schema
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = $2"""
_IDENTITY = """
SELECT pg_postmaster_start_time()::text, (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),
       to_regclass($1)::oid::bigint"""


def check_target(target: DatabaseTable, source: DatabaseTable | None, *, force: bool) -> None:
    """Raise `OutputError` where the table cannot be written, before any work: it is there, or may not be created."""
    with connected(target, "writing to", OutputError) as connection:
        _check(connection, target, force=force)
        own = _identity(connection, target)
    if source is not None and own is not None:
        with connected(source, "reading") as connection:
            if _identity(connection, source) == own:
                raise OutputError(
                    f"{target} is the input as well and would be overwritten. Choose another output.",
                    code="output-is-input",
                )


@dataclass(frozen=True)
class PostgresWriter:
    """A table on its way into a database, under a name of its own until `place` renames it."""

    connection: Any
    target: DatabaseTable
    schema: str
    name: str  # the name for now

    @staticmethod
    def begin(connection: Any, target: DatabaseTable, types: Mapping[str, str]) -> PostgresWriter:
        """Create the table with its columns, each with the SQL type of `DatabaseColumn.kept`."""
        with connection.cursor() as cursor:  # so that checks see what others have committed meanwhile
            cursor.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        schema = _schema(connection, target)
        writer = PostgresWriter(connection, target, schema, f"shoal_{secrets.token_hex(8)}")
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
        writer._run(f"CREATE TABLE {quoted(schema, writer.name)} ({columns})")
        return writer

    def write(self, batches: Iterable[pa.RecordBatch], types: Mapping[str, str]) -> None:
        """Add the rows, which are text; the server turns them into the types of the columns."""
        if set(types.values()) == {"text"}:
            self._ingest(self.name, batches, types, mode="append", db_schema_name=self.schema)
            return
        self._ingest(f"{self.name}_text", batches, types, mode="create", temporary=True)
        cast = ", ".join(f"{quoted(name)}::{kind}" for name, kind in types.items())
        texts, table = quoted("pg_temp", f"{self.name}_text"), quoted(self.schema, self.name)
        self._run(f"INSERT INTO {table} SELECT {cast} FROM {texts}")  # noqa: S608  every name is quoted
        self._run(f"DROP TABLE {texts}")

    def read_back(self) -> pa.Table:
        """What stands in the table now, as this transaction sees it."""
        written = replace(self.target, table=quoted(self.schema, self.name))
        source = DataSource(Path(str(self.target)), missing=(), database=written)
        return pa.Table.from_batches(list(batches_within(self.connection, source)))

    def place(self, *, force: bool) -> None:
        """Give the table its name, in the place of the one that is there if that may be replaced."""
        table = self.target.parts[1]
        if _check(self.connection, self.target, force=force):
            old = quoted(self.schema, table)
            self._run(f"LOCK TABLE {old} IN ACCESS EXCLUSIVE MODE")
            _check(self.connection, self.target, force=force)  # nobody can make it a partition from here on
            self._run(f"DROP TABLE {old}")
        self._run(f"ALTER TABLE {quoted(self.schema, self.name)} RENAME TO {quoted(table)}")

    def commit(self) -> None:
        """Make it last."""
        try:
            called(self.connection.commit, None)
        except Exception as error:
            raise OutputError(
                f"the connection broke while {self.target} was committed ({kind_of(error)}). Check whether the table "
                "is there; if it is, drop it and start again, since evidence and report were not written.",
                code="not-committed",
            ) from None

    def _run(self, sql: str) -> None:
        with self.connection.cursor() as cursor:
            called(lambda: cursor.execute(sql), cursor.adbc_cancel)

    def _ingest(self, name: str, batches: Iterable[pa.RecordBatch], names: Iterable[str], **how: Any) -> None:
        failed: list[BaseException] = []
        reader = pa.RecordBatchReader.from_batches(
            pa.schema([(each, pa.string()) for each in names]), _watched(batches, failed)
        )
        try:
            with self.connection.cursor() as cursor:
                called(lambda: cursor.adbc_ingest(name, reader, **how), cursor.adbc_cancel)
        except Exception:
            if failed:  # not the server: what made the rows
                raise failed[0] from None
            raise


def _watched(batches: Iterable[pa.RecordBatch], failed: list[BaseException]) -> Iterator[pa.RecordBatch]:
    """The batches; what fails in making them is kept, since Arrow turns it into text on its way through the driver."""
    try:
        yield from batches
    except GeneratorExit:
        raise
    except BaseException as error:
        failed.append(error)
        raise


def _schema(connection: Any, target: DatabaseTable) -> str:
    """The schema that is named, or the one in which the server creates tables."""
    schema, _ = target.parts
    found = schema if schema is not None else fetched(connection, "SELECT current_schema()::text")[0][0]
    if found is None:
        raise OutputError(
            f"{target}: the database has no schema to create tables in. Name one: schema.table.", code="no-schema"
        )
    return str(found)


def _check(connection: Any, target: DatabaseTable, *, force: bool) -> bool:
    """Whether the table is there and may be replaced; `OutputError` where it may not or cannot be created."""
    schema, table = _schema(connection, target), target.parts[1]
    there, allowed, kind, inherits = fetched(connection, _STATE, schema, table)[0]
    if not there:
        raise OutputError(
            f"{target}: there is no schema {schema!r} in the database. Create it first.", code="no-schema"
        )
    if not allowed:
        raise OutputError(f"{target}: this user may not create tables in the schema {schema!r}.", code="not-allowed")
    if kind is not None and kind != "r":
        raise OutputError(
            f"{target} is not an ordinary table, so it is never replaced. Choose another output.", code="not-a-table"
        )
    if inherits:
        raise OutputError(
            f"{target} is a partition, or inherits from a table or is inherited by one: its rows are read there too, "
            "so it is never replaced. Choose another output.",
            code="not-a-table",
        )
    if kind is not None and not force:
        raise OutputError(f"{target} exists already. Choose another output, or {FORCE}.", code="output-exists")
    return kind is not None


def _identity(connection: Any, table: DatabaseTable) -> tuple[Any, ...] | None:
    """What tells one table from every other: its server, its database and its number; None where there is none."""
    found = fetched(connection, _IDENTITY, quoted(*table.parts))[0]
    return found if found[-1] is not None else None


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
