"""The page that goes with a release: its evidence, for a reader who does not program."""

from shoal.present.report.page import write_report

__all__ = ["write_report"]
