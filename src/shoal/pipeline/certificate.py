"""The bound that a run may claim: prices of a search, handed to the independent checker in the values of the original.

A search knows codes, the checker values; what it takes over is the prices alone, in memory. Records, classes, labels
and costs are worked out a second time from the original and the policy. Prices tell about people, so nothing of them
goes into evidence but what they prove.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.io.source import Reading
from shoal.pipeline.verify import original_rows
from shoal.policy import Policy
from shoal.search.problem import Problem
from shoal.verification import stated
from shoal.verification.price_certificate import Prices, ProvenBound, checked_bound


def check_certificate(
    policy: Policy, reading: Reading, problem: Problem, prices: NDArray[np.float64], *, measure: str = "ncp"
) -> ProvenBound | None:
    """What a price for each distinct tuple of a problem's table proves about the original that was read.

    None where the search began with coarser values than the original has, since its prices are not about these, and
    where there is no original as one table.
    """
    original = None if reading.coarse_policy is not None else original_rows(reading, policy)
    if original is None:
        return None
    table = problem.table
    values = {
        name: pa.array(hierarchy.labels[: hierarchy.n_leaves], pa.string()).take(pa.array(codes))
        for name, hierarchy, codes in zip(table.quasi, problem.hierarchies, table.codes, strict=True)
    }
    given = Prices(pa.table(values), np.asarray(prices, dtype=np.float64))
    return checked_bound(original, stated(policy), given, measure=measure)
