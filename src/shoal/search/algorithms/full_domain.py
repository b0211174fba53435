"""The declarations of the algorithms that search the lattice; each search is in a file of `shoal.search.lattice`."""

import math
from collections.abc import Sequence

from shoal.declarations import Parameter, ParameterKind
from shoal.search.algorithm import CONCEAL, METRIC, Algorithm


class Optimal(Algorithm):
    """The best full-domain node by a measure."""

    name = "optimal"
    summary = "best full-domain node by a measure"
    does = "Tries all combinations of levels and releases the one that loses least."
    when = (
        "Where readers expect one level per column, or new records are to join the release: no other release of that "
        "kind is better."
    )
    drawback = "A few unusual people make everybody's values coarser, or are left out."
    implementation = "shoal.search.lattice.optimal:optimal"
    refusals_at = "shoal.search.lattice.refused_nodes:optimal_refusals"
    options = (METRIC, CONCEAL)
    scope = "full-domain"
    search = "best-node"
    least_general = True
    position = 10

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """Nodes that the search for the best one looks at; all may be needed where the models do not prune."""
        nodes = math.prod(shape)
        root = math.sqrt(nodes)
        return (min(nodes, 0.4 * root + 1), min(nodes, 4 * root)) if prunes else (root, float(nodes))


class Incognito(Algorithm):
    """All minimal full-domain nodes, of which the best or a chosen one is released."""

    name = "incognito"
    summary = "all minimal full-domain nodes"
    does = (
        "Finds every combination of levels in which no level can be lowered, and releases the best one or the one you "
        "choose."
    )
    when = "To see the alternatives and decide by hand which column keeps its detail."
    drawback = "With many columns there are too many combinations; it says so."
    implementation = "shoal.search.lattice.incognito:incognito"
    refusals_at = "shoal.search.lattice.refused_nodes:incognito_refusals"
    options = (
        METRIC,
        Parameter(
            "node", ParameterKind.LEVELS, "One level for each column: one of the combinations that the picture under "
            "“Understand” offers. Empty for the best one.", title="Levels to release", default=None, shared=False,
        ),
        CONCEAL,
    )  # fmt: skip
    scope = "full-domain"
    search = "minimal-nodes"
    least_general = True
    position = 20

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """Nodes of all subsets of the quasi-identifiers that are looked at."""
        checks = math.prod(levels + 1 for levels in shape) ** 0.75
        return (0.15 * checks, 1.8 * checks) if prunes else (0.15 * checks, 1.8 * checks + math.prod(shape))


class GreedyLattice(Algorithm):
    """One greedy path up the lattice."""

    name = "greedy-lattice"
    summary = "one greedy path up the lattice"
    does = "Walks one path: raises the column that costs least until the models hold."
    when = "With weights that say which columns matter, or where one level per column is a must and optimal finds none."
    drawback = "It may miss the best combination, and with some models one that exists."
    implementation = "shoal.search.lattice.greedy_lattice:greedy_lattice"
    refusals_at = "shoal.search.lattice.refused_nodes:greedy_lattice_refusals"
    options = (
        Parameter(
            "weights", ParameterKind.WEIGHTS, "A column of weight 1 costs nothing to generalize, so give the columns "
            "that matter small weights. 0 when empty.", title="Weights", default={}, high=1, shared=False,
        ),
        CONCEAL,
    )  # fmt: skip
    scope = "full-domain"
    search = "one-path"
    finds_at = "shoal.search.lattice.greedy_lattice:finds"
    position = 70

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:  # noqa: ARG002 - one path anyway
        """Nodes of a single path up the lattice, walked twice where models look at the whole release."""
        return 1.0, 2.0 * (sum(shape) - len(shape) + 1)
