"""The measures: one file each, all reachable by name."""

from shoal.metrics.average_class_size import AverageClassSize
from shoal.metrics.base import CellMetric, Metric, ReleaseSummary
from shoal.metrics.constraint_violations import ConstraintViolations
from shoal.metrics.discernibility import Discernibility
from shoal.metrics.distortion_ratio import DistortionRatio
from shoal.metrics.loss import Loss
from shoal.metrics.ncp import NCP
from shoal.metrics.ntil import NTIL
from shoal.metrics.precision import Precision
from shoal.metrics.suppressed import Suppressed
from shoal.metrics.wang_loss import WangLoss

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        NCP(),
        Loss(),
        NTIL(),
        DistortionRatio(),
        Precision(),
        WangLoss(),
        Discernibility(),
        AverageClassSize(),
        Suppressed(),
        ConstraintViolations(),
    )
}
"""Every measure by its name."""

__all__ = ["METRICS", "CellMetric", "Metric", "ReleaseSummary"]
