"""The one tolerance of comparisons that cannot be made over whole numbers."""

from __future__ import annotations

from typing import Final

TOLERANCE: Final = 1e-9
"""How far a figure in floating point may pass its limit and still meet it.

Entropies, transport distances and average leakages are sums of many rounded terms: three equally frequent values have
an entropy of ln 3 only up to the last bits. Rounding errors stay below 1e-11 for any table that fits in memory, and no
policy tells 0.2 from 0.200000001. Counts, weights and shares are compared exactly and do not use it.
"""
