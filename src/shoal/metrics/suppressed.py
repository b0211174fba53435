"""Suppressed records (Campan's OUT, Wang's v): how many were left out."""

from shoal.metrics.base import Metric, ReleaseSummary


class Suppressed(Metric):
    """Number of records left out of the release."""

    name = "suppressed"
    title = "Records left out (suppressed)"
    summary = "Records that were left out of the release, or stand in it as rows of * only."
    short = "records left out"
    position = 90
    source = "Campan, Truta & Cooper 2010, Table 6"

    def of(self, release: ReleaseSummary) -> float:
        """Records left out."""
        return float(release.suppressed)
