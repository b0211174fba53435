"""Policies: reading, checking, and resolving them against data."""

from shoal.policy.policy import Policy

__all__ = ["Policy"]
