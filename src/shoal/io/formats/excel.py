"""Sheets of a workbook (Excel, OpenDocument), cell by cell: what a cell holds decides, not how it is shown.

A sheet has no types, so the same column may hold numbers, texts and dates. The reader gives each cell in several ways -
as text, truth value, number and duration - and which of them are there tells what the cell is. Its text of a number is
rounded and so never used. A column of one kind gets that type; in any other every cell is its canonical text. So a
table gives the same release from a workbook as from a CSV file. What the reader does not tell apart, durations over
24 hours and formulas that were never calculated, is found here.
"""

import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, MissingExtraError, did_you_mean
from shoal.formatting import pluralize
from shoal.io.columns import check_names, chosen, duration_text, plain, without_fractions, without_times
from shoal.io.formats.file_format import FileFormat
from shoal.io.formats.sheet_size import check_sheet
from shoal.io.formats.unpacked_size import check_archive
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind
from shoal.table.canonical_text import canonical_text

_DAY: Final = 24 * 60 * 60 * 1000  # in milliseconds, the finest that a workbook keeps
_MOMENT: Final = pa.timestamp("ms")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d 00:00:00")
_ERROR: Final = re.compile(r"Error\((\w+)\)")
_ROWS_COUNT: Final = "the header counts as row 1"
_NOT_AVAILABLE: Final = "NA"
_OPEN_XML: Final = frozenset({".xlsx", ".xlsm"})
_ERRORS: Final = {"Div0": "#DIV/0!", "Name": "#NAME?", "Null": "#NULL!", "Num": "#NUM!", "Ref": "#REF!",
                  "Value": "#VALUE!", "GettingData": "#GETTING_DATA"}  # fmt: skip
