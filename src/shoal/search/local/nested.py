"""Partitions inside each other, from the blocks to the finest one, and how a search that conceals steps back in them.

Where nothing is concealed, `finish` merges classes that release the same and, for models on the whole release, those
that leak most. A reader who sees the merged class does not know its parts; but that each of them must have held would
tell how its secrets are spread. So a search that conceals takes cuts back instead, until what is released are classes
of the tree of its cuts:

- of two classes that would release the same, the smaller one is given up for the class that it was cut from;
- where a model on the whole release fails, the last cuts of all classes are taken back, stage by stage. Some stages
  that would hold are taken back as well (`shoal.search.conceal`), so that their number proves nothing either. At the
  latest every block is one class, which `prepare` has found to satisfy.

Both depend on quasi-identifiers and on what is released.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.hierarchies.ranges import ancestors
from shoal.search.conceal import as_marks
from shoal.search.local.blocks import Blocks, Codes, Indices
from shoal.search.local.finish import holds_as_whole
from shoal.search.local.partition import RecordSpace, Tally
from shoal.table.classes import Counts


@dataclass(frozen=True, eq=False)
class NestedPartitions:
    """Classes of items (kinds of records, or clusters) by stage; each stage divides some classes of the one before."""

    stages: Sequence[Indices]  # the class of each item; a class that is not divided keeps its number
    low: Codes  # smallest leaf code of each item, ``low[column, item]``
    high: Codes
    sizes: Counts  # records of each item

    @staticmethod
    def of_rounds(codes: Codes, counts: Counts, rounds: Sequence[Tally]) -> NestedPartitions:
        """The classes of kinds that each round started with; in the last one all that are left were final."""
        stages, known = list[Indices](), 0
        for active in rounds:
            classes = stages[-1].copy() if stages else np.zeros(codes.shape[1], dtype=np.int64)
            classes[active.item] = known + active.group
            known += active.n
            stages.append(classes)
        return NestedPartitions(stages, codes, codes, counts)

    @cached_property
    def created(self) -> Indices:
        """The stage in which each class first appears, by its number."""
        result = np.zeros(int(max(stage.max() for stage in self.stages)) + 1, dtype=np.int64)
        for index in range(len(self.stages) - 1, -1, -1):
            result[self.stages[index]] = index
        return result

    def at(self, stage: Indices) -> Indices:
        """The class of each item at a stage of its own."""
        return np.asarray(np.stack(self.stages)[stage, np.arange(len(stage))])

    def settled(self, blocks: Blocks, way: int, satisfied: Callable[[Indices], bool]) -> Indices:
        """The class of each item in the finest partition that may be released; the numbers of classes have gaps."""
        veto, last = blocks.problem.concealing, len(self.stages) - 1
        assert veto is not None, "only a search that conceals steps back"
        whole = not all(model.judges_classes for model in blocks.problem.models)
        for stage in range(last, 0, -1):
            classes = self._apart(blocks, stage)
            if not whole:
                return classes
            identity = blocks.problem.table_mark, as_marks([stage]), as_marks([way])
            if not veto.refuses("whole", *identity).any() and satisfied(classes):
                return classes
        return self.stages[0]

    def _apart(self, blocks: Blocks, stage: int) -> Indices:
        """The classes of a stage, without those that would release what another one does."""
        level = self.created[self.stages[stage]]
        while True:
            classes = self.at(level)
            present, number = np.unique(classes, return_inverse=True)
            label, sizes = self._labels(blocks, number), np.bincount(number, weights=self.sizes)
            order = np.lexsort((present, -sizes, label))  # of those that release the same the largest first
            again = np.append(False, np.diff(label[order]) == 0)
            if not again.any():
                return classes
            for each in order[again]:
                item = np.flatnonzero(number == each)[0]
                if classes[item] != present[each] or level[item] == 0:
                    continue
                above = self.stages[level[item] - 1]
                level[above == above[item]] = self.created[above[item]]
                classes = self.at(level)

    def _labels(self, blocks: Blocks, number: Indices) -> Indices:
        """What each class releases, as a number."""
        order = np.argsort(number, kind="stable")
        starts = np.searchsorted(number[order], np.arange(int(number.max()) + 1))
        columns = []
        for j, tree in enumerate(blocks.problem.hierarchies):
            low = np.minimum.reduceat(self.low[j, order], starts)
            high = np.maximum.reduceat(self.high[j, order], starts)
            nodes = ancestors(tree, low, high).astype(np.int64)
            if j in blocks.ranged:
                nodes = blocks.ranged[j].identities(low, high)
            columns.append(nodes)
        return np.asarray(np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1]).ravel()


def settled(space: RecordSpace, rounds: Sequence[Tally], way: int) -> Tally:
    """The classes that a search which conceals releases, given those that each round of its cuts started with."""
    nested = NestedPartitions.of_rounds(space.kinds.codes, space.kinds.counts, rounds)

    def tally(classes: Indices) -> Tally:
        distinct, number = np.unique(classes, return_inverse=True)
        order = np.argsort(number, kind="stable")
        return Tally(number[order], order, space.kinds.counts[order], len(distinct))

    return tally(
        nested.settled(space.blocks, way, lambda classes: holds_as_whole(*space.row_classes([tally(classes)])))
    )
