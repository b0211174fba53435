"""How little any release could lose: a lower bound on NCP, so that a user knows how far a release is from the best.

A class that holds a record and has k records has k - 1 others of it, and covers each of them: it costs at least what
covering the record and its (k - 1)-th nearest neighbour costs, nearness being the cost of the lowest common
generalization of the two. Where people are counted, these are the nearest records of k different people. Where a class
needs p distinct sensitive values, it costs at least what reaching the (p - 1)-th nearest other value costs. The larger
of the two bounds what the record loses in any release by generalization, global or local, and the mean over records
bounds the release. A record that is suppressed loses more.

Boundaries: a record can share a class only with records of its block; with too few of these it can only be suppressed.

Neighbours are shared, so no release reaches that bound. `price_bound` has a much better one, by prices that are never
below the nearest neighbours' where it counts what these do. Neighbours are looked at where prices are not affordable,
and beside them where these leave something out: people, and ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from shoal.models import least_size
from shoal.search.bounds.price_bound import PriceProof, price_bound
from shoal.search.engine import LocalEngine
from shoal.search.local.blocks import Blocks, Indices
from shoal.search.prices.solver import PriceSolver
from shoal.search.problem import Problem
from shoal.table.classes import Floats
from shoal.table.encoded import distinct_codes, spans

PAIRS = 8_000_000
"""Pairs of a record and a distinct tuple that are looked at: so many records are drawn, between the two below."""
FEWEST, MOST = 100, 2000
_NORMAL_95 = 1.959963984540054
_TIE_DIGITS = 9  # bounds that agree in this many digits are equal: the one by prices is stated, which can be checked

Method = Literal["prices", "prices-of-some-columns", "neighbours"]
"""How a bound was found: by prices of all columns or of the dearest few, or by nearest neighbours."""
Unchecked = Literal["neighbours", "too-large", "no-original"]
"""Why the verifier has not confirmed a bound: neighbours leave no prices, looking at all boxes would take longer than
finding the prices, or there is no original as one table with the values that the search had."""


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on the NCP of any release of a table that satisfies its models."""

    ncp: float
    looked_at: int  # records whose own bound was worked out
    drawn: bool  # whether these were drawn from more: then the bound is an estimate, within ``error`` in 19 of 20 draws
    error: float = 0.0
    method: Method = "neighbours"
    columns: tuple[str, ...] = ()  # what is lost in others is not counted; none: what is lost in all of them is
    unchecked: Unchecked | None = "neighbours"  # None: confirmed by the verifier, who found this bound
    proof: PriceProof | None = field(default=None, repr=False, compare=False)

    @staticmethod
    def of(
        problem: Problem, engine: LocalEngine, search: Mapping[str, Any], solver: PriceSolver | None = None
    ) -> LowerBound | None:
        """The best proven bound; an estimate by some records' neighbours where no prices of all columns are affordable.

        ``solver`` has the prices that guided the search, if any did. None where classes mean nothing.
        """
        if not search.get("guarantees", True):
            return None  # the range method makes no classes, so no class has to be paid for
        records, found = problem.table.n_rows, list[LowerBound]()
        priced = price_bound(problem, solver=solver) if problem.table.n_tuples else None
        if priced is not None:
            some = priced.columns if priced.method == "prices-of-some-columns" else ()
            found.append(
                LowerBound(
                    priced.bound, records, drawn=False, method=priced.method, columns=some, unchecked="no-original",
                    proof=priced,
                )
            )  # fmt: skip
        if "lower_bound" in search:
            found.append(LowerBound(search["lower_bound"], records, drawn=False))
        complete = priced is not None and priced.method == "prices"
        if not complete or problem.counts_people or problem.options.get("ranges"):
            neighbours = lower_bound(problem, engine, seed=int(problem.options.get("seed") or 0))
            if not neighbours.drawn or not complete:
                found.append(neighbours)
        return max(found, key=lambda each: round(each.ncp - each.error, _TIE_DIGITS))

    def facts(self, reached: float) -> dict[str, Any]:
        """The bound beside what a release has reached, as the evidence tells it.

        No release can lose less than the bound, so an estimate above what this one has reached is too high by chance.
        """
        ncp = min(self.ncp, reached) if self.drawn else self.ncp
        return {
            "ncp": ncp,
            "ncp_interval": [max(ncp - self.error, 0.0), min(ncp + self.error, reached) if self.drawn else ncp],
            "records": self.looked_at,
            "estimated": self.drawn,
            "reached": reached,
            "ratio": reached / ncp if ncp > 0 else None,
            "gap": reached / ncp - 1 if ncp > 0 else None,
            "method": self.method,
            "columns": self.columns or None,
            "checked": self.unchecked is None,
            "unchecked": self.unchecked,
        }


