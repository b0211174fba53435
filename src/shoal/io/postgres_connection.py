"""Connections to a PostgreSQL server: their transaction, their errors, and Ctrl-C while the server works."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import pyarrow as pa

from shoal.errors import DataError, MissingExtraError, ShoalError
from shoal.io.place import DatabaseTable

Result = TypeVar("Result")


@contextmanager
def connected(table: DatabaseTable, what: str, refuse: type[ShoalError] = DataError) -> Iterator[Any]:
    """A connection with a transaction that is rolled back unless it is committed; its errors become ours.

    Messages of the client library name host, user and table, never a password.
    """
    try:
        from adbc_driver_manager import Error  # noqa: PLC0415  only for those who use a database
        from adbc_driver_postgresql import dbapi  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(f"{what} a PostgreSQL database", "postgresql") from None
    connection = None
    try:
        connection = called(lambda: dbapi.connect(table.url, autocommit=False), lambda: None)
        yield connection
    except (Error, pa.ArrowException, OSError) as error:  # Arrow passes on what breaks a stream
        raise refuse(f"{what} {table} failed: {message_of(error)}.") from None
    finally:
        if connection is not None:
            close(connection)


def called(work: Callable[[], Result], cancel: Callable[[], object] | None) -> Result:
    """What a call to the server gives; Ctrl-C cancels it there, and is raised here.

    The driver takes the signal for itself while it is called on the main thread, and it may be lost then. So the call
    is made on another thread, for which the main thread waits. What cannot be cancelled any more is waited for, and
    counts.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[Result] = []
    errors: list[BaseException] = []
    asked: list[int] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again where it was called
            errors.append(error)

    def note(number: int, _: object) -> None:
        asked.append(number)
        if cancel is not None:
            with suppress(Exception):
                cancel()

    before = signal.getsignal(signal.SIGINT)
    if callable(before):
        signal.signal(signal.SIGINT, note)
    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join()
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)
    if asked and cancel is not None:
        raise KeyboardInterrupt
    if errors:
        raise errors[0]
    return results[0]


def message_of(error: Exception) -> str:
    """What the server or the client library said, in one line."""
    text = " ".join(str(error).split())
    text = re.sub(r"^[A-Z_ ]+: ", "", text)
    text = re.sub(r"^\[libpq\] ", "", text)
    return re.sub(r"\s*(SQLSTATE: \w+)\.?$", "", text).rstrip(". ")


def close(connection: Any) -> None:
    """Roll back what was not committed and hang up; a connection that is gone needs neither."""
    for step in (connection.rollback, connection.close):
        with suppress(Exception):  # the server rolls back by itself when the connection is gone
            step()


def fetched(connection: Any, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of a small query."""
    with connection.cursor() as cursor:
        called(lambda: cursor.execute(sql, parameters or None), cursor.adbc_cancel)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
