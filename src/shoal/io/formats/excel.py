"""Sheets of a workbook (Excel, OpenDocument), cell by cell: what a cell holds decides, not how it is shown.

A sheet has no types, so the same column may hold numbers, texts and dates. The reader gives each cell in several ways -
as text, truth value, number and duration - and which of them are there tells what the cell is. Its text of a number is
rounded and so never used. A column of one kind gets that type; in any other every cell is its canonical text. So a
table gives the same release from a workbook as from a CSV file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, MissingExtraError, did_you_mean
from shoal.formatting import pluralize
from shoal.io.columns import check_names, chosen, duration_text, plain, without_fractions
from shoal.io.formats.excel_cells import SheetDurations, sheet_durations, uncalculated
from shoal.io.formats.file_format import FileFormat
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind
from shoal.table.canonical_text import canonical_text

_DAY: Final = 24 * 60 * 60 * 1000  # in milliseconds, the finest that a workbook keeps
_MOMENT: Final = pa.timestamp("ms")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d 00:00:00")
_ERROR: Final = re.compile(r"Error\((\w+)\)")
_NOT_AVAILABLE: Final = "NA"
_OPEN_XML: Final = frozenset({".xlsx", ".xlsm"})
_ERRORS: Final = {"Div0": "#DIV/0!", "Name": "#NAME?", "Null": "#NULL!", "Num": "#NUM!", "Ref": "#REF!",
                  "Value": "#VALUE!", "GettingData": "#GETTING_DATA"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Sheet:
    """The cells of a sheet as text, its first row with values being the header."""

    name: str
    columns: dict[str, int]  # the index of each named column among the cells
    texts: pa.RecordBatch
    positions: Sequence[int]  # the position of each column in the sheet, counted from A
    errors: Sequence[Any]  # cells that hold an error value instead of one


def sheet_names(source: DataSource) -> list[str]:
    """The names of the sheets of a workbook, in their order."""
    return list(_workbook(source).sheet_names)


def sheet_read(source: DataSource) -> str:
    """The name of the sheet that is read: the one asked for, by its name or its number from 1, or else the first."""
    names = sheet_names(source)
    if not names:
        raise DataError(f"{source.path} has no sheet.", code="no-sheet")
    wanted = source.sheet
    if wanted is None or wanted in names:
        return names[0] if wanted is None else str(wanted)
    if not str(wanted).isdecimal():
        raise DataError(f"{source.path} has no sheet {wanted!r}. {did_you_mean(wanted, names)}", code="unknown-sheet")
    number = int(wanted)
    if not 1 <= number <= len(names):
        raise DataError(
            f"{source.path} has no sheet number {number}: it has {pluralize(len(names), 'sheet')}, counted from 1.",
            code="unknown-sheet",
        )
    return names[number - 1]


def excel_names(source: DataSource) -> list[str]:
    """The names of the columns of a sheet."""
    return list(_sheet(source).columns)


def read_excel(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The columns of a sheet that are asked for; a row without any value is no record."""
    sheet = _sheet(source)
    wanted = chosen(list(sheet.columns), columns, str(source.path))
    _refuse_errors(sheet, wanted, source)
    _refuse_uncalculated(sheet, wanted, source)
    truths, durations = _load(source, sheet.name, "boolean"), _load(source, sheet.name, "duration")
    loaded = _workbook(source).load_sheet(sheet.name, header_row=None, dtypes="float")
    numbers, others = loaded.to_arrow_with_errors()
    names = {sheet.columns[name]: name for name in wanted}
    spans = sheet_durations(() if others is None else others.errors, names, f"{source.path}, sheet {sheet.name!r}")
    filled = _filled_rows(sheet, spans)
    arrays = []
    for name in wanted:
        index = sheet.columns[name]
        cells = [each.column(index) for each in (sheet.texts, truths, numbers, durations)]
        cells.append(spans.column(index, sheet.texts.num_rows))
        arrays.append(_column(*(_records(each, filled) for each in cells)))
    table = pa.Table.from_arrays(arrays, wanted)
    return plain(table, str(source.path), source.missing if source.quoted_missing else ())


def _workbook(source: DataSource) -> Any:
    try:
        import fastexcel  # noqa: PLC0415  only for those who read workbooks
    except ImportError:
        raise MissingExtraError(f"reading {source.path.name}, a workbook,", "excel") from None
    try:
        return fastexcel.read_excel(source.path)
    except fastexcel.FastExcelError as error:
        raise _unreadable(source, error) from None


def _unreadable(source: DataSource, error: Exception) -> DataError:
    reason = (str(error).splitlines() or [type(error).__name__])[0].removeprefix("calamine error: ").rstrip(".")
    if "password" in reason.lower():
        return DataError(f"{source.path} is protected by a password. Save it without one.", code="password")
    return DataError(f"{source.path} is not a readable workbook: {reason}.", code="not-a-workbook")


def _load(source: DataSource, sheet: str, kind: str) -> pa.RecordBatch:
    return pa.record_batch(_workbook(source).load_sheet(sheet, header_row=None, dtypes=kind))


