"""Durations in a workbook. A cell with the format ``[h]:mm`` counts on over 24 hours; taken for a moment, 30 hours
would be six o'clock on the first day of 1900. Only what the reader says of cells that are no numbers tells them apart.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa

from shoal.errors import DataError

_DAY: Final = 24 * 60 * 60 * 1000
_SERIAL: Final = re.compile(
    r"Expected float but got 'DateTime\(ExcelDateTime \{ value: ([^,]+), datetime_type: (\w+), is_1904: \w+ \}\)'"
)
_ISO: Final = re.compile(r"Expected float but got 'DurationIso\(\"(.*)\"\)'")
_PARTS: Final = re.compile(
    r"(?P<sign>-)?P(?:(?P<D>\d+)D)?(?:T(?:(?P<H>\d+)H)?(?:(?P<M>\d+)M)?(?:(?P<S>\d+(?:[.,]\d+)?)S)?)?"
)
_LENGTHS: Final = {"D": _DAY, "H": 60 * 60 * 1000, "M": 60 * 1000, "S": 1000}


@dataclass(frozen=True)
class SheetDurations:
    """The durations of a sheet in milliseconds, by column and row."""

    found: Mapping[int, Mapping[int, int]]

    def rows(self) -> list[int]:
        """The rows that hold a duration, in any column."""
        return sorted({row for cells in self.found.values() for row in cells})

    def column(self, index: int, height: int) -> pa.Array:
        """A column's durations; null where a cell is none."""
        values, missing = np.zeros(height, dtype=np.int64), np.ones(height, dtype=np.bool_)
        for row, lasting in self.found.get(index, {}).items():
            values[row], missing[row] = lasting, False
        return pa.array(values, mask=missing)


def sheet_durations(not_numbers: Iterable[Any], names: Mapping[int, str], where: str) -> SheetDurations:
    """The durations among the cells that are no numbers; in a column that is read, a date too early is an error."""
    found: dict[int, dict[int, int]] = {}
    for each in not_numbers:
        row, index = each.position
        cell = f"{where}: column {names[index]!r}, row {row + 1} of the table" if index in names and row else ""
        lasting = _lasting(each.detail, cell)
        if lasting is not None:
            found.setdefault(index, {})[row] = lasting
    return SheetDurations(found)


def _lasting(detail: str, cell: str) -> int | None:
    if serial := _SERIAL.fullmatch(detail):
        days, kind = float(serial[1]), serial[2]
        if kind == "TimeDelta":
            return round(days * _DAY)
        if days < 0 and cell:
            raise DataError(
                f"{cell} (the header counts as row 1) has a date format, but contains {serial[1]}, which is before "
                "the first date of a workbook. Correct it, or give it a number format.",
                code="cell-error",
            )
        return None
    if iso := _ISO.fullmatch(detail):
        parts = _PARTS.fullmatch(iso[1])
        if parts:
            length = sum(float((parts[unit] or "0").replace(",", ".")) * of for unit, of in _LENGTHS.items())
            return round(length) * (-1 if parts["sign"] else 1)
        if cell:
            raise DataError(
                f"{cell} (the header counts as row 1) has the duration {iso[1]}, which cannot be read.",
                code="cell-error",
            )
    return None


_BOOK: Final = "xl/workbook.xml"
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"
_CHUNK: Final = 1 << 22
_LONGEST: Final = 1 << 16
"""More bytes than a cell with a formula has: a formula has at most 8192 characters, and & is written with five."""
_CELL: Final = re.compile(
    rb"<(?:\w+:)?c\s([^<>]*)>\s*"
    rb"<(?:\w+:)?f(?:\s[^<>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v\s*></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""A cell with a formula whose value is empty or not there."""
_TYPE: Final = re.compile(rb"\bt\s*=\s*[\"'](?!n[\"'])")
"""A type other than that of numbers: a formula may well give an empty text."""
_REFERENCE: Final = re.compile(rb"\br\s*=\s*[\"'](([A-Z]+)\d+)[\"']")


def uncalculated(path: Path, sheet: str) -> list[tuple[int, str]]:
    """The cells of a sheet of an Office Open XML workbook that have a formula and no value: column from 0, and name."""
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as archive:
        part = _part(archive, sheet)
        if part is None:
            return []
        with archive.open(part) as file:
            return list(_without_value(file))


def _part(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The name under which the archive keeps a sheet."""
    if not {_BOOK, _RELATIONS} <= set(archive.namelist()):
        return None
    targets = {each.get("Id"): each.get("Target", "") for each in _tree(archive, _RELATIONS)}
    for each in _tree(archive, _BOOK).iter():
        if each.tag.rpartition("}")[2] == "sheet" and each.get("name") == sheet:
            key = next((value for name, value in each.attrib.items() if name.endswith("}id")), None)
            part = posixpath.normpath(posixpath.join("/xl", targets.get(key, ""))).removeprefix("/")
            return part if part in archive.namelist() else None
    return None


def _tree(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(archive.read(name))  # noqa: S314  the parser bounds what entities may grow to


def _without_value(file: IO[bytes]) -> dict[tuple[int, str], None]:
    """The cells in their order; those in the overlap of two pieces once."""
    found: dict[tuple[int, str], None] = {}
    before = b""
    while chunk := file.read(_CHUNK):
        piece = before + chunk
        for cell in _CELL.finditer(piece):
            reference = _REFERENCE.search(cell[1])
            if reference and not _TYPE.search(cell[1]):
                found[_column_index(reference[2].decode()), reference[1].decode()] = None
        before = piece[-_LONGEST:]
    return found


def _column_index(letters: str) -> int:
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - ord("A") + 1
    return index - 1
