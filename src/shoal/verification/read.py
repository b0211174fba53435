"""Reading what is to be verified: the release as it is, without the readers that the rest of Shoal uses."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from shoal.errors import DataError
from shoal.verification.canonical_text import Codes, Mask, text_column
from shoal.verification.counted_rows import (
    CountedRows,
    RowOrder,
    csv_blocks,
    distinct_rows,
    header,
    line_runs,
    parsed,
    runs,
    watched,
)

_WRITTEN_BY_ARROW = {b"ARROW:schema"}
"""The one entry that a Parquet file of Arrow's always has: the types of its columns, which are checked themselves."""


_ROW_LABELS = re.compile(r"__index_level_\d+__")  # columns in which row labels without a name travel


@dataclass(frozen=True, eq=False)
class ReadRelease:
    """A release as it was handed over: every column as text, and what it carries besides."""

    names: tuple[str, ...]
    columns: dict[str, Any]
    """Arrow columns of canonical text; of two columns of one name, the first. Neighbouring equal rows are one."""
    counts: Codes  # how many rows each of these stands for
    baggage: tuple[str, ...] = ()  # what it carries besides its cells, in words: metadata, values that no row holds
    path: Path | None = None
    sha256: str | None = None  # of a file with evidence beside it, which claims one
    order: RowOrder | None = None
    """What was seen of the order of the rows, where these were grouped while they were read."""
    blank: Mask | None = None  # where columns were left apart: the rows that have nothing in any of them

    @property
    def rows(self) -> int:
        """Rows of the release."""
        return int(self.counts.sum())


def evidence_beside(path: Path) -> Path | None:
    """The evidence that lies beside a release file, if there is any."""
    beside = path.with_name(f"{path.stem}.evidence.json")
    return beside if beside.is_file() else None


def read_release(
    release: str | Path | pa.Table | CountedRows, apart: Sequence[str] = (), baggage: Sequence[str] = ()
) -> ReadRelease:
    """A release from a path or an Arrow table; a file that is no table is a `DataError`.

    ``baggage`` is what a table is known to have carried besides its cells before it became an Arrow table.

    Of columns ``apart`` in a file only the order is looked at, and whether a row has anything there: they are not among
    the columns that are given.
    """
    if not isinstance(release, str | Path):
        return _from_table(release, baggage)
    path = Path(release)
    suffix = path.suffix.lower()
    try:
        if apart and suffix in {".csv", ".parquet", ".pq"}:
            return _in_blocks(path, apart)
        with path.open("rb") as file:
            if suffix == ".csv":
                return _from_csv(file, path)
            if suffix in {".parquet", ".pq"}:
                return _from_parquet(file, path)
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        message = f"The release {path} cannot be read as a table: {str(error).splitlines()[0]}"
        raise DataError(message, code="unreadable-release") from None
    except OSError as error:
        message = f"The release {path} cannot be read: {error.strerror or error}."
        raise DataError(message, code="unreadable-file") from None
    message = f"The release {path} has the suffix {suffix!r}; a release is .csv, .parquet or .pq."
    raise DataError(message, code="unknown-suffix")


Original = CountedRows | Callable[[Sequence[str]], Any]
"""The original: counted, or a function that gives the columns asked for as an Arrow table or as record batches."""


def read_original(original: Original, names: Sequence[str]) -> tuple[dict[str, Any], Codes]:
    """The columns of the original that a release may show, as text, and how many records each row stands for.

    Batches are counted as they come; of a table each row stands for itself.
    """
    if isinstance(original, CountedRows):
        known = [name for name in names if name in original.table.column_names]
        return {name: _coded_text(original.table.column(name), name) for name in known}, original.counts
    rows = original(list(names))
    if not isinstance(rows, pa.Table):
        return distinct_rows(rows, names)
    texts = {name: text_column(rows.column(name), name) for name in names}
    return texts, np.ones(rows.num_rows, dtype=np.int64)


def _coded_text(column: Any, name: str) -> Any:
    """A column as text; one of codes and a dictionary of texts stays so, since it takes less memory."""
    kind = column.type
    coded = pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type)
    return column if coded else text_column(column, name)


def _given(
    names: Sequence[str],
    columns: Sequence[Any],
    baggage: Sequence[str],
    path: Path | None = None,
    sha: str | None = None,
    counts: Codes | None = None,
) -> ReadRelease:
    texts: dict[str, Any] = {}
    for name, column in zip(names, columns, strict=True):
        if name not in texts:
            texts[name] = text_column(column, name)
    merged, counts = runs(list(texts.values()), counts)
    return ReadRelease(tuple(names), dict(zip(texts, merged, strict=True)), counts, tuple(baggage), path, sha)


def _from_csv(file: BinaryIO, path: Path) -> ReadRelease:
    """UTF-8 with commas; an empty cell is missing, ``""`` an empty text. Equal neighbouring lines are parsed once."""
    seen = hashlib.sha256() if evidence_beside(path) else None  # of the same bytes that are checked
    lines, counts = line_runs(file, seen)
    if lines and lines[-1].count(b'"') % 2:
        message = f"The release {path} has a quote that is never closed, so the rest of it would be one cell."
        raise DataError(message, code="unclosed-quote")
    names, first = header(lines, path)
    lines, some = lines[first:], np.array(counts[first:], dtype=np.int64)
    if len(names) > 1:  # then empty lines are no records
        full = [place for place, line in enumerate(lines) if line.strip(b"\r")]
        lines, some = [lines[place] for place in full], some[full]
    columns = parsed(lines, len(names))
    if len(columns[0]) != len(some):  # a line that holds several records, or none
        repeated = [line for line, count in zip(lines, some.tolist(), strict=True) for _ in range(count)]
        columns = parsed(repeated, len(names))
        some = np.ones(len(columns[0]), dtype=np.int64)
    return _given(names, columns, [], path, None if seen is None else seen.hexdigest(), some)


