"""The algorithms by name, and which options each takes."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.search.lattice.greedy_lattice import greedy_lattice
from shoal.search.lattice.incognito import incognito
from shoal.search.lattice.optimal import optimal
from shoal.search.local.greedy_clustering import greedy_clustering
from shoal.search.local.mondrian import mondrian
from shoal.search.local.range_method import range_method
from shoal.search.local.top_down import top_down
from shoal.search.problem import Algorithm, Problem, SearchResult


@dataclass(frozen=True)
class AlgorithmEntry:
    """An algorithm and the options that the policy may give it besides ``name`` and ``seed``."""

    run: Algorithm
    options: frozenset[str]
    summary: str
    needs: frozenset[str] = frozenset()
    """Options without which it cannot run."""
    parts_equals: bool = False
    """Whether records with equal quasi-identifiers may get different labels. Then which of them gets which must not
    depend on the order of the rows: the pipeline puts them into an order of their content first."""


ALGORITHMS: dict[str, AlgorithmEntry] = {
    "optimal": AlgorithmEntry(optimal, frozenset({"metric"}), "best full-domain node by a measure"),
    "incognito": AlgorithmEntry(incognito, frozenset({"metric", "node"}), "all minimal full-domain nodes"),
    "greedy-clustering": AlgorithmEntry(
        greedy_clustering,
        frozenset({"metric", "weights", "faithful", "refine", "ranges"}),
        "classes found in order of cost, within boundaries",
        parts_equals=True,
    ),
    "top-down": AlgorithmEntry(
        top_down,
        frozenset({"metric", "refine", "ranges"}),
        "specialization from the top, failing children pushed back",
        parts_equals=True,
    ),
    "mondrian": AlgorithmEntry(mondrian, frozenset({"metric", "refine", "ranges"}), "strict multidimensional cuts"),
    "range": AlgorithmEntry(
        range_method,
        frozenset({"group", "ranges", "safe"}),
        "ranges between neighbours inside masked groups",
        needs=frozenset({"group", "ranges"}),
    ),
    "greedy-lattice": AlgorithmEntry(greedy_lattice, frozenset({"weights"}), "one greedy path up the lattice"),
}

_OWN = frozenset({"weights", "node"})
"""Options that mean something else, or nothing, to another algorithm."""


def shared_options(name: str) -> frozenset[str]:
    """The options of a policy that also go to an algorithm which it does not name; none where nobody knows it."""
    entry = ALGORITHMS.get(name)
    return (entry.options | {"seed"}) - _OWN if entry is not None else frozenset()


__all__ = ["ALGORITHMS", "Algorithm", "AlgorithmEntry", "Problem", "SearchResult", "shared_options"]
