from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import DataError
from shoal.io import FileKind, base_name, readable_suffixes, sniff_kind
from support.raises import raises


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", FileKind.TEXT),
        ("a.2019.TSV", FileKind.TEXT),
        ("a.csv.gz", FileKind.TEXT),
        ("a.pq", FileKind.PARQUET),
        ("a.XLSX", FileKind.EXCEL),
        ("a.xls", FileKind.EXCEL),
        ("a.ods", FileKind.EXCEL),
        ("a.zsav", FileKind.SPSS),
        ("a.por", FileKind.SPSS),
        ("a.sas7bdat", FileKind.SAS),
        ("a.xpt", FileKind.SAS),
        ("a.dta", FileKind.STATA),
    ],
)
def test_the_suffix_tells_the_kind_of_a_file(name: str, kind: FileKind) -> None:
    assert sniff_kind(name) is kind
    assert sniff_kind(Path("folder.csv") / name) is kind


@pytest.mark.parametrize("name", ["a", "a.xyz", "a.gz", "a.xlsx.gz", "csv", "a.sas7bcat"])
def test_any_other_suffix_is_refused_with_the_known_ones(name: str) -> None:
    with raises(DataError, "unknown-suffix", ".csv", ".xlsx", ".sav", ".sas7bdat", ".dta"):
        sniff_kind(name)


def test_every_readable_suffix_has_a_kind() -> None:
    assert {".csv", ".csv.gz", ".tsv.zst", ".xlsx", ".sav", ".dta"} <= set(readable_suffixes())
    for suffix in readable_suffixes():
        assert sniff_kind(f"table{suffix}") in FileKind
        assert base_name(Path(f"table.2020{suffix}")) == "table.2020"
