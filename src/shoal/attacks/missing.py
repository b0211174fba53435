"""k under the other reading of missing values: a missing cell matches anything.

By default a missing quasi-identifier is a value of its own, and a class is what shares it. An attacker may as well
think that a record whose age is missing could be anybody's of any age. Then a record hides among all released
records that agree with it wherever both have a value. The report shows both figures.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.table.recoding import Recoding

Ints = NDArray[np.int64]


def smallest_if_missing_matches(recoding: Recoding) -> int:
    """The fewest released records that any released record could be, when missing cells match anything.

    Classes are taken together by which of their cells are missing. Classes of two such patterns match where the
    columns agree that neither lacks: one join for each pair of patterns, never class against class.
    """
    if not recoding.n_classes:
        return 0
    missing = np.stack(
        [
            np.array([label is None for label in hierarchy.labels])[recoding.nodes[:, j]]
            for j, hierarchy in enumerate(recoding.hierarchies)
        ],
        axis=1,
    )
    patterns, pattern_of = np.unique(missing, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == place) for place in range(len(patterns))]
    company = np.zeros(recoding.n_classes, dtype=np.int64)
    for one, pattern in zip(members, patterns, strict=True):
        for other, beside in zip(members, patterns, strict=True):
            company[one] += _matching(recoding, one, other, np.flatnonzero(~(pattern | beside)))
    return int(company.min())


def _matching(recoding: Recoding, one: NDArray[np.intp], other: NDArray[np.intp], columns: NDArray[np.intp]) -> Ints:
    """For each class of one pattern, the records of the other pattern's classes that agree in some columns."""
    cells = np.concatenate([recoding.nodes[one], recoding.nodes[other]])[:, columns]
    _, group = np.unique(cells, axis=0, return_inverse=True)
    group = group.ravel()
    records = np.bincount(group[len(one) :], weights=recoding.sizes[other], minlength=int(group.max()) + 1)
    return records[group[: len(one)]].astype(np.int64)
