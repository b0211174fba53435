"""Wang's information loss (Wang et al. 2011, (9)): mean over cells of (values covered - 1) / domain."""

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.base import CellMetric, Floats


class WangLoss(CellMetric):
    """Like NCP, with the domain itself as divisor; a suppressed cell counts 1."""

    name = "wang_loss"
    title = "Loss of Wang, Xu and Qu"
    summary = "Like NCP, with the width of a value measured against the number of all values, itself included."
    short = "detail lost, averaged over all cells, by the whole domain"
    position = 60
    maximum = 1.0
    source = "Wang, Xu & Qu 2011, (9)"

    def cell(self, hierarchy: Hierarchy) -> Floats:
        """(values covered - 1) / domain."""
        losses: Floats = (hierarchy.spans - 1) / hierarchy.spans[hierarchy.root]
        return losses
