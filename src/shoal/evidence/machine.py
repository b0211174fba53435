"""What a run was made with: versions, and the memory it took."""

import platform
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa


def versions() -> dict[str, str]:
    """The versions that a result may depend on."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in ("shoal", "numpy", "pyarrow", "numba")},
    }


def peak_memory_bytes() -> int | None:
    """The most memory that this process has held, or None where the system does not tell.

    Linux keeps it in /proc; its getrusage would count what the parent process held before this one was started.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def return_free_memory() -> None:
    """Give memory that is free back to the system: allocators keep it, so that the peaks of stages would add up."""
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only needed here

        with suppress(OSError, AttributeError):  # other C libraries have nothing to trim
            ctypes.CDLL(None).malloc_trim(0)


def reset_peak_memory() -> bool:
    """Let `peak_memory_bytes` count from here on; whether the system can do that (Linux can)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True
