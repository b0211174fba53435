"""Tables of a PostgreSQL database, read in batches of records through ADBC: Arrow in, Arrow out, nothing row by row.

Everything is read in one read-only transaction that sees the database as it was at its beginning. Names go into SQL
only in quotes (`shoal.policy.location.quoted`) or as parameters. A type that has no single value per cell is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, did_you_mean
from shoal.io.columns import check_names, chosen, plain
from shoal.io.postgres.connection import called, close, connected, explained, fetched, opened
from shoal.policy.data_source import DataSource
from shoal.policy.location import DatabaseTable, quoted
from shoal.table.canonical_text import decimal_text

_AS_TEXT: Final = frozenset({"text", "character varying", "character", "name", "uuid", "citext", '"char"'})
_AS_IT_IS: Final = frozenset(
    {
        "smallint",
        "integer",
        "bigint",
        "real",
        "double precision",
        "boolean",
        "date",
        "time without time zone",
        "timestamp without time zone",
        "timestamp with time zone",
    }
)
_NUMERIC: Final = re.compile(r"numeric(?:\((\d+),(\d+)\))?")
_FIRST_DAY, _LAST_DAY = -719162, 2932896  # of the years 1 and 9999, counted from 1970: infinity and its like lie beyond
_MICROSECONDS: Final = 24 * 60 * 60 * 10**6
_COLUMNS: Final = """
WITH RECURSIVE underneath AS (
    SELECT a.attnum, a.atttypid AS type
      FROM pg_attribute a
     WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT u.attnum, t.typbasetype FROM underneath u JOIN pg_type t ON t.oid = u.type WHERE t.typtype = 'd')
SELECT a.attname::text,
       format_type(a.atttypid, a.atttypmod),
       CASE t.typtype WHEN 'e' THEN 'text' ELSE format_type(t.oid, NULL) END
  FROM underneath u
  JOIN pg_type t ON t.oid = u.type AND t.typtype <> 'd'
  JOIN pg_attribute a ON a.attrelid = to_regclass($1) AND a.attnum = u.attnum
 ORDER BY a.attnum"""
_TABLES: Final = """
SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname::text ELSE n.nspname || '.' || c.relname END
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
   AND has_table_privilege(c.oid, 'SELECT')
 ORDER BY 1"""


@dataclass(frozen=True)
class DatabaseColumn:
    """A column of a table: its name, its type as declared, and the type underneath."""

    name: str
    declared: str
    base: str

    @property
    def readable(self) -> bool:
        """Whether its values are single values that have a text."""
        return self.base in _AS_TEXT | _AS_IT_IS or self.base == "numeric"

    @property
    def kept(self) -> str:
        """The type under which its values are released: its own where every database has it, else text."""
        own = self.base in _AS_IT_IS or _NUMERIC.fullmatch(self.declared) is not None
        return (self.base if self.base in _AS_IT_IS else self.declared) if own else "text"

    @property
    def selected(self) -> str:
        """The column as it is asked for."""
        return quoted(self.name) if self.base in _AS_IT_IS else f"{quoted(self.name)}::text"


def database_names(source: DataSource) -> list[str]:
    """The names of the columns of a table."""
    with _reading(source) as connection:
        return [column.name for column in _columns(connection, source)]


def database_columns(source: DataSource) -> list[DatabaseColumn]:
    """The columns of a table with their types."""
    with _reading(source) as connection:
        return _columns(connection, source)


def database_batches(source: DataSource, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The columns asked for, in batches as the server sends them; a table without records gives one empty batch."""
    with _reading(source) as connection:
        yield from batches_within(connection, source, columns)


