"""The command line: a thin face of the pipeline.

Exit codes: 0 done and verified; 1 the privacy asked for does not hold or cannot be reached; 2 bad input or usage;
130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP in the same clean way. Results go to stdout, errors and
progress to stderr; with ``--json`` an error also goes to stdout, as JSON. Commands import what they need when they
run, so that ``shoal --help`` answers at once.
"""

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
from typing import Annotated, Any

import typer

from shoal.cli.options import refuse_passwords
from shoal.cli.run import interruptible
from shoal.errors import DisclosureWarning, InterruptedRunError, ShoalError

_COMMANDS = (
    "init", "anonymize", "apply", "verify", "lattice", "attack", "risk", "why", "compare", "utility", "reproduce", "ui",
    "demo", "schema",
)  # fmt: skip
"""Each is the function of that name in the module of that name."""
_AGAIN = 0.02  # seconds until a signal that came at a bad moment is sent once more

app = typer.Typer(
    name="shoal", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)
for _name in _COMMANDS:
    app.command()(interruptible(getattr(import_module(f"shoal.cli.{_name}"), _name)))


def _version(requested: bool) -> None:
    if requested:
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
                warnings.showwarning = lambda warning, *_: sys.stderr.write(f"shoal: warning: {warning}\n")  # type: ignore[assignment]
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
        with contextlib.suppress(OSError, ValueError):  # the interpreter would write what is buffered again, and fail
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(2) from None


def _compiling(frame: FrameType | None) -> bool:
    """Whether compiled code is being loaded: an exception inside a callback of LLVM is lost, or ends the process."""
    while frame is not None:
        if frame.f_code.co_name.startswith("_raw_object_cache"):
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def _clean_end(signals: list[int]) -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does, so that no unfinished file is left; ``signals`` records them.

    Commands with their own Ctrl-C handling are asked first. Ignored signals stay ignored, as ``nohup`` wants it.
    """

    ended = threading.Event()

    def send_again(number: int) -> None:
        if not ended.is_set():
            os.kill(os.getpid(), number)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if _compiling(frame):
            threading.Timer(_AGAIN, send_again, (number,)).start()
            return
        ended.set()
        signal.default_int_handler(number, frame)

    def end(number: int, frame: FrameType | None) -> None:
        if not signals:
            signals.append(number)
        on_interrupt = signal.getsignal(signal.SIGINT)
        (on_interrupt if callable(on_interrupt) else interrupt)(number, frame)

    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupt)
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)
