"""The range method of Mahesh & Meyyappan from their Table 1 to their Tables 2 and T*, and what T* is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import DisclosureWarning, InfeasibleError
from shoal.reproduce.tables import MAHESH_1, MAHESH_2, MAHESH_COLUMNS, MAHESH_T_STAR, PaperTable

NAMES = MAHESH_COLUMNS[1:]
"""All columns but the serial numbers, which the paper counts anew in each table."""
COLUMNS: dict[str, Any] = {
    "Sno": {"role": "identifier"},
    "Zipcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "Age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}},
    "Salary": {"role": "quasi", "hierarchy": {"intervals": [5000]}},
    "Disease": {"role": "sensitive"},
}
ORIGINAL = pa.table({name: MAHESH_1.column(name) for name in MAHESH_COLUMNS})


def policy(k: int, *, columns: dict[str, Any] | None = None, **changes: Any) -> shoal.Policy:
    algorithm = {"name": "range", "group": {"Zipcode": 1}, "ranges": ["Age"], **changes}
    privacy = [{"model": "k-anonymity", "k": k}]
    return shoal.Policy(columns=COLUMNS | (columns or {}), privacy=privacy, algorithm=algorithm)


def printed(table: PaperTable) -> list[tuple[str, ...]]:
    """The rows as a set of records; the paper writes diseases with and without capitals from table to table."""
    return sorted(tuple(row[name].lower() for name in NAMES) for row in table.records())


def cells(table: pa.Table) -> list[tuple[str, ...]]:
    return sorted(tuple(str(row[name]).lower() for name in NAMES) for row in table.to_pylist())


def test_table_1_becomes_t_star() -> None:
    with pytest.warns(DisclosureWarning):
        release = shoal.anonymize(ORIGINAL, policy(1))
    assert cells(release.table) == printed(MAHESH_T_STAR)
    assert release.table.column("Age").to_pylist() == MAHESH_T_STAR.column("Age")
    assert release.table.column("Salary").to_pylist() == MAHESH_T_STAR.column("Salary")
    assert release.evidence["verified"]


def test_masking_the_zip_code_by_one_digit_gives_the_groups_of_table_2() -> None:
    with pytest.warns(DisclosureWarning):
        release = shoal.anonymize(ORIGINAL, policy(1, columns={"Age": {"role": "insensitive"}}, ranges=["Salary"]))
    grouped = [(row["Zipcode"], row["Age"], row["Disease"].lower()) for row in release.table.to_pylist()]
    assert sorted(grouped) == sorted((code, age, ill) for code, age, _, ill in printed(MAHESH_2))


def test_t_star_says_that_it_guarantees_nothing_and_that_its_exact_salaries_give_everyone_away() -> None:
    with pytest.warns(DisclosureWarning, match="guarantees no privacy model"):
        search = shoal.anonymize(ORIGINAL, policy(1)).evidence["search"]
    assert search["guarantees"] is False
    assert search["ambiguity"]["(1,k)"] == search["ambiguity"]["(k,1)"] == search["ambiguity"]["(k,k)"] == 1


def test_without_the_salary_each_record_of_t_star_could_be_two_people_or_three() -> None:
    with pytest.warns(DisclosureWarning):
        release = shoal.anonymize(ORIGINAL, policy(1, columns={"Salary": {"role": "insensitive"}}))
    assert cells(release.table) == printed(MAHESH_T_STAR)
    figures = release.evidence["search"]["ambiguity"]
    assert figures["(k,k)"] == 2
    assert figures["originals_per_released"] == {"least": 2, "mean": round(7 / 3, 6)}


def test_t_star_is_not_2_anonymous_so_nobody_who_asks_for_that_gets_it() -> None:
    with pytest.raises(InfeasibleError, match="k-anonymity fails in 9 classes") as caught:
        shoal.anonymize(ORIGINAL, policy(2))
    assert "safe: true" in str(caught.value)


def test_the_safe_form_makes_the_groups_of_the_paper_3_anonymous() -> None:
    release = shoal.anonymize(ORIGINAL, policy(3, safe=True))
    shown = {(row["Zipcode"], row["Age"], row["Salary"]) for row in release.table.to_pylist()}
    assert shown == {("4760*", "22<=32", "*"), ("4767*", "27<=36", "*"), ("4790*", "43<=52", "*")}
    assert release.evidence["class_sizes"]["smallest"] == 3
    assert release.evidence["search"]["guarantees"] is True


def test_t_star_is_verified_as_it_stands_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t-star.csv"
    path.write_text("\n".join([",".join(NAMES), *(",".join(row) for row in printed(MAHESH_T_STAR))]) + "\n")
    alone = shoal.verify(path, policy(1))
    assert alone.passed, str(alone)
    small = pa.Table.from_pylist([{**row, "Disease": row["Disease"].lower()} for row in MAHESH_1.records()])
    beside = shoal.verify(path, policy(1), original=small)
    assert beside.passed, str(beside)
    assert [check.name for check in shoal.verify(path, policy(2)).failures] == ["k-anonymity"]


def test_t_star_is_not_verified_where_a_range_leaves_its_record_out(tmp_path: Path) -> None:
    path = tmp_path / "t-star.csv"
    lines = [",".join(row).replace("22<=30,4000", "30<=32,4000") for row in printed(MAHESH_T_STAR)]
    path.write_text("\n".join([",".join(NAMES), *sorted(lines)]) + "\n")
    small = pa.Table.from_pylist([{**row, "Disease": row["Disease"].lower()} for row in MAHESH_1.records()])
    (failure,) = shoal.verify(path, policy(1), original=small).failures
    assert failure.name == "truthfulness"
    assert failure.facts["without_original"] == 1
    assert "Age='30<=32'" in failure.message
