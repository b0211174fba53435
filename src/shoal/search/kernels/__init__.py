"""Compiled code and its NumPy twins: what engines and algorithms do for every record."""

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """Where compiled code is kept; None where there is no home folder."""
    if configured := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(configured)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "shoal" / "kernels"
    except RuntimeError:  # no home folder at all
        return None
