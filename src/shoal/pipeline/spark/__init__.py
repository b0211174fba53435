"""Releases of tables in a Spark cluster."""
