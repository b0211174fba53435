"""Loads the compiled kernels when a search is long enough to pay for it: numba takes half a second and 100 MB.

Compiling them for the first time takes seconds. The compiler keeps its work in one folder per user (see
`kernels.compiled`), and there in one folder per location of the source, named by a hash of that location, with one file
per function that ends in ``.nbi``. Only file names are looked at, since asking the compiler would load it: after an
update of Shoal they may be those of the version before.
"""

import hashlib
from pathlib import Path
from types import ModuleType

from shoal.search.kernels import cache_folder, plain

GROUPING, CLUSTERING = "group_dense", "willing_groups"
"""A function that every search with compiled kernels uses, and one that clustering uses beside."""


def is_compiled(function: str) -> bool:
    """Whether a run would find one of the kernels compiled."""
    source = Path(__file__).absolute().parent
    location = f"{source.name}_{hashlib.sha1(str(source).encode(), usedforsecurity=False).hexdigest()}"
    folder = cache_folder()
    return folder is not None and any((folder / location).glob(f"compiled.{function}-*.nbi"))


def load_kernels() -> ModuleType:
    """The compiled kernels, or their NumPy twins where numba has no build for the machine."""
    try:
        from shoal.search.kernels import compiled  # noqa: PLC0415 - numba takes time and memory to import
    except ImportError:
        return plain
    return compiled