def _sheet(source: DataSource) -> _Sheet:
    name = sheet_read(source)
    try:
        loaded = _workbook(source).load_sheet(name, header_row=None, dtypes="string")
        texts, found = loaded.to_arrow_with_errors()
        positions = [column.absolute_index for column in loaded.available_columns()]
    except Exception as error:  # whatever the reader says of a damaged sheet
        raise _unreadable(source, error) from None
    if not texts.num_columns or not texts.num_rows:
        raise DataError(
            f"{source.path}: the sheet {name!r} is empty. Its first row must name the columns.", code="empty-file"
        )
    header = [_label(column[0].as_py()) for column in texts.columns]
    for index, (label, column) in enumerate(zip(header, texts.columns, strict=True)):
        if not label and pc.any(_holds(column)).as_py():
            raise DataError(
                f"{source.path}, sheet {name!r}: column {_letters(positions[index])} has values but no name. The first "
                "row with values must name every column: name it there, split merged cells, and delete what is above "
                "the table.",
                code="unnamed-column",
            )
    check_names([label for label in header if label], f"{source.path}, sheet {name!r}")
    named = {label: index for index, label in enumerate(header) if label}
    return _Sheet(name, named, texts, positions, () if found is None else found.errors)


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


def _refuse_uncalculated(sheet: _Sheet, wanted: Iterable[str], source: DataSource) -> None:
    """A formula without its value is no missing value. Only Office Open XML tells it from an empty cell."""
    if source.path.suffix.lower() not in _OPEN_XML:
        return
    names = {sheet.positions[sheet.columns[name]]: name for name in wanted}
    try:
        cells = uncalculated(source.path, sheet.name)
    except Exception as error:  # whatever a damaged part gives
        raise _unreadable(source, error) from None
    found = [(names[index], cell) for index, cell in cells if index in names]
    if found:
        name, cell = found[0]
        more = _more_cells(len(found) - 1)
        raise DataError(
            f"{source.path}, sheet {sheet.name!r}: column {name!r} has a formula in cell {cell} that was never "
            f"calculated.{more} Open the workbook in a spreadsheet program and save it, which calculates it.",
            code="formula-not-calculated",
        )


def _refuse_errors(sheet: _Sheet, wanted: Iterable[str], source: DataSource) -> None:
    """Errors of formulas are no values; only #N/A says that there is none."""
    names = {sheet.columns[name]: name for name in wanted}
    broken = []
    for each in sheet.errors:
        row, index = each.position
        found = _ERROR.search(each.detail)
        kind = found.group(1) if found else each.detail
        if row > 0 and index in names and kind != _NOT_AVAILABLE and "'DurationIso(" not in each.detail:
            broken.append((names[index], row + 1, _ERRORS.get(kind, kind)))
    if broken:
        name, row, kind = broken[0]
        more = _more_cells(len(broken) - 1)
        raise DataError(
            f"{source.path}, sheet {sheet.name!r}: column {name!r} has the error {kind} in row {row} of the table (the "
            f"header counts as row 1).{more} Correct the formula, or write #N/A for a missing value.",
            code="cell-error",
        )


def _more_cells(count: int) -> str:
    return f" The same is true of {pluralize(count, 'more cell')}." if count else ""


def _holds(column: pa.Array) -> pa.Array:
    """Which cells hold more than blanks."""
    return pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(column), ""), False)


def _filled_rows(sheet: _Sheet, spans: SheetDurations) -> pa.Array:
    """Which rows below the header hold something in any column, be it #N/A."""
    present = np.asarray(reduce(pc.or_, [_holds(column) for column in sheet.texts.columns]))
    filled = present.copy()
    filled[[each.position[0] for each in sheet.errors] + spans.rows()] = True
    return pa.array(filled[1:])


def _records(column: pa.Array, filled: pa.Array) -> pa.Array:
    return column.slice(1).filter(filled)


def _column(texts: pa.Array, truths: pa.Array, numbers: pa.Array, durations: pa.Array, spans: pa.Array) -> pa.Array:
    """The cells of one column, as one type where they are of one kind, else in canonical text."""
    known = pc.is_valid(truths)
    is_truth = pc.and_(known, pc.fill_null(pc.is_in(texts, value_set=pa.array(["true", "false"])), False))
    is_span = pc.is_valid(spans)
    texts = pc.if_else(is_span, duration_text(pc.multiply(spans, 1000)), texts)
    lasting = pc.if_else(is_span, spans, durations.cast(pa.duration("ms")).cast(pa.int64()))
    is_time = pc.fill_null(pc.and_(pc.greater_equal(lasting, 0), pc.less(lasting, _DAY)), False)
    times = pc.if_else(is_time, lasting, None).cast(pa.int32()).cast(pa.time32("ms"))
    parts: list[tuple[pa.Array, Callable[[], pa.Array]]] = [
        (is_number := pc.and_not(known, is_truth), lambda: without_fractions(pc.if_else(is_number, numbers, None))),
        (is_truth, lambda: pc.if_else(is_truth, truths, None)),
        (
            is_date := pc.and_not(pc.is_valid(lasting), pc.or_(is_time, is_span)),
            lambda: _dates(pc.if_else(is_date, texts, None).cast(_MOMENT)),
        ),
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


def _dates(moments: pa.Array) -> pa.Array:
    """Days where no moment has a time of day."""
    days = moments.cast(pa.date32(), safe=False)
    same = pc.all(pc.equal(days.cast(_MOMENT), moments)).as_py()
    return days if same is not False else moments


EXCEL = FileFormat(kinds=(FileKind.EXCEL,), column_names=excel_names, read=read_excel)
