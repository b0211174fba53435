"""Workbooks: every kind of cell, and every kind of broken sheet."""

from __future__ import annotations

import datetime as dt
import re
import struct
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

from shoal.errors import DataError, MissingExtraError
from shoal.io import DataSource, canonical_text, column_names, read_table
from support.raises import raises
from support.table_files import Rows, write_ods, write_xls, write_xlsx

WRITERS: dict[str, Callable[[Path, Rows], None]] = {".xlsx": write_xlsx, ".xls": write_xls, ".ods": write_ods}


def texts(table: pa.Table, name: str) -> list[str | None]:
    found: list[str | None] = canonical_text(table.column(name)).to_pylist()
    return found


def column(tmp_path: Path, cells: Sequence[Any], suffix: str = ".xlsx") -> pa.Table:
    """A sheet with a number of the record beside the cells, so that no row is empty."""
    path = tmp_path / f"t{suffix}"
    WRITERS[suffix](path, [["n", "c"], *([float(place), cell] for place, cell in enumerate(cells))])
    return read_table(DataSource(path), ["c"])


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        ([5.0, 6.0, None], pa.int64(), ["5", "6", None]),
        ([5.0, 0.25, None], pa.float64(), ["5", "0.25", None]),
        ([1e-7, 2.0], pa.float64(), ["1e-07", "2"]),
        ([4e-10, 0.1234567891, 1234.56789012345], pa.float64(), ["4e-10", "0.1234567891", "1234.56789012345"]),
        ([0.9999999999, 2.0], pa.float64(), ["0.9999999999", "2"]),
        ([0.1234567891, "x"], pa.string(), ["0.1234567891", "x"]),
        (["01234", "5.0", "5"], pa.string(), ["01234", "5.0", "5"]),
        ([True, False, None], pa.bool_(), ["true", "false", None]),
        ([5.0, "x", True, None], pa.string(), ["5", "x", "true", None]),
        ([1.0, True], pa.string(), ["1", "true"]),
        (["true", "1e-7", " a "], pa.string(), ["true", "1e-7", " a "]),
        (["2020-01-02 00:00:00", 1e-7], pa.string(), ["2020-01-02 00:00:00", "1e-07"]),
        ([None, None], pa.string(), [None, None]),
    ],
)
def test_a_cell_is_what_it_holds(
    tmp_path: Path, suffix: str, cells: list[Any], kind: pa.DataType, expected: list[str | None]
) -> None:
    table = column(tmp_path, cells, suffix)
    assert table.schema.field("c").type == kind
    assert texts(table, "c") == expected


@pytest.mark.parametrize("suffix", WRITERS)
def test_dates_are_dates_also_beside_texts(tmp_path: Path, suffix: str) -> None:
    assert texts(column(tmp_path, [dt.date(2020, 3, 14), dt.date(1950, 1, 1)], suffix), "c") == [
        "2020-03-14",
        "1950-01-01",
    ]
    assert texts(column(tmp_path, [dt.date(2020, 3, 14), "unknown", 7.0], suffix), "c") == [
        "2020-03-14",
        "unknown",
        "7",
    ]


def test_a_column_of_days_has_the_type_of_days(tmp_path: Path) -> None:
    days = column(tmp_path, [dt.date(2020, 3, 14), None])
    assert days.schema.field("c").type == pa.date32()
    moments = column(tmp_path, [dt.datetime.fromisoformat(each) for each in ("2020-03-14T10:30:15", "2020-03-14")])
    assert texts(moments, "c") == ["2020-03-14T10:30:15", "2020-03-14"]
    times = column(tmp_path, [dt.time(10, 30), dt.time(23, 59, 59)])
    assert texts(times, "c") == ["10:30:00", "23:59:59"]
    assert texts(column(tmp_path, [dt.time(10, 30), dt.date(2020, 3, 14)]), "c") == ["10:30:00", "2020-03-14"]


def test_a_duration_has_as_many_hours_as_it_lasts(tmp_path: Path) -> None:
    hours = [dt.timedelta(hours=30), dt.timedelta(hours=2), None, dt.timedelta(days=50, seconds=1)]
    assert texts(column(tmp_path, hours), "c") == ["30:00:00", "02:00:00", None, "1200:00:01"]
    assert column(tmp_path, hours[1:3]).schema.field("c").type == pa.time32("ms")
    mixed = [dt.timedelta(hours=30), dt.date(1900, 1, 5), 7.0, "PT30H", dt.time(10, 30)]
    assert texts(column(tmp_path, mixed), "c") == ["30:00:00", "1900-01-05", "7", "PT30H", "10:30:00"]


