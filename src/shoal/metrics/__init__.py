"""The measures: one file each, with what it declares, all reachable by name.

Installed packages offer further ones as entry points of the group ``shoal.metrics``.
"""

from shoal.metrics.base import CellMetric, Metric, ReleaseSummary
from shoal.plugins import discover

METRICS: dict[str, Metric] = {name: kind() for name, kind in discover(__name__, Metric, "shoal.metrics").items()}
DEFAULT_METRIC = "loss"  # what searches minimize unless the policy names another measure


def metric_title(name: str) -> str:
    """What people call a measure; its name where it is not known here."""
    return METRICS[name].title if name in METRICS else name


__all__ = ["DEFAULT_METRIC", "METRICS", "CellMetric", "Metric", "ReleaseSummary", "metric_title"]
