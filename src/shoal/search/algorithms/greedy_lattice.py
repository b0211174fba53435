"""The declarations of `greedy-lattice`; its search is `shoal.search.lattice.greedy_lattice`."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.declarations import Parameter, ParameterKind
from shoal.search.algorithm import Algorithm


class GreedyLattice(Algorithm):
    """One greedy path up the lattice."""

    name = "greedy-lattice"
    summary = "one greedy path up the lattice"
    does = "Walks one path: raises the column that costs least until the models hold."
    when = "With more columns than optimal can search, or with weights that say which columns matter."
    drawback = "It may miss the best combination, and with some models one that exists."
    implementation = "shoal.search.lattice.greedy_lattice:greedy_lattice"
    options = (
        Parameter(
            "weights", ParameterKind.WEIGHTS, "A column of weight 1 costs nothing to generalize, so give the columns "
            "that matter small weights. 0 when empty.", title="Weights", default={}, high=1, shared=False,
        ),
    )  # fmt: skip
    scope = "full-domain"
    search = "one-path"
    finds_at = "shoal.search.lattice.greedy_lattice:finds"
    position = 70

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:  # noqa: ARG002 - one path anyway
        """Nodes of a single path up the lattice, walked twice where models look at the whole release."""
        return 1.0, 2.0 * (sum(shape) - len(shape) + 1)
