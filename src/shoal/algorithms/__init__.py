"""The algorithms by name, and which options each takes."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.algorithms.greedy_clustering import greedy_clustering
from shoal.algorithms.greedy_lattice import greedy_lattice
from shoal.algorithms.incognito import incognito
from shoal.algorithms.optimal import optimal
from shoal.algorithms.problem import Algorithm, Outcome, Problem


@dataclass(frozen=True)
class AlgorithmEntry:
    """An algorithm and the options that the policy may give it besides ``name`` and ``seed``."""

    run: Algorithm
    options: frozenset[str]
    summary: str


ALGORITHMS: dict[str, AlgorithmEntry] = {
    "optimal": AlgorithmEntry(optimal, frozenset({"metric"}), "best full-domain node by a measure"),
    "incognito": AlgorithmEntry(incognito, frozenset({"metric", "node"}), "all minimal full-domain nodes"),
    "greedy-clustering": AlgorithmEntry(
        greedy_clustering,
        frozenset({"metric", "weights", "faithful", "refine"}),
        "classes found in order of cost, within boundaries",
    ),
    "greedy-lattice": AlgorithmEntry(greedy_lattice, frozenset({"weights"}), "one greedy path up the lattice"),
}

__all__ = ["ALGORITHMS", "Algorithm", "AlgorithmEntry", "Outcome", "Problem"]
