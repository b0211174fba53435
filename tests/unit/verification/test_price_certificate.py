"""The bound that prices prove, on tables small enough to work out by hand, and the verifier's own costs of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shoal.errors import DataError
from shoal.metrics import METRICS, CellMetric
from shoal.policy import Policy
from shoal.verification import CountedRows, stated
from shoal.verification.box_columns import CELL_COSTS, box_column
from shoal.verification.price_certificate import Prices, ProvenBound, checked_bound
from support.resolved import resolve

TREE = {"*": {"ab": ["a", "b"], "cd": ["c", "d"]}}
"""A cell that is released as ab or cd loses 1/3, as * all."""


def policy_of(k: int = 2, *more: dict[str, Any], **options: Any) -> Policy:
    columns: dict[str, Any] = {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}, "s": {"role": "sensitive"}}
    columns["q"] |= options.pop("quasi", {})
    columns["s"] |= options.pop("sensitive", {})
    return Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": k}, *more], **options)


def original(values: str, secrets: str = "") -> pa.Table:
    return pa.table({"q": list(values), "s": list(secrets or "x" * len(values))})


def bound(table: pa.Table, policy: Policy, prices: dict[str, float], **options: Any) -> ProvenBound:
    by_value = Prices(pa.table({"q": list(prices)}), np.array(list(prices.values())))
    return checked_bound(table.select, stated(policy), by_value, **options)


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_prices_that_no_class_exceeds_prove_their_mean() -> None:
    found = bound(original("abcd"), policy_of(), {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3, "d": 1 / 3})
    assert (found.code, found.records, found.lowered, found.broken_box) == ("proven", 4, 0, ())
    assert found.bound == pytest.approx(1 / 3)


def test_prices_of_a_box_may_differ_as_long_as_its_dearest_records_are_paid_for() -> None:
    found = bound(original("abc"), policy_of(3), {"a": 2.0, "b": 0.5, "c": 0.5})
    assert found.bound == pytest.approx(1.0)
    assert found.lowered == 0


def test_prices_that_are_too_high_fall_and_the_box_is_told() -> None:
    found = bound(original("abcd"), policy_of(), {"a": 1 / 3, "b": 1.0, "c": 0.0, "d": 0.0})
    assert found.broken_box == ("ab",)
    assert found.largest_excess == pytest.approx(1 / 3)
    assert found.lowered == 2
    assert found.bound == pytest.approx((1 / 3 + 1 + 0 + 0 - 2 / 3) / 4)


def test_records_that_are_in_no_class_above_its_cost_keep_their_prices() -> None:
    """a, a and b may cost nothing together with each other; c is too cheap to be in such a class."""
    found = bound(original("aac"), policy_of(), {"a": 0.1, "c": -3.0})
    assert found.lowered == 2
    assert found.bound == 0.0  # (0 + 0 - 3) / 3 proves nothing


def test_a_bound_is_never_below_nothing() -> None:
    assert bound(original("ab"), policy_of(), {"a": -1.0, "b": -1.0}).bound == 0.0


def test_records_without_a_price_count_as_nothing_and_are_told() -> None:
    found = bound(original("abcd"), policy_of(), {"a": 1 / 3, "b": 1 / 3})
    assert found.unpriced == 2
    assert found.bound == pytest.approx(1 / 6)


def test_prices_of_values_that_no_record_has_change_nothing() -> None:
    found = bound(original("ab"), policy_of(), {"a": 1 / 3, "b": 1 / 3, "c": 50.0})
    assert found.bound == pytest.approx(1 / 3)


# --- suppression and boundaries ---------------------------------------------------------------------------------------


def test_a_suppressed_record_costs_one_however_dear_it_is() -> None:
    table, prices = original("aac"), {"a": -0.5, "c": 2.5}
    assert bound(table, policy_of(), prices).bound == pytest.approx(0.5)
    assert bound(table, policy_of(suppression=0.34), prices).bound == pytest.approx(0.0)
    assert bound(table, policy_of(suppression=0.34), {"a": 0.0, "c": 2.0}).bound == pytest.approx(1 / 3)


def test_only_as_many_records_as_may_be_suppressed_cost_one() -> None:
    prices = {"a": 3.0, "b": 3.0}  # under their boundaries neither can be in any class
    policy = policy_of(quasi={"boundary": 0}, suppression=0.5)
    found = bound(original("ab"), policy, prices)
    assert found.bound == pytest.approx((3 + 1) / 2)
    assert found.boxes == 0


def test_boundaries_keep_records_from_sharing_a_box() -> None:
    prices = dict.fromkeys("abcd", 1.0)
    table = original("aabbcd")
    assert bound(table, policy_of(3), prices).bound == pytest.approx((4 / 3 + 2) / 6)
    assert bound(table, policy_of(3, quasi={"boundary": ["cd"]}), prices).bound == pytest.approx((4 / 3 + 2) / 6)
    assert bound(table, policy_of(2, quasi={"boundary": ["a", "b"]}), prices).bound == pytest.approx((0 + 2 / 3) / 6)


# --- distinct values --------------------------------------------------------------------------------------------------

TWO_VALUES = {"model": "p-sensitive", "p": 2}


def test_a_class_needs_its_values_even_where_its_records_are_enough() -> None:
    table, prices = original("aab", "xxy"), {"a": 1 / 3, "b": 1 / 3}
    assert bound(table, policy_of(), prices).bound == pytest.approx(1 / 9)
    assert bound(table, policy_of(2, TWO_VALUES), prices).bound == pytest.approx(1 / 3)


def test_a_larger_class_may_exceed_what_its_pairs_do_not() -> None:
    """Prices 10/15 and 9/15 for one value and 0 for the other, at a cost of 5/15: each pair is paid for, not all three.

    The three together have a mean of 19/45, which is 4/45 above 1/3.
    """
    table = pa.table({"q": ["a", "a", "b"], "s": ["x", "x", "y"], "t": ["1", "2", "3"]})
    policy = policy_of(2, TWO_VALUES)
    prices = Prices(pa.table({"t": ["1", "2", "3"]}), np.array([10 / 15, 9 / 15, 0.0]))
    found = checked_bound(table.select, stated(policy), prices)
    assert found.largest_excess == pytest.approx(4 / 45)
    assert found.bound == pytest.approx(1 / 3)


def test_a_box_with_too_few_values_has_no_class_however_dear_a_record_of_it_is() -> None:
    three = policy_of(3, {"model": "distinct-l-diversity", "l": 3})
    found = bound(original("abbcd", "xyyzz"), three, {"a": 2.0, "b": 0.0, "c": 1.0, "d": 1.0})
    assert found.lowered == 0
    assert found.bound == pytest.approx(4 / 5)


def test_unknown_values_are_records_and_no_values() -> None:
    table, prices = original("aab", "x?y"), {"a": 1 / 3, "b": 1 / 3}
    assert bound(table, policy_of(2, TWO_VALUES), prices).bound == pytest.approx(1 / 9)
    unknown = policy_of(2, TWO_VALUES, sensitive={"unknown": ["?"]})
    assert bound(table, unknown, prices).bound == pytest.approx(1 / 3)


def test_categories_count_where_the_model_counts_them() -> None:
    categories = {"categories": {"grave": ["x", "y"], "light": ["z"]}}
    table, prices = original("aab", "xyz"), {"a": 1 / 3, "b": 1 / 3}
    by_values = policy_of(2, {"model": "p-alpha-sensitive", "p": 2, "alpha": 0}, sensitive=categories)
    by_categories = policy_of(2, {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 0}, sensitive=categories)
    assert bound(table, by_values, prices).bound == pytest.approx(1 / 9)
    assert bound(table, by_categories, prices).bound == pytest.approx(1 / 3)


def test_other_models_are_left_out() -> None:
    prices = dict.fromkeys("abcd", 1 / 3)
    close = policy_of(2, {"model": "t-closeness", "t": 0.01})
    assert bound(original("abcd", "xyxy"), close, prices) == bound(original("abcd", "xyxy"), policy_of(), prices)


# --- what cannot be proven, and what is refused -----------------------------------------------------------------------


def test_columns_that_cost_nothing_are_told() -> None:
    table = original("abcd")
    found = bound(table, policy_of(), dict.fromkeys("abcd", 1 / 3), free=["q"])
    assert (found.bound, found.free_columns) == (0.0, ("q",))


def ranged_policy() -> Policy:
    return policy_of(quasi={"hierarchy": {"intervals": [1000]}}, algorithm={"name": "mondrian", "ranges": ["q"]})


def test_ranges_cost_less_than_the_labels_that_hold_them() -> None:
    """2 is in no interval with another number, but in a range that loses half."""
    table, prices = pa.table({"q": ["2", "3", "5"], "s": ["x"] * 3}), {"2": 1.0, "3": 1.0, "5": 1.0}
    by_labels = policy_of(quasi={"hierarchy": {"intervals": [[0, 3, 9]]}})
    assert bound(table, by_labels, prices).bound == pytest.approx(1 / 2 + 1 / 6)
    ranged = bound(table, ranged_policy(), prices)
    assert ranged.bound == pytest.approx(1 / 2)
    assert ranged.broken_box in {("2<=3",), ("3<=5",)}


@pytest.mark.parametrize("numbers", [9, 60, 150])
def test_every_range_lies_in_a_window_that_costs_no_more_and_not_much_less(numbers: int) -> None:
    values = [str(number) for number in range(0, 3 * numbers, 3)]
    found = box_column(stated(ranged_policy()), "q", values, "ncp")
    least = np.ones((numbers, numbers))  # of the labels that hold two values
    for rung in found.rungs:
        for label in np.unique(rung[rung >= 0]):
            inside = np.flatnonzero(rung == label)
            least[np.ix_(inside, inside)] = np.minimum(least[np.ix_(inside, inside)], found.costs[label])
    apart = np.abs(np.subtract.outer(np.arange(numbers), np.arange(numbers))) / (numbers - 1)
    assert (least <= apart + 1e-12).all()
    assert (least >= (1.0 if numbers == 9 else 0.6) * apart - 1e-12).all()


def test_a_lattice_that_is_too_large_proves_nothing_and_says_so() -> None:
    found = bound(original("abcd"), policy_of(), dict.fromkeys("abcd", 1 / 3), most_steps=3)
    assert (found.code, found.bound) == ("too-large", None)
    assert found.nodes == 3


def test_without_records_there_is_nothing_to_prove() -> None:
    found = bound(original("ab").slice(0, 0), policy_of(), {"a": 1.0})
    assert (found.code, found.bound) == ("no-records", None)


@pytest.mark.parametrize(
    ("values", "prices", "code"),
    [
        (["a", "a"], [1.0, 2.0], "two-prices"),
        (["a", "b"], [1.0], "prices-without-rows"),
        (["a"], [float("nan")], "prices-without-rows"),
    ],
)
def test_prices_that_are_none_are_refused(values: list[str], prices: list[float], code: str) -> None:
    given = Prices(pa.table({"q": values}), np.array(prices))
    with pytest.raises(DataError) as raised:
        checked_bound(original("ab").select, stated(policy_of()), given)
    assert raised.value.code == code


# --- how the original is given ----------------------------------------------------------------------------------------


def test_the_bound_does_not_depend_on_the_order_of_records_or_how_they_are_counted() -> None:
    prices = {"a": 0.9, "b": 0.2, "c": 0.4, "d": 0.1}
    found = bound(original("aabcddd"), policy_of(), prices)
    assert bound(original("dcdabda"), policy_of(), dict(reversed(prices.items()))) == found
    counted = CountedRows(original("abcd"), np.array([2, 1, 1, 3]))
    by_value = Prices(pa.table({"q": list(prices)}), np.array(list(prices.values())))
    assert checked_bound(counted, stated(policy_of()), by_value) == found


def test_a_price_is_found_by_the_value_as_the_hierarchy_writes_it() -> None:
    policy = policy_of(quasi={"hierarchy": {"intervals": [10]}})
    table = pa.table({"q": ["07", "7.0", "12"], "s": ["x"] * 3})
    found = bound(table, policy, {"7": 0.0, "12": 1.0})
    assert found.unpriced == 0
    assert found.bound == pytest.approx(1 / 3)


def test_numbers_are_found_by_their_text() -> None:
    policy = policy_of(quasi={"hierarchy": {"intervals": [10]}})
    table = pa.table({"q": [7, 7, 12], "s": ["x"] * 3})
    prices = Prices(pa.table({"q": [7, 12]}), np.array([0.0, 1.0]))
    assert checked_bound(table.select, stated(policy), prices).unpriced == 0


def test_more_columns_than_fit_into_one_key() -> None:
    """Forty columns of 30 values are 196 bits."""
    values = [f"v{number:02}" for number in range(30)]
    names = [f"q{j}" for j in range(40)]
    policy = Policy(
        columns={name: {"role": "quasi", "hierarchy": {"flat": True}} for name in names},
        privacy=[{"model": "k-anonymity", "k": 2}],
    )
    rows = [dict.fromkeys(names, value) for value in values]
    rows[1] = {**rows[0], "q39": "v01"}  # these two share all columns but one
    table = pa.Table.from_pylist(rows)
    prices = Prices(table, np.array([1 / 40, 1 / 40, *[0.0] * 28]))
    found = checked_bound(table.select, stated(policy), prices)
    assert found.code == "proven"
    assert found.nodes == 2**40
    assert found.bound == pytest.approx(2 / 40 / 30)


# --- costs ------------------------------------------------------------------------------------------------------------

HIERARCHIES: dict[str, tuple[dict[str, Any], list[str | None]]] = {
    "tree": ({"tree": {"*": {"ab": ["a", "b"], "c": None, "deep": {"d": ["d1", "d2"]}}}}, ["a", "c", "d1"]),
    "tree-missing": ({"tree": TREE}, ["a", None, "c"]),
    "intervals": ({"intervals": [5, 10, 20]}, ["1", "3", "7.0", "19", "40"]),
    "cuts": ({"intervals": [[0, 10, 50, 100], [0, 50, 100]]}, ["3", "12", "60", None]),
    "mask": ({"mask": "right"}, ["123", "124", "13", "9"]),
    "mask-alphabet": ({"mask": {"side": "left", "alphabet": "digits"}}, ["123", "223", "13", "9", None]),
    "dates": ({"dates": ["month", "year"]}, ["2020-01-05", "2020-01-09", "2021-03-01"]),
    "order": ({"order": ["xs", "s", "m", "l", "xl"]}, ["xs", "m", "xl"]),
    "flat": ({"flat": True}, ["x", "y", "z"]),
    "one-value": ({"flat": True}, ["x"]),
}


@pytest.mark.parametrize("measure", sorted(CELL_COSTS))
@pytest.mark.parametrize("kind", sorted(HIERARCHIES))
def test_cells_cost_what_the_measure_says(kind: str, measure: str) -> None:
    declared, values = HIERARCHIES[kind]
    policy = policy_of(quasi={"hierarchy": declared})
    table = pa.table({"q": pa.array(values, pa.string()), "s": ["x"] * len(values)})
    (tree,) = resolve(policy, table).problem.hierarchies
    metric = METRICS[measure]
    assert isinstance(metric, CellMetric)
    found = box_column(stated(policy), "q", values, measure)
    assert found.weight == metric.weight(tree)
    expected = metric.cell(tree)
    for label, cost in zip(found.labels, found.costs, strict=True):
        assert cost == pytest.approx(expected[tree.by_label[label]])
    for value, code in zip(values, resolve_codes(tree, values), strict=True):
        inside = {found.labels[rung[values.index(value)]] for rung in found.rungs if rung[values.index(value)] >= 0}
        assert inside <= {tree.labels[node] for node in tree.path(code)}


def resolve_codes(tree: Any, values: list[str | None]) -> list[int]:
    """The leaf of each value; 7.0 is the leaf 7."""
    return [tree.by_label[value if value in tree.by_label else (value or "").removesuffix(".0")] for value in values]


def test_a_run_of_a_list_costs_one_step_at_least() -> None:
    """b and c are neighbours: released as b..c they lose a third, though only * stands above both."""
    algorithm = {"name": "mondrian", "ranges": {"q": {"order": "hierarchy"}}}
    found = bound(original("bc"), policy_of(algorithm=algorithm), {"b": 1.0, "c": 1.0})
    assert found.bound == pytest.approx(1 / 3)
    assert bound(original("bc"), policy_of(), {"b": 1.0, "c": 1.0}).bound == pytest.approx(1.0)
