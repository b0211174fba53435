"""The walk over boxes, compiled by numba: the source of `shoal.verification.box_walk`, function by function.

Compiled code is kept where numba keeps it; where it can keep nothing, it is compiled anew.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np

from shoal.verification import box_walk


def _compiled() -> Callable[..., Any]:
    """The walk with everything that it calls."""
    scope: dict[str, Any] = {"np": np, "TOLERANCE": box_walk.TOLERANCE}
    for name in ("best_class", "relevant_items", "largest_excess", "split", "has_cheaper_label", "least_costs", "walk"):
        source = getattr(box_walk, name)
        function = FunctionType(source.__code__, scope, name)
        function.__module__ = box_walk.__name__
        try:
            scope[name] = numba.njit(cache=True, nogil=True)(function)
        except RuntimeError:  # no folder to keep it in
            scope[name] = numba.njit(nogil=True)(function)
    walk: Callable[..., Any] = scope["walk"]
    return walk


walk = _compiled()
