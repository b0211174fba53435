"""Runs ``shoal`` commands one after another, each in a forked child: the start-up is paid for once.

``same_bytes.py record`` starts this file with the interpreter of the command under test and writes a JSON line to its
standard input for each command: ``{"argv": [...], "folder": ..., "stdout": FILE, "stderr": FILE, "seconds": limit}``.
The answer is a line with the exit code. Nothing of the package is called but ``shoal.cli.main:main``; its modules are
imported beforehand only to save time, so the file works with any version of the package.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import signal
import sys
import time
import traceback
import warnings

TIMED_OUT = 124
_NOT_PRELOADED = ("shoal.ui", "shoal.__main__", "shoal.reproduce")


def preload() -> None:
    """Import the package and the libraries that it uses, as far as they are installed."""
    import shoal  # noqa: PLC0415

    warnings.simplefilter("ignore")
    names = [found.name for found in pkgutil.walk_packages(shoal.__path__, "shoal.", onerror=lambda _: None)]
    libraries = ["numpy", "numba", "pyarrow.csv", "pyarrow.parquet", "pyarrow.compute", "pydantic", "yaml", "rich"]
    for name in [*libraries, *names]:
        if not name.startswith(_NOT_PRELOADED):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    warnings.resetwarnings()


def run_child(argv: list[str], folder: str, stdout: str, stderr: str) -> int:
    """Call the command's entry point as a new process would; the exit code."""
    os.chdir(folder)
    for target, path in ((1, stdout), (2, stderr)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, target)
        os.close(file)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # stays open until the process ends
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    sys.argv = ["shoal", *argv]
    from shoal.cli.main import main  # noqa: PLC0415

    try:
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 70
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def wait_for(child: int, seconds: float) -> int:
    """The exit code of a child, which is ended when it takes too long."""
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return TIMED_OUT
        time.sleep(0.005)


def serve() -> None:
    """Answer requests until the standard input ends."""
    preload()
    requests, answers = sys.stdin, sys.stdout
    for line in requests:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(run_child(request["argv"], request["folder"], request["stdout"], request["stderr"]))
        answers.write(f"{wait_for(child, request['seconds'])}\n")
        answers.flush()


if __name__ == "__main__":
    serve()
