"""Loss: the geometric mean over columns of 1 + the column's mean NCP, minus 1.

Compared with the plain average it weighs the first bit lost of a column more than the last: a release that gives up one
column and spares the others costs less than one that blurs them all alike. Searches minimize it unless told otherwise.
"""

from collections.abc import Sequence

import numpy as np

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.base import Floats
from shoal.metrics.ncp import NCP


class Loss(NCP):
    """exp(mean over columns of ln(1 + mean NCP)) - 1."""

    name = "loss"
    title = "Loss"
    summary = "The NCP of the single columns, joined by a geometric mean of 1 + NCP in place of a plain mean."
    short = "detail lost, where giving up one column costs less than generalizing all alike"
    position = 20
    maximum = 1.0
    source = "Iyengar 2002 (cell loss), geometric mean over columns"

    def column(self, mean: Floats) -> Floats:
        """ln(1 + mean)."""
        return np.log1p(mean)

    def slope(self, mean: Floats) -> Floats:
        """1 / (1 + mean)."""
        return 1.0 / (1.0 + mean)

    def finish(self, total: Floats, hierarchies: Sequence[Hierarchy]) -> Floats:
        """exp(total / columns) - 1."""
        return np.expm1(total / max(len(hierarchies), 1))
