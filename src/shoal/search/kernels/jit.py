"""How kernels are compiled, and the only file that knows numba.

A kernel is called from Python and declares the types of its arguments: it is compiled once, for these, and can be
compiled before there is data. A helper is called from kernels only. It becomes part of each of them and is neither kept
on its own nor callable from Python, which saves time.

Most of the time goes into inferring types, not into optimizing. What keeps it short: plain loops rather than NumPy's
functions and slices (a sort takes as long as a kernel), and integers of one type. A helper that is called with a plain
``-1`` and with a number is compiled twice; `np.int64(-1)` avoids that.

Compiled code is kept in one folder per user. Where no folder can be written, it is compiled anew by each process.
Serial and ``nogil``: independent work runs on threads, and ``parallel=True`` costs seconds of compiling.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    import numba
except ImportError:  # no build for this machine: the functions stay as they are
    numba = None

from shoal.search.kernels import cache_folder

Function = Callable[..., Any]


def _use_cache() -> bool:
    """Whether compiled code can be kept; points numba at a private folder when none is configured."""
    if numba is None or numba.config.DISABLE_JIT:
        return False
    folder = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else cache_folder()
    if folder is None:
        return False
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            numba.config.CACHE_DIR = str(folder)
            return True
    except OSError:
        return False


HAS_NUMBA = numba is not None
KEEPS_COMPILED = _use_cache()
_OPTIONS = {"nogil": True, "boundscheck": False, "error_model": "numpy", "no_cfunc_wrapper": True}


def jit(declared: Any) -> Any:
    """A kernel for arguments of the declared types, such as ``@jit("(i8[::1], f8[:, ::1])")``.

    Without types, ``@jit`` alone, it cannot be compiled before it is first called.
    """
    if callable(declared):
        return _kernel(declared)

    def of(function: Function) -> Any:
        kernel = _kernel(function)
        kernel.declared = declared
        return kernel

    return of


def _kernel(function: Function) -> Any:
    return numba.njit(cache=KEEPS_COMPILED, **_OPTIONS)(function) if HAS_NUMBA else function


def helper(function: Function) -> Any:
    """A function that kernels call."""
    return numba.njit(no_cpython_wrapper=True, **_OPTIONS)(function) if HAS_NUMBA else function


def is_jitted(function: object) -> bool:
    """Whether a function is a kernel or a helper that numba compiles."""
    return HAS_NUMBA and isinstance(function, numba.core.dispatcher.Dispatcher)


def declared_types(kernel: Any) -> tuple[Any, ...]:
    """The types of the arguments that a kernel declares."""
    types, _ = numba.core.sigutils.normalize_signature(kernel.declared)
    return tuple(types)


def compile_kernel(kernel: Any) -> None:
    """Compile a kernel for the types that it declares, or load what was compiled before."""
    if is_jitted(kernel) and hasattr(kernel, "declared"):
        kernel.compile(declared_types(kernel))
