"""What a run was made with: versions, and the memory it took."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path


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


def reset_peak_memory() -> bool:
    """Let `peak_memory_bytes` count from here on; whether the system can do that (Linux can)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True
