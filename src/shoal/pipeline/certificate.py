"""The bound that a run may claim: prices of a search, handed to the independent checker in the values of the original.

A search knows codes, the checker values; what it takes over is the prices alone, in memory. Records, classes, labels
and costs are worked out a second time from the original and the policy. Prices tell about people, so nothing of them
goes into evidence but what they prove.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.io.source import Reading
from shoal.pipeline.verify import original_rows
from shoal.policy import Policy
from shoal.search.bounds.lower_bound import LowerBound
from shoal.search.bounds.price_bound import PriceProof
from shoal.search.engine import LocalEngine
from shoal.search.kernels.compiling import compile_ahead
from shoal.search.kernels.load import PROVING
from shoal.search.prices.solver import PriceBound, PriceSolver
from shoal.search.prices.work import is_small
from shoal.search.problem import Problem
from shoal.table.classes import Counts, Floats
from shoal.table.encoded import Codes
from shoal.verification import Check, Verification, stated
from shoal.verification.price_certificate import Prices, ProvenBound, checked_bound

_LEAST_STEPS = 1_000_000  # of a check, however little work the prices were
_MARGIN = 1e-9  # by which the two may differ in rounding


def proven_bound(
    policy: Policy,
    reading: Reading,
    problem: Problem,
    engine: LocalEngine,
    search: Mapping[str, Any],
    solver: PriceSolver | None = None,
) -> LowerBound | None:
    """How little any release could lose: the bound that the checker finds where there are prices.

    Checking may take as many steps as finding the prices did; beyond that, the bound says that it is not checked. A
    checker that finds less than the search has claimed is a `VerificationError`. ``solver`` has the prices that guided
    the search, if any did.
    """
    if search.get("guarantees", True) and problem.table.n_tuples and not is_small(problem):
        compile_ahead(PROVING, problem.progress)
    bound = LowerBound.of(problem, engine, search, solver)
    if bound is None or bound.proof is None:
        return bound
    proof = bound.proof
    most = max(proof.proof.work, _LEAST_STEPS)
    free = set(problem.table.quasi) - set(proof.columns)
    found = check_certificate(policy, reading, problem, proof.proof, free=free, most_steps=most)
    if found is None or found.bound is None:
        return replace(
            bound, unchecked="too-large" if found is not None and found.code == "too-large" else "no-original"
        )
    if _as_strict(policy, problem, proof, found):
        _compare(proof, found)
    return replace(bound, ncp=found.bound, unchecked=None)


def _as_strict(policy: Policy, problem: Problem, claimed: PriceProof, found: ProvenBound) -> bool:
    """Whether the checker allows no class that the search did not, so that it cannot rightly find less.

    It leaves out models that it does not know, such as those of another package, and boundaries of ranges.
    """
    column, ranged = claimed.proof.items.column, problem.options.get("ranges") or ()
    if any(policy.columns[name].boundary is not None for name in ranged):
        return False
    values = column is None or found.least_values.get(column, 1) >= claimed.values
    return values and found.least_records >= claimed.records


def _compare(claimed: PriceProof, found: ProvenBound) -> None:
    """Raise `VerificationError` where the checker finds less than the search claims."""
    if found.bound is not None and found.bound < claimed.bound - _MARGIN:
        message = (
            f"the search claims that no release loses less than {claimed.bound:.6f}, the prices prove {found.bound:.6f}"
        )
        facts = {
            "claimed": claimed.bound,
            "found": found.bound,
            "box": list(found.broken_box),
            "unpriced": found.unpriced,
        }
        Verification((Check("bound", False, message, facts),), found.records, None, None).raise_if_failed()


def check_certificate(
    policy: Policy,
    reading: Reading,
    problem: Problem,
    proof: PriceBound,
    *,
    measure: str = "ncp",
    free: Collection[str] = (),
    most_steps: int | None = None,
) -> ProvenBound | None:
    """What prices of a problem's table prove about the original that was read.

    None where the search began with coarser values than the original has, since its prices are not about these, and
    where there is no original as one table.
    """
    original = None if reading.coarse_policy is not None else original_rows(reading, policy)
    if original is None:
        return None
    given = _by_values(reading, problem, proof)
    return checked_bound(original, stated(policy), given, measure=measure, free=free, most_steps=most_steps)


def _by_values(reading: Reading, problem: Problem, proof: PriceBound) -> Prices:
    """Prices of tuples, and of sensitive values where these are counted, as prices of the original's values.

    Where records are linked, several tuples have the same values. They get the mean of their prices, which proves no
    less: what classes ask of prices is convex.
    """
    table, items = problem.table, proof.items
    tuples, prices, weights, more = items.tuples, proof.prices, items.weights, dict[str, Codes]()
    if items.column is not None:
        column = reading.rows.columns[items.column]
        known, values = problem.domains[items.column].known, table.row_sensitive[items.column]
        values = np.where((values >= 0) & known[values], values, -1).astype(np.int64)
        texts = column.codes if table.entry is None else column.codes[table.entry]
        rows, weights = _distinct(table.row_tuple, texts, table.weights)
        keys = items.tuples * np.int64(len(known) + 1) + items.values + 1  # in ascending order
        wanted = table.row_tuple[rows] * np.int64(len(known) + 1) + values[rows] + 1
        tuples, prices = table.row_tuple[rows].astype(np.int64), prices[np.searchsorted(keys, wanted)]
        more[items.column] = texts[rows]
    codes = {**{name: each[tuples] for name, each in zip(table.quasi, table.codes, strict=True)}, **more}
    labels = {
        name: hierarchy.labels[: hierarchy.n_leaves]
        for name, hierarchy in zip(table.quasi, problem.hierarchies, strict=True)
    }
    labels |= {name: reading.rows.columns[name].labels for name in more}
    if table.links is not None:
        codes, prices = _with_mean_prices(codes, prices, weights)
    shown = {name: pa.array(labels[name], pa.string()).take(pa.array(each)) for name, each in codes.items()}
    return Prices(pa.table(shown), np.asarray(prices, dtype=np.float64))


def _with_mean_prices(codes: Mapping[str, Codes], prices: Floats, weights: Counts) -> tuple[dict[str, Codes], Floats]:
    """Each combination of values once, with the mean price of its records."""
    _, first, which = np.unique(np.stack(list(codes.values())), axis=1, return_index=True, return_inverse=True)
    mean = np.bincount(which.ravel(), weights * prices) / np.bincount(which.ravel(), weights)
    return {name: each[first] for name, each in codes.items()}, mean


def _distinct(one: Codes, other: Codes, weights: Counts | None) -> tuple[NDArray[np.intp], Counts]:
    """The first row of each combination of two numbers, and how many records have it."""
    keys = one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return first, np.bincount(which, weights).astype(np.int64)
