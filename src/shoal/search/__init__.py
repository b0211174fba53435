"""The algorithms by name, and which options each takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.search.cost import (
    Growth,
    SearchCost,
    best_node_checks,
    lattice_cost,
    local_cost,
    minimal_node_checks,
    one_pass_cost,
    one_path_checks,
)
from shoal.search.diagnosis.diagnosis import Diagnosis
from shoal.search.diagnosis.relaxations import Finds, always
from shoal.search.engine import LocalEngine
from shoal.search.lattice.greedy_lattice import finds as on_the_path
from shoal.search.lattice.greedy_lattice import greedy_lattice
from shoal.search.lattice.incognito import incognito
from shoal.search.lattice.optimal import optimal
from shoal.search.local.greedy_clustering import greedy_clustering
from shoal.search.local.mondrian import mondrian
from shoal.search.local.range_method import diagnose, range_method, shared_groups
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
    splits_duplicates: bool = False
    """Whether records with equal quasi-identifiers may go to different classes."""
    works_on_records: bool = False
    """Whether it moves single records, so that each needs a row of codes in memory."""
    bytes_per_row: int = 0
    """Bytes of memory that it takes for each distinct row beside the table itself."""
    search: Literal["best-node", "minimal-nodes", "one-path", "one-result", "classes"] = "classes"
    """What it looks for: the best node of the lattice, all minimal ones, the first on a path, the one result that its
    options lead to, or classes of a local recoding, starting from the most general release."""
    cost: SearchCost = one_pass_cost
    """How long its search takes."""
    finds: Finds = always
    """Whether it finds a release where the most general node satisfies."""
    judge: Callable[[Problem, LocalEngine], Diagnosis | None] | None = None
    """For an algorithm with one result: why that does not satisfy, without recoding; None where it does."""
    groups: Callable[[Problem], NDArray[np.int64]] | None = None
    """For an algorithm with one result: the group of each distinct row, which is a class or is suppressed."""


ALGORITHMS: dict[str, AlgorithmEntry] = {
    "optimal": AlgorithmEntry(
        optimal,
        frozenset({"metric"}),
        "best full-domain node by a measure",
        search="best-node",
        cost=lattice_cost(best_node_checks),
    ),
    "incognito": AlgorithmEntry(
        incognito,
        frozenset({"metric", "node"}),
        "all minimal full-domain nodes",
        search="minimal-nodes",
        cost=lattice_cost(minimal_node_checks),
    ),
    "greedy-clustering": AlgorithmEntry(
        greedy_clustering,
        frozenset({"metric", "weights", "faithful", "refine", "ranges"}),
        "classes found in order of cost, within boundaries",
        splits_duplicates=True,
        works_on_records=True,
        bytes_per_row=500,
        cost=local_cost(
            sizes=Growth(0.10, 5.0e-5, 0.0, 3.0e-7),
            classes=Growth(0.15, 1.2e-4, 0.0, 5.0e-7),
            table=Growth(0.30, 3.0e-4, 4.0e-8, 3.0e-6),
            compiled=True,
        ),
    ),
    "top-down": AlgorithmEntry(
        top_down,
        frozenset({"metric", "refine", "ranges"}),
        "specialization from the top, failing children pushed back",
        splits_duplicates=True,
        bytes_per_row=500,
        cost=local_cost(
            sizes=Growth(0.05, 1.5e-5, 0.0, 2.5e-7),
            classes=Growth(0.07, 3.7e-5, 0.0, 3.5e-7),
            table=Growth(0.05, 1.1e-4, 2.8e-9, 3.0e-6),
        ),
    ),
    "mondrian": AlgorithmEntry(
        mondrian,
        frozenset({"metric", "refine", "ranges"}),
        "strict multidimensional cuts",
        bytes_per_row=500,
        cost=local_cost(
            sizes=Growth(0.012, 6.0e-6, 0.0, 2.0e-7),
            classes=Growth(0.015, 9.0e-6, 0.0, 4.0e-7),
            table=Growth(0.020, 9.0e-6, 0.0, 4.0e-7),
        ),
    ),
    "range": AlgorithmEntry(
        range_method,
        frozenset({"group", "ranges", "safe"}),
        "ranges between neighbours inside masked groups",
        needs=frozenset({"group", "ranges"}),
        search="one-result",
        judge=diagnose,
        groups=shared_groups,
    ),
    "greedy-lattice": AlgorithmEntry(
        greedy_lattice,
        frozenset({"weights"}),
        "one greedy path up the lattice",
        search="one-path",
        cost=lattice_cost(one_path_checks),
        finds=on_the_path,
    ),
}

_OWN = frozenset({"weights", "node"})
"""Options that mean something else, or nothing, to another algorithm."""


def shared_options(name: str) -> frozenset[str]:
    """The options of a policy that also go to an algorithm which it does not name; none where nobody knows it."""
    entry = ALGORITHMS.get(name)
    return (entry.options | {"seed"}) - _OWN if entry is not None else frozenset()


__all__ = ["ALGORITHMS", "Algorithm", "AlgorithmEntry", "Problem", "SearchResult", "shared_options"]
