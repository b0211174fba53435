"""Normalized total information loss (Campan Def. 10, 11)."""

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.base import CellMetric, Floats


class NTIL(CellMetric):
    """Mean over cells of (height of the subtree under the released value) / (height of the hierarchy)."""

    name = "ntil"
    title = "NTIL (normalized total information loss)"
    summary = (
        "How many levels of the hierarchy lie under the released value, out of all its levels, on average over the "
        "cells; a cell that is left out counts 1."
    )
    short = "height of the released labels in their hierarchies"
    position = 30
    maximum = 1.0
    source = "Campan, Truta & Cooper 2010, Definitions 10 and 11"

    def cell(self, hierarchy: Hierarchy) -> Floats:
        """Height of the subtree over the height of the tree."""
        heights = hierarchy.subtree_heights
        return heights / max(int(heights[hierarchy.root]), 1)