def _in_blocks(path: Path, apart: Sequence[str]) -> ReadRelease:
    """The distinct rows of a release file without some columns, and what is seen of the order of all its rows."""
    order, unused, baggage = RowOrder(), dict[str, None](), list[str]()
    if path.suffix.lower() == ".csv":
        names, blocks = csv_blocks(path)
    else:
        read, baggage = _opened(str(path))
        names, blocks = read.schema_arrow.names, _parquet_blocks(read, unused)
    kept = [name for name in names if name not in apart]
    mark = "".join([*names, "blank"])  # longer than every name, so it is none of them
    columns, counts = distinct_rows(watched(blocks, names, apart, order, mark), [*kept, mark])
    blank = np.asarray(pc.equal(columns.pop(mark), "true"), dtype=np.bool_)
    return ReadRelease(tuple(names), columns, counts, (*baggage, *unused), path, order=order, blank=blank)


def _from_parquet(file: io.BufferedReader, path: Path) -> ReadRelease:
    """Read with dictionaries as they stand in the file: they may list values that no row holds."""
    seen = hashlib.file_digest(file, "sha256") if evidence_beside(path) else None
    read, baggage = _opened(file)
    names = read.schema_arrow.names
    parts = [_row_group(read.read_row_group(group)) for group in range(read.num_row_groups)]
    parts = parts or [_row_group(read.schema_arrow.empty_table())]
    unused = dict.fromkeys(each for _, _, found in parts for each in found)
    columns = [
        pa.chunked_array([chunk for part, _, _ in parts for chunk in part[place].chunks], pa.string())
        for place in range(len(names))
    ]
    counts = np.concatenate([counted for _, counted, _ in parts])
    return _given(names, columns, [*baggage, *unused], path, None if seen is None else seen.hexdigest(), counts)


def _parquet_blocks(file: parquet.ParquetFile, unused: dict[str, None]) -> Iterator[list[Any]]:
    """The columns as text, a row group at a time; ``unused`` gets what dictionaries list besides."""
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        unused |= dict.fromkeys(_unused(table))
        yield [text_column(column, name) for name, column in zip(table.column_names, table.columns, strict=True)]


def _opened(file: Any) -> tuple[parquet.ParquetFile, list[str]]:
    """A Parquet file with its dictionaries as they stand in it, and the metadata that it carries."""
    schema = parquet.ParquetFile(file).schema_arrow
    text = [field.name for field in schema if _is_text(field.type)]
    read = parquet.ParquetFile(file, read_dictionary=text)
    stored = set(read.metadata.metadata or {}) - _WRITTEN_BY_ARROW
    return read, _metadata(read.schema_arrow, {key.decode(errors="replace") for key in stored})


def _row_group(table: Any) -> tuple[list[Any], Codes, list[str]]:
    """Some rows of a Parquet file as text, neighbouring equal ones as one, and what its dictionaries list besides."""
    texts = [text_column(column, name) for name, column in zip(table.column_names, table.columns, strict=True)]
    columns, counts = runs(texts)
    return columns, counts, _unused(table)


def _is_text(kind: Any) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value))


def _from_table(release: pa.Table | CountedRows, baggage: Sequence[str]) -> ReadRelease:
    """A table in memory; its dictionaries and metadata are looked at before they are left behind."""
    counts: Codes | None = None
    if isinstance(release, CountedRows):
        release, counts = release.table, release.counts
    found = [*baggage, *_metadata(release.schema, set()), *_unused(release)]
    names = [name for name in release.column_names if not _ROW_LABELS.fullmatch(name)]
    if len(names) < len(release.column_names):
        found.append("it carries row labels in a column of its own; drop it")
    columns = [column for name, column in zip(release.column_names, release.columns, strict=True) if name in names]
    return _given(names, columns, found, counts=counts)


def _metadata(schema: Any, stored: set[str]) -> list[str]:
    """Metadata of the schema, the file and the fields."""
    keys = stored | {key.decode(errors="replace") for key in schema.metadata or {}}
    for field in schema:
        keys |= {f"{field.name}: {key.decode()}" for key in field.metadata or {} if key != b"PARQUET:field_id"}
    return [f"it carries metadata ({', '.join(sorted(keys))})"] if keys else []


def _unused(table: Any) -> list[str]:
    """Dictionaries that list values which no record holds."""
    found = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_dictionary(column.type):
            continue
        listed = {value for chunk in column.chunks for value in chunk.dictionary.to_pylist()}
        held = {value for chunk in column.chunks for value in pc.unique(chunk.cast(column.type.value_type)).to_pylist()}
        if unused := len(listed - held - {None}):
            found.append(f"the dictionary of column {name!r} lists {unused:,} values that no record holds")
    return found
