"""The declarations of `optimal`; its search is `shoal.search.lattice.optimal`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shoal.search.algorithm import METRIC, Algorithm


class Optimal(Algorithm):
    """The best full-domain node by a measure."""

    name = "optimal"
    summary = "best full-domain node by a measure"
    does = "Tries all combinations of levels and releases the one that loses least."
    when = (
        "Start here. One level per column is what most readers of a release expect, and no other release of that kind "
        "is better."
    )
    drawback = "A few unusual people make everybody's values coarser, or are left out."
    implementation = "shoal.search.lattice.optimal:optimal"
    options = (METRIC,)
    scope = "full-domain"
    search = "best-node"
    least_general = True
    position = 10

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """Nodes that the search for the best one looks at; all may be needed where the models do not prune."""
        nodes = math.prod(shape)
        root = math.sqrt(nodes)
        return (min(nodes, 0.4 * root + 1), min(nodes, 4 * root)) if prunes else (root, float(nodes))
