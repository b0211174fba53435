"""Compiles the kernels of a search before it needs them, on all processors: it happens once on a machine.

The compiler works on one processor at a time. Therefore other processes compile a share each, leave the result in the
folder of compiled code (`kernels.jit`), and this one loads it from there. Where no process can be started, this one
compiles all of it, and where one fails, what is missing when it is first called.
"""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from shoal.search.kernels.load import full_name, is_compiled

STAGE = "compiling for this machine (once)"
_MOST_PROCESSES = 4


def compile_ahead(kernels: Sequence[str], progress: Callable[[str, float], None]) -> None:
    """Compile what has not been compiled yet of some kernels, named as in `load`, longest first."""
    missing = [kernel for kernel in kernels if not is_compiled(kernel)]
    if not missing or not _compiles():
        return
    progress(STAGE, 0.0)
    count = min(os.cpu_count() or 1, _MOST_PROCESSES, len(missing)) if _can_start_processes() else 1
    own, *others = (missing[share::count] for share in range(count))
    with _processes(others):
        for done, kernel in enumerate(own):
            _compile(kernel)
            progress(STAGE, (done + 1) / (len(own) + 1))
    progress(STAGE, 1.0)


def _compiles() -> bool:
    from shoal.search.kernels.jit import HAS_NUMBA  # noqa: PLC0415 - numba takes time and memory to import

    return HAS_NUMBA


def _can_start_processes() -> bool:
    """Whether other processes could leave what they compile to this one; not inside a program that is no Python."""
    from shoal.search.kernels.jit import KEEPS_COMPILED  # noqa: PLC0415 - numba takes time and memory to import

    return KEEPS_COMPILED and Path(sys.executable or "").stem.lower().startswith("python")


@contextmanager
def _processes(shares: Sequence[Sequence[str]]) -> Iterator[None]:
    """A process for each share of kernels; they have ended afterwards, however the block ends."""
    folders = [folder for folder in sys.path if folder]  # not the current one, whose files are not ours to run
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    started = [
        subprocess.Popen(  # noqa: S603 - this program, with names of its own
            [sys.executable, "-P", "-m", __name__, *share],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for share in shares
    ]
    try:
        yield
        for process in started:
            process.wait()
    finally:
        for process in started:
            process.kill()
            process.wait()


def _compile(name: str) -> None:
    from shoal.search.kernels.jit import compile_kernel  # noqa: PLC0415 - numba takes time and memory to import

    module, function = full_name(name)
    compile_kernel(getattr(importlib.import_module(module), function))


if __name__ == "__main__":
    for each in sys.argv[1:]:
        _compile(each)
