"""How open a table is before anything is done to it: who stands out, by what, and what an attacker may hope."""

from shoal.attacks.risk.risk import Risk

__all__ = ["Risk"]
