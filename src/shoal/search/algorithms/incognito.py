"""The declarations of `incognito`; its search is `shoal.search.lattice.incognito`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shoal.declarations import Parameter, ParameterKind
from shoal.search.algorithm import METRIC, Algorithm


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
    options = (
        METRIC,
        Parameter(
            "node", ParameterKind.LEVELS, "One level for each column: one of the combinations that the picture under "
            "“Understand” offers. Empty for the best one.", title="Levels to release", default=None, shared=False,
        ),
    )  # fmt: skip
    scope = "full-domain"
    search = "minimal-nodes"
    least_general = True
    position = 20

    def checks(self, shape: Sequence[int], *, prunes: bool) -> tuple[float, float]:
        """Nodes of all subsets of the quasi-identifiers that are looked at."""
        checks = math.prod(levels + 1 for levels in shape) ** 0.75
        return (0.15 * checks, 1.8 * checks) if prunes else (0.15 * checks, 1.8 * checks + math.prod(shape))
