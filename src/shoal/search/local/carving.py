"""Carving: classes taken out of larger ones, so many records of each secret that what is left still holds.

Some models refuse a part of a class that holds: t-closeness asks for all secrets in about the same shares. The records
of one box rarely come in these shares. Classes made of whole boxes leave over what the boxes have too much of, and
those records are hard to place. Carving goes from the top instead. From each class, blocks to begin with, it takes
records that lie under one node of one column: of each secret the same share of the class, where there are enough. So
neither they nor those that are left differ much from the class. Both must satisfy the models. Of all nodes and shares
that is taken which saves most, weighed by how much leeway it leaves the models for further steps, by how few records
under the node are left behind, and by how far it divides the class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.hierarchies.ranges import ancestors
from shoal.models import least_size
from shoal.search.local.blocks import Blocks, Classes, Codes, Indices, cell_costs
from shoal.search.local.partition import RecordSpace, Tally, record_space
from shoal.table.classes import ClassStats, Counts, Floats

SHARES = np.array([1 / 64, 1 / 32, 1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8, 0.95, 1.0])
"""Shares of each secret of a class that are taken at most."""
_ALL = np.array([np.inf])  # instead of a share: all records under the node
_WEIGHTS = ((0.35, 0.5), (0.7, 0.0), (0.35, 0.0))
"""How much it counts which leeway a step leaves to the models, and how far it divides the class: powers of both. Which
are best differs between tables. All are tried where there are few kinds of records, else the first two or the first."""
_TRIED_UP_TO = (math.inf, 200_000, 40_000)
"""Kinds of records up to which each of them is tried; where there are many secrets, only the first is."""
_LEAST_LEEWAY = 1e-4  # a step that leaves none is better than no step
_FEW = 64  # secrets up to which each has a share of its own
_STRATA = 32  # groups of neighbouring secrets that have one where there are more
_BOXES, _CELLS = 32, 1 << 18  # boxes, and boxes times shares times secrets, that are tested at once at the most
_DIGITS = 9  # scores that agree in so many digits are equal: of equals the first


def carve(blocks: Blocks) -> Classes:
    """The class of each row after carving as long as that saves anything; `SUPPRESSED` where its block is."""
    space = record_space(blocks)
    tries = sum(len(space.kinds.counts) <= most for most in _TRIED_UP_TO) if space.kinds.n_secrets <= _FEW else 1
    tried = [_carved_classes(space, *weights) for weights in _WEIGHTS[:tries]]
    return space.row_classes([min(tried, key=lambda classes: round(_cost(space, classes), _DIGITS))])[1]


def _carved_classes(space: RecordSpace, leeway: float, division: float) -> Tally:
    """The classes with savings weighed by these powers."""
    start, carver, final, done = space.start(), _Carver(space, leeway, division), list[_Class](), 0
    by_block = (np.split(column, start.starts[1:]) for column in (start.item, start.count))
    waiting = [_Class(*block) for block in zip(*by_block, strict=True)]
    while waiting:
        one = waiting.pop()
        parts = carver.parts_of(one)
        waiting += parts
        if not parts:
            final.append(one)
            done += int(one.counts.sum())
            space.blocks.problem.progress("carving classes", done / space.blocks.problem.table.n_rows)
    kinds, counts = (np.concatenate(column) for column in zip(*((one.kinds, one.counts) for one in final), strict=True))
    return Tally(np.repeat(np.arange(len(final)), [len(one.kinds) for one in final]), kinds, counts, len(final))


def _cost(space: RecordSpace, classes: Tally) -> float:
    """What all records cost in some classes."""
    low, high, _ = space.ranges(classes)
    return float((space.record_costs(low.T, high.T) * classes.sizes).sum())


@dataclass(frozen=True, eq=False)
class _Class:
    """So many records of some kinds, in ascending order of the kinds."""

    kinds: Indices
    counts: Counts

    def of(self, counts: Counts) -> _Class:
        """So many of its records."""
        return _Class(self.kinds[counts > 0], counts[counts > 0])


@dataclass(frozen=True, eq=False)
class _Boxes:
    """The records of a class that lie under single nodes of single columns: those boxes first that may save most."""

    order: Codes  # entries of the class, those of a box side by side
    begins: Indices
    ends: Indices
    records: Counts
    savings: Floats  # what each record costs less there
    most: Floats  # what it is worth at the most to take any of them

    def entries(self, box: int) -> Codes:
        """The entries of one, in their order."""
        return np.sort(self.order[self.begins[box] : self.ends[box]])


@dataclass(frozen=True, eq=False)
class _Secrets:
    """The secrets of a class, in their order."""

    ids: Indices
    of_entry: Indices  # the index of each entry's secret among them
    records: Counts  # of each secret in the class

    @staticmethod
    def of(one: _Class, secret: Indices) -> _Secrets:
        """The secrets of a class, given the secret of each kind."""
        ids, of_entry = np.unique(secret[one.kinds], return_inverse=True)
        return _Secrets(ids, of_entry, np.bincount(of_entry, weights=one.counts).astype(np.int64))

    def records_in(self, entries: Codes, counts: Counts) -> Counts:
        """The records of each secret that some entries have."""
        found = np.bincount(self.of_entry[entries], weights=counts[entries], minlength=len(self.ids))
        return found.astype(np.int64)

    @cached_property
    def strata(self) -> Indices:
        """Where each group of secrets begins that shares are taken of; where they are few, each is one of its own."""
        if len(self.ids) <= _FEW:
            return np.arange(len(self.ids))
        middle = np.cumsum(self.records) - self.records / 2
        return np.flatnonzero(np.diff((middle * _STRATA // self.records.sum()).astype(np.int64), prepend=-1))

    def take_shares(self, inside: Counts, shares: Floats) -> Counts:
        """So many records of each secret are taken for every box and share: ``inside[box, secret]`` are there."""
        starts, there = self.strata, inside[:, None, :]
        limits = np.floor(shares[:, None] * np.add.reduceat(self.records, starts) + 0.5)
        taken = np.minimum(np.add.reduceat(inside, starts, axis=1)[:, None, :], limits).astype(np.int64)
        if len(starts) == len(self.ids):
            return taken
        stratum = np.repeat(np.arange(len(starts)), np.diff([*starts, len(self.ids)]))
        running = np.cumsum(there, axis=2) - there
        return np.clip(taken[:, :, stratum] - (running - running[:, :, starts[stratum]]), 0, there)

    def by_entry(self, counts: Counts, entries: Codes, wanted: Counts) -> Counts:
        """How many records of each entry of the class are taken: of each secret the first ones of some entries."""
        order = entries[np.argsort(self.of_entry[entries], kind="stable")]
        secret, before = self.of_entry[order], np.cumsum(counts[order]) - counts[order]
        result = np.zeros(len(counts), dtype=np.int64)
        passed = before - before[np.searchsorted(secret, secret)]
        result[order] = np.clip(wanted[secret] - passed, 0, counts[order])
        return result


class _Carver:
    """Finds what to take from a class."""

    def __init__(self, space: RecordSpace, leeway: float, division: float) -> None:
        problem, models = space.blocks.problem, space.blocks.class_models
        self._space, self._powers = space, (leeway, division)
        self._least = least_size(models)
        self._limits = [
            (model, {name: float(limit.value) for name, limit in model.single_limits().items()})
            for model in models
            if not problem.superset_closed(model)
        ]
        self._column = np.repeat(np.arange(len(problem.ladders)), problem.shape)  # of each level of the columns
        width = max(hierarchy.n_leaves for hierarchy in problem.hierarchies)
        self._nodes = np.zeros((len(self._column), width), dtype=np.int32)  # of each leaf at each of these levels
        self._costs = np.zeros(self._nodes.shape)  # and what it costs there
        self._node_costs = costs = cell_costs(problem)
        for at, (column, level) in enumerate(
            (c, level) for c, own in enumerate(problem.ladders) for level in own.nodes
        ):
            self._nodes[at, : len(level)], self._costs[at, : len(level)] = level, costs[column][level]

    def parts_of(self, one: _Class) -> tuple[_Class, ...]:
        """What is left of a class, and what is taken from it; nothing where it stays as it is."""
        boxes = self._boxes(one)
        if not len(boxes.begins):
            return ()
        secrets = _Secrets.of(one, self._space.kinds.secret)
        size = max(1, min(_BOXES, _CELLS // (len(SHARES) * len(secrets.ids))))
        best, found = 0.0, None
        for first in range(0, len(boxes.most), size):
            if boxes.most[first] <= best:
                break
            some = np.arange(first, min(first + size, len(boxes.most)))
            inside = np.stack([secrets.records_in(boxes.entries(box), one.counts) for box in some.tolist()])
            for shares in (_ALL, SHARES):  # what whole boxes save rules out most shares
                taken = secrets.take_shares(inside, shares)
                scores = self._scores(secrets, boxes.savings[some] / boxes.records[some], taken, best)
                at = np.unravel_index(np.argmax(scores), scores.shape)
                if scores[at] > best:
                    best, found = float(scores[at]), (first + int(at[0]), taken[at])
        if found is None:
            return ()
        counts = secrets.by_entry(one.counts, boxes.entries(found[0]), found[1])
        return one.of(one.counts - counts), one.of(counts)

    def _boxes(self, one: _Class) -> _Boxes:
        """The nodes of all columns below those that the class releases, with enough records for a class."""
        codes = self._space.kinds.codes[:, one.kinds]
        order = np.argsort(codes, axis=1, kind="stable").astype(np.int32)
        codes = np.take_along_axis(codes, order, axis=1)
        tight = [
            ancestors(tree, own[:1], own[-1:])[0] for tree, own in zip(self._space.hierarchies, codes, strict=True)
        ]
        now = np.array([costs[node] for costs, node in zip(self._node_costs, tight, strict=True)])
        levels = np.arange(len(self._column))[:, None]
        ordered, nodes = order[self._column], self._nodes[levels, codes[self._column]]  # along a level, nodes ascend
        fresh = np.ones(nodes.shape, dtype=np.bool_)
        fresh[:, 1:] = nodes[:, 1:] != nodes[:, :-1]
        begins = np.flatnonzero(fresh)
        ends = np.append(begins[1:], fresh.size)
        records = np.add.reduceat(one.counts[ordered].ravel(), begins)
        level, at = np.divmod(begins, nodes.shape[1])
        savings = now[self._column[level]] - self._costs[level, codes[self._column[level], at]]
        good = np.flatnonzero((records >= self._least) & (np.round(savings, _DIGITS) > 0))
        most = np.round(self._worth(records[good] * savings[good], records[good], int(one.counts.sum())), _DIGITS)
        first = np.argsort(-most, kind="stable")
        good = good[first]
        return _Boxes(ordered.ravel(), begins[good], ends[good], records[good], savings[good], most[first])

    def _scores(self, secrets: _Secrets, savings: Floats, taken: Counts, best: float) -> Floats:
        """What it is worth to take so many records of each secret; 0 where a part fails or another one is better.

        ``savings`` are those of a record over the records of the box, for each box.
        """
        records, total = taken.sum(axis=2), int(secrets.records.sum())
        large = (records >= self._least) & (records <= total - self._least)
        scores = self._worth(records * records * savings[:, None], records, total)
        tried = np.nonzero(large & (np.round(scores, _DIGITS) > best))
        result = np.zeros(scores.shape)
        if len(tried[0]):
            result[tried] = np.round(scores[tried] * self._leeway(secrets, taken[tried]) ** self._powers[0], _DIGITS)
        return result

    def _worth(self, saved: Floats, records: Counts, total: int) -> Floats:
        """What it is worth to save so much by taking so many records from a class: less where that divides it more."""
        records = np.clip(records, 1, total - 1)
        divided = records * np.log(total / records) + (total - records) * np.log(total / (total - records))
        return np.asarray(saved / divided ** self._powers[1])

    def _leeway(self, secrets: _Secrets, taken: Counts) -> Floats:
        """How much leeway models have in both parts on average, at least a little; 0 where they refuse one of them."""
        held, leeway = np.ones(len(taken), dtype=np.bool_), np.zeros(len(taken))
        for part in (taken, secrets.records - taken):
            group, item = np.nonzero(part)
            stats = self._space.stats(Tally(group, secrets.ids[item], part[group, item], len(part)))
            held &= self._space.blocks.holds(stats)
            leeway += part.sum(axis=1) * self._least_leeway(stats)
        return np.where(held, np.maximum(leeway / secrets.records.sum(), _LEAST_LEEWAY), 0.0)

    def _least_leeway(self, stats: ClassStats) -> Floats:
        """The least that a model leaves to each class, of those models that may refuse a part: from 0 to 1."""
        result = np.ones(stats.n_classes)
        for model, limits in self._limits:
            shown = stats.shows(model.column)
            for name, strength in model.strengths(stats.view(model.column)).items():
                if strength.of_class:
                    limit = np.full(stats.n_classes, limits[name])
                    less, more = (limit, strength.per_class) if strength.at_least else (strength.per_class, limit)
                    left = 1.0 - np.divide(less, more, out=np.ones(stats.n_classes), where=more > 0)
                    result = np.where(shown, np.minimum(result, np.nan_to_num(left)), result)
        return np.clip(result, 0.0, 1.0)
