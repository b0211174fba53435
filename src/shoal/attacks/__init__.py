"""Attackers: what a release still tells."""
