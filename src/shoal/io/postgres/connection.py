"""Connections to a PostgreSQL server: their transaction, their errors, and Ctrl-C while the server works."""

import re
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

import pyarrow as pa

from shoal.errors import DataError, MissingExtraError, ShoalError
from shoal.policy.location import DatabaseTable

Result = TypeVar("Result")
_SAID: Final = re.compile(
    r"permission denied for [a-z ]+ \S+"
    r"|cannot execute [A-Z ]+ in a read-only transaction"
    r"|cannot drop table \S+ because other objects depend on it"
    r"|canceling [a-z]+ due to [a-z ]+"
    r"|terminating connection due to [a-z-]+ [a-z ]+"
    r"|invalid input syntax for type [a-z ]+"
    r"|division by zero"
    r"|server closed the connection unexpectedly"
    r"|no connection to the server"
)
"""Words of the server and its client library that are repeated: they name tables and types, no values."""
_KINDS: Final = {
    "08": "the connection broke",
    "22": "a value does not fit the type or the operation that the table asks of it",
    "23": "a constraint of the database is violated",
    "25": "the transaction may not do that",
    "28": "the server does not let this user in",
    "2B": "other objects depend on the table",
    "40": "the transaction got into conflict with another",
    "42": "a name, a type or a right is not what the query needs",
    "53": "the server is out of memory, disk or connections",
    "54": "a limit of the server is exceeded",
    "55": "the table is in use or not in the state for it",
    "57": "the server stopped the query or the connection",
    "58": "the server's machine failed",
    "P0": "a function of the database raised an error",
    "XX": "the server failed inside",
}
"""What the classes of SQLSTATE mean (the first two signs; PostgreSQL's documentation, appendix A)."""


@contextmanager
def connected(table: DatabaseTable, what: str, refuse: type[ShoalError] = DataError) -> Iterator[Any]:
    """A connection with a transaction that is rolled back unless it is committed; its errors become ours."""
    connection = open_connection(table, what, refuse)
    try:
        with server_errors(table, what, refuse):
            yield connection
    finally:
        close(connection)


def open_connection(table: DatabaseTable, what: str, refuse: type[ShoalError] = DataError) -> Any:
    """A connection that somebody has to `close`. What fails before there is one never names a password or a value."""
    try:
        from adbc_driver_manager import Error  # noqa: PLC0415  only for those who use a database
        from adbc_driver_postgresql import dbapi  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(f"{what} a PostgreSQL database", "postgresql") from None
    try:
        return run_interruptible(lambda: dbapi.connect(table.url, autocommit=False), lambda: None)
    except Error as error:
        said = re.sub(r"^[A-Z_ ]+: (\[libpq\] )?", "", " ".join(str(error).split()))
        raise refuse(f"{what} {table} failed: {said.rstrip('. ')}.") from None


@contextmanager
def server_errors(table: DatabaseTable, what: str, refuse: type[ShoalError] = DataError) -> Iterator[None]:
    """Errors of the server and on the way to it become ours, without the values that they may hold."""
    from adbc_driver_manager import Error  # noqa: PLC0415  there is a connection

    try:
        yield
    except (Error, pa.ArrowException, OSError) as error:  # Arrow passes on what breaks a stream
        raise refuse(f"{what} {table} failed: {kind_of(error)}.") from None


def run_interruptible(work: Callable[[], Result], cancel: Callable[[], object] | None) -> Result:
    """What a call to the server gives; Ctrl-C cancels it there, and is raised here.

    The driver takes the signal for itself while it is called on the main thread, and it may be lost then. So the call
    is made on another thread, for which the main thread waits. What cannot be cancelled any more is waited for, and
    counts.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    future: Future[Result] = Future()
    asked: list[int] = []

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised again by the main thread
            future.set_exception(error)

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
    return future.result()


def kind_of(error: Exception) -> str:
    """What went wrong, in words that are known to hold no values of the data; of others the kind is named."""
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        return error.strerror  # of a file, not of the server
    words = re.search(r"(?:ERROR|FATAL|failed|transaction|rollback|commit):\s+(.*)", str(error))
    said = _SAID.match(words.group(1)) if words is not None else None
    state = getattr(error, "sqlstate", None)
    if said is not None:
        return said.group().strip()
    if state:
        return f"{_KINDS.get(state[:2], 'the server reports an error')} (SQLSTATE {state}; the server's log has more)"
    return (
        "the server or its driver broke off. What it said may hold values of the data and is not repeated; the "
        "server's log has it"
    )


def close(connection: Any) -> None:
    """Roll back what was not committed and hang up; a connection that is gone needs neither."""
    for step in (connection.rollback, connection.close):
        with suppress(Exception):  # the server rolls back by itself when the connection is gone
            step()


def fetch_rows(connection: Any, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of a small query."""
    with connection.cursor() as cursor:
        run_interruptible(lambda: cursor.execute(sql, parameters or None), cursor.adbc_cancel)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
