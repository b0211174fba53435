"""What cells and changed classes cost, in NumPy: what the twins of the refining kernels have in common."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.table.encoded import spans

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Prices = Sequence[Any]

FAR = 1 << 30
NEAR = 1e-9  # what differs by so much may be equal but for rounding
_AT_ONCE = 400_000  # sums that are made at once


def cell_costs(c: int, low: Any, high: Any, prices: Prices) -> Any:
    """What cells cost that cover the leaf codes from ``low`` to ``high`` of column ``c``."""
    costs, last, parents, how = prices
    begin, width = int(how[c, 0]), int(how[c, 1])
    if width > 0:
        return costs[begin + low * width + high]
    if width == -1:
        return costs[begin + high - low]
    if width < 0:  # a run: where the base interval of each leaf begins, then where it ends
        return np.where(low < high, costs[begin - width + high] - costs[begin + low], 0.0)
    at, top = np.array(low, dtype=np.int64).ravel(), np.asarray(high).ravel()
    climbing = np.flatnonzero(last[begin + at] < top)
    while len(climbing):
        at[climbing] = parents[begin + at[climbing]]
        climbing = climbing[last[begin + at[climbing]] < top[climbing]]
    return costs[begin + at].reshape(np.shape(low))


def rows_of(classes: Indices, members: Indices, starts: Indices) -> tuple[Indices, Indices]:
    """The rows of some classes, and the index of the class of each."""
    lengths = starts[classes + 1] - starts[classes]
    return members[spans(starts[classes], lengths)], np.repeat(np.arange(len(classes)), lengths)


def changed_costs(ends: Any, codes: Any, a: Indices, out: Any, into: Any, prices: Prices) -> Floats:
    """What a record of each class costs without a row and with another one; None: without, or with, none."""
    total = np.zeros(len(a))
    for c in range(codes.shape[1]):
        low, high = ends[a, c, 0].astype(np.int64), ends[a, c, 2].astype(np.int64)
        if out is not None:
            code = codes[out, c]
            low, high = np.where(code == low, ends[a, c, 1], low), np.where(code == high, ends[a, c, 3], high)
        if into is not None:
            low, high = np.minimum(low, codes[into, c]), np.maximum(high, codes[into, c])
        total += cell_costs(c, low, high, prices)
    return total


def parts(asking: Any, sums: int) -> Iterator[Any]:
    """Some of what asks at a time, given how many sums are made for each."""
    step = max(_AT_ONCE // max(sums, 1), 1)
    for first in range(0, len(asking), step):
        yield asking[first : first + step]
