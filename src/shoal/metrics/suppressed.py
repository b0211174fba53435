"""Suppressed records (Campan's OUT, Wang's v): how many were left out."""

from __future__ import annotations

from shoal.metrics.base import Metric, ReleaseSummary


class Suppressed(Metric):
    """Number of records left out of the release."""

    name = "suppressed"
    source = "Campan, Truta & Cooper 2010, Table 6"

    def of(self, release: ReleaseSummary) -> float:
        """Records left out."""
        return float(release.suppressed)
