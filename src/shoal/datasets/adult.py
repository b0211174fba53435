"""The Adult census table (Becker & Kohavi 1996, UCI Machine Learning Repository, CC BY 4.0).

48,842 records, the 32,561 of training first; 45,222 of them have no unknown value, which is the table that three of the
five papers use. The table is not part of Shoal. It is looked for in a folder that the caller names, else in the folder
that ``SHOAL_DATA`` names, else in the user's cache; it is fetched only for a caller who says so (``download=True``): a
tool that works on people's data opens no connection by itself.
"""

import csv
import hashlib
import io
import os
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, OutputError
from shoal.formatting import listing
from shoal.io import DataSource, Staged, column_names, read_table


@dataclass(frozen=True)
class RemoteFile:
    """A file at an address."""

    name: str
    size: int
    sha256: str


ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_UNKNOWN = "?"
_TIMEOUT = 60  # seconds that a connection may be silent
_TABLE = "adult.csv"
_ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"
_REMOTE = (
    RemoteFile("adult.data", 3_974_305, "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
    RemoteFile("adult.test", 2_003_153, "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
)  # the two files as UCI ships them: the records of training, then those of testing


def load_adult(folder: str | Path | None = None, *, complete: bool = False, download: bool = False) -> pa.Table:
    """The Adult table: numbers as integers, everything else as text, unknown values missing.

    ``folder`` holds ``adult.csv`` (a header and all records) or ``adult.data`` and ``adult.test`` as UCI ships them.
    Without it the folder of ``SHOAL_DATA`` is tried, then the user's cache. ``download=True`` fetches the two files
    from UCI into the cache where none of these has them, and checks their SHA-256. ``complete=True`` leaves out the
    records with an unknown value. Raises `DataError` where the table is nowhere, or is not Adult.
    """
    table = _find_table(None if folder is None else Path(folder), download=download)
    return table.drop_null() if complete else table


def _find_table(folder: Path | None, *, download: bool) -> pa.Table:
    named = os.environ.get("SHOAL_DATA")
    cache = cache_folder() / "adult"
    folders = [folder] if folder is not None else [*([Path(named)] if named else []), cache]
    for each in folders:
        if (each / _TABLE).is_file():
            return _typed(_read_csv(each / _TABLE), each / _TABLE)
        if all((each / part.name).is_file() for part in _REMOTE):
            return _typed(_read_parts(each), each)
    if folder is None and download:
        fetch(_ADDRESS, _REMOTE, cache)
        return _typed(_read_parts(cache), cache)
    raise DataError(_nowhere(folder, named, cache), code="adult-not-found")


def _nowhere(folder: Path | None, named: str | None, cache: Path) -> str:
    files = f"{_TABLE} or {' and '.join(part.name for part in _REMOTE)}"
    if folder is not None:
        return f"The Adult table was not found: {folder} has no {files}. Name a folder that has them."
    looked = f"Neither {named} (SHOAL_DATA) nor {cache} has" if named else f"SHOAL_DATA is not set, and {cache} has no"
    return (
        f"The Adult table was not found. {looked} {files}. Set SHOAL_DATA to a folder that has them, name the folder "
        f"(--data, folder= in Python), or allow downloading them from {_ADDRESS} (--download, download=True in Python)."
    )


def _read_csv(path: Path) -> pa.Table:
    source = DataSource(path, missing=(_UNKNOWN,))
    lacking = [name for name in ADULT_COLUMNS if name not in column_names(source)]
    if lacking:
        raise DataError(
            f"{path} is not the Adult table: it has no column {listing(lacking)}. Its header must be "
            f"{', '.join(ADULT_COLUMNS)}.",
            code="not-adult",
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
            raise DataError(f"{path} cannot be read: {error}.", code="unreadable") from None
        for number, cells in enumerate(csv.reader(io.StringIO(text), skipinitialspace=True), start=1):
            if not cells or cells[0].startswith("|"):
                continue
            if len(cells) != len(ADULT_COLUMNS):
                raise DataError(
                    f"{path}, line {number}: {len(cells)} cells, but Adult has {len(ADULT_COLUMNS)} columns. "
                    f"Download the file again from {_ADDRESS}.",
                    code="not-adult",
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
            message = f"{source}, column {name}: {error}. Adult has whole numbers there."
            raise DataError(message, code="not-adult") from None
        table = table.set_column(table.column_names.index(name), name, numbers)
    return table


def cache_folder() -> Path:
    """Where Shoal keeps what it fetched for a user: below XDG_CACHE_HOME, LOCALAPPDATA on Windows, or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return (Path(base) if base else Path.home() / ".cache") / "shoal" / "datasets"


def fetch(address: str, files: Sequence[RemoteFile], folder: Path) -> None:
    """Fetch some files into a folder; all of them appear there or none does."""
    contents = [_content(address, file) for file in files]
    paths = [folder / file.name for file in files]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Staged(paths, force=True) as stage:
            for path, content in zip(paths, contents, strict=True):
                stage.path(path).write_bytes(content)
            stage.commit()
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}."
        raise OutputError(message, code="not-writable") from None


def _content(address: str, file: RemoteFile) -> bytes:
    url = f"{address}{file.name}"
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:  # noqa: S310 - the addresses are this package's own
            content: bytes = answer.read(file.size + 1)
    except (OSError, HTTPException) as error:
        raise DataError(
            f"{url} cannot be reached: {getattr(error, 'reason', None) or error}. "
            "Download it elsewhere, and name the folder that it is in.",
            code="download-failed",
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise DataError(
            f"{url} is not the expected {file.name}: its SHA-256 is {found} and should be {file.sha256}. It was not "
            "saved.",
            code="wrong-checksum",
        )
    return content