def batches_within(
    connection: Any, source: DataSource, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The same in a transaction that has begun, so that it sees what was written there."""
    known = {column.name: column for column in _columns(connection, source)}
    wanted = [known[name] for name in chosen(list(known), columns, str(source.database))]
    for column in wanted:
        if not column.readable:
            raise DataError(
                f"{source.database}: column {column.name!r} has the type {column.declared}, which has no single value "
                "per cell. Leave the column out of the policy, or read a view with text, numbers or dates instead.",
                code="unreadable-type",
            )
    with connection.cursor() as cursor:
        names = ", ".join(column.selected for column in wanted) or "NULL"
        query = f"SELECT {names} FROM {_quoted_name(source)}"  # noqa: S608  every name is quoted
        called(lambda: cursor.execute(query), cursor.adbc_cancel)
        reader = cursor.fetch_record_batch()
        given = False
        for batch in reader:
            given = True
            yield _plain(batch, wanted, source)
        if not given:
            empty = [pa.array([], field.type) for field in reader.schema]
            yield _plain(pa.RecordBatch.from_arrays(empty, reader.schema.names), wanted, source)


def read_database(source: DataSource, columns: Sequence[str] | None = None) -> pa.Table:
    """The columns asked for, as one table."""
    return pa.Table.from_batches(list(database_batches(source, columns)))


@contextmanager
def _reading(source: DataSource) -> Iterator[Any]:
    assert source.database is not None
    with connected(source.database, "reading") as connection:
        _begin(connection, source.database)
        yield connection


@contextmanager
def held_still(source: DataSource) -> Iterator[DataSource]:
    """The source as its table is now, however often it is read inside; files have their own check.

    A transaction stays open and lends its snapshot to those that read.
    """
    if source.database is None:
        yield source
        return
    connection = opened(source.database, "reading")
    try:
        with explained(source.database, "reading"):
            _begin(connection, source.database)
            snapshot = fetched(connection, "SELECT pg_export_snapshot()")[0][0]
        yield replace(source, database=replace(source.database, snapshot=snapshot))
    finally:
        close(connection)


def _begin(connection: Any, table: DatabaseTable) -> None:
    """See the database as it was at the beginning, or in the snapshot of another transaction, and change nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        if not table.snapshot:
            return
        try:
            cursor.execute("SET TRANSACTION SNAPSHOT '" + table.snapshot.replace("'", "''") + "'")
        except Exception:
            raise DataError(
                f"{table}: the server has ended the transaction that kept the table as it was when it was counted, so "
                "it cannot be read a second time. Start again, with more memory or a longer "
                "idle_in_transaction_session_timeout.",
                code="transaction-ended",
            ) from None


def _quoted_name(source: DataSource) -> str:
    assert source.database is not None
    return quoted(*source.database.parts)


def _columns(connection: Any, source: DataSource) -> list[DatabaseColumn]:
    columns = [DatabaseColumn(*row) for row in fetched(connection, _COLUMNS, _quoted_name(source))]
    if not columns:
        assert source.database is not None
        known = [name for (name,) in fetched(connection, _TABLES)]
        raise DataError(
            f"{source.database}: there is no such table, or it has no columns. "
            f"{did_you_mean(source.database.table, known)}",
            code="unknown-column",
        )
    check_names([column.name for column in columns], str(source.database))
    return columns


def _plain(batch: pa.RecordBatch, columns: Sequence[DatabaseColumn], source: DataSource) -> pa.RecordBatch:
    """A batch with the types that the rest of Shoal knows, and null for missing marks."""
    where = str(source.database)
    arrays = [_typed(array, column, where) for array, column in zip(batch.columns, columns, strict=False)]
    table = pa.Table.from_arrays(arrays, [column.name for column in columns])
    table = plain(table, where, source.missing if source.quoted_missing else ()).combine_chunks()
    found = table.to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], table.schema)


def _typed(array: pa.Array, column: DatabaseColumn, where: str) -> pa.Array:
    if column.base == "numeric":
        return _numeric(array, column, where)
    if pa.types.is_date(array.type):
        _refuse_beyond(array.cast(pa.int32()), 1, column, where)
    elif pa.types.is_timestamp(array.type):
        _refuse_beyond(array.cast(pa.int64()), _MICROSECONDS, column, where)
    elif pa.types.is_time(array.type):
        _refuse_midnight(array.cast(pa.time64("us")).cast(pa.int64()), column, where)
    return array


def _refuse_midnight(counts: pa.Array, column: DatabaseColumn, where: str) -> None:
    latest = pc.max(counts).as_py()
    if latest is not None and latest >= _MICROSECONDS:
        raise DataError(
            f"{where}: column {column.name!r} holds the time 24:00:00, which would become 00:00:00. Read a view "
            "without it.",
            code="unreadable-value",
        )


def _refuse_beyond(counts: pa.Array, a_day: int, column: DatabaseColumn, where: str) -> None:
    ends = pc.min_max(counts)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is not None and (low < _FIRST_DAY * a_day or high >= (_LAST_DAY + 1) * a_day):
        raise DataError(
            f"{where}: column {column.name!r} holds a date that lies outside the years 1 to 9999, or infinity. "
            "Read a view without it.",
            code="unreadable-value",
        )


def _numeric(texts: pa.Array, column: DatabaseColumn, where: str) -> pa.Array:
    """Decimals of the declared precision, or else canonical text; NaN is missing."""
    known = texts.dictionary_encode()
    values = [_decimal(text, column, where) for text in known.dictionary.to_pylist()]
    declared = _NUMERIC.fullmatch(column.declared)
    kind = pa.string()
    if declared is not None and declared.group(1) is not None:
        scale = int(declared.group(2))
        digits = max(int(declared.group(1)), scale)  # numeric(3,5) has three digits of five behind the point
        kind = pa.decimal128(digits, scale) if digits <= 38 else kind
    show: Callable[[Decimal], Any] = decimal_text if kind == pa.string() else lambda value: value
    shown = pa.array([None if value is None else show(value) for value in values], kind)
    return shown.take(known.indices)


def _decimal(text: str, column: DatabaseColumn, where: str) -> Decimal | None:
    value = Decimal(text)
    if value.is_infinite():
        raise DataError(
            f"{where}: column {column.name!r} holds {text}, which is not a number. Read a view without it.",
            code="unreadable-value",
        )
    return None if value.is_nan() else value