_SERIAL: Final = re.compile(
    r"Expected float but got 'DateTime\(ExcelDateTime \{ value: ([^,]+), datetime_type: (\w+), is_1904: \w+ \}\)'"
)
_ISO: Final = re.compile(r"Expected float but got 'DurationIso\(\"(.*)\"\)'")
_PARTS: Final = re.compile(
    r"(?P<sign>-)?P(?:(?P<D>\d+)D)?(?:T(?:(?P<H>\d+)H)?(?:(?P<M>\d+)M)?(?:(?P<S>\d+(?:[.,]\d+)?)S)?)?"
)
_LENGTHS: Final = {"D": _DAY, "H": 60 * 60 * 1000, "M": 60 * 1000, "S": 1000}
_BOOK: Final = "xl/workbook.xml"
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"
_SHEETS: Final = "xl/worksheets/sheet"
_OPEN_DOCUMENT: Final = "content.xml"
_CHUNK: Final = 1 << 22
_LONGEST: Final = 1 << 16
"""More bytes than a cell with a formula has: a formula has at most 8192 characters, and & is written with five."""
_CELL: Final = re.compile(
    rb"<(?:\w+:)?c\s([^<>]*)>\s*"
    rb"<(?:\w+:)?f(?:\s[^<>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v\s*></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""A cell with a formula whose value is empty or not there."""
_TYPE: Final = re.compile(rb"\bt\s*=\s*[\"'](?!n[\"'])")  # not that of numbers: a formula may give an empty text
_REFERENCE: Final = re.compile(rb"\br\s*=\s*[\"'](([A-Z]+)\d+)[\"']")


@dataclass(frozen=True, eq=False)
class _Sheet:
    """The cells of a sheet as text, its first row with values being the header."""

    where: str  # the workbook and the sheet, for messages
    load: Callable[[str], Any]  # reads all cells as values of a type
    name: str
    columns: dict[str, int]  # the index of each named column among the cells
    texts: pa.RecordBatch
    letters: Sequence[str]  # the letters of each column
    errors: Sequence[Any]  # cells that hold an error value instead of one


def sheet_names(source: DataSource) -> list[str]:
    """The names of the sheets of a workbook, in their order."""
    return list(_workbook(source).sheet_names)


def sheet_read(source: DataSource, names: list[str] | None = None) -> str:
    """The name of the sheet that is read: the one asked for, by its name or its number from 1, or else the first."""
    names = sheet_names(source) if names is None else names
    if not names:
        raise DataError(f"{source.path} has no sheet.", code="no-sheet")
    wanted = source.sheet
    if wanted is None or wanted in names:
        return names[0] if wanted is None else str(wanted)
    if not str(wanted).isdecimal():
        raise DataError(f"{source.path} has no sheet {wanted!r}. {did_you_mean(wanted, names)}", code="unknown-sheet")
    if not 1 <= int(wanted) <= len(names):
        count = pluralize(len(names), "sheet")
        message = f"{source.path} has no sheet number {int(wanted)}: it has {count}, counted from 1."
        raise DataError(message, code="unknown-sheet")
    return names[int(wanted) - 1]


def read_excel(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The columns of a sheet that are asked for; a row without any value is no record."""
    sheet = _sheet(source)
    wanted = chosen(list(sheet.columns), columns, str(source.path))
    names = {sheet.columns[name]: name for name in wanted}
    _refuse_errors(sheet, names)
    _refuse_uncalculated(sheet, names, source)
    with _damage_explained(source):
        truths, durations = (pa.record_batch(sheet.load(kind)) for kind in ("boolean", "duration"))
        numbers, others = sheet.load("float").to_arrow_with_errors()
    spans = _durations(() if others is None else others.errors, names, sheet.where)
    filled = np.array(reduce(pc.or_, [_holds(column) for column in sheet.texts.columns]))
    filled[[each.position[0] for each in sheet.errors] + [row for cells in spans.values() for row in cells]] = True
    records = pa.array(filled[1:])  # rows below the header that hold something in any column, be it #N/A
    arrays = []
    for index in names:
        cells = [each.column(index) for each in (sheet.texts, truths, numbers, durations)]
        lasting = spans.get(index, {})
        cells.append(pa.array([lasting.get(row) for row in range(len(filled))], pa.int64()))
        arrays.append(_column(*(each.slice(1).filter(records) for each in cells)))
    return plain(pa.Table.from_arrays(arrays, wanted), str(source.path), source.marks)


def _workbook(source: DataSource) -> Any:
    try:
        import fastexcel  # noqa: PLC0415  only for those who read workbooks
    except ImportError:
        raise MissingExtraError(f"reading {source.path.name}, a workbook,", "excel") from None
    with _damage_explained(source):
        if zipfile.is_zipfile(source.path):
            check_archive(source)
        return fastexcel.read_excel(source.path)


@contextmanager
def _damage_explained(source: DataSource) -> Iterator[None]:
    """Whatever the reader says of a damaged workbook as a `DataError`, also where it gives up."""
    try:
        yield
    except (DataError, MissingExtraError, OSError):
        raise
    except Exception as error:
        raise _unreadable(source, error) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what Rust raises where it gives up; it can be imported nowhere
            raise
        raise _unreadable(source, error) from None


def _unreadable(source: DataSource, error: BaseException) -> DataError:
    reason = (str(error).splitlines() or [type(error).__name__])[0].removeprefix("calamine error: ").rstrip(".")
    if "password" in reason.lower():
        return DataError(f"{source.path} is protected by a password. Save it without one.", code="password")
    return DataError(f"{source.path} is not a readable workbook: {reason}.", code="not-a-workbook")


def _sheet(source: DataSource) -> _Sheet:
    book = _workbook(source)
    name = sheet_read(source, list(book.sheet_names))
    where = f"{source.path}, sheet {name!r}"

    def load(kind: str) -> Any:
        return book.load_sheet(name, header_row=None, dtypes=kind)

    with _damage_explained(source):
        _check_size(source, name)
        loaded = load("string")
        texts, found = loaded.to_arrow_with_errors()
        letters = [_letters(column.absolute_index) for column in loaded.available_columns()]
    if not texts.num_columns or not texts.num_rows:
        message = f"{source.path}: the sheet {name!r} is empty. Its first row must name the columns."
        raise DataError(message, code="empty-file")
    header = [_label(column[0].as_py()) for column in texts.columns]
    for index, (label, column) in enumerate(zip(header, texts.columns, strict=True)):
        if not label and pc.any(_holds(column)).as_py():
            rule = "The first row with values must name every column:"
            fix = "name it there, split merged cells, and delete what is above the table."
            message = f"{where}: column {letters[index]} has values but no name. {rule} {fix}"
            raise DataError(message, code="unnamed-column")
    check_names([label for label in header if label], where)
    named = {label: index for index, label in enumerate(header) if label}
    return _Sheet(where, load, name, named, texts, letters, () if found is None else found.errors)


def _label(cell: str | None) -> str:
    """The name of a column, empty where there is none; a date names it without a time."""
    if cell is None or not cell.strip():
        return ""
    return cell.removesuffix(" 00:00:00") if _DATE.fullmatch(cell) else cell


def _letters(index: int) -> str:
    """A column as spreadsheets name it: A, B, … Z, AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _refuse_uncalculated(sheet: _Sheet, names: Mapping[int, str], source: DataSource) -> None:
    """A formula without its value is no missing value. Only Office Open XML tells it from an empty cell."""
    if source.path.suffix.lower() not in _OPEN_XML:
        return
    by_letters = {sheet.letters[index]: name for index, name in names.items()}
    with _damage_explained(source):
        cells = _uncalculated(source.path, sheet.name)
    found = [(by_letters[letters], cell) for letters, cell in cells if letters in by_letters]
    if found:
        name, cell = found[0]
        message = f"{sheet.where}: column {name!r} has a formula in cell {cell} that was never calculated."
        fix = "Open the workbook in a spreadsheet program and save it, which calculates it."
        raise DataError(f"{message}{_more_cells(found)} {fix}", code="formula-not-calculated")


def _refuse_errors(sheet: _Sheet, names: Mapping[int, str]) -> None:
    """Errors of formulas are no values; only #N/A says that there is none."""
    broken = []
    for each in sheet.errors:
        row, index = each.position
        found = _ERROR.search(each.detail)
        kind = found.group(1) if found else each.detail
        if row > 0 and index in names and kind != _NOT_AVAILABLE and "'DurationIso(" not in each.detail:
            broken.append((names[index], row + 1, _ERRORS.get(kind, kind)))
    if broken:
        name, row, kind = broken[0]
        message = f"{sheet.where}: column {name!r} has the error {kind} in row {row} of the table ({_ROWS_COUNT})."
        fix = "Correct the formula, or write #N/A for a missing value."
        raise DataError(f"{message}{_more_cells(broken)} {fix}", code="cell-error")


def _more_cells(cells: Sequence[object]) -> str:
    return f" The same is true of {pluralize(len(cells) - 1, 'more cell')}." if len(cells) > 1 else ""


def _holds(column: pa.Array) -> pa.Array:
    """Which cells hold more than blanks."""
    return pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(column), ""), False)


