"""Distortion ratio (Sun et al. 2008, section 4): levels raised over the levels that could be raised."""

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.base import CellMetric, Floats


class DistortionRatio(CellMetric):
    """Sum of h over all cells / sum of H: 0 when nothing is generalized, 1 when every cell is a root."""

    name = "distortion_ratio"
    title = "Distortion ratio"
    summary = (
        "By how many levels values were raised, out of all levels they could be raised; a cell that is left out counts"
        " as raised to the top."
    )
    short = "levels raised, of those that could be"
    position = 40
    maximum = 1.0
    source = "Sun, Wang, Li & Truta 2008, section 4"

    def cell(self, hierarchy: Hierarchy) -> Floats:
        """Levels raised over the levels up to the root."""
        return hierarchy.node_levels / max(int(hierarchy.node_levels[hierarchy.root]), 1)

    def weight(self, hierarchy: Hierarchy) -> float:
        """A column counts by its height, the level at which the root first appears: a ratio of sums."""
        return float(hierarchy.node_levels[hierarchy.root])
