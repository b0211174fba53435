"""Tables of a real PostgreSQL server: every type, names that need quotes, and what is refused."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from adbc_driver_manager import ProgrammingError

from shoal.errors import DataError, MissingExtraError
from shoal.io import DatabaseTable, DataSource, canonical_text, column_names, read_batches, read_table
from shoal.io.postgres.connection import kind_of, run_interruptible
from shoal.io.postgres.tables import database_batches
from shoal.policy.location import quoted
from support.postgres import Server

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server.start() as started:
        yield started


def source(server: Server, table: str, missing: tuple[str, ...] = ("",)) -> DataSource:
    return DataSource(Path(table), missing=missing, database=DatabaseTable(server.url, table))


def column(server: Server, kind: str, *values: str) -> pa.ChunkedArray:
    rows = ", ".join(f"({number}, {value})" for number, value in enumerate(values))
    server.run("DROP TABLE IF EXISTS t", f"CREATE TABLE t (n integer, c {kind})", f"INSERT INTO t VALUES {rows}")
    table = read_table(source(server, "t"))
    order = [place for _, place in sorted((n, place) for place, n in enumerate(table["n"].to_pylist()))]
    return table["c"].take(pa.array(order))


@pytest.mark.parametrize(
    ("kind", "values", "read", "expected"),
    [
        ("text", ["'x'", "''", "' a '", "NULL"], pa.string(), ["x", None, " a ", None]),
        ("varchar(5)", ["'01234'"], pa.string(), ["01234"]),
        ("char(5)", ["'ab'"], pa.string(), ["ab"]),
        ("smallint", ["-3", "NULL"], pa.int16(), ["-3", None]),
        ("integer", ["39"], pa.int32(), ["39"]),
        ("bigint", ["9007199254740993"], pa.int64(), ["9007199254740993"]),
        ("numeric(6,2)", ["1.50", "5.00", "NULL", "'NaN'"], pa.decimal128(6, 2), ["1.5", "5", None, None]),
        ("numeric", ["1.50", "5", "0.00001", "1e30"], pa.string(), ["1.5", "5", "1e-05", "1" + "0" * 30]),
        ("numeric(3,5)", ["0.00123", "0.009"], pa.decimal128(5, 5), ["0.00123", "0.009"]),
        ("numeric(5,-2)", ["12300"], pa.string(), ["12300"]),
        ("numeric(3,40)", ["123e-40"], pa.string(), ["1.23e-38"]),
        ("real", ["0.1", "39"], pa.float32(), ["0.1", "39"]),
        ("double precision", ["0.1", "39", "'NaN'"], pa.float64(), ["0.1", "39", None]),
        ("boolean", ["true", "false", "NULL"], pa.bool_(), ["true", "false", None]),
        ("date", ["'2020-03-14'", "'0001-01-01'"], pa.date32(), ["2020-03-14", "0001-01-01"]),
        ("time", ["'10:30'"], pa.time64("us"), ["10:30:00"]),
        ("timestamp", ["'2020-03-14 10:30:15.5'"], pa.timestamp("us"), ["2020-03-14T10:30:15.5"]),
        ("timestamp", ["'9999-12-31 23:59:59'"], pa.timestamp("us"), ["9999-12-31T23:59:59"]),
        ("timestamptz", ["'2020-03-14 10:30+02'"], pa.timestamp("us", "UTC"), ["2020-03-14T08:30:00+00:00"]),
        ("uuid", ["'123E4567-e89b-12d3-a456-426614174000'"], pa.string(), ["123e4567-e89b-12d3-a456-426614174000"]),
    ],
)  # fmt: skip
def test_every_type_of_single_values_is_read(
    server: Server, kind: str, values: list[str], read: pa.DataType, expected: list[str | None]
) -> None:
    found = column(server, kind, *values)
    assert found.type == read
    assert canonical_text(found).to_pylist() == expected


def test_enumerations_and_domains_are_what_is_underneath(server: Server) -> None:
    server.run("CREATE TYPE mood AS ENUM ('sad', 'glad')", "CREATE DOMAIN age AS integer CHECK (VALUE > 0)")
    assert column(server, "mood", "'glad'").to_pylist() == ["glad"]
    assert column(server, "age", "30").to_pylist() == [30]
    server.run(
        "CREATE DOMAIN old AS age CHECK (VALUE > 60)", "CREATE DOMAIN spirit AS mood", "CREATE DOMAIN soul AS spirit"
    )
    assert column(server, "old", "70").to_pylist() == [70]
    assert column(server, "spirit", "'sad'").to_pylist() == ["sad"]
    assert column(server, "soul", "'glad'").to_pylist() == ["glad"]
    server.run("CREATE DOMAIN many AS integer[]", "CREATE DOMAIN more AS many")
    with pytest.raises(DataError, match=r"column 'c' has the type more"):
        column(server, "more", "'{1}'")


@pytest.mark.parametrize(
    ("kind", "value", "named"),
    [
        ("text[]", "'{a,b}'", r"text\[\]"),
        ("json", "'{}'", "json"),
        ("jsonb", "'{}'", "jsonb"),
        ("bytea", "'x'", "bytea"),
        ("interval", "'1 day'", "interval"),
        ("point", "'(1,2)'", "point"),
    ],
)
def test_types_without_a_single_value_are_refused_by_their_column(
    server: Server, kind: str, value: str, named: str
) -> None:
    with pytest.raises(DataError, match=rf"column 'c' has the type {named}, .*a view"):
        column(server, kind, value)
    assert read_table(source(server, "t"), ["n"]).to_pydict() == {"n": [0]}


@pytest.mark.parametrize(
    ("kind", "value"),
    [("date", "'infinity'"), ("timestamp", "'-infinity'"), ("timestamptz", "'infinity'"), ("date", "'0044-03-15 BC'")],
)
def test_days_outside_the_calendar_are_refused(server: Server, kind: str, value: str) -> None:
    with pytest.raises(DataError, match=r"column 'c' holds a date that lies outside the years 1 to 9999"):
        column(server, kind, value)


def test_the_midnight_that_ends_a_day_is_refused(server: Server) -> None:
    with pytest.raises(DataError, match=r"column 'c' holds the time 24:00:00"):
        column(server, "time", "'10:30'", "'24:00'")
    found = column(server, "time", "'23:59:59.999999'", "NULL")
    assert canonical_text(found).to_pylist() == ["23:59:59.999999", None]


def test_errors_of_the_server_are_told_without_values_of_the_data(server: Server) -> None:
    server.run(
        "CREATE TABLE people AS SELECT 'hunter2' AS name, 1 AS n",
        "CREATE VIEW casting AS SELECT name::integer AS a FROM people",
        "CREATE FUNCTION raises(text) RETURNS text LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'ERROR: cannot take %', $1; END $$",
        "CREATE VIEW raising AS SELECT raises(name) AS a FROM people",
        "CREATE VIEW overflowing AS SELECT (name || n)::varchar::date AS a FROM people",
    )
    for view, told in (
        ("casting", "invalid input syntax for type integer"),
        ("raising", "server's log"),
        ("overflowing", "invalid input syntax for type date"),
    ):
        with pytest.raises(DataError, match=told) as refused:
            read_table(source(server, view))
        assert "hunter2" not in str(refused.value)


def test_a_right_that_is_lacking_is_told_with_the_table(server: Server) -> None:
    server.run("CREATE ROLE stranger LOGIN", "CREATE TABLE closed (a integer)")
    given = DataSource(Path("closed"), database=DatabaseTable(server.url_of("stranger"), "closed"))
    with pytest.raises(DataError, match=r"#closed failed: permission denied for table closed\.$"):
        read_table(given)


def test_an_error_with_a_state_is_told_by_its_kind() -> None:
    error = ProgrammingError(
        "INTEGRITY: ERROR: duplicate key DETAIL: Key (a)=(hunter2)", status_code=3, sqlstate="23505"
    )
    assert kind_of(error) == "a constraint of the database is violated (SQLSTATE 23505; the server's log has more)"
    assert kind_of(OSError(28, "No space left on device")) == "No space left on device"
    assert "hunter2" not in kind_of(pa.ArrowInvalid("Decimal value hunter2 does not fit"))


def test_a_numeric_infinity_is_refused(server: Server) -> None:
    with pytest.raises(DataError, match=r"column 'c' holds Infinity"):
        column(server, "numeric", "'Infinity'")


def test_names_are_taken_as_they_stand_and_never_run(server: Server) -> None:
    name, evil = 'Pa"tients; DROP TABLE safe; --', 'a"; DROP TABLE safe; --'
    server.run("CREATE TABLE safe (x integer)", 'CREATE SCHEMA "My.Clinic"')
    server.run(f'CREATE TABLE "My.Clinic".{quoted(name)} ({quoted(evil)} text)')
    server.run(f"INSERT INTO \"My.Clinic\".{quoted(name)} VALUES ('x')")
    table = read_table(source(server, quoted("My.Clinic", name)))
    assert table.to_pydict() == {evil: ["x"]}
    assert server.run("SELECT count(*) FROM safe") == [(0,)]


def test_columns_come_in_the_order_asked_for_and_views_are_tables(server: Server) -> None:
    server.run("DROP TABLE IF EXISTS v CASCADE", "CREATE TABLE v (a integer, b text, gone text)")
    server.run("ALTER TABLE v DROP COLUMN gone", "INSERT INTO v VALUES (1, 'x')", "CREATE VIEW seen AS SELECT * FROM v")
    assert column_names(source(server, "seen")) == ["a", "b"]
    assert read_table(source(server, "public.seen"), ["b", "a"]).column_names == ["b", "a"]
    with pytest.raises(DataError, match=r"has no column 'c'. Known: a, b"):
        read_table(source(server, "v"), ["c"])


def test_missing_marks_hold_here_too(server: Server) -> None:
    server.run("DROP TABLE IF EXISTS m", "CREATE TABLE m (a text, b integer)", "INSERT INTO m VALUES ('?', -9)")
    assert read_table(source(server, "m", ("?", "-9"))).to_pydict() == {"a": [None], "b": [None]}


def test_a_long_table_comes_in_batches_and_an_empty_one_with_its_types(server: Server) -> None:
    server.run("DROP TABLE IF EXISTS long", "CREATE TABLE long (n integer, c text)")
    assert read_table(source(server, "long")).schema.types == [pa.int32(), pa.string()]
    server.run("INSERT INTO long SELECT n, repeat('x', 1000) FROM generate_series(1, 40000) n")
    batches = list(database_batches(source(server, "long"), ["n", "c"]))
    assert len(batches) > 1
    assert sum(batch.num_rows for batch in batches) == 40000
    again = pa.Table.from_batches(list(read_batches(source(server, "long"), ["n"])))
    assert sorted(again["n"].to_pylist()) == list(range(1, 40001))


def test_a_table_that_is_not_there_is_told_with_those_that_are(server: Server) -> None:
    server.run("DROP TABLE IF EXISTS patients", "CREATE TABLE patients (a integer)")
    with pytest.raises(DataError, match=r"no such table.* Did you mean 'patients'"):
        read_table(source(server, "patient"))
    with pytest.raises(DataError, match=r"no such table"):
        column_names(source(server, "nowhere.patients"))


def test_reading_changes_nothing_even_through_a_view_that_writes(server: Server) -> None:
    server.run(
        "CREATE TABLE written (a integer)",
        "CREATE FUNCTION writes() RETURNS integer LANGUAGE sql AS 'INSERT INTO written VALUES (1) RETURNING a'",
        "CREATE VIEW writing AS SELECT writes() AS a",
    )
    with pytest.raises(DataError, match=r"read-only transaction"):
        read_table(source(server, "writing"))
    assert server.run("SELECT count(*) FROM written") == [(0,)]


def test_a_server_that_does_not_answer_is_an_error_of_the_data(tmp_path: Path) -> None:
    table = DatabaseTable(f"postgresql:///db?host={tmp_path}", "t")
    with pytest.raises(DataError, match=r"reading postgresql:///db#t failed: .*connect"):
        read_table(DataSource(tmp_path, database=table))


def test_the_password_comes_from_the_environment_and_goes_nowhere(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.run("CREATE ROLE secret LOGIN PASSWORD 'hunter2'", "CREATE TABLE guarded AS SELECT 1 AS a")
    server.run("GRANT SELECT ON guarded TO secret")
    given = DataSource(tmp_path, database=DatabaseTable(server.url_of("secret"), "guarded"))
    for wrong in (None, "hunter3"):
        if wrong is not None:
            monkeypatch.setenv("PGPASSWORD", wrong)
        with pytest.raises(DataError, match=r"password") as refused:
            read_table(given)
        assert "hunter" not in str(refused.value)
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    assert read_table(given).to_pydict() == {"a": [1]}
    monkeypatch.delenv("PGPASSWORD")
    (tmp_path / "pass").write_text(f"{server.folder}:*:*:secret:hunter2\n", encoding="utf-8")
    (tmp_path / "pass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pass"))
    assert read_table(given).to_pydict() == {"a": [1]}


def test_an_interrupt_stops_a_call_unless_it_is_too_late() -> None:
    cancelled = threading.Event()

    def interrupted() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        cancelled.wait(1)
        return "done"

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(interrupted, cancelled.set)
    assert cancelled.is_set()
    cancelled.clear()
    assert run_interruptible(interrupted, None) == "done"


def test_without_the_driver_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(MissingExtraError, match=r'pip install "shoal\[postgresql\]"'):
        column_names(DataSource(Path("t"), database=DatabaseTable("postgresql://host/db", "t")))
