"""What prices prove, against exact optima: integer programming, which itself is compared with every partition."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.metrics import METRICS, ReleaseSummary
from shoal.pipeline.run import make_release
from shoal.search import ALGORITHMS
from shoal.verification import price_certificate, stated
from shoal.verification.price_certificate import Prices, ProvenBound, checked_bound
from support.exact_optimum import (
    SECRET,
    TREES,
    Item,
    SmallTable,
    exact_loss,
    exact_loss_by_partitions,
    leaves_of,
    relaxed_loss,
    small_tables,
)

pytestmark = pytest.mark.slow

RELEASING = [name for name in sorted(ALGORITHMS) if name != "range"]
"""All algorithms but the one that makes no classes, so that no class has to be paid for."""


def proven(table: SmallTable, prices: Mapping[Item, float]) -> ProvenBound:
    rows = list(prices)
    columns = {name: [row[j] for row in rows] for j, name in enumerate([*table.names, SECRET])}
    given = Prices(pa.table(columns), np.array([prices[row] for row in rows]))
    found = checked_bound(table.table.select, stated(table.policy()), given)
    assert found.code == "proven"
    return found


def bound_of(found: ProvenBound) -> float:
    assert found.bound is not None
    return found.bound


@settings(max_examples=60)
@given(small_tables())
def test_the_integer_program_finds_the_best_of_all_partitions(table: SmallTable) -> None:
    tried = exact_loss_by_partitions(table)
    found = exact_loss(table)
    assert (found is None) == (tried is None)
    if found is not None:
        assert found == pytest.approx(tried, abs=1e-7)


@settings(max_examples=60)
@given(small_tables(most_records=12))
def test_the_prices_of_the_relaxation_prove_its_value(table: SmallTable) -> None:
    relaxed = relaxed_loss(table)
    assume(relaxed is not None)
    assert relaxed is not None
    found = proven(table, relaxed[1])
    assert found.bound == pytest.approx(relaxed[0], abs=1e-6)
    assert found.largest_excess < 1e-6
    assert found.unpriced == 0


@settings(max_examples=60)
@given(small_tables(most_records=10), st.data())
def test_no_prices_prove_more_than_the_relaxation_which_is_no_more_than_the_optimum(
    table: SmallTable, data: st.DataObject
) -> None:
    best, relaxed = exact_loss(table), relaxed_loss(table)
    assume(best is not None)
    assert best is not None
    assert relaxed is not None
    prices = {item: data.draw(st.floats(-1, 3), label=str(item)) for item in table.items}
    assert bound_of(proven(table, prices)) <= relaxed[0] + 1e-9
    assert relaxed[0] <= best + 1e-7


@settings(max_examples=40)
@given(small_tables(most_records=12), st.data())
def test_a_changed_certificate_proves_less_never_more(table: SmallTable, data: st.DataObject) -> None:
    relaxed = relaxed_loss(table)
    assume(relaxed is not None)
    assert relaxed is not None
    changed = dict(relaxed[1])
    for item in data.draw(st.lists(st.sampled_from(list(changed)), min_size=1, unique=True)):
        changed[item] += data.draw(st.sampled_from([-0.5, 0.01, 0.2, 5.0]))
    assert bound_of(proven(table, changed)) <= relaxed[0] + 1e-9


@settings(max_examples=25)
@given(small_tables(most_records=20), st.integers(0, 1000))
def test_compiled_and_plain_walks_find_the_same(table: SmallTable, seed: int) -> None:
    random = Random(seed)
    prices = {item: round(random.random(), 1) for item in table.items}
    with pytest.MonkeyPatch.context() as patch:
        plain = proven(table, prices)
        patch.setattr(price_certificate, "FEW_ITEMS", -1)
        compiled = proven(table, prices)
    assert plain.bound == pytest.approx(compiled.bound, abs=1e-12)
    assert plain.largest_excess == pytest.approx(compiled.largest_excess, abs=1e-12)
    assert plain.lowered == compiled.lowered


@settings(max_examples=25)
@given(small_tables(most_records=9))
def test_no_algorithm_loses_less_than_the_exact_optimum(table: SmallTable) -> None:
    best, lost = exact_loss(table), losses(table)
    if best is None:
        assert not lost
    for name, loss in lost.items():
        assert best is not None
        assert loss >= best - 1e-7, name


def losses(table: SmallTable) -> dict[str, float]:
    """What each algorithm loses, if it finds a release."""
    found = {}
    for name in RELEASING:
        try:
            recoding = make_release(table.table, table.policy(algorithm={"name": name})).recoding
        except InfeasibleError:
            continue
        found[name] = METRICS["ncp"].of(ReleaseSummary.of(recoding))
    return found


@pytest.mark.parametrize(("records", "k", "p", "suppressed"), [(120, 3, 1, 0), (60, 4, 2, 3), (60, 5, 3, 0)])
def test_bound_optimum_and_algorithms_of_a_larger_table_are_in_order(
    records: int, k: int, p: int, suppressed: int
) -> None:
    random = Random(records + k)
    rows = tuple((*(random.choice(leaves_of(tree)) for tree in TREES), random.choice("xxxyyz")) for _ in range(records))
    table = SmallTable(TREES, rows, k, p, suppressed, (None, None, ("N", "S")))
    best, relaxed = exact_loss(table), relaxed_loss(table)
    assert best is not None
    assert relaxed is not None
    bound = bound_of(proven(table, relaxed[1]))
    assert bound == pytest.approx(relaxed[0], abs=1e-6)
    assert 0 < bound <= best + 1e-7
    lost = losses(table)
    assert set(lost) == set(RELEASING)
    assert min(lost.values()) >= best - 1e-7
    assert min(lost.values()) <= 1.3 * best
