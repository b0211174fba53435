"""What a policy may say of linked tables."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.errors import PolicyError
from shoal.io.linked_tables import as_one_table
from shoal.policy import Policy
from shoal.policy.tables_spec import TABLE


def content(**changes: Any) -> dict[str, Any]:
    return {
        "tables": {
            "patients": {"data": "patients.csv", "columns": ["id", "age"]},
            "visits": {"data": "visits.csv", "columns": ["id", "illness"], "join": {"id": "patients"}},
        },
        "person": "id",
        "columns": {"id": {"role": "pseudonym"}, "age": {"role": "quasi"}, "illness": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    } | changes


def codes(**changes: Any) -> set[tuple[str, str]]:
    with pytest.raises(PolicyError) as refused:
        Policy.model_validate(content(**changes))
    return {(each.where, each.code) for each in refused.value.problems}


def visits(**changes: Any) -> dict[str, Any]:
    tables = content()["tables"]
    return {**tables, "visits": {**tables["visits"], **changes}}


def test_a_policy_with_tables_is_read_and_written_back() -> None:
    policy = Policy.model_validate(content())
    assert Policy.model_validate(policy.to_dict()) == policy
    assert as_one_table(as_one_table(policy)) == as_one_table(policy)
    assert next(iter(as_one_table(policy).columns)) == TABLE


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tables": []}, ("tables", "wrong-type")),
        ({"tables": visits(columns=["id", "illness", "x"])}, ("tables.visits.columns[2]", "unknown-column")),
        ({"tables": visits(columns=["id", "illness", "id"])}, ("tables.visits.columns", "listed-twice")),
        ({"tables": visits(join={"id": "doctors"})}, ("tables.visits.join.id", "unknown-table")),
        ({"tables": visits(join={"id": "visits"})}, ("tables.visits.join.id", "unknown-table")),
        ({"tables": visits(columns=["id"])}, ("columns.illness", "unknown-column")),
        ({"tables": {**visits(), "../x": {"data": "x.csv", "columns": ["id"]}}}, ("tables.../x", "table-name")),
        ({"data": "x.csv"}, ("data", "not-with-tables")),
        ({"suppressed": "star"}, ("suppressed", "not-with-tables")),
        ({"utility": {"queries": 20}}, ("utility", "not-with-tables")),
        ({"recoding": True}, ("recoding", "recoding-with-person")),
    ],
)
def test_what_is_wrong_with_tables(changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert codes(**changes) == {expected}


def test_tables_are_joined_by_a_pseudonym() -> None:
    columns = content()["columns"]
    assert codes(columns={**columns, "id": {"role": "identifier"}}) == {("tables", "no-pseudonym")}


def test_what_a_table_does_not_have_is_no_value() -> None:
    columns = content()["columns"]
    counted = {**columns, "illness": {"role": "sensitive", "unknown_counts": True}}
    assert codes(columns=counted) == {("columns.illness.unknown_counts", "not-with-tables")}


def test_the_name_of_the_column_that_tables_are_given_is_reserved() -> None:
    columns = content()["columns"]
    assert codes(columns={**columns, TABLE: {"role": "insensitive"}}) == {(f"columns.{TABLE}", "reserved-name")}
