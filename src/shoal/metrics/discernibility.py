"""Discernibility (Bayardo & Agrawal 2005): each record pays the number of records it cannot be told from."""

from shoal.metrics.base import Metric, ReleaseSummary


class Discernibility(Metric):
    """Sum of squared class sizes; a suppressed record pays the size of the whole table."""

    name = "discernibility"
    title = "Discernibility"
    summary = (
        "Each released record counts the size of its class, each record left out the size of the whole table, and all "
        "are added up."
    )
    short = "how many records each record looks like"
    position = 70
    source = "Bayardo & Agrawal 2005"

    def of(self, release: ReleaseSummary) -> float:
        """Sum over classes of size squared, plus suppressed records times the table's size."""
        return float((release.sizes**2).sum() + release.suppressed * release.records)
