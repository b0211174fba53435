"""Engines group the distinct tuples of a table; algorithms ask them and know nothing of how."""
