"""Single runs of the experiments of Sun et al. 2008: minimal nodes by Incognito, and the top-down local recoding."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.exposure import similarity
from shoal.encode.resolve import resolve
from shoal.metrics import METRICS, ReleaseSummary
from shoal.policy import Policy
from shoal.reproduce.hierarchies import SUN
from shoal.search import ALGORITHMS
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import Evaluator
from shoal.search.kernels.load import load_kernels
from shoal.search.lattice.incognito import all_minimal_nodes
from shoal.search.lattice.nodes import summarize
from shoal.table.distinct_rows import DistinctRows

MODELS = {
    "p-sensitive": "p-sensitive",
    "p-alpha-sensitive": "(p, α)-sensitive",
    "p-plus-alpha-sensitive": "(p⁺, α)-sensitive",
}
K, P, ALPHA = 4, 2, 2
VALUES = ("HIV", "Cancer", "Phthisis", "Hepatitis", "Obesity", "Asthma", "Flu", "Indigestion")
CATEGORIES = {
    "Top Secret": VALUES[:2], "Secret": VALUES[2:4], "Less Secret": VALUES[4:6], "Non Secret": VALUES[6:],
}  # fmt: skip
SEED = 2008
QUICK_RECORDS, QUICK_SIZE = 1_500, 4
"""Records and quasi-identifiers of a quick run."""


@dataclass(frozen=True)
class Asked:
    """One point of a figure."""

    model: str
    size: int = 7
    """How many of the quasi-identifiers, in the order of Table 9."""
    p: int = P
    alpha: float = ALPHA
    suppression: float = 0.0

    def policy(self, algorithm: str) -> Policy:
        """The point as a policy; the measure that is minimized is the distortion ratio."""
        columns: dict[str, Any] = {
            name: {"role": "quasi", "hierarchy": tree} for name, tree in list(SUN.items())[: self.size]
        }
        categories = {name: list(values) for name, values in CATEGORIES.items()}
        columns["health"] = {"role": "sensitive", "categories": categories, "publish": "values"}
        model: dict[str, Any] = {"model": self.model, "p": self.p, "sensitive": "health"}
        if self.model != "p-sensitive":
            model["alpha"] = self.alpha
        return Policy(
            columns=columns,
            privacy=[{"model": "k-anonymity", "k": K}, model],
            algorithm={"name": algorithm, "metric": "distortion_ratio"},
            suppression=self.suppression,
        )


@dataclass(frozen=True)
class Minimal:
    """All minimal nodes of one point."""

    nodes: int
    vulnerable: int
    """Nodes with a class of which all records lie in one category."""
    exposed: int
    """Records in such classes, at the worst node."""
    ratio: float
    """The least distortion ratio of a minimal node."""
    checks: int
    seconds: float
    """Median of the search alone."""


def with_health(table: pa.Table, seed: int) -> pa.Table:
    """The table with a health condition drawn uniformly for each record."""
    drawn = np.random.default_rng(seed).integers(0, len(VALUES), table.num_rows)
    return table.append_column("health", pa.array(VALUES).take(pa.array(drawn)))


def minimal(table: pa.Table, asked: Asked, *, repeat: int = 1) -> Minimal:
    """Every minimal node by Incognito, how long that takes, and what each leaves open."""
    problem = resolve(asked.policy("incognito"), DistinctRows.of(table)).problem
    taken = []
    for _ in range(repeat):
        engine = LocalEngine(problem.table, problem.ladders, problem.domains, kernels=load_kernels())
        start = time.perf_counter()
        nodes = all_minimal_nodes(problem, engine)
        taken.append(time.perf_counter() - start)
    checks, evaluator = engine.checks, Evaluator(problem, engine)
    exposed, ratios = [], []
    for node in nodes:
        grouping = evaluator.grouping(node)
        kept = evaluator.evaluate(grouping).kept
        found = similarity(engine.stats(grouping, ["health"]).keep(kept).view("health"))
        exposed.append(found.records if found is not None else 0)
        ratios.append(METRICS["distortion_ratio"].of(summarize(problem, node, grouping, kept)))
    vulnerable = sum(records > 0 for records in exposed)
    return Minimal(len(nodes), vulnerable, max(exposed), min(ratios), checks, statistics.median(taken))


def local(table: pa.Table, asked: Asked) -> tuple[float, float]:
    """Seconds and distortion ratio of the top-down local recoding."""
    rows = DistinctRows.of(table.select([*SUN, "health"]))
    problem = resolve(asked.policy("top-down"), rows).problem
    engine = LocalEngine(problem.table, problem.ladders, problem.domains, kernels=load_kernels())
    start = time.perf_counter()
    recoding = ALGORITHMS["top-down"].run(problem, engine).recoding
    seconds = time.perf_counter() - start
    summary = ReleaseSummary.of(recoding)
    return seconds, METRICS["distortion_ratio"].of(summary)
