"""Loads the compiled kernels when a search is long enough to pay for it: numba takes half a second and 100 MB."""

from __future__ import annotations

from types import ModuleType

from shoal.search.kernels import plain


def load_kernels() -> ModuleType:
    """The compiled kernels, or their NumPy twins where numba has no build for the machine."""
    try:
        from shoal.search.kernels import compiled  # noqa: PLC0415 - numba takes time and memory to import
    except ImportError:
        return plain
    return compiled


def load_refinement_kernels() -> ModuleType:
    """The kernels that look for improving steps."""
    from shoal.search.kernels import refinement  # noqa: PLC0415 - numba takes time and memory to import

    return refinement