def _column(texts: pa.Array, truths: pa.Array, numbers: pa.Array, durations: pa.Array, spans: pa.Array) -> pa.Array:
    """The cells of one column, as one type where they are of one kind, else in canonical text."""
    known = pc.is_valid(truths)
    is_truth = pc.and_(known, pc.fill_null(pc.is_in(texts, value_set=pa.array(["true", "false"])), False))
    is_span = pc.is_valid(spans)
    texts = pc.if_else(is_span, duration_text(pc.multiply(spans, 1000)), texts)
    lasting = pc.if_else(is_span, spans, durations.cast(pa.duration("ms")).cast(pa.int64()))
    is_time = pc.fill_null(pc.and_(pc.greater_equal(lasting, 0), pc.less(lasting, _DAY)), False)
    times = pc.if_else(is_time, lasting, None).cast(pa.int32()).cast(pa.time32("ms"))
    is_number, is_date = pc.and_not(known, is_truth), pc.and_not(pc.is_valid(lasting), pc.or_(is_time, is_span))
    parts: list[tuple[pa.Array, Callable[[], pa.Array]]] = [
        (is_number, lambda: without_fractions(pc.if_else(is_number, numbers, None))),
        (is_truth, lambda: pc.if_else(is_truth, truths, None)),
        (is_date, lambda: without_times(pc.if_else(is_date, texts, None).cast(_MOMENT))),
        (is_time, lambda: times),
    ]
    cells = texts
    for mask, values in parts:
        held = pc.sum(mask).as_py()
        if held and held == len(texts) - texts.null_count:
            return values()
        if held:
            cells = pc.if_else(mask, canonical_text(values()), cells)
    return cells


