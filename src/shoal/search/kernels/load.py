"""Loads the compiled kernels when a search is long enough to pay for it: numba takes half a second and 100 MB.

Compiling them for the first time takes seconds (`kernels.compiling`). The compiler keeps its work in one folder per
user, and there in one folder per location of the source, named by a hash of that location, with one file per function
that ends in ``.nbi``. Only these files are looked at, since asking the compiler would load it. One serves as long as
the source has not changed: it is younger than the source, or holds the SHA-256 of it (numba 0.68 and later).
"""

import hashlib
from functools import cache
from pathlib import Path
from types import ModuleType

from shoal.search.kernels import cache_folder, plain, plain_prices

GROUPING = ("compiled.group_dense", "compiled.group_hashed", "compiled.histogram", "compiled.keys_of")
REFINING = (
    "refinement.gatherings",
    "refinement.dissolutions",
    "refinement.splits",
    "refinement.exchanges",
    "refinement.cheapest_joins",
    "refinement.extremes",
    "refinement.nearest_classes",
    "refinement.cheapest_classes",
    "refinement.independent_steps",
    "refinement.column_sums",
)
COVERING = ("compiled.least_boxes",)
NEIGHBOURS = (
    "neighbours.classes_of_neighbours",
    "near_tuples.nearest_tuples",
    "neighbours.grow_groups",
    "near_tuples.build_tree",
    "near_tuples.measure_nodes",
    "neighbours.take_groups",
)
PRICES = ("prices.near_boxes", "prices.price_steps", "prices.least_costs", "prices.repair")
PROVING = (PRICES[0], "shoal.verification.box_walk.walk", *PRICES[1:])
GUIDING = (*PRICES, "prices.take_classes")
"""What searches over the lattice, refining, covering, clustering by neighbours, prices, a bound that they prove and
that is checked, and clustering guided by them call: modules and kernels, those that take longest first.

`least_boxes` calls `willing_groups`, which is compiled and kept with it."""
BOXES_BEFORE_LOADING = 50_000
"""Tuples times nodes of the lattice that are covered with NumPy, about ten microseconds each over all steps."""
ROWS_BEFORE_LOADING = 2_000
"""Rows that are refined with NumPy, in about half a second; compiling the kernels takes some ten times as long."""


def is_compiled(*kernels: str) -> bool:
    """Whether a run would find all of some kernels compiled as their source is now.

    Each is named by module and function, with the packages in front where these are others than here.
    """
    folder = cache_folder()
    return folder is not None and all(_is_kept(folder, kernel) for kernel in kernels)


def full_name(kernel: str) -> tuple[str, str]:
    """The module of a kernel with its packages, and the function."""
    module, _, function = kernel.rpartition(".")
    return module if "." in module else f"{__package__}.{module}", function


def _is_kept(folder: Path, kernel: str) -> bool:
    module, function = full_name(kernel)
    above = Path(__file__).absolute().parents[3]  # the folder of the package `shoal`
    source = above.joinpath(*module.split(".")).with_suffix(".py")
    location = f"{source.parent.name}_{hashlib.sha1(str(source.parent).encode(), usedforsecurity=False).hexdigest()}"
    changed, digest = _version(source)
    found = (folder / location).glob(f"{source.stem}.{function}-*.nbi")
    return any(file.stat().st_mtime >= changed or digest in file.read_bytes() for file in found)


@cache
def _version(source: Path) -> tuple[float, bytes]:
    """When a file was changed, and the SHA-256 of its content; inside an archive there is no file."""
    if not source.exists():
        return 0.0, b""
    return source.stat().st_mtime, hashlib.sha256(source.read_bytes()).digest()


def covering_kernels(tuples: int, nodes: int, *, repeated: bool = False) -> tuple[str, ...]:
    """The compiled kernels that covering so many tuples with boxes of so many nodes calls: none where it is short.

    A short search that is repeated calls them if they have been compiled before.
    """
    return COVERING if tuples * nodes > BOXES_BEFORE_LOADING or (repeated and is_compiled(*COVERING)) else ()


def refining_kernels(rows: int, seconds: float | None, *, repeated: bool = False) -> tuple[str, ...]:
    """The compiled kernels that refining so many rows calls: none where it is short, and no time is asked for.

    A short search that is repeated calls them if they have been compiled before.
    """
    long = rows > ROWS_BEFORE_LOADING or seconds is not None
    return REFINING if long or (repeated and is_compiled(*REFINING)) else ()


def neighbour_kernels(rows: int) -> tuple[str, ...]:
    """The compiled kernels that clustering so many rows by neighbours calls: none where it is short."""
    return NEIGHBOURS if rows > ROWS_BEFORE_LOADING else ()


def load_kernels() -> ModuleType:
    """The compiled kernels, or their NumPy twins where numba has no build for the machine."""
    from shoal.search.kernels import compiled, jit  # noqa: PLC0415 - numba takes time and memory to import

    return compiled if jit.HAS_NUMBA else plain


def load_refining_kernels() -> ModuleType:
    """The compiled kernels of refining, or their NumPy twins where numba has no build for the machine."""
    from shoal.search.kernels import jit, plain_refinement, refinement  # noqa: PLC0415 - numba takes time and memory

    return refinement if jit.HAS_NUMBA else plain_refinement


def load_price_kernels(*, compiled: bool) -> ModuleType:
    """The kernels of the bound by prices: compiled where asked, else, or where numba has no build, in NumPy."""
    if compiled:
        from shoal.search.kernels import jit, prices  # noqa: PLC0415 - numba takes time and memory to import

        return prices if jit.HAS_NUMBA else plain_prices
    return plain_prices
