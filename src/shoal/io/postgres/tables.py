"""Tables of a PostgreSQL database, read in batches of records through ADBC: Arrow in, Arrow out, nothing row by row."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, did_you_mean
from shoal.io.columns import check_names, chosen, plain
from shoal.io.postgres.connection import close, connected, fetch_rows, open_connection, run_interruptible, server_errors
from shoal.policy.data_source import DataSource
from shoal.policy.location import DatabaseTable, quoted
from shoal.table.canonical_text import decimal_text

_AS_TEXT: Final = frozenset({"text", "character varying", "character", "name", "uuid", "citext", '"char"'})
_AS_IT_IS: Final = frozenset(
    {"smallint", "integer", "bigint", "real", "double precision", "boolean", "date"}
    | {"time without time zone", "timestamp without time zone", "timestamp with time zone"}
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
    def released_type(self) -> str:
        """The type under which its values are released: its own where every database has it, else text."""
        if self.base in _AS_IT_IS:
            return self.base
        return self.declared if _NUMERIC.fullmatch(self.declared) else "text"


def database_columns(source: DataSource) -> list[DatabaseColumn]:
    """The columns of a table with their types."""
    with _reading(source) as connection:
        return _columns(connection, source)


def database_batches(
    source: DataSource, columns: Sequence[str] | None = None, within: Any = None
) -> Iterator[pa.RecordBatch]:
    """The columns asked for, in batches as the server sends them; a table without records gives one empty batch.

    ``within`` is a connection whose transaction has begun, so that it sees what was written there.
    """
    with _reading(source) if within is None else nullcontext(within) as connection:
        known = {column.name: column for column in _columns(connection, source)}
        wanted = [known[name] for name in chosen(list(known), columns, str(source.database))]
        for column in wanted:
            if not column.readable:
                message = f"{source.database}: column {column.name!r} has the type {column.declared},"
                fix = "Leave the column out of the policy, or read a view with text, numbers or dates instead."
                raise DataError(f"{message} which has no single value per cell. {fix}", code="unreadable-type")
        with connection.cursor() as cursor:
            cells = [quoted(each.name) + ("" if each.base in _AS_IT_IS else "::text") for each in wanted]
            query = f"SELECT {', '.join(cells) or 'NULL'} FROM {_quoted_name(source)}"  # noqa: S608  names are quoted
            run_interruptible(lambda: cursor.execute(query), cursor.adbc_cancel)
            reader = cursor.fetch_record_batch()
            batch = None
            for batch in reader:
                yield _plain(batch, wanted, source)
            if batch is None:
                yield _plain(pa.RecordBatch.from_pylist([], reader.schema), wanted, source)


@contextmanager
def _reading(source: DataSource) -> Iterator[Any]:
    assert source.database is not None
    with connected(source.database, "reading") as connection:
        _begin(connection, source.database)
        yield connection


@contextmanager
def snapshot_of(source: DataSource) -> Iterator[DataSource]:
    """The source as its table is now, however often it is read: a transaction stays open and lends its snapshot."""
    if source.database is None:
        yield source
        return
    connection = open_connection(source.database, "reading")
    try:
        with server_errors(source.database, "reading"):
            _begin(connection, source.database)
            snapshot = fetch_rows(connection, "SELECT pg_export_snapshot()")[0][0]
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
            message = f"{table}: the server has ended the transaction that kept the table as it was when it was counted"
            fix = "Start again, with more memory or a longer idle_in_transaction_session_timeout."
            raise DataError(f"{message}, so it cannot be read a second time. {fix}", code="transaction-ended") from None


def _quoted_name(source: DataSource) -> str:
    assert source.database is not None
    return quoted(*source.database.parts)


def _columns(connection: Any, source: DataSource) -> list[DatabaseColumn]:
    columns = [DatabaseColumn(*row) for row in fetch_rows(connection, _COLUMNS, _quoted_name(source))]
    if not columns:
        assert source.database is not None
        known = [name for (name,) in fetch_rows(connection, _TABLES)]
        message = f"{source.database}: there is no such table, or it has no columns."
        raise DataError(f"{message} {did_you_mean(source.database.table, known)}", code="unknown-column")
    check_names([column.name for column in columns], str(source.database))
    return columns


def _plain(batch: pa.RecordBatch, columns: Sequence[DatabaseColumn], source: DataSource) -> pa.RecordBatch:
    """A batch with the types that the rest of Shoal knows, and null for missing marks."""
    where = str(source.database)
    arrays = [_typed(array, column, where) for array, column in zip(batch.columns, columns, strict=False)]
    table = pa.Table.from_arrays(arrays, [column.name for column in columns])
    table = plain(table, where, source.marks).combine_chunks()
    found = table.to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], table.schema)


def _typed(array: pa.Array, column: DatabaseColumn, where: str) -> pa.Array:
    """The column with its type, refusing values that it cannot hold."""
    if column.base == "numeric":
        return _numeric(array, column, where)
    if pa.types.is_date(array.type) or pa.types.is_timestamp(array.type):
        days = pa.types.is_date(array.type)
        a_day = 1 if days else _MICROSECONDS
        low, high = pc.min_max(array.cast(pa.int32() if days else pa.int64())).as_py().values()
        if low is not None and (low < _FIRST_DAY * a_day or high >= (_LAST_DAY + 1) * a_day):
            raise _unreadable_value("a date that lies outside the years 1 to 9999, or infinity", column, where)
    elif pa.types.is_time(array.type):
        latest = pc.max(array.cast(pa.time64("us")).cast(pa.int64())).as_py()
        if latest is not None and latest >= _MICROSECONDS:
            raise _unreadable_value("the time 24:00:00, which would become 00:00:00", column, where)
    return array


def _unreadable_value(what: str, column: DatabaseColumn, where: str) -> DataError:
    message = f"{where}: column {column.name!r} holds {what}. Read a view without it."
    return DataError(message, code="unreadable-value")


def _numeric(texts: pa.Array, column: DatabaseColumn, where: str) -> pa.Array:
    """Decimals of the declared precision, or else canonical text; NaN is missing."""
    known = texts.dictionary_encode()
    values = [Decimal(text) for text in known.dictionary.to_pylist()]
    for value in values:
        if value.is_infinite():
            raise _unreadable_value(f"{value}, which is not a number", column, where)
    kind, declared = pa.string(), _NUMERIC.fullmatch(column.declared)
    if declared is not None and declared.group(1) is not None:
        scale = int(declared.group(2))
        digits = max(int(declared.group(1)), scale)  # numeric(3,5) has three digits of five behind the point
        kind = pa.decimal128(digits, scale) if digits <= 38 else kind
    numbers = [None if value.is_nan() else value for value in values]
    if kind == pa.string():
        return pa.array([None if each is None else decimal_text(each) for each in numbers], kind).take(known.indices)
    return pa.array(numbers, kind).take(known.indices)
