"""Every attack by name, in the order of reports."""

from __future__ import annotations

from shoal.attacks.attack import Attack
from shoal.plugins import discover

ATTACKS: dict[str, type[Attack]] = discover("shoal.attacks.attackers", Attack, "shoal.attacks")
"""The attacks by their names in the evidence: those of this package, then those of installed packages."""
