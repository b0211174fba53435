"""How far apart the cells of a sheet lie: the reader of workbooks makes room for every cell between the first and the
last, so that a single stray cell in the last row and column would take hundreds of gigabytes.

The cells of Office Open XML and OpenDocument are looked through as they are unpacked. The older binary formats need
not be: ``.xls`` has at most 65,536 rows and 256 columns.
"""

import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final
from xml.parsers import expat

from shoal.errors import DataError
from shoal.formatting import number
from shoal.policy.data_source import DataSource

SPARSE: Final = 10  # how many cells there may be room for, for each that is there
ROOM: Final = 5_000_000  # cells that there may be room for in any case
_CHUNK: Final = 1 << 20
_LONGEST: Final = 1 << 12  # bytes of a cell's opening tag at most
_CELL: Final = re.compile(rb"<(?:\w+:)?c(?=[\s/>])(?:[^<>]*?\sr\s*=\s*[\"']\$?([A-Za-z]+)\$?(\d+)[\"'])?[^<>]*>")
_ROW: Final = re.compile(rb"<(?:\w+:)?row(?=[\s/>])(?:[^<>]*?\sr\s*=\s*[\"'](\d+)[\"'])?[^<>]*>")
_TAG: Final = re.compile(rb"<(?:\w+:)?(?:c|row)(?=[\s/>])[^<>]*>")
_ROW_RECORD: Final = 0  # of a binary sheet: the header of a row; cells have the types after it
_CELL_RECORDS: Final = range(1, 12)


@dataclass
class SheetSize:
    """How many cells a sheet has, and between which rows and columns they lie, counted from 1."""

    cells: int = 0
    rows: tuple[int, int] = (0, 0)
    columns: tuple[int, int] = (0, 0)

    def add(self, row: int, column: int, rows: int = 1, columns: int = 1) -> None:
        """Count cells that fill some rows and columns from one on."""
        if not self.cells:
            self.rows, self.columns = (row, row), (column, column)
        self.cells += rows * columns
        self.rows = min(self.rows[0], row), max(self.rows[1], row + rows - 1)
        self.columns = min(self.columns[0], column), max(self.columns[1], column + columns - 1)

    @property
    def room(self) -> int:
        """Cells between the first and the last row and column."""
        return (self.rows[1] - self.rows[0] + 1) * (self.columns[1] - self.columns[0] + 1)


def check_sheet(archive: zipfile.ZipFile, part: str, sheet: str, source: DataSource) -> None:
    """Refuse a sheet whose cells lie too far apart, or that has more of them than its file can state one by one."""
    with archive.open(part) as file:
        if part.endswith(".bin"):
            size = _binary_size(file)
        elif part == "content.xml":
            size = _open_document_size(file, sheet)
        else:
            size = _open_xml_size(file)
    if size.room > max(ROOM, SPARSE * size.cells) or size.cells > max(ROOM, SPARSE * source.path.stat().st_size):
        raise DataError(
            f"{source.path}, sheet {sheet!r}: {number(size.cells)} cells with content lie between row {size.rows[0]} "
            f"and row {size.rows[1]}, column {size.columns[0]} and column {size.columns[1]}, which is room for "
            f"{number(size.room)} cells. Delete the cells that do not belong to the table, and save the workbook.",
            code="sheet-too-large",
        )


def _open_xml_size(file: IO[bytes]) -> SheetSize:
    size, row, column = SheetSize(), 0, 0
    for tag in _tags(file):
        if found := _ROW.fullmatch(tag):
            row, column = int(found[1]) if found[1] else row + 1, 0
        elif found := _CELL.fullmatch(tag):
            column = _column_number(found[1]) if found[1] else column + 1
            row = int(found[2]) if found[2] else row
            if not tag.endswith(b"/>"):  # else it has a format and no content
                size.add(row, column)
    return size


def _tags(file: IO[bytes]) -> Iterator[bytes]:
    """The opening tags of rows and cells."""
    before = b""
    while chunk := file.read(_CHUNK):
        piece, end = before + chunk, 0
        for tag in _TAG.finditer(piece):
            end = tag.end()
            yield tag[0]
        before = piece[max(end, len(piece) - _LONGEST) :]


def _column_number(letters: bytes) -> int:
    total = 0
    for letter in letters.upper():
        total = total * 26 + letter - ord("A") + 1
    return total


def _open_document_size(file: IO[bytes], sheet: str) -> SheetSize:
    """That of one table; cells and rows may be said to be repeated, empty ones at the end of a sheet most of all."""
    size, state = SheetSize(), {"inside": False, "row": 1, "rows": 1, "column": 1}
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(" ")[2]
        given = {key.rpartition(" ")[2]: text for key, text in attributes.items()}
        if kind == "table":
            state.update(inside=given.get("name") == sheet, row=1)
        elif state["inside"] and kind == "table-row":
            state.update(rows=_repeats(given, "number-rows-repeated"), column=1)
        elif state["inside"] and kind in {"table-cell", "covered-table-cell"}:
            columns = _repeats(given, "number-columns-repeated")
            if "value-type" in given or "formula" in given:
                size.add(state["row"], state["column"], state["rows"], columns)
            state["column"] += columns

    def end(tag: str) -> None:
        kind = tag.rpartition(" ")[2]
        if kind == "table":
            state["inside"] = False
        elif state["inside"] and kind == "table-row":
            state["row"] += state["rows"]

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.ParseFile(file)
    return size


def _repeats(attributes: dict[str, Any], key: str) -> int:
    text = attributes.get(key, "1")
    return max(int(text), 1) if text.isdecimal() and len(text) < 20 else 1


def _binary_size(file: IO[bytes]) -> SheetSize:
    """That of a sheet of records, each with a type, a length and its content."""
    size, row = SheetSize(), 0
    while (kind := _packed(file, 2)) is not None and (length := _packed(file, 4)) is not None:
        content = file.read(length)
        if kind == _ROW_RECORD and len(content) >= 4:
            (row,) = struct.unpack_from("<I", content)
        elif kind in _CELL_RECORDS and len(content) >= 4:
            (column,) = struct.unpack_from("<I", content)
            size.add(row + 1, column + 1)
    return size


def _packed(file: IO[bytes], longest: int) -> int | None:
    """A number in seven bits of each byte, the smallest part first; None at the end of the file."""
    total = 0
    for place in range(longest):
        byte = file.read(1)
        if not byte:
            return None
        total |= (byte[0] & 0x7F) << (7 * place)
        if not byte[0] & 0x80:
            break
    return total
