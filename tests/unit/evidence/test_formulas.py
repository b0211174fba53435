"""Cells that a spreadsheet would run are counted by column and left as they are."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal.evidence.formulas import is_formula
from shoal.policy import Policy


@pytest.mark.parametrize("text", ["=cmd|A0", "+49 30 1234", "-x", "@SUM(A1)", "\t=1+1", "\r=1", "=1+1", "-1-1"])
def test_a_text_that_a_spreadsheet_would_run_is_a_formula(text: str) -> None:
    assert is_formula(text)


@pytest.mark.parametrize("text", [None, "", "-", "+", "-3", "+4", "-3.5", "1e-3", "-1e5", "a=b", "[-5, 5)", "*", "Flu"])
def test_numbers_single_signs_and_other_texts_are_none(text: str | None) -> None:
    assert not is_formula(text)


def test_the_evidence_counts_released_cells_and_names_by_column() -> None:
    table = pa.table(
        {
            "q": ["=a", "=a", "b", "b"],
            "n": ["-3", "-3", "+4", "+4"],
            "s": ["=HIV", "Flu", "@x", "Flu"],
            "=ward": ["N", "S", "N", "S"],
            "secret": ["=1", "=2", "=3", "=4"],
        }
    )
    policy = Policy(
        columns={
            "q": {"role": "quasi", "hierarchy": {"tree": {"+both": ["=a", "b"]}}},
            "n": {"role": "quasi", "hierarchy": "flat"},
            "s": {"role": "sensitive", "categories": {"=Grave": ["=HIV"], "Usual": ["Flu", "@x"]}, "publish": "both"},
            "=ward": {"role": "insensitive"},
            "secret": {"role": "identifier"},
        },
        privacy=[{"model": "k-anonymity", "k": 2}],
        algorithm="optimal",
    )
    release = shoal.anonymize(table, policy)
    found = {each["column"]: (each["cells"], each["in_name"]) for each in release.evidence["warnings"]}
    assert {each["code"] for each in release.evidence["warnings"]} == {"formula-cells"}
    assert found == {"q": (2, False), "s": (2, False), "=ward": (0, True), "s_category": (1, False)}
    assert release.data.column("s").to_pylist().count("=HIV") == 1
    coarse = shoal.anonymize(table, policy.changed(privacy=[{"model": "k-anonymity", "k": 3}]))
    assert ("q", 4) in [(each["column"], each["cells"]) for each in coarse.evidence["warnings"]]
