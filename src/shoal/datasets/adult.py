"""The Adult census table (Becker & Kohavi 1996, UCI Machine Learning Repository, CC BY 4.0).

48,842 records, the 32,561 of training first; 45,222 of them have no unknown value, which is the table that three of the
five papers use. The table is not part of Shoal. It is looked for in a folder that the caller names, else in the folder
that ``SHOAL_DATA`` names, else in the user's cache; it is fetched only for a caller who says so (``download=True``): a
tool that works on people's data opens no connection by itself.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.datasets.fetch import Remote, cache_folder, fetch
from shoal.errors import DataError
from shoal.io import DataSource, column_names, read_table

ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_UNKNOWN = "?"
_TABLE = "adult.csv"
_ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"
_REMOTE = (
    Remote("adult.data", 3_974_305, "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
    Remote("adult.test", 2_003_153, "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
)
"""The two files as UCI ships them: the records of training, then those of testing."""


def load_adult(folder: str | Path | None = None, *, complete: bool = False, download: bool = False) -> pa.Table:
    """The Adult table: numbers as integers, everything else as text, unknown values missing.

    ``folder`` holds ``adult.csv`` (a header and all records) or ``adult.data`` and ``adult.test`` as UCI ships them.
    Without it the folder of ``SHOAL_DATA`` is tried, then the user's cache. ``download=True`` fetches the two files
    from UCI into the cache where none of these has them, and checks their SHA-256. ``complete=True`` leaves out the
    records with an unknown value. Raises `DataError` where the table is nowhere, or is not Adult.
    """
    table = _found(None if folder is None else Path(folder), download=download)
    return table.drop_null() if complete else table


def _found(folder: Path | None, *, download: bool) -> pa.Table:
    named = os.environ.get("SHOAL_DATA")
    cache = cache_folder() / "adult"
    places = [folder] if folder is not None else [*([Path(named)] if named else []), cache]
    for place in places:
        if (place / _TABLE).is_file():
            return _typed(_read_csv(place / _TABLE), place / _TABLE)
        if all((place / part.name).is_file() for part in _REMOTE):
            return _typed(_read_parts(place), place)
    if folder is None and download:
        fetch(_ADDRESS, _REMOTE, cache)
        return _typed(_read_parts(cache), cache)
    raise DataError(_nowhere(folder, named, cache))


def _nowhere(folder: Path | None, named: str | None, cache: Path) -> str:
    files = f"{_TABLE}, nor {' and '.join(part.name for part in _REMOTE)}"
    if folder is not None:
        return f"The Adult table was not found: {folder} has no {files}. Name a folder that has them."
    looked = f"{named} (SHOAL_DATA) and {cache} have" if named else f"SHOAL_DATA is not set, and {cache} has"
    return (
        f"The Adult table was not found: {looked}, and neither that folder nor {cache} has {files}. Set SHOAL_DATA "
        "to a folder that has them, name one (--data, folder= in Python), or allow to fetch them once from "
        f"{_ADDRESS} (--download, download=True in Python)."
    )


def _read_csv(path: Path) -> pa.Table:
    source = DataSource(path, missing=(_UNKNOWN,))
    lacking = [name for name in ADULT_COLUMNS if name not in column_names(source)]
    if lacking:
        raise DataError(
            f"{path} is not the Adult table: it has no column {', '.join(lacking)}. Its header must name "
            f"{', '.join(ADULT_COLUMNS)}."
        )
    return read_table(source, ADULT_COLUMNS)


def _read_parts(folder: Path) -> pa.Table:
    """The two files of UCI: no header, blanks after the commas, a first line and full stops in the part for testing."""
    rows: list[list[str]] = []
    for part in _REMOTE:
        path = folder / part.name
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path} cannot be read: {error}.") from None
        for number, cells in enumerate(csv.reader(io.StringIO(text), skipinitialspace=True), start=1):
            if not cells or cells[0].startswith("|"):
                continue
            if len(cells) != len(ADULT_COLUMNS):
                raise DataError(
                    f"{path}, line {number}: {len(cells)} cells where Adult has {len(ADULT_COLUMNS)}. "
                    f"Fetch the file again from {_ADDRESS}."
                )
            rows.append([*cells[:-1], cells[-1].rstrip(".")])
    columns = zip(*rows, strict=True) if rows else [()] * len(ADULT_COLUMNS)
    known = {
        name: pa.array([None if cell == _UNKNOWN else cell for cell in cells], type=pa.string())
        for name, cells in zip(ADULT_COLUMNS, columns, strict=True)
    }
    return pa.table(known)


def _typed(table: pa.Table, source: Path) -> pa.Table:
    """The table with its numbers as integers."""
    for name in _NUMBERS:
        try:
            numbers = pc.cast(table.column(name), pa.int64())
        except pa.ArrowInvalid as error:
            raise DataError(f"{source}, column {name}: {error}. Adult has whole numbers there.") from None
        table = table.set_column(table.column_names.index(name), name, numbers)
    return table