def test_a_duration_of_opendocument_has_as_many_hours_as_it_lasts(tmp_path: Path) -> None:
    write_ods(tmp_path / "t.ods", [["c"], *([dt.timedelta(hours=each)] for each in (30, 2, 26.5)), ["PT30H"]])
    table = read_table(DataSource(tmp_path / "t.ods"))
    assert texts(table, "c") == ["30:00:00", "02:00:00", "26:30:00", "PT30H"]


def styled(path: Path, cells: dict[str, Any], formats: dict[str, str]) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for cell, value in cells.items():
        sheet[cell] = value
    for cell, shown in formats.items():
        sheet[cell].number_format = shown
    book.save(path)


def test_a_negative_number_is_a_duration_but_no_date(tmp_path: Path) -> None:
    cells = {"A1": "a", "B1": "b", "A2": -5, "B2": -0.5, "A3": 43831, "B3": 1}
    styled(tmp_path / "t.xlsx", cells, {"A2": "yyyy-mm-dd", "A3": "yyyy-mm-dd", "B2": "[h]:mm", "B3": "[h]:mm"})
    assert texts(read_table(DataSource(tmp_path / "t.xlsx"), ["b"]), "b") == ["-12:00:00", "24:00:00"]
    with raises(DataError, "cell-error", "column 'a', row 2", "-5"):
        read_table(DataSource(tmp_path / "t.xlsx"))


def test_a_formula_that_was_never_calculated_is_refused_in_a_column_that_is_read(tmp_path: Path) -> None:
    cells = {"C4": "a", "D4": "b", "C5": 1, "D5": '=C5&"<>"', "D6": "=1+1"}
    styled(tmp_path / "t.xlsx", cells, {})
    with raises(DataError, "formula-not-calculated", "'b'", "D5", "1 more cell"):
        read_table(DataSource(tmp_path / "t.xlsx"))
    assert read_table(DataSource(tmp_path / "t.xlsx"), ["a"]).to_pydict() == {"a": [1]}


def test_a_formula_that_gives_an_empty_text_is_calculated(tmp_path: Path) -> None:
    styled(tmp_path / "u.xlsx", {"A1": "a", "B1": "b", "A2": "=1+1", "B2": 5, "A3": 7, "B3": 6}, {})
    for name, cell in {"text.xlsx": b'<c r="A2" t="str"><f>""</f><v></v></c>', "kept.xlsx": b"<v>2</v>"}.items():
        with zipfile.ZipFile(tmp_path / "u.xlsx") as old, zipfile.ZipFile(tmp_path / name, "w") as new:
            for part in old.namelist():
                content = old.read(part)
                pattern = rb'<c r="A2"><f>1\+1</f><v ?/></c>' if name == "text.xlsx" else rb"<v ?/>"
                new.writestr(part, re.sub(pattern, cell, content) if "sheet1" in part else content)
    assert texts(read_table(DataSource(tmp_path / "text.xlsx")), "a") == [None, "7"]
    assert texts(read_table(DataSource(tmp_path / "kept.xlsx")), "a") == ["2", "7"]


def test_not_available_is_missing_and_other_errors_are_refused(tmp_path: Path) -> None:
    assert texts(column(tmp_path, ["#N/A", 3.0]), "c") == [None, "3"]
    with raises(DataError, "cell-error", "'c'", "#DIV/0!", "row 3", "1 more cell"):
        column(tmp_path, [1.0, "#DIV/0!", "#REF!", "#N/A"])
    assert read_table(DataSource(tmp_path / "t.xlsx"), ["n"]).num_rows == 4


def test_missing_marks_hold_for_cells_too(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "t.xlsx", [["a", "b"], ["?", -9.0], ["x", 1.0]])
    table = read_table(DataSource(tmp_path / "t.xlsx", missing=("?", "-9")))
    assert table.to_pydict() == {"a": [None, "x"], "b": [None, 1]}


