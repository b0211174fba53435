"""k under the other reading of missing values: a missing cell matches anything.

By default a missing quasi-identifier is a value of its own, and a class is what shares it. An attacker may as well
think that a record whose age is missing could be anybody's of any age. Then a record hides among all released
records that agree with it wherever both have a value. The report shows both figures.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.table.recoding import Recoding

_CELLS_AT_A_TIME = 1 << 22


def smallest_if_missing_matches(recoding: Recoding) -> int:
    """The fewest released records that any released record could be, when missing cells match anything."""
    if not recoding.n_classes:
        return 0
    missing = np.stack(
        [
            np.array([label is None for label in hierarchy.labels])[recoding.nodes[:, j]]
            for j, hierarchy in enumerate(recoding.hierarchies)
        ],
        axis=1,
    )
    sizes = recoding.sizes.copy()
    for wild in _blocks(np.flatnonzero(missing.any(axis=1)), recoding.n_classes):
        # alike[w, c]: class c could be class w; each such pair adds to both, once
        same = recoding.nodes[wild][:, None, :] == recoding.nodes[None, :, :]
        alike = (same | missing[wild][:, None, :] | missing[None, :, :]).all(axis=2)
        alike[np.arange(len(wild)), wild] = False
        sizes[wild] += alike @ recoding.sizes
        plain = ~missing.any(axis=1)
        sizes[plain] += recoding.sizes[wild] @ alike[:, plain]
    return int(sizes.min())


def _blocks(places: NDArray[np.intp], width: int) -> list[NDArray[np.intp]]:
    """Places in blocks small enough that a table of block x width cells fits in memory."""
    step = max(_CELLS_AT_A_TIME // max(width, 1), 1)
    return [places[start : start + step] for start in range(0, len(places), step)]
