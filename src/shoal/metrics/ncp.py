"""Normalized certainty penalty: mean over all cells of (values covered - 1) / (domain - 1)."""

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.base import CellMetric, Floats


class NCP(CellMetric):
    """0 when nothing is generalized, 1 when every cell is the root or suppressed."""

    name = "ncp"
    title = "NCP (normalized certainty penalty)"
    summary = (
        "How wide the released values are, on average over all quasi-identifier cells: 0 when every value is released "
        "as it was, 1 when each is fully generalized or left out."
    )
    short = "detail lost, averaged over all cells"
    position = 10
    maximum = 1.0
    source = "Xu et al. 2006, Utility-based anonymization using local recoding"

    def cell(self, hierarchy: Hierarchy) -> Floats:
        """(values covered - 1) / (domain - 1)."""
        return hierarchy.loss
