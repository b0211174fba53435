"""Precision (Wang et al. 2011, (11) and (12); Sweeney 2002): one minus the mean share of levels raised."""

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.base import CellMetric, Floats


class Precision(CellMetric):
    """1 - mean over cells of h / H: 1 when nothing is generalized."""

    name = "precision"
    title = "Precision"
    summary = (
        "One minus the share of its hierarchy's height by which a value was raised, on average over the cells: 1 when "
        "nothing was generalized."
    )
    short = "detail kept by levels (higher is better)"
    position = 50
    higher_is_better = True
    maximum = 1.0
    source = "Wang, Xu & Qu 2011, (11) and (12)"

    def cell(self, hierarchy: Hierarchy) -> Floats:
        """Levels raised over the levels up to the root, which declared levels may repeat."""
        return hierarchy.node_levels / max(int(hierarchy.node_levels[hierarchy.root]), 1)

    def value(self, cost: float) -> float:
        """One minus the cost."""
        return 1.0 - cost

    def cost(self, value: float) -> float:
        """One minus the measure: the same scale as the bounds that a search compares it with."""
        return 1.0 - value
