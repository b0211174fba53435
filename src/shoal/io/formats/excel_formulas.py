"""Formulas that nobody ever calculated. A program may save a formula without its value; whoever reads the workbook then
finds nothing in that cell, which is not the same as a missing value (ECMA-376, part 1, 18.3.1.4 and 18.3.1.40).
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from pathlib import Path
from typing import IO, Final
from xml.etree import ElementTree

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
