"""Loads the compiled kernels when a search is long enough to pay for it: numba takes half a second and 100 MB.

Compiling them for the first time takes seconds (`kernels.compiling`). The compiler keeps its work in one folder per
user, and there in one folder per location of the source, named by a hash of that location, with one file per function
that ends in ``.nbi``. Only these files are looked at, since asking the compiler would load it.
"""

import hashlib
import sys
from pathlib import Path
from types import ModuleType

from shoal.search.kernels import cache_folder, plain, prices

GROUPING = ("compiled.group_dense", "compiled.group_hashed", "compiled.histogram", "compiled.keys_of")
REFINING = (
    "refinement.gatherings",
    "refinement.dissolutions",
    "refinement.splits",
    "refinement.exchanges",
    "refinement.cheapest_joins",
    "refinement.extremes",
    "refinement.nearest_classes",
    "refinement.independent_steps",
    "refinement.column_sums",
)
COVERING = ("compiled.least_boxes",)
PRICES = ("prices.least_costs", "prices.near_boxes", "prices.price_steps", "prices.repair")
"""What searches over the lattice, refining and covering call: modules and kernels, those that take longest first.

`least_boxes` calls `willing_groups`, which is compiled and kept with it."""
BOXES_BEFORE_LOADING = 500_000
"""Tuples times nodes of the lattice that are covered with NumPy, about a microsecond each."""
ROWS_BEFORE_LOADING = 2_000
"""Rows that are refined with NumPy, in about half a second; compiling the kernels takes some ten times as long."""


def is_compiled(*kernels: str) -> bool:
    """Whether a run would find all of some kernels compiled, and no earlier than they were last changed."""
    source, folder = Path(__file__).absolute().parent, cache_folder()
    if folder is None:
        return False
    location = f"{source.name}_{hashlib.sha1(str(source).encode(), usedforsecurity=False).hexdigest()}"
    return all(_newer_than(source / f"{kernel.partition('.')[0]}.py", folder / location, kernel) for kernel in kernels)


def _newer_than(source: Path, folder: Path, kernel: str) -> bool:
    changed = source.stat().st_mtime if source.exists() else 0.0  # inside an archive there is no file
    return any(file.stat().st_mtime >= changed for file in folder.glob(f"{kernel}-*.nbi"))


def _at_hand(kernels: tuple[str, ...]) -> bool:
    """Whether the compiler is loaded and has nothing left to do: then even a short search is quicker compiled."""
    return "numba" in sys.modules and is_compiled(*kernels)


def covering_kernels(tuples: int, nodes: int) -> tuple[str, ...]:
    """The compiled kernels that covering so many tuples with boxes of so many nodes calls: none where it is short."""
    return COVERING if tuples * nodes > BOXES_BEFORE_LOADING or _at_hand(COVERING) else ()


def refining_kernels(rows: int, seconds: float | None) -> tuple[str, ...]:
    """The compiled kernels that refining so many rows calls: none where it is short, and no time is asked for."""
    return REFINING if rows > ROWS_BEFORE_LOADING or seconds is not None or _at_hand(REFINING) else ()


def load_kernels() -> ModuleType:
    """The compiled kernels, or their NumPy twins where numba has no build for the machine."""
    from shoal.search.kernels import compiled, jit  # noqa: PLC0415 - numba takes time and memory to import

    return compiled if jit.HAS_NUMBA else plain


def load_refining_kernels() -> ModuleType:
    """The compiled kernels of refining, or their NumPy twins where numba has no build for the machine."""
    from shoal.search.kernels import jit, plain_refinement, refinement  # noqa: PLC0415 - numba takes time and memory

    return refinement if jit.HAS_NUMBA else plain_refinement


def load_price_kernels(*, compiled: bool) -> ModuleType:
    """The kernels of the bound by prices: compiled where asked and possible, and where they have been compiled before.

    The results are the same. Short work is done before they would be compiled for the first time.
    """
    if compiled or is_compiled(*PRICES):
        from shoal.search.kernels import jit, prices_compiled  # noqa: PLC0415 - numba takes time and memory to import

        return prices_compiled if jit.HAS_NUMBA else prices
    return prices