def lower_bound(problem: Problem, engine: LocalEngine, *, seed: int = 0) -> LowerBound:
    """The mean over records of the least that each must lose; over records drawn with the seed where they are many."""
    table = problem.table
    top = engine.classes(tuple(levels - 1 for levels in problem.shape))
    block = top.tuple_class
    share = max(FEWEST, min(MOST, PAIRS // max(table.n_tuples, 1)))
    drawn = table.n_rows > share
    tuples, counts = np.flatnonzero(table.counts), table.counts[table.counts > 0]
    if drawn:  # from the records in the order of their tuples, whatever order they came in
        drawn_records = np.random.default_rng(seed).choice(table.n_rows, share, replace=False)
        of_record = np.searchsorted(np.cumsum(table.counts), np.sort(drawn_records), side="right")
        tuples, counts = np.unique(of_record, return_counts=True)
    nearness = _Nearness(Blocks(problem, block, top.n_classes))
    losses = np.ones(len(tuples))
    for each in distinct_codes(block[tuples]):
        indices = np.flatnonzero(block[tuples] == each)
        losses[indices] = nearness.least(tuples[indices], np.flatnonzero(block == each))
    mean = float((losses * counts).sum() / counts.sum())
    spread = float(np.sqrt((counts * (losses - mean) ** 2).sum() / max(counts.sum() - 1, 1)))
    error = _NORMAL_95 * spread / float(np.sqrt(counts.sum())) if drawn else 0.0
    return LowerBound(mean, int(counts.sum()), drawn, error)


class _Nearness:
    """What the lowest common generalization of two tuples costs, and how far a tuple must reach."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks, self.problem = blocks, blocks.problem
        self._known: dict[tuple[int, int], Floats] = {}
        self.k = least_size(self.problem.models)
        self.people = least_size([model for model in self.problem.models if model.column is None])
        self.values: dict[str, int] = {}
        for model in self.problem.models:
            if model.column is not None and model.superset_closed and model.least_values > 1:
                self.values[model.column] = max(self.values.get(model.column, 1), model.least_values)

    def least(self, items: Indices, mates: Indices) -> Floats:
        """The least mean cell loss of a class that holds each of some tuples of a block; 1 where it can be in none."""
        counts, codes = self.problem.table.counts[mates], self.problem.table.codes[:, mates]
        result = np.ones(len(items))
        if counts.sum() < self.k:
            return result
        for index, item in enumerate(items.tolist()):
            cost = np.zeros(len(mates))
            for j, row in enumerate(codes):
                cost += self._to_leaves(j, int(self.problem.table.codes[j, item]))[row]
            cost /= max(len(codes), 1)
            near = _cheapest(cost, self.k)
            near = near[np.argsort(cost[near], kind="stable")]
            result[index] = cost[near[np.searchsorted(np.cumsum(counts[near]), self.k)]]
            if self.problem.counts_people:
                result[index] = max(result[index], self._reaching_people(mates, cost))
            for column, values in self.values.items():
                result[index] = max(result[index], self._reaching(column, values, mates, cost))
        return result

    def _reaching(self, column: str, values: int, mates: Indices, cost: Floats) -> float:
        """What it costs to have so many distinct known values, the cheapest ones."""
        pairs, known = self.problem.table.pairs[column], self.problem.domains[column].known
        by_tuple = np.full(self.problem.table.n_tuples, np.inf)
        by_tuple[mates] = cost
        nearest = np.full(len(known), np.inf)
        np.minimum.at(nearest, pairs.values, by_tuple[pairs.tuples])
        nearest = np.sort(nearest[known])
        return float(min(nearest[values - 1], 1.0)) if values <= len(nearest) else 1.0

    def _reaching_people(self, mates: Indices, cost: Floats) -> float:
        """What it costs to have as many people as a class needs, by the nearest record of each; 1 with fewer."""
        person, k = self.problem.table.person, self.people
        tried = k
        by_tuple, starts = self.problem.table.rows_by_tuple
        assert person is not None, "asked only where people are counted"
        while True:  # the tuples that cost least, until they have as many people
            near = _cheapest(cost, tried)
            lengths = starts[mates[near] + 1] - starts[mates[near]]
            rows = by_tuple[spans(starts[mates[near]], lengths)]
            people, which = np.unique(person[rows], return_inverse=True)
            if len(people) >= k:
                nearest = np.full(len(people), np.inf)
                np.minimum.at(nearest, which, np.repeat(cost[near], lengths))
                return float(np.partition(nearest, k - 1)[k - 1])
            if len(near) == len(cost):
                return 1.0
            tried *= 4

    def _to_leaves(self, j: int, code: int) -> Floats:
        """Loss of the lowest common generalization of a value and each value of its column."""
        if (j, code) not in self._known:
            leaves = np.arange(self.problem.hierarchies[j].n_leaves, dtype=np.int32)
            self._known[j, code] = self.blocks.losses(j, np.minimum(code, leaves), np.maximum(code, leaves))
        return self._known[j, code]


def _cheapest(cost: Floats, number: int) -> Indices:
    """Indices of so many of the smallest costs, in no order; all of them where there are fewer."""
    return np.argpartition(cost, number - 1)[:number] if len(cost) > number else np.arange(len(cost))
