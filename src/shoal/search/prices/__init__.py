"""Prices of records: the dual of the best possible release, and so a lower bound on its loss."""
