"""Comparing with limits that a policy writes in decimals: exactly for counts, else within one tolerance.

``0.1 + 0.2`` and ``1/3`` have no exact value in binary floating point, and a class that meets a limit exactly must not
fail by the last bit. A limit is therefore read as the decimal that the policy shows, and compared over whole numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np

from shoal.table.classes import Counts, Floats, Mask

TOLERANCE: Final = 1e-9
"""How far a figure in floating point may pass its limit and still meet it.

Entropies, transport distances and average leakages are sums of many rounded terms: three equally frequent values have
an entropy of ln 3 only up to the last bits. Rounding errors stay below 1e-11 for any table that fits in memory, and no
policy tells 0.2 from 0.200000001. Counts, weights and shares are compared exactly and do not use it.
"""
_INT64_MAX = np.iinfo(np.int64).max
_DECIMALS = 10**9
_EXACT_WHOLE = 10**6  # A float shows nine decimals exactly (15 digits in all) only below this


def exact(limit: float | Fraction) -> Fraction:
    """The number as it is written: 0.1 is one tenth, not the nearest binary fraction."""
    return Fraction(str(limit))


def at_most(numerators: Counts, denominators: Counts, limit: Fraction) -> Mask:
    """Where ``numerator / denominator <= limit``; a zero denominator needs a zero numerator."""
    left, right = _crossed(numerators, denominators, limit)
    return np.asarray(left <= right, dtype=np.bool_)


def below(numerators: Counts, denominators: Counts, limit: Fraction) -> Mask:
    """Where ``numerator < limit * denominator``; false for a zero denominator."""
    left, right = _crossed(numerators, denominators, limit)
    return np.asarray(left < right, dtype=np.bool_)


def _crossed(numerators: Counts, denominators: Counts, limit: Fraction) -> tuple[Counts, Counts]:
    """Both sides multiplied out, in Python's unbounded integers where 64 bits could overflow."""
    top = max(
        int(numerators.max(initial=0)) * limit.denominator,
        int(denominators.max(initial=0)) * limit.numerator,
        limit.denominator,
        limit.numerator,
    )
    if top > _INT64_MAX:
        numerators, denominators = numerators.astype(object), denominators.astype(object)
    return numerators * limit.denominator, denominators * limit.numerator


def rounded_up(numerators: Counts, denominators: Counts | int) -> Floats:
    """The ratio with nine decimals and never less than it is: as a limit, the class meets it."""
    return _rounded(-np.asarray(numerators), denominators) * -1.0 + 0.0


def rounded_down(numerators: Counts, denominators: Counts | int) -> Floats:
    """The ratio with nine decimals (none from a million on) and never more than it is."""
    return _rounded(np.asarray(numerators), denominators)


def _rounded(numerators: Counts, denominators: Counts | int) -> Floats:
    whole, rest = np.divmod(numerators, denominators)
    if int(np.max(denominators, initial=0)) > _INT64_MAX // _DECIMALS:
        rest = rest.astype(object)
    decimals = np.asarray(rest * _DECIMALS // denominators, dtype=np.int64)
    small = np.abs(whole) < _EXACT_WHOLE
    fine = (np.where(small, whole, 0) * _DECIMALS + decimals) / _DECIMALS
    return np.asarray(np.where(small, fine, whole), dtype=np.float64)
