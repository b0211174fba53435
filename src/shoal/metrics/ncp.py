"""Normalized certainty penalty: mean over all cells of (values covered - 1) / (domain - 1)."""

from __future__ import annotations

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.base import CellMetric, Floats


class NCP(CellMetric):
    """0 when nothing is generalized, 1 when every cell is the root or suppressed."""

    name = "ncp"
    maximum = 1.0
    source = "Xu et al. 2006, Utility-based anonymization using local recoding"

    def cell(self, hierarchy: Hierarchy) -> Floats:
        """(values covered - 1) / (domain - 1)."""
        return hierarchy.loss
