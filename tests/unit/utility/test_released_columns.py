"""Labels of a release made from some of the records, read in the values of all of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import shoal
from shoal.encode.resolve import resolve
from shoal.pipeline.run import make_release
from shoal.policy import Policy
from shoal.table.distinct_rows import DistinctRows
from shoal.utility.columns import original_columns, released_columns


def cells(columns: dict[str, Any], whole: dict[str, list[Any]], rows: list[int], **algorithm: Any) -> dict[str, Any]:
    """For each released label of some of the rows, the values of the whole table that it stands for."""
    policy = Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": len(rows)}], algorithm=algorithm)
    table = pa.table(whole)
    distinct = DistinctRows.of(table)
    originals = original_columns(policy, table, resolve(policy, distinct).of_records(distinct))
    made = make_release(table.take(rows), policy)
    found = released_columns(originals, table.take(rows), made)
    named = {}
    for name, column in found.items():
        labels = column.domain.labels
        (label,) = set(made.table.column(name).to_pylist())
        (stretch,) = {(int(a), int(b)) for a, b in zip(column.first, column.last, strict=True)}
        named[name] = (label, labels[stretch[0] : stretch[1] + 1])
    return named


def test_a_label_covers_values_that_only_other_records_have() -> None:
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5]}},
        "zip": {"role": "quasi", "hierarchy": "mask"},
        "town": {"role": "quasi"},
    }
    whole = {"age": [20, 21, 22, 30], "zip": ["141", "142", "143", "99999"], "town": ["A", "B", "C", "D"]}
    found = cells(columns, whole, [0, 2], name="optimal")
    assert found == {
        "age": ("[20, 25)", ("20", "21", "22")),
        "zip": ("14*", ("141", "142", "143")),
        "town": ("*", ("A", "B", "C", "D")),
    }


def test_a_range_covers_the_values_between_its_ends() -> None:
    columns = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [50]}},
        "zip": {"role": "quasi", "hierarchy": "mask"},
    }
    whole = {"age": [20, 21, 22, 30], "zip": ["141", "141", "141", "141"]}
    found = cells(columns, whole, [0, 2], name="range", group={"zip": 1}, ranges=["age"], safe=True)
    assert found["age"] == ("20<=22", ("20", "21", "22"))


def test_the_root_covers_the_missing_value_too() -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [50]}}, "town": {"role": "quasi"}}
    whole = {"age": [20, None, None, 30], "town": ["A"] * 4}
    assert cells(columns, whole, [0, 1, 2], name="optimal")["age"] == ("*", ("20", "30", None))


def test_ranges_are_measured_like_any_label() -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [50]}}, "town": {"role": "quasi"}}
    table = pa.table({"age": [20, 22, 30, 31], "town": ["A", "A", "B", "B"]})
    policy = Policy(
        columns=columns,
        privacy=[{"model": "k-anonymity", "k": 2}],
        algorithm={"name": "range", "group": {"town": 0}, "ranges": ["age"], "safe": True},
        utility={"queries": [{"age": [20, 22]}, {"age": 20}]},
    )
    listed = shoal.anonymize(table, policy).evidence["utility"]["queries"]["listed"]
    assert [(each["records"], each["estimate"]) for each in listed] == [(2, 2.0), (1, 1.0)]
