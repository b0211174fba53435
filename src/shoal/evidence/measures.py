"""Every measure of a release."""

from __future__ import annotations

from shoal.metrics import METRICS, ReleaseSummary


def measure(summary: ReleaseSummary) -> dict[str, float]:
    """Every measure of a release."""
    return {name: round(metric.of(summary), 12) for name, metric in METRICS.items()}
