"""Average class size: released records over classes."""

from shoal.metrics.base import Metric, ReleaseSummary


class AverageClassSize(Metric):
    """Records released divided by classes; 0 when nothing is released."""

    name = "average_class_size"
    title = "Average class size"
    summary = (
        "Released records divided by classes. Small classes keep more detail; the models decide how small they may be."
    )
    short = "records in a class on average"
    position = 80
    source = "LeFevre, DeWitt & Ramakrishnan 2006"

    def of(self, release: ReleaseSummary) -> float:
        """Released over classes."""
        return release.released / len(release.sizes) if len(release.sizes) else 0.0
