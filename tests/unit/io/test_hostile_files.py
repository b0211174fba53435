"""Damaged and hostile files end with a table or an error of Shoal's, within limits on memory and time."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from shoal.errors import DataError
from shoal.io import DataSource, read_table
from shoal.io.formats import unpacked_size
from support.hostile_files import (
    cases,
    hostile_files,
    read_in_a_child,
    sound_files,
    with_cell,
    with_repeated_rows,
    write_case,
)
from support.table_files import write_ods, write_xlsx

LEFT_OUT = {".xls"}  # a damaged file of the old binary format may end the process inside its reader
READABLE = {(".csv", "many columns"), (".xlsx", "a cell at row"), (".sav", "many records declared"),
            (".evidence.json", "nested lists"), (".evidence.json", "a long number")}  # fmt: skip
"""Strange, and read nevertheless; of evidence the audit says what is wrong."""
ROWS = [["q", "s"], ["a", "x"], ["b", "y"]]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits are set by process")
def test_damaged_and_hostile_files_are_read_or_refused(tmp_path: Path) -> None:
    sound = sound_files(tmp_path)
    bad = []
    for suffix in sorted(set(sound) - LEFT_OUT):
        for name, content in cases(sound, suffix, 6, seed=1):
            outcome = read_in_a_child(write_case(tmp_path, suffix, content))
            bad += [] if outcome.fine else [(suffix, name, outcome)]
    for suffix, name, content in hostile_files(sound):
        outcome = read_in_a_child(write_case(tmp_path, suffix, content))
        bad += (
            [] if outcome.kind == ("read" if (suffix, name) in READABLE else "refused") else [(suffix, name, outcome)]
        )
    assert bad == []


def code_of(path: Path, **options: int) -> str:
    with pytest.raises(DataError) as caught:
        read_table(DataSource(path, **options))
    return caught.value.code


def test_compressed_text_that_unpacks_to_too_much_is_refused_unless_it_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"q,s\n" + b"a,b\n" * 20_000))  # 80 kB from 200 bytes
    assert unpacked_size.RATIO * path.stat().st_size < 80_000
    monkeypatch.setattr(unpacked_size.unpacked_limit, "__defaults__", (10_000,))
    assert code_of(path) == "unpacks-too-large"
    assert code_of(path, unpacked=79_999) == "unpacks-too-large"
    assert read_table(DataSource(path, unpacked=80_004)).num_rows == 20_000


def test_a_stray_cell_at_the_end_of_a_sheet_is_named_with_its_room(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    write_xlsx(path, ROWS)
    path.write_bytes(with_cell(path.read_bytes(), "XFD1048576"))
    assert code_of(path) == "sheet-too-large"


def test_repeated_cells_of_a_spreadsheet_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "book.ods"
    write_ods(path, ROWS)
    sound = path.read_bytes()
    cell = b'<table:table-cell office:value-type="float" office:value="1"/>'
    path.write_bytes(with_repeated_rows(sound, cell, rows=50_000_000))
    assert code_of(path) == "sheet-too-large"
    path.write_bytes(with_repeated_rows(sound, b"<table:table-cell/>", rows=1_048_573))  # as programs end a sheet
    assert read_table(DataSource(path)).num_rows == 2
