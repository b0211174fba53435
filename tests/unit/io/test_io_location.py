"""Where a table is: paths, addresses of databases, and passwords that must not stand there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.io import DatabaseTable, parse_location
from shoal.policy.location import quoted


@pytest.mark.parametrize(
    "text", ["a.csv", "folder/a.csv", "C:\\data\\a.csv", "postgresql.csv", "postgres/a.csv", "a#b.csv"]
)
def test_what_is_no_address_is_a_path(text: str) -> None:
    assert parse_location(text) == Path(text)
    assert parse_location(Path(text)) == Path(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("postgresql://host/db#patients", (None, "patients")),
        ("postgres://host/db#clinic.patients", ("clinic", "patients")),
        ("PostgreSQL://me@host:5433,other:5434/db?sslmode=require#Patients", (None, "Patients")),
        ("postgresql://[::1]:5432/db#a", (None, "a")),
        ("postgresql:///?service=clinic#a", (None, "a")),
        ('postgresql:///db#"my.schema"."a ""b"""', ("my.schema", 'a "b"')),
        ("postgresql:///db#über uns", (None, "über uns")),
    ],
)
def test_an_address_names_a_database_and_a_table(text: str, parts: tuple[str | None, str]) -> None:
    found = parse_location(text)
    assert isinstance(found, DatabaseTable)
    assert found.parts == parts
    assert parse_location(found.text) == found


def test_the_table_may_be_named_beside_the_address() -> None:
    database = DatabaseTable.of("postgresql://host/db")
    with pytest.raises(DataError, match=r"names no table. Add its name: --table"):
        _ = database.parts
    assert database.named("a.b").parts == ("a", "b")
    assert database.named(None) == database
    with pytest.raises(DataError, match=r"Name it once"):
        database.named("a").named("b")


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:hunter2@host/db#t",
        "postgres://me:hunter2@host/db",
        "postgresql://:hunter2@host/db#t",
        "postgresql://host/db?user=me&password=hunter2#t",
        "postgresql://host/db?PASSWORD=hunter2#t",
        "postgresql://host/db?sslpassword=hunter2#t",
        "postgresql://me:hunter2#2@host/db#t",
        "postgresql://me:hunter2/2@host/db",
        "postgresql://me:0/hunter2@host/db",
        "postgresql://me:hunter2",
        "postgresql://[me:hunter2@host/db",
        "postgresql+psycopg://me:hunter2@host/db",
        "mysql://me:hunter2@host/db",
        "postgresql:me:hunter2@/db",
        "postgresql:/me:hunter2@host/db",
        "postgresql//me:hunter2@host/db",
        "postgresql:hunter2",
        "postgresql://me@/db;password=hunter2",
        "postgresql://me@/db?pass%77ord=hunter2",
        "postgresql://me%3Ahunter2@/db",
        "postgresql:///db?dbname=password%3Dhunter2",
        "jdbc:postgresql://host/db?password=hunter2",
        "jdbc:postgresql://host/db?key=hunter2",
        " postgresql://me:hunter2@host/db",
        " postgresql://host/hunter2",
        "host=host user=me password=hunter2",
    ],
)
def test_a_password_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(DataError) as refused:
        parse_location(text)
    assert "hunter2" not in str(refused.value)
    if not text.startswith(("postgresql+", "mysql")):
        assert "PGPASSFILE" in str(refused.value)


@pytest.mark.parametrize("table", ["a.b.c", ".a", "a.", '"a', 'a"b', 'a b"', '""', "a..b", 'x"; DROP TABLE y; --'])
def test_what_is_no_name_of_a_table_is_refused(table: str) -> None:
    with pytest.raises(DataError) as error:
        DatabaseTable("postgresql:///db", table)
    assert error.value.code == "invalid-table-name"


def test_a_name_that_postgresql_would_cut_off_is_refused() -> None:
    assert DatabaseTable("postgresql:///db", "ü" * 31).parts == (None, "ü" * 31)
    with pytest.raises(DataError, match=r"63 bytes"):
        DatabaseTable("postgresql:///db", "ü" * 32)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=15))
def test_any_name_survives_its_quotes(name: str) -> None:
    assert DatabaseTable("postgresql:///db", quoted("s", name)).parts == ("s", name)


def test_messages_name_host_database_and_table_only() -> None:
    shown = str(DatabaseTable.of("postgresql://me@host:5433/db?passfile=/home/me/x#t"))
    assert shown == "postgresql://host:5433/db#t"
