"""A release into a table of a database: written and verified as a file first, then renamed in one transaction."""

from __future__ import annotations

import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from shoal.encode.result import ReleasedRows, Result
from shoal.errors import OutputError
from shoal.io.postgres.connection import connected, fetch_rows, kind_of, run_interruptible
from shoal.io.postgres.tables import database_batches, database_columns
from shoal.io.read import column_names, read_batches
from shoal.io.sink import ReleaseData, StagedSink, WrittenRelease, document_paths, policy_files, write_result
from shoal.io.source import Reading
from shoal.io.staging import FORCE
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
"""What tells one table from every other: its server, its database and its number, null where there is none."""


def check_target(target: DatabaseTable, source: DatabaseTable | None, *, force: bool) -> None:
    """Raise `OutputError` where the table cannot be written, before any work: it is there, or may not be created."""
    with connected(target, "writing to", OutputError) as connection:
        _check(connection, target, force=force)
        own = fetch_rows(connection, _IDENTITY, quoted(*target.parts))[0]
    if source is None or own[-1] is None:
        return
    with connected(source, "reading") as connection:
        if fetch_rows(connection, _IDENTITY, quoted(*source.parts))[0] == own:
            message = f"{target} is the input as well and would be overwritten. Choose another output."
            raise OutputError(message, code="output-is-input")


@dataclass(frozen=True)
class PostgresWriter:
    """A table on its way into a database, under a name of its own until `rename_to_target`."""

    connection: Any
    target: DatabaseTable
    schema: str
    name: str  # the name for now

    @staticmethod
    def begin(connection: Any, target: DatabaseTable, types: Mapping[str, str]) -> PostgresWriter:
        """Create the table with its columns, each with the SQL type of `DatabaseColumn.released_type`."""
        with connection.cursor() as cursor:  # so that checks see what others have committed meanwhile
            cursor.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        writer = PostgresWriter(connection, target, _schema(connection, target), f"shoal_{secrets.token_hex(8)}")
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
        writer._run(f"CREATE TABLE {quoted(writer.schema, writer.name)} ({columns})")
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
        return pa.Table.from_batches(list(database_batches(source, within=self.connection)))

    def rename_to_target(self, *, force: bool) -> None:
        """Give the table its name, instead of the one that is there if that may be replaced."""
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
            run_interruptible(self.connection.commit, None)
        except Exception as error:
            raise OutputError(
                f"the connection broke while {self.target} was committed ({kind_of(error)}). Check whether the table "
                "is there; if it is, drop it and start again, since evidence and report were not written.",
                code="not-committed",  # MAY_BE_COMMITTED, spelled out for the list of codes
            ) from None

    def _run(self, sql: str) -> None:
        with self.connection.cursor() as cursor:
            run_interruptible(lambda: cursor.execute(sql), cursor.adbc_cancel)

    def _ingest(self, name: str, batches: Iterable[pa.RecordBatch], names: Iterable[str], **how: Any) -> None:
        """Send rows; what fails in making them is raised, since Arrow turns it into text on its way to the server."""
        failed: list[BaseException] = []

        def watched() -> Iterator[pa.RecordBatch]:
            try:
                yield from batches
            except GeneratorExit:
                raise
            except BaseException as error:
                failed.append(error)
                raise

        schema = pa.schema([(each, pa.string()) for each in names])
        reader = pa.RecordBatchReader.from_batches(schema, watched())
        try:
            with self.connection.cursor() as cursor:
                run_interruptible(lambda: cursor.adbc_ingest(name, reader, **how), cursor.adbc_cancel)
        except Exception:
            if failed:
                raise failed[0] from None
            raise


def _schema(connection: Any, target: DatabaseTable) -> str:
    """The schema that is named, or the one in which the server creates tables."""
    schema, _ = target.parts
    found = schema if schema is not None else fetch_rows(connection, "SELECT current_schema()::text")[0][0]
    if found is None:
        message = f"{target}: the database has no schema to create tables in. Name one: schema.table."
        raise OutputError(message, code="no-schema")
    return str(found)


