"""Tables written in the formats that Shoal reads, each by a writer that is not Shoal's."""

from __future__ import annotations

import base64
import csv
import datetime
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import openpyxl
import pandas as pd
import pyreadstat
import xlwt

Rows = Sequence[Sequence[Any]]


def rows_of(text: str, *, numbers: Sequence[str] = ()) -> list[list[Any]]:
    """The cells of a CSV text, a list a line; some columns as numbers, empty cells as nothing."""
    header, *records = csv.reader(io.StringIO(text))

    def typed(name: str, cell: str) -> Any:
        return None if not cell else float(cell) if name in numbers else cell

    return [header, *([typed(*each) for each in zip(header, record, strict=True)] for record in records)]


def write_csv(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def write_xlsx(path: Path, rows: Rows, *, sheet: str = "Sheet1", others: Mapping[str, Rows] | None = None) -> None:
    """A workbook with the rows as its first sheet, and other sheets after it."""
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for name, content in {sheet: rows, **(others or {})}.items():
        target = book.create_sheet(name)
        for row in content:
            target.append(list(row))
    book.save(path)


def write_xls(path: Path, rows: Rows) -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Sheet1")
    days = xlwt.easyxf(num_format_str="yyyy-mm-dd")
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            if isinstance(cell, datetime.date):
                sheet.write(y, x, cell, days)
            elif cell is not None:
                sheet.write(y, x, cell)
    book.save(str(path))


_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:"


def write_ods(path: Path, rows: Rows) -> None:
    """An OpenDocument table with the least that the format asks for (OASIS OpenDocument 1.2, parts 1 and 3)."""
    body = "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
    spaces = " ".join(f'xmlns:{name}="{_OFFICE}{name}:1.0"' for name in ("office", "table", "text"))
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="Sheet1">{body}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    entry = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    manifest = (
        f'<manifest:manifest xmlns:manifest="{entry}"><manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="{kind}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content)


def _ods_cell(value: Any) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        return f'<table:table-cell office:value-type="boolean" office:boolean-value="{str(value).lower()}"/>'
    if isinstance(value, (int, float)):
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
    if isinstance(value, datetime.date):
        return f'<table:table-cell office:value-type="date" office:date-value="{value.isoformat()}"/>'
    if isinstance(value, datetime.timedelta):
        lasting = f"PT{value // datetime.timedelta(hours=1):02d}H{value.seconds // 60 % 60:02d}M00S"
        return f'<table:table-cell office:value-type="time" office:time-value="{lasting}"/>'
    return f'<table:table-cell office:value-type="string"><text:p>{escape(str(value))}</text:p></table:table-cell>'


def _frame(rows: Rows) -> pd.DataFrame:
    header, *records = rows
    return pd.DataFrame([list(record) for record in records], columns=list(header))


def write_sav(path: Path, rows: Rows, **options: Any) -> None:
    pyreadstat.write_sav(_frame(rows), path, compress=path.suffix == ".zsav", **options)


def write_por(path: Path, rows: Rows) -> None:
    pyreadstat.write_por(_frame(rows), path)


def write_dta(path: Path, rows: Rows, **options: Any) -> None:
    pyreadstat.write_dta(_frame(rows), path, **options)


def write_xpt(path: Path, rows: Rows) -> None:
    pyreadstat.write_xport(_frame(rows), path, file_format_version=8)


_PATIENTS_SAS7BDAT = (
    "c-rmSy>HV%7zXf5s7gvZq*8|rNJNN%p+a`!egqioe36tOA*C>LN=}WX#ED`DC}JqgO#B_)n2{<LMpia<#0&$_a2Gqt`C_MR2=)0@)#+Z"
    "}<JXQ8H<e7t%!jY9p1j*w|MdQCimZIp-(;?(*K>qiCkdjHg*HO7hSkVcYV~r-I<Ok$gKQjf4w3iQou0iOe6ePuLhLC`NKz^1Z)v)wKhX"
    "GS@NuVZJHzJ$000000000000000007`3TID~4d|vZsH!p>^o(A=dlJbIjeNspS`I!32sz1I|>Ybo&D*NAzseii?T|bGbcVg<BF?9d{0D"
    "z0+?B{3<`G1rD<;O>DrJmxyOC&iSXY+)3BsR1?qs+6xe7r7|B$~2a7PKDiO)FRV8X-&ke+h1o%l<d#U^K`|@C|xNIo{uM`{H|1o(Xnnm"
    "(fE;n!Tap4UWhQyWi}!#N27wp51f!nrC#-`p${<%Sw+Q+~2&WlVezm*}i<<4${%(kpg!Q_%9{=Pln|<Qt^)YsNp|`uNzy2_zYERk3+G^"
    "L;3|K=kA(C>d+P)=d|63Tp<{XtSeP-hx+Y^?bK<q!F<0GV^S_J_cQVlxk<nBQ#vaim&{_@c0@(bY1=t*oUBhhe&cbKeieEo^{bluv`-y"
    "Bw`=h6VcTol?ld;d-5a`6zlvGox3!?(j>uWA*Y48!^Q+R1)UO=MZH<qU4!ms1b{Tb<l&iJm^D{%Qr^r=0!^rEm-;=K2aUpd5jELOCeOt"
    "bM;oSCuesv}vr#1IJ6X$!#+~6<3EC&Dp00000i~Rxa*6tq"
)
"""The patients of the end-to-end tests as a SAS data set, made by the command ``readstat patients.sav …``: no library
for Python writes one."""


def write_sas7bdat_of_patients(path: Path) -> None:
    path.write_bytes(zlib.decompress(base64.b85decode(_PATIENTS_SAS7BDAT)))
