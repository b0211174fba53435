"""Which records are held out, and which are drawn where there are too many: by seed, and evenly over the classes."""

from __future__ import annotations

import numpy as np

from shoal.utility.columns import Codes, Rows


def held_out(classes: Codes, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """The rows to train on and the rows to test on; of every class the same share is held out, to the nearest record.

    The rows of a class must be in an order of their content, so that the order of the input decides nothing. A class
    keeps at least one record to train on.
    """
    train, test = [], []
    for each in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == each))
        held = min(int(share * len(rows) + 0.5), len(rows) - 1)
        test.append(rows[:held])
        train.append(rows[held:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def sampled(rows: Rows, most: int, rng: np.random.Generator) -> Rows:
    """At most so many of the rows, drawn without replacement, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(rng.choice(rows, size=most, replace=False))


def drawn_values(first: Codes, last: Codes, rng: np.random.Generator) -> Codes:
    """One value for each cell, drawn from all that it may be, each equally likely."""
    return first + rng.integers(0, last - first + 1)