def _check(connection: Any, target: DatabaseTable, *, force: bool) -> bool:
    """Whether the table is there and may be replaced; `OutputError` where it may not or cannot be created."""
    schema, table = _schema(connection, target), target.parts[1]
    there, allowed, kind, inherits = fetch_rows(connection, _STATE, schema, table)[0]
    if not there:
        message = f"{target}: there is no schema {schema!r} in the database. Create it first."
        raise OutputError(message, code="no-schema")
    if not allowed:
        raise OutputError(f"{target}: this user may not create tables in the schema {schema!r}.", code="not-allowed")
    if kind is not None and kind != "r":
        message = f"{target} is not an ordinary table, so it is never replaced. Choose another output."
        raise OutputError(message, code="not-a-table")
    if inherits:
        message = f"{target} is a partition, or inherits from a table or is inherited by one:"
        why = "its rows are read there too, so it is never replaced. Choose another output."
        raise OutputError(f"{message} {why}", code="not-a-table")
    if kind is not None and not force:
        raise OutputError(f"{target} exists already. Choose another output, or {FORCE}.", code="output-exists")
    return kind is not None


class PostgresSink(StagedSink):
    """A table of a PostgreSQL database; evidence and report go beside the policy, or to ``evidence``."""

    _file = Path()
    _streamed = False

    def __init__(
        self, policy: Policy, target: DatabaseTable, source: DataSource, *, evidence: str | Path | None, force: bool
    ) -> None:
        # what is no letter, digit, dash or dot in the name of the table is an underscore in those of files
        stem = re.sub(r"[^\w.-]", "_", target.parts[1]).lstrip(".") or "release"
        documents = document_paths(policy.path("."), stem, evidence)
        inputs = policy_files(policy) if source.database is not None else [source.path, *policy_files(policy)]
        check_target(target, source.database, force=force)
        self._force, self._types = force, {}
        if source.database is not None:  # the types of columns whose values are released as they are
            sensitive = [
                name
                for name in policy.names("sensitive")
                if policy.published(name) != "categories" and not policy.columns[name].same
            ]
            shown = {*policy.names("insensitive"), *sensitive}
            self._types = {each.name: each.released_type for each in database_columns(source) if each.name in shown}
            self._types |= {name: "bigint" for name in policy.relative_columns if name in self._types}
        super().__init__(target, stem, documents, inputs=inputs, force=force)

    def __enter__(self) -> Self:
        super().__enter__()
        folder = tempfile.TemporaryDirectory(prefix=".shoal-", dir=self.documents["evidence"].parent)
        self._file = Path(self._open.enter_context(folder)) / f"{self.stem}.csv"
        return self

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:
        """Write the release to a hidden file, where it is verified."""
        self._streamed = reading.table is None
        return write_result(result, reading, self._file, progress)

    def _put_in_place(self) -> ReleaseData | None:
        """Write the table in the order of the file, read it back, and commit it together with its documents."""
        names = column_names(release_source(self._file))
        types = {name: self._types.get(name, "text") for name in names}
        with connected(self.location, "writing to", OutputError) as connection:
            writer = PostgresWriter.begin(connection, self.location, types)
            writer.write(_texts(self._file, names), types)
            table = in_order_of_cells(writer.read_back())
            again = self._file.with_name("read back.csv")
            write_table(table, again)
            if sha256_of(again) != sha256_of(self._file):  # it must be the very file that was verified
                message = f"{self.location} does not hold what was written to it, so it is removed again."
                raise OutputError(message, code="not-as-written")
            writer.rename_to_target(force=self._force)
            self._stage.commit(writer.commit)
        return ReleasedRows(table, np.ones(table.num_rows, dtype=np.int64)) if self._streamed else None


def _texts(release: Path, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for batch in read_batches(release_source(release), names):
        columns = [pa.concat_arrays(decoded(pa.chunked_array([column])).chunks) for column in batch.columns]
        yield pa.RecordBatch.from_arrays(columns, names=list(names))
