"""Independent work on all processors: kernels release the interpreter, so threads are enough."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

_ALONE = 256  # items up to which one thread does the work


def spread(work: Callable[[slice], object], count: int) -> None:
    """Do some work for so many items, on all processors where they are many."""
    if count <= _ALONE:
        work(slice(0, count))
        return
    workers = os.cpu_count() or 1
    ends = np.linspace(0, count, 8 * workers + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, map(slice, ends[:-1], ends[1:])))
