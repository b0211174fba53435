"""A release of a table that lies in a Spark cluster.

Counted there, searched on the driver as cells, recoded where the records lie: the same algorithms on the same cells as
on one machine, so the same release. Algorithms that part equal records say how many of each cell go where, and the
release is unfolded from these counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.battery import AttackReport, attack_tables
from shoal.encode.released_table import released_counts
from shoal.errors import DataError, OutputError
from shoal.evidence import Evidence, measure, sealed
from shoal.io.spark import cluster as spark
from shoal.io.spark.cluster import Named
from shoal.metrics import ReleaseSummary
from shoal.pipeline.make_evidence import make_evidence
from shoal.pipeline.registry_options import with_composition
from shoal.pipeline.run import Clock
from shoal.pipeline.search import Searched, search_cells
from shoal.pipeline.spark.coarsening import full_levels, in_full
from shoal.pipeline.spark.fit import Fitted, fit
from shoal.pipeline.spark.input import SparkInput, read_input
from shoal.pipeline.spark.recode import ORDER, recoder_of, with_order
from shoal.pipeline.spark.verify import Checked, verify_frame
from shoal.policy import Policy
from shoal.policy.engine_spec import BLOCKS, CELLS, LEAST
from shoal.search.problem import Progress


@dataclass(frozen=True, eq=False)
class SparkMade:
    """A release in a cluster that nobody has checked yet."""

    policy: Policy
    given: SparkInput
    fitted: Fitted
    searched: Searched

    def released(self, *, as_text: bool = False) -> Named:
        """The released rows in the order of a release; nothing is computed before they are used."""
        made = self._from_counts(as_text) if self.searched.parts_equals else self._recoded(as_text)
        shown = [name for name in made.names if not name.startswith(ORDER)]
        keys = [f"{ORDER}{name}" if f"{ORDER}{name}" in made.names else name for name in shown]
        return spark.in_order(made, keys, shown)

    def _recoded(self, as_text: bool) -> Named:
        """The records recoded where they lie."""
        given, searched = self.given.frame, self.searched
        recoder = recoder_of(searched, list(given.names), self.fitted.coarse, as_text=as_text)
        empty = recoder.empty(given.arrow_types())
        made = spark.mapped(given, recoder, empty)
        lost = searched.recoding.suppressed
        if self.policy.suppressed != "star" or not lost:
            return made
        more = spark.unfolded(given.session, recoder.stars(empty), np.array([lost], dtype=np.int64))
        return Named(made.frame.union(more.frame), made.names)

    def _from_counts(self, as_text: bool) -> Named:
        """The records unfolded from how many of each cell go to which class."""
        found = self.searched
        table, counts = released_counts(found.policy, found.cells, found.resolved, found.recoding)
        return spark.unfolded(self.given.frame.session, with_order(table, as_text=as_text), counts)

    def check(self, released: Any, *, files: bool) -> Checked:
        """The independent check of a released frame."""
        return verify_frame(
            released,
            self.given,
            self.policy,
            beside=self.fitted.beside,
            against_original=not self.fitted.coarse,
            files=files,
        )

    def attacked(self, progress: Progress) -> AttackReport:
        """What attackers get out of it, from counts."""
        found = self.searched
        nothing = pa.table({})  # the rows come from the recoding
        seed = abs(self.policy.algorithm.seed)
        return attack_tables(
            found.policy,
            nothing,
            found.cells,
            resolved=found.resolved,
            recoding=found.recoding,
            seed=seed,
            progress=progress,
        )

    def not_done(self) -> dict[str, str]:
        """What the evidence has to do without, and why."""
        lacking = {}
        if self.policy.utility is not None:
            lacking["utility"] = "models are trained on records, and these lie in a cluster."
        if self.fitted.beside:
            names = ", ".join(self.fitted.beside)
            lacking["insensitive"] = (
                f"that each record has its own values of {names} was not compared with the original, only that no "
                "combination of them is released more often than the original has it."
            )
        if self.fitted.coarse:
            lacking["truthfulness"] = (
                "the driver does not hold the values of coarsened columns, so records were not matched to originals."
            )
        return lacking

    def engine(self) -> dict[str, Any]:
        """How the engine went about it, for the evidence."""
        fitted = self.fitted
        return {
            "name": "spark",
            "cells": fitted.found,
            "cells_held": self.fitted.cells.n_cells,
            "cells_allowed": self.policy.engine.cells or CELLS,
            "left_out_of_cells": list(fitted.beside),
            "coarsened": {name: column.level for name, column in sorted(fitted.coarse.items())},
            "recoded": "from counts" if self.searched.parts_equals else "where the records lie",
        }


def make_spark(data: Any, policy: Policy, clock: Clock, progress: Progress) -> SparkMade:
    """Read, count and search."""
    progress("reading", 0.0)
    with told(), clock.stage("read"):
        given = read_input(data, policy)
        fitted = fit(given, policy, progress)
    asked = policy.engine.blocks
    remote = spark.SparkWorkers(given.frame.session, asked or BLOCKS, 0 if asked else LEAST)
    with told():
        searched = search_cells(
            fitted.policy, fitted.cells, names=given.names, clock=clock, progress=progress, remote=remote
        )
    return SparkMade(policy, given, fitted, searched)


@contextmanager
def told(kind: type[DataError] | type[OutputError] = DataError) -> Iterator[None]:
    """Errors of Spark's as errors of Shoal's: their first line, without traces."""
    try:
        yield
    except Exception as error:
        if not spark.is_from_spark(error):
            raise
        raise kind(f"Spark could not do its part: {spark.in_words(error)}") from error


def spark_evidence(
    made: SparkMade,
    checked: Checked,
    clock: Clock,
    *,
    attacks: AttackReport,
    composed: Mapping[str, Any],
    written: bool,
) -> Evidence:
    """The evidence of a release in a cluster."""
    digest = checked.sha256 if written else None
    searched = replace(made.searched, policy=made.policy)
    facts = make_evidence(searched, checked.verification, clock, digest, attacks=attacks, not_done=made.not_done())
    changed: dict[str, Any] = {"engine": made.engine()}
    if made.fitted.coarse:
        changed |= _counted_in_full(made, facts)
    return with_composition(sealed(facts, **changed), composed)


def _counted_in_full(made: SparkMade, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Measures and levels by the hierarchies as declared, where the search began higher."""
    recoding, coarse = made.searched.recoding, made.fitted.coarse
    hierarchies, nodes = in_full(recoding, coarse)
    summary = ReleaseSummary(
        hierarchies=hierarchies, nodes=nodes, sizes=recoding.sizes, records=recoding.n_rows,
        violations=int(facts["measures"]["constraint_violations"]),
    )  # fmt: skip
    levels = None if recoding.levels is None else full_levels(recoding.levels, coarse, recoding)
    return {"measures": measure(summary), "levels": levels, "bound": None}