def _durations(not_numbers: Iterable[Any], names: Mapping[int, str], where: str) -> dict[int, dict[int, int]]:
    """The durations among the cells that are no numbers, in milliseconds, by column and row.

    In a column that is read, a date too early and a duration that cannot be read are errors.
    """
    found: dict[int, dict[int, int]] = {}
    for each in not_numbers:
        row, index = each.position
        wrong, lasting = "", None
        if serial := _SERIAL.fullmatch(each.detail):
            days, kind = float(serial[1]), serial[2]
            if kind == "TimeDelta":
                lasting = round(days * _DAY)
            elif days < 0:
                wrong = f"has a date format, but contains {serial[1]}, which is before the first date of a workbook."
                wrong = f"{wrong} Correct it, or give it a number format."
        elif iso := _ISO.fullmatch(each.detail):
            if parts := _PARTS.fullmatch(iso[1]):
                length = sum(float((parts[unit] or "0").replace(",", ".")) * of for unit, of in _LENGTHS.items())
                lasting = round(length) * (-1 if parts["sign"] else 1)
            else:
                wrong = f"has the duration {iso[1]}, which cannot be read."
        if wrong and index in names and row:
            cell = f"{where}: column {names[index]!r}, row {row + 1} of the table ({_ROWS_COUNT})"
            raise DataError(f"{cell} {wrong}", code="cell-error")
        if lasting is not None:
            found.setdefault(index, {})[row] = lasting
    return found


def _uncalculated(path: Path, sheet: str) -> list[tuple[str, str]]:
    """The cells of a sheet of an Office Open XML workbook that have a formula and no value: letters of column, name."""
    if not zipfile.is_zipfile(path):
        return []
    found: dict[tuple[str, str], None] = {}  # in their order; those in the overlap of two pieces once
    with zipfile.ZipFile(path) as archive:
        part = _part(archive, sheet)
        if part is None:
            return []
        before = b""
        with archive.open(part) as file:
            while chunk := file.read(_CHUNK):
                piece = before + chunk
                for cell in _CELL.finditer(piece):
                    reference = _REFERENCE.search(cell[1])
                    if reference and not _TYPE.search(cell[1]):
                        found[reference[2].decode(), reference[1].decode()] = None
                before = piece[-_LONGEST:]
    return list(found)


def _check_size(source: DataSource, sheet: str) -> None:
    """Refuse a sheet that the reader would need too much room for, in whichever zipped format it is."""
    if not zipfile.is_zipfile(source.path):
        return
    with zipfile.ZipFile(source.path) as archive:
        part = _part(archive, sheet)
        others = [name for name in archive.namelist() if name.startswith(_SHEETS) or name == _OPEN_DOCUMENT]
        for each in others if part is None else [part]:
            check_sheet(archive, each, sheet, source)


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


EXCEL = FileFormat((FileKind.EXCEL,), lambda source: list(_sheet(source).columns), read_excel)
