"""Comparing algorithms and parameters on one table: risk against utility, every point reproducible."""
