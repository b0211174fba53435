"""Loads the compiled kernels when a search is long enough to pay for it: numba takes half a second and 100 MB.

Compiling them for the first time takes seconds (`kernels.compiling`). The compiler keeps its work in one folder per
user, and there in one folder per location of the source, named by a hash of that location, with one file per function
that ends in ``.nbi``. Only these files are looked at, since asking the compiler would load it.
"""

import hashlib
from pathlib import Path
from types import ModuleType

from shoal.search.kernels import cache_folder, plain

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
CLUSTERING = ("compiled.least_boxes", *REFINING, "compiled.willing_groups")
"""What searches over the lattice, refining and clustering call: modules and kernels, those that take longest first.

`least_boxes` calls `willing_groups`, so both are compiled at once."""


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


def load_kernels() -> ModuleType:
    """The compiled kernels, or their NumPy twins where numba has no build for the machine."""
    from shoal.search.kernels import compiled, jit  # noqa: PLC0415 - numba takes time and memory to import

    return compiled if jit.HAS_NUMBA else plain
