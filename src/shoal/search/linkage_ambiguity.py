"""With how many records each record could be linked: the ambiguity of a release, counted exactly.

An original record and a released one are *consistent* when, in every quasi-identifier, the original value lies under
the released label. After Gionis, Mazza & Tassa 2008 (k-Anonymization Revisited; taken up by the same in 2012):
(1, k), every original record is consistent with at least k released ones; (k, 1), every released record with at least
k original ones; (k, k), both. k-anonymity implies all three; none of them implies k-anonymity. Suppressed records count
on neither side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.table.encoded import EncodedTable, spans
from shoal.table.recoding import Recoding

Counts = NDArray[np.int64]
_PAIRS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class Ambiguity:
    """With how many records of the other table each record is consistent."""

    released_per_original: Counts  # for each distinct original tuple of the released records, in the order of its codes
    tuple_sizes: Counts  # records of each of these tuples
    originals_per_released: Counts  # for each class
    class_sizes: Counts

    def figures(self) -> dict[str, Any]:
        """The least on each side, the largest k of each definition, and the mean number of pairs per record."""
        per_original, per_released = int(self.released_per_original.min()), int(self.originals_per_released.min())
        pairs = int((self.originals_per_released * self.class_sizes).sum())
        mean = round(pairs / int(self.class_sizes.sum()), 6)
        return {
            "released_per_original": {"least": per_original, "mean": mean},
            "originals_per_released": {"least": per_released, "mean": mean},
            "(1,k)": per_original,
            "(k,1)": per_released,
            "(k,k)": min(per_original, per_released),
        }


def ambiguity(recoding: Recoding, table: EncodedTable) -> Ambiguity:
    """Count the consistent pairs of a release.

    The distinct original tuples are a trie, narrow columns first; each class walks down all branches that its labels
    cover, which in every column are neighbours. The last column needs no walk: its branches are counted as a stretch.
    """
    weights = table.bincount(table.row_tuple, recoding.row_class >= 0, table.n_tuples)
    tuples = np.flatnonzero(weights)
    named = list(enumerate(recoding.hierarchies))
    low = np.stack([tree.first[recoding.nodes[:, j]] for j, tree in named]).astype(np.int64)
    high = np.stack([tree.last[recoding.nodes[:, j]] for j, tree in named]).astype(np.int64)
    # of each column the sorted keys ``node above x width + code``, its width, and the codes that each class covers
    trie, leaf = [], np.zeros(len(tuples), dtype=np.int64)
    for j in np.argsort((high - low) @ recoding.sizes, kind="stable").tolist():
        width = recoding.hierarchies[j].n_leaves
        keys, leaf = np.unique(leaf * width + table.codes[j][tuples], return_inverse=True)
        trie.append((keys, width, low[j], high[j]))
    under = np.bincount(leaf, weights=weights[tuples], minlength=len(trie[-1][0])).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(under)])
    per_class, steps = np.zeros(recoding.n_classes, dtype=np.int64), np.zeros(len(before), dtype=np.int64)
    waiting = [np.arange(recoding.n_classes)]
    while waiting:
        classes = waiting.pop()
        found = _walk(trie, classes)
        if found is None:
            waiting += [classes[len(classes) // 2 :], classes[: len(classes) // 2]]
            continue
        box, start, stop = found
        np.add.at(per_class, box, before[stop] - before[start])
        np.add.at(steps, start, recoding.sizes[box])
        np.subtract.at(steps, stop, recoding.sizes[box])
    return Ambiguity(np.cumsum(steps)[leaf], weights[tuples], per_class, recoding.sizes)


def _walk(trie: Sequence[tuple[Counts, int, Counts, Counts]], classes: Counts) -> tuple[Counts, Counts, Counts] | None:
    """Classes with the stretches of last nodes that they cover; None when these are too many at a time."""
    box, node = classes, np.zeros(len(classes), dtype=np.int64)
    start = stop = node
    for column, (keys, width, low, high) in enumerate(trie):
        if column:
            lengths = stop - start
            if int(lengths.sum()) > _PAIRS_AT_A_TIME and len(classes) > 1:
                return None
            box, node = np.repeat(box, lengths), spans(start, lengths)
        start = np.searchsorted(keys, node * width + low[box])
        stop = np.searchsorted(keys, node * width + high[box], side="right")
    return box, start, stop
