"""Files of SPSS, SAS and Stata: types, labels, and values that the file declares missing."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from shoal.errors import DataError, MissingExtraError
from shoal.io import DataSource, canonical_text, column_names, read_table
from support.raises import raises
from support.table_files import Rows, write_dta, write_por, write_sas7bdat_of_patients, write_sav, write_xpt

WRITERS: dict[str, Callable[[Path, Rows], None]] = {
    ".sav": write_sav,
    ".zsav": write_sav,
    ".por": write_por,
    ".xpt": write_xpt,
    ".dta": write_dta,
}
SEXES = [["ID", "SEX"], [1.0, 1.0], [2.0, 2.0], [3.0, 9.0], [4.0, 7.0], [5.0, None]]


def texts(table: pa.Table, name: str) -> list[str | None]:
    found: list[str | None] = canonical_text(table.column(name)).to_pylist()
    return found


@pytest.mark.parametrize("suffix", WRITERS)
def test_numbers_texts_and_dates_are_read_as_such(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    rows = [
        ["WHOLE", "REAL", "CODE", "DAY"],
        [5.0, 0.25, "01234", dt.date(2020, 3, 14)],
        [None, None, "5.0", None],
        [6.0, 3.0, "", dt.date(1899, 12, 31)],
    ]
    WRITERS[suffix](path, rows)
    assert column_names(DataSource(path)) == rows[0]
    table = read_table(DataSource(path), ["DAY", "WHOLE", "REAL", "CODE"])
    assert table.schema.types == [pa.date32(), pa.int64(), pa.float64(), pa.string()]
    assert {name: texts(table, name) for name in table.column_names} == {
        "WHOLE": ["5", None, "6"],
        "REAL": ["0.25", None, "3"],
        "CODE": ["01234", "5.0", None],
        "DAY": ["2020-03-14", None, "1899-12-31"],
    }


@pytest.mark.parametrize("suffix", [".sav", ".xpt", ".dta"])
def test_moments_and_times_of_day_are_read_as_such(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    at = [dt.datetime.fromisoformat(each) for each in ("2020-03-14T10:30:05", "2020-03-14")]
    rows = [["at", "hour"], [at[0], dt.time(7, 5)], [at[1], None]]
    WRITERS[suffix](path, rows)
    table = read_table(DataSource(path))
    assert texts(table, "at") == ["2020-03-14T10:30:05", "2020-03-14"]
    assert texts(table, "hour") == ["07:05:00", None]


NEW_YEAR = 60.0 * 60 * 24 * (141428 + 18262)
"""The seconds from 14 October 1582 to 1 January 2020."""
SPSS_FORMATS: dict[str, tuple[list[float | None], list[str | None]]] = {
    "DTIME12": ([7200, 26 * 3600, None, 122 * 3600 + 61.5], ["02:00:00", "26:00:00", None, "122:01:01.5"]),
    "TIME8": ([86399, 86400, -1800], ["23:59:59", "24:00:00", "-00:30:00"]),
    "TIME11.2": ([0, 1.25, None], ["00:00:00", "00:00:01.25", None]),
    "MTIME8": ([61, 90000], ["00:01:01", "25:00:00"]),
    "MOYR8": ([NEW_YEAR, NEW_YEAR + 45 * 86400], ["2020-01-01", "2020-02-15"]),
    "QYR8": ([NEW_YEAR], ["2020-01-01"]),
    "WKYR8": ([NEW_YEAR], ["2020-01-01"]),
    "EDATE10": ([NEW_YEAR, NEW_YEAR + 3600, None], ["2020-01-01", "2020-01-01T01:00:00", None]),
    "YMDHMS20": ([NEW_YEAR + 0.5], ["2020-01-01T00:00:00.5"]),
    "WKDAY9": ([1, 7], ["1", "7"]),
    "DOLLAR8.2": ([2.5], ["2.5"]),
}
STATA_FORMATS: dict[str, tuple[list[float | None], list[str | None]]] = {
    **dict.fromkeys(
        ("%td", "%d", "%-td", "%tdDD/NN/CCYY", "%dD_m_Y"), ([21915, None, -1], ["2020-01-01", None, "1959-12-31"])
    ),
    "%tcDDmonCCYY_HH:MM:SS": ([-1, 86400000], ["1959-12-31T23:59:59.999", "1960-01-02"]),
    "%-tcHH:MM": ([3600000, 86399000], ["01:00:00", "23:59:59"]),
    "%tm": ([722, -1, None], ["2020-03", "1959-12", None]),
    "%tq": ([240, 243], ["2020-Q1", "2020-Q4"]),
    "%th": ([120, 121], ["2020-H1", "2020-H2"]),
    "%tw": ([3120, 3171], ["2020w01", "2020w52"]),
    "%ty": ([2020], ["2020"]),
    "%9.0g": ([21915], ["21915"]),
}
SAS_FORMATS: dict[str, tuple[list[float | None], list[str | None]]] = {
    "TIME8": ([7200, 93600], ["02:00:00", "26:00:00"]),
    "MONYY7": ([21915, None], ["2020-01-01", None]),
    "DTDATE9": ([21915 * 86400.0], ["2020-01-01"]),
    "BEST12": ([21915], ["21915"]),
}


def written(path: Path, numbers: list[float | None], form: str) -> DataSource:
    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}[path.suffix]
    frame = pd.DataFrame({"n": range(len(numbers)), "d": pd.Series(numbers, dtype="float64")})
    write(frame, path, variable_format={"d": form})
    return DataSource(path)


@pytest.mark.parametrize(
    ("suffix", "form", "numbers", "expected"),
    [
        (suffix, form, *case)
        for suffix, cases in ((".sav", SPSS_FORMATS), (".dta", STATA_FORMATS), (".xpt", SAS_FORMATS))
        for form, case in cases.items()
    ],
)
def test_a_number_is_what_its_format_counts(
    tmp_path: Path, suffix: str, form: str, numbers: list[float | None], expected: list[str | None]
) -> None:
    assert texts(read_table(written(tmp_path / f"t{suffix}", numbers, form)), "d") == expected


@pytest.mark.parametrize(
    ("suffix", "form", "number", "code"),
    [
        (".dta", "%tb", 5, "unknown-format"),
        (".dta", "%tC", 5, "unknown-format"),
        (".dta", "%tm", 1.5, "value-out-of-range"),
        (".dta", "%td", 1e8, "value-out-of-range"),
        (".dta", "%tcHH:MM:SS", 26 * 3600000.0, "value-out-of-range"),
        (".xpt", "TOD8", 93600, "value-out-of-range"),
        (".xpt", "NLDATE20", 21915, "unknown-format"),
        (".sav", "DATE11", -1e15, "value-out-of-range"),
    ],
)
def test_a_number_whose_format_leaves_open_what_it_is_is_refused_by_name(
    tmp_path: Path, suffix: str, form: str, number: float, code: str
) -> None:
    source = written(tmp_path / f"t{suffix}", [number], form)
    with raises(DataError, code, "'d'", form):
        read_table(source)
    assert read_table(source, ["n"]).num_rows == 1


def test_a_date_may_have_a_label(tmp_path: Path) -> None:
    rows = [["d"], [NEW_YEAR], [NEW_YEAR + 86400]]
    write_sav(
        tmp_path / "t.sav", rows, variable_format={"d": "DATE11"}, variable_value_labels={"d": {NEW_YEAR: "start"}}
    )
    assert texts(read_table(DataSource(tmp_path / "t.sav")), "d") == ["start", "2020-01-02"]


def test_a_data_set_of_sas_is_read(tmp_path: Path) -> None:
    write_sas7bdat_of_patients(tmp_path / "patients.sas7bdat")
    source = DataSource(tmp_path / "patients.sas7bdat")
    assert column_names(source) == ["name", "age", "country", "zipcode", "condition", "ward"]
    table = read_table(source, ["age", "ward"])
    assert table.num_rows == 12
    assert texts(table, "age")[:3] == ["27", "28", "26"]
    assert texts(table, "ward").count(None) == 1


@pytest.mark.parametrize("write", [write_sav, write_dta])
def test_a_value_with_a_label_is_its_label(tmp_path: Path, write: Callable[..., None]) -> None:
    path = tmp_path / ("t.sav" if write is write_sav else "t.dta")
    write(path, SEXES, variable_value_labels={"SEX": {1: "male", 2: "female", 9: "other"}})
    assert texts(read_table(DataSource(path)), "SEX") == ["male", "female", "other", "7", None]
    assert texts(read_table(DataSource(path, labels=False)), "SEX") == ["1", "2", "9", "7", None]


def test_values_that_the_file_declares_missing_are_missing(tmp_path: Path) -> None:
    labels = {"SEX": {1: "male", 2: "female", 9: "refused"}}
    write_sav(tmp_path / "t.sav", SEXES, variable_value_labels=labels, missing_ranges={"SEX": [{"lo": 7, "hi": 9}]})
    source = DataSource(tmp_path / "t.sav")
    assert texts(read_table(source), "SEX") == ["male", "female", None, None, None]
    write_sav(tmp_path / "t.sav", [["NAME"], ["x"], ["NA"]], missing_ranges={"NAME": ["NA"]})
    assert texts(read_table(source), "NAME") == ["x", None]


def test_missing_values_of_stata_with_a_letter_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": pd.Series([30, "a", 31], dtype=object)})
    pyreadstat.write_dta(frame, tmp_path / "t.dta", missing_user_values={"age": ["a"]})
    assert texts(read_table(DataSource(tmp_path / "t.dta")), "age") == ["30", None, "31"]


def test_a_number_of_32_bits_has_its_own_digits(tmp_path: Path) -> None:
    pd.DataFrame({"x": np.array([0.1, 2.5], dtype=np.float32)}).to_stata(tmp_path / "t.dta", write_index=False)
    assert texts(read_table(DataSource(tmp_path / "t.dta")), "x") == ["0.1", "2.5"]


def test_two_values_of_one_label_are_refused_where_both_occur(tmp_path: Path) -> None:
    labels: dict[str, dict[Any, str]] = {"SEX": {1: "yes", 2: "yes", 9: "7"}}
    write_sav(tmp_path / "t.sav", SEXES, variable_value_labels=labels)
    with raises(DataError, "labels-shared", "'SEX'", "1 and 2", "'yes'"):
        read_table(DataSource(tmp_path / "t.sav"))
    write_sav(tmp_path / "t.sav", [SEXES[0], *SEXES[3:]], variable_value_labels=labels)
    with raises(DataError, "labels-shared", "9 and 7", "'7'"):
        read_table(DataSource(tmp_path / "t.sav"))
    write_sav(tmp_path / "t.sav", SEXES[:2], variable_value_labels=labels)
    assert texts(read_table(DataSource(tmp_path / "t.sav")), "SEX") == ["yes"]


def test_missing_marks_hold_here_too(tmp_path: Path) -> None:
    write_sav(tmp_path / "t.sav", [["A", "B"], ["?", -9.0], ["x", 1.0]])
    table = read_table(DataSource(tmp_path / "t.sav", missing=("?", "-9")))
    assert table.to_pydict() == {"A": [None, "x"], "B": [None, 1]}


def test_an_unknown_column_is_told_with_the_known_ones(tmp_path: Path) -> None:
    write_sav(tmp_path / "t.sav", SEXES)
    with raises(DataError, "unknown-column", "'SXE'", "'SEX'"):
        read_table(DataSource(tmp_path / "t.sav"), ["SXE"])


def test_a_file_without_records_is_a_table_of_no_rows(tmp_path: Path) -> None:
    write_sav(tmp_path / "t.sav", SEXES[:1])
    table = read_table(DataSource(tmp_path / "t.sav"))
    assert (table.column_names, table.num_rows) == (["ID", "SEX"], 0)


@pytest.mark.parametrize("suffix", [*WRITERS, ".sas7bdat"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"$FL2" + b"\0" * 300])
def test_a_file_of_another_kind_is_an_error_of_the_data(tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / f"t{suffix}").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_table(DataSource(tmp_path / f"t{suffix}"))
    assert caught.value.code in {"not-a-statistics-file", "empty-file"}


def test_without_the_library_the_install_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sav(tmp_path / "t.sav", SEXES)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingExtraError, match=r'pip install "shoal\[stats\]"'):
        column_names(DataSource(tmp_path / "t.sav"))
