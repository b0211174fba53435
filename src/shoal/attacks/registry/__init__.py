"""Releases over time: a folder that remembers what was published, and what a new release reveals together with it.

An entry holds what its release publishes anyway - released labels, sizes of classes, published sensitive values with
their counts - in clear, because whoever has the release has it too. It never holds a value of the input that was not
published, nothing of suppressed records, no insensitive column and no row.
"""