def test_a_sheet_is_named_or_numbered_and_else_the_first(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_xlsx(path, [["a"], ["first"]], sheet="One", others={"2": [["b"], ["second"]], "Three": [["c"], ["third"]]})
    assert column_names(DataSource(path)) == ["a"]
    assert column_names(DataSource(path, sheet="Three")) == ["c"]
    assert column_names(DataSource(path, sheet=3)) == ["c"]
    assert column_names(DataSource(path, sheet="2")) == ["b"]
    assert column_names(DataSource(path, sheet="1")) == ["a"]
    with raises(DataError, "unknown-sheet", "'three'", "'Three'"):
        column_names(DataSource(path, sheet="three"))
    with raises(DataError, "unknown-sheet", "4", "3 sheets"):
        read_table(DataSource(path, sheet=4))


def test_rows_without_any_value_are_no_records_and_the_table_may_stand_anywhere(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for cell, value in {"C4": "age", "D4": 2020, "C5": 30, "D5": "x", "C7": 31, "C9": None, "D8": " "}.items():
        sheet[cell] = value
    sheet["F12"].number_format = "0.00"
    book.save(tmp_path / "t.xlsx")
    table = read_table(DataSource(tmp_path / "t.xlsx"))
    assert table.to_pydict() == {"age": [30, 31], "2020": ["x", None]}


def test_a_column_with_values_needs_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_xlsx(path, [["A title", None], ["age", "sex"], [30, "f"]])
    with raises(DataError, "unnamed-column", "column B"):
        column_names(DataSource(path))
    write_xlsx(path, [["age", "age"], [30, 31]])
    with raises(DataError, "column-name-twice", "'age' (2 times)"):
        read_table(DataSource(path))
    write_xlsx(path, [["age", None], [30, None]])
    assert column_names(DataSource(path)) == ["age"]


def test_a_header_without_records_is_a_table_of_no_rows(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "t.xlsx", [["age", "sex"]])
    table = read_table(DataSource(tmp_path / "t.xlsx"))
    assert (table.column_names, table.num_rows) == (["age", "sex"], 0)
    write_xlsx(tmp_path / "t.xlsx", [])
    with raises(DataError, "empty-file", "'Sheet1'"):
        read_table(DataSource(tmp_path / "t.xlsx"))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04" + b"\0" * 60])
def test_a_file_that_is_no_workbook_is_an_error_of_the_data(tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / f"t{suffix}").write_bytes(content)
    with raises(DataError, "not-a-workbook", f"t{suffix}"):
        read_table(DataSource(tmp_path / f"t{suffix}"))


def test_a_workbook_that_was_cut_off_is_an_error_of_the_data(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "t.xlsx", [["age"], *([age] for age in range(100))])
    whole = (tmp_path / "t.xlsx").read_bytes()
    (tmp_path / "t.xlsx").write_bytes(whole[: len(whole) // 2])
    with raises(DataError, "not-a-workbook"):
        column_names(DataSource(tmp_path / "t.xlsx"))


def encrypted_package(path: Path) -> None:
    """A compound file whose directory has the entry in which Office keeps an encrypted workbook ([MS-CFB], 2.2-2.6)."""
    free, end, fat = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    head = struct.pack("<8s16sHHHHH6sIIIIIIIIII", bytes.fromhex("d0cf11e0a1b11ae1"), b"\0" * 16, 0x3E, 3, 0xFFFE, 9, 6,
                       b"\0" * 6, 0, 1, 1, 0, 4096, end, 0, end, 0, 0)  # fmt: skip
    head += struct.pack("<108I", *([free] * 108))
    sectors = struct.pack("<128I", fat, end, *range(3, 10), end, *([free] * 118))

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        raw = name.encode("utf-16-le")
        return struct.pack("<64sHBBIII16sIQQIQ", raw, len(raw) + 2 if raw else 0, kind, 1, free, free, child, b"", 0, 0,
                           0, start, size)  # fmt: skip

    folder = (
        entry("Root Entry", 5, 1, end, 0) + entry("EncryptedPackage", 2, free, 2, 4096) + entry("", 0, free, 0, 0) * 2
    )
    path.write_bytes(head + sectors + folder + b"\x5a" * 4096)


def test_a_workbook_with_a_password_says_so(tmp_path: Path) -> None:
    encrypted_package(tmp_path / "t.xlsx")
    with raises(DataError, "password", "t.xlsx"):
        read_table(DataSource(tmp_path / "t.xlsx"))


def test_without_the_library_the_install_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_xlsx(tmp_path / "t.xlsx", [["age"], [30]])
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingExtraError, match=r'pip install "shoal\[excel\]"'):
        read_table(DataSource(tmp_path / "t.xlsx"))
