"""With how many records each record could be linked: the ambiguity of a release, counted exactly.

An original record and a released one are *consistent* when, in every quasi-identifier, the original value lies under
the released label. After Gionis, Mazza & Tassa 2008 (k-Anonymization Revisited; taken up by Tassa, Mazza & Gionis
2012):

- (1, k): every original record is consistent with at least k released ones;
- (k, 1): every released record is consistent with at least k original ones;
- (k, k): both.

k-anonymity implies all three; none of them implies k-anonymity. Suppressed records count on neither side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.table.encoded import EncodedTable
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
        """The least on each side, the largest k that each definition allows, and the mean.

        The mean is the same on both sides: the number of consistent pairs over the number of records.
        """
        per_original = int(self.released_per_original.min())
        per_released = int(self.originals_per_released.min())
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
    kept = recoding.row_class >= 0
    weights = table.bincount(table.row_tuple, kept, table.n_tuples)
    tuples = np.flatnonzero(weights)
    low = np.stack([h.first[recoding.nodes[:, j]] for j, h in enumerate(recoding.hierarchies)])
    high = np.stack([h.last[recoding.nodes[:, j]] for j, h in enumerate(recoding.hierarchies)])
    order = np.argsort((high - low).astype(np.int64) @ recoding.sizes, kind="stable")
    widths = [recoding.hierarchies[j].n_leaves for j in order]
    trie = _Trie.of([table.codes[j][tuples] for j in order], widths, weights[tuples])
    per_class, per_leaf = trie.stab(low[order].astype(np.int64), high[order].astype(np.int64), recoding.sizes)
    return Ambiguity(per_leaf[trie.leaf_of], weights[tuples], per_class, recoding.sizes)


@dataclass(frozen=True, eq=False)
class _Trie:
    """Distinct tuples column after column: a node's number is the index of its key among the sorted keys."""

    edges: list[Counts]  # for each column the sorted keys ``node above x width + code``
    widths: Sequence[int]
    leaf_of: Counts  # the last node of each tuple
    weights: Counts  # records under each last node

    @staticmethod
    def of(columns: Sequence[NDArray[np.int32]], widths: Sequence[int], weights: Counts) -> _Trie:
        edges = []
        node = np.zeros(len(weights), dtype=np.int64)
        for codes, width in zip(columns, widths, strict=True):
            keys, node = np.unique(node * width + codes, return_inverse=True)
            edges.append(keys)
        under = np.zeros(len(edges[-1]), dtype=np.int64)
        np.add.at(under, node, weights)
        return _Trie(edges, widths, node, under)

    def stab(self, low: Counts, high: Counts, sizes: Counts) -> tuple[Counts, Counts]:
        """Records under each box, and for each last node the records whose boxes hold it."""
        inside = np.zeros(low.shape[1], dtype=np.int64)
        steps = np.zeros(len(self.weights) + 1, dtype=np.int64)
        before = np.concatenate([[0], np.cumsum(self.weights)])
        waiting = [np.arange(low.shape[1])]
        while waiting:
            some = waiting.pop()
            found = self._walk(some, low, high)
            if found is None:
                waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
                continue
            box, start, stop = found
            np.add.at(inside, box, before[stop] - before[start])
            np.add.at(steps, start, sizes[box])
            np.subtract.at(steps, stop, sizes[box])
        return inside, np.cumsum(steps)[:-1]

    def _walk(self, boxes: NDArray[np.int64], low: Counts, high: Counts) -> tuple[Counts, Counts, Counts] | None:
        """Boxes with the stretches of last nodes they hold; None when that are too many at a time."""
        alone, box, node = len(boxes) == 1, boxes, np.zeros(len(boxes), dtype=np.int64)
        start = stop = node
        for column, (keys, width) in enumerate(zip(self.edges, self.widths, strict=True)):
            if column:
                lengths = stop - start
                total = int(lengths.sum())
                if total > _PAIRS_AT_A_TIME and not alone:
                    return None
                box = np.repeat(box, lengths)
                node = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(start, lengths)
            start = np.searchsorted(keys, node * width + low[column][box])
            stop = np.searchsorted(keys, node * width + high[column][box], side="right")
        return box, start, stop
