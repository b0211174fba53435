"""The command line: a thin face of the pipeline.

Exit codes: 0 done and verified; 1 the privacy asked for does not hold or cannot be reached; 2 bad input or usage;
130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP in the same clean way. Results go to stdout, errors and
progress to stderr; with ``--json`` an error also goes to stdout, as JSON. Commands import what they need when they
run, so that ``shoal --help`` answers at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from importlib import import_module
from types import FrameType
from typing import Annotated

import typer

from shoal.cli.options import refuse_passwords
from shoal.cli.run import interruptible
from shoal.errors import DisclosureWarning, InterruptedRunError, ShoalError

_COMMANDS = (
    "init", "anonymize", "apply", "verify", "lattice", "attack", "risk", "why", "compare", "utility", "reproduce", "ui",
    "demo", "schema",
)  # fmt: skip
"""Each is the function of that name in the module of that name."""

app = typer.Typer(
    name="shoal",
    help="Turn a table about people into one that may be published, and prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _name in _COMMANDS:
    app.command()(interruptible(getattr(import_module(f"shoal.cli.{_name}"), _name)))


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"shoal {version('shoal')}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Turn a table about people into one that may be published, and prove it."""


def main() -> None:
    """Entry point: users' mistakes end in one clear paragraph on stderr, never in a traceback."""
    signals: list[int] = []
    try:
        try:
            with warnings.catch_warnings(), _clean_end(signals):
                warnings.simplefilter("always", DisclosureWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]  # reads the first argument only
                refuse_passwords(sys.argv[1:])
                app()
        except ShoalError as error:
            code = 128 + signals[0] if signals and isinstance(error, InterruptedRunError) else error.exit_code
            sys.stderr.write(f"shoal: {error}\n")
            if "--json" in sys.argv[1:]:
                typer.echo(json.dumps({**error.to_dict(), "exit_code": code}))
            raise SystemExit(code) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except OSError as error:
        what = "standard output cannot be written" if error.filename is None else str(error.filename)
        sys.stderr.write(f"shoal: {what}: {error.strerror or error}.\n")
        _discard_output()
        raise SystemExit(2) from None


@contextlib.contextmanager
def _clean_end(signals: list[int]) -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, so that no unfinished file is left; ``signals`` records them.

    Commands with their own Ctrl-C handling are asked first. Ignored signals stay ignored, as ``nohup`` wants it.
    """

    def end(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        on_interrupt = signal.getsignal(signal.SIGINT)
        (on_interrupt if callable(on_interrupt) else signal.default_int_handler)(number, frame)

    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_warning(message: Warning | str, *_: object) -> None:
    """A warning as a sentence, without the line of code that it came from."""
    sys.stderr.write(f"shoal: warning: {message}\n")


def _discard_output() -> None:
    """Discard what is still buffered: the interpreter would try to write it again as it ends, and fail again."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
