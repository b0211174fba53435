"""What an algorithm is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.boundaries import Ladder
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics import DEFAULT_METRIC, METRICS, Metric
from shoal.models.base import Model
from shoal.search.algorithm import Demand
from shoal.search.conceal import Marks, Veto, summed_marks
from shoal.table.classes import SensitiveDomain
from shoal.table.encoded import EncodedTable
from shoal.table.recoding import SUPPRESSED, Recoding

Progress = Callable[[str, float], None]  # called with what is being done and how far it is, from 0 to 1


def no_progress(stage: str, share: float) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A table to recode, the models that must hold, and what may be given up for them."""

    table: EncodedTable
    hierarchies: tuple[Hierarchy, ...]
    caps: tuple[NDArray[np.int32], ...]  # the boundary of each leaf: the node to generalize to at most
    ladders: tuple[Ladder, ...]  # the full-domain levels of each quasi-identifier, each value stopping at its boundary
    models: tuple[Model, ...]
    domains: Mapping[str, SensitiveDomain]
    budget: int = 0  # how many records may be suppressed
    metric: Metric = field(default_factory=lambda: METRICS[DEFAULT_METRIC])
    weights: Mapping[str, float] = field(default_factory=dict)  # importance in [0, 1] (Wang's W); 0 if not named
    options: Mapping[str, Any] = field(default_factory=dict)  # the algorithm's own options
    progress: Progress = no_progress
    entries: tuple[int, ...] = ()  # entry under ``privacy`` of each model; empty where they come from no policy
    repeated: bool = False  # whether it is one of many: then compiled kernels pay off for small tables, too
    demands: frozenset[Demand] = frozenset()  # what the run demands of its recoding
    veto: Veto | None = None  # what is refused although it holds, where the search conceals; None: nothing

    def entry_of(self, model: int) -> int:
        """The entry that asks for a model; a model from no policy has an entry of its own."""
        return self.entries[model] if self.entries else model

    def recoding(
        self,
        tuple_class: NDArray[np.int32],
        nodes: NDArray[np.int32],
        kept: NDArray[np.intp],
        *,
        hierarchies: tuple[Hierarchy, ...] | None = None,
        levels: Mapping[str, int] | None = None,
    ) -> Recoding:
        """The recoding that releases the classes ``kept`` of the tuples, numbered in that order, and no others."""
        number = np.full(len(nodes), SUPPRESSED, dtype=np.int32)
        number[kept] = np.arange(len(kept), dtype=np.int32)
        return Recoding(
            quasi=self.table.quasi,
            hierarchies=self.hierarchies if hierarchies is None else hierarchies,
            row_class=number[tuple_class][self.table.row_tuple],
            nodes=nodes[kept],
            levels=levels,
            weights=self.table.weights,
            entry=self.table.entry,
        )

    @property
    def concealing(self) -> Veto | None:
        """What is refused although it holds; None where nothing is, or no model looks at anything that is secret."""
        return self.veto if any(model.column is not None for model in self.models) else None

    @cached_property
    def tuple_marks(self) -> Marks:
        """Where the search conceals: the mark of each tuple's quasi-identifiers."""
        assert self.veto is not None, "marks are made by the key"
        return self.veto.marks(self.table.codes)

    @cached_property
    def table_mark(self) -> Marks:
        """The mark of all records, so that what is drawn for one table tells nothing about another."""
        return summed_marks(self.tuple_marks, self.table.counts, np.zeros(self.table.n_tuples, dtype=np.int64), 1)

    @property
    def counts_people(self) -> bool:
        """Whether models count people instead of records."""
        return self.table.person is not None

    def merge_closed(self, model: Model) -> bool:
        """Whether two satisfying classes merged satisfy a model: what holds at a node holds above it."""
        return model.merge_closed and (model.closed_for_people or not self.counts_people)

    def superset_closed(self, model: Model) -> bool:
        """Whether a satisfying class satisfies a model whatever is added."""
        return model.superset_closed and (model.closed_for_people or not self.counts_people)

    @cached_property
    def closed(self) -> bool:
        """Whether a class that satisfies the models on classes satisfies them whatever is added to it."""
        return all(self.superset_closed(model) for model in self.models if model.judges_classes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many levels each quasi-identifier has in the lattice."""
        return tuple(len(ladder.nodes) for ladder in self.ladders)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive columns that some model reads, in a fixed order."""
        return tuple(sorted({model.column for model in self.models if model.column is not None}))

    def nominal_levels(self, node: tuple[int, ...]) -> dict[str, int]:
        """The declared level of each quasi-identifier at a lattice node."""
        return {
            name: ladder.nominal[level]
            for name, ladder, level in zip(self.table.quasi, self.ladders, node, strict=True)
        }
