"""Reading what is to be verified: the release as it is, without the readers that the rest of Shoal uses.

Files are read block by block: so many records of a text file, row groups of a Parquet file.
"""

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from shoal.errors import DataError
from shoal.verification.canonical_text import Codes, Mask, text_column
from shoal.verification.counted_rows import CountedRows, RowOrder, counted, grouped

_WRITTEN_BY_ARROW = {b"ARROW:schema"}  # in every Parquet file of Arrow's: the types of its columns, which are checked
_ROW_LABELS = re.compile(r"__index_level_\d+__")  # columns in which row labels without a name travel
_RECORDS_AT_A_TIME, _BYTES_AT_A_TIME = 100_000, 1 << 20
_LARGEST_BLOCK = (1 << 31) - 1  # what Arrow reads at once: no cell lies on the edge of two blocks
_LINE, _QUOTE, _RETURN = b"\n", b'"', b"\r"

Block = tuple[Sequence[Any], Codes | None]  # columns, and how many rows each row stands for; one where it is not said


@dataclass(frozen=True, eq=False)
class ReadRelease:
    """A release as it was handed over: every column as text, and what it carries besides."""

    names: tuple[str, ...]
    columns: dict[str, Any]
    """Arrow columns of canonical text; of two columns of one name, the first. Neighbouring equal rows are one."""
    counts: Codes  # how many rows each of these stands for
    order: RowOrder
    baggage: tuple[str, ...] = ()  # what it carries besides its cells, in words: metadata, values that no row holds
    path: Path | None = None
    sha256: str | None = None  # of a file with evidence beside it, which claims one
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
        with path.open("rb") as file:
            if suffix == ".csv":
                seen = hashlib.sha256() if evidence_beside(path) else None  # of the same bytes that are checked
                names, blocks = _csv_blocks(file, path, seen)
                return _gather(names, blocks, [], apart, path, seen)
            if suffix in {".parquet", ".pq"}:
                seen = hashlib.file_digest(file, "sha256") if evidence_beside(path) else None
                read, found = _opened(file)
                return _gather(read.schema_arrow.names, _row_groups(read, found), found, apart, path, seen)
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
        given = {name: original.table.column(name) for name in names if name in original.table.column_names}
        for name, column in given.items():
            kind = column.type  # codes with a dictionary of texts stay so, since they take less memory
            if not (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type)):
                given[name] = text_column(column, name)
        return given, original.counts
    rows = original(list(names))
    if isinstance(rows, pa.Table):
        given = {name: text_column(rows.column(name), name) for name in names}
        return given, np.ones(rows.num_rows, dtype=np.int64)
    batches = (counted([text_column(batch.column(name), name) for name in names]) for batch in rows)
    *columns, counts = grouped(batches, len(names)).columns
    return dict(zip(names, columns, strict=True)), np.asarray(counts, dtype=np.int64)


def _gather(
    names: Sequence[str],
    blocks: Iterable[Block],
    baggage: list[str],
    apart: Sequence[str] = (),
    path: Path | None = None,
    seen: Any = None,
) -> ReadRelease:
    """The blocks of a release as one; ``baggage`` and the hash that was ``seen`` may grow while they are read."""
    order = RowOrder()
    column_of = {name: names.index(name) for name in names}  # of two columns of one name, the first
    kept = [name for name in column_of if name not in apart]

    def parts() -> Iterator[pa.Table]:
        for columns, given in blocks:
            texts, counts = order.see([text_column(columns[index], name) for name, index in column_of.items()], given)
            text = dict(zip(column_of, texts, strict=True))
            if not apart:
                yield counted(texts, counts)
                continue
            missing = np.ones(len(counts), dtype=np.bool_)
            for name in set(apart) & set(column_of):
                missing &= np.asarray(pc.is_null(text[name]), dtype=np.bool_)
            yield counted([*(text[name] for name in kept), pa.array(missing).cast(pa.string())], counts)

    whole = grouped(parts(), len(kept) + 1) if apart else pa.concat_tables(parts())
    columns, counts = dict(zip(kept, whole.columns, strict=False)), np.asarray(whole.columns[-1], dtype=np.int64)
    blank = np.asarray(pc.equal(whole.columns[-2], "true"), dtype=np.bool_) if apart else None
    sha = None if seen is None else seen.hexdigest()
    return ReadRelease(tuple(names), columns, counts, order, tuple(dict.fromkeys(baggage)), path, sha, blank)


def _csv_blocks(file: BinaryIO, path: Path, seen: Any) -> tuple[list[str], Iterator[Block]]:
    """UTF-8 with commas; an empty cell is missing, ``""`` an empty text."""
    lines = records(file, path, seen)
    encoding = "utf-8-sig"
    for line in lines:
        text = line.decode(encoding).removesuffix("\r")
        encoding = "utf-8"
        if names := next(csv.reader(io.StringIO(text, newline=""), strict=True), []):
            return names, _parsed_blocks(lines, len(names))
    raise DataError(f"The release {path} is empty: it has no header.", code="empty")


def _parsed_blocks(lines: Iterator[bytes], width: int) -> Iterator[Block]:
    """The records after the header, so many at a time; first a block of none, which has the columns in any case."""
    block: list[bytes] = []
    yield _parsed_runs(block, width)
    while block := list(islice(lines, _RECORDS_AT_A_TIME)):
        yield _parsed_runs(block, width)


def records(file: BinaryIO, path: Path, seen: Any = None) -> Iterator[bytes]:
    """The records of a text file, each up to a line feed outside quotes; a ``seen`` hash is fed every byte."""
    parts = list[bytes]()  # of a record that a quote keeps open
    while lines := file.readlines(_BYTES_AT_A_TIME):
        if seen is not None:
            seen.update(b"".join(lines))
        for line in lines:
            opens_or_closes = line.count(_QUOTE) % 2
            if not parts and not opens_or_closes:
                yield line.removesuffix(_LINE)
                continue
            parts.append(line)
            if opens_or_closes and len(parts) > 1:
                yield b"".join(parts).removesuffix(_LINE)
                parts.clear()
    if parts:
        message = f"The release {path} has a quote that is never closed, so the rest of it would be one cell."
        raise DataError(message, code="unclosed-quote")


def _parsed_runs(lines: Sequence[bytes], width: int) -> Block:
    """Lines as columns of text, equal neighbouring ones parsed once; empty lines are records of a single column."""
    lines = [line for line in lines if width == 1 or line.strip(_RETURN)]
    starts = np.flatnonzero([line != before for before, line in pairwise([None, *lines])])
    columns = _parse_lines([lines[start] for start in starts.tolist()], width)
    if len(columns[0]) == len(starts):
        return columns, np.diff(starts, append=len(lines))
    return _parse_lines(lines, width), None  # a line that holds several records, or none


def _parse_lines(lines: Sequence[bytes], width: int) -> list[Any]:
    """Lines as columns of text; names may repeat, so columns are known by their indices."""
    raw = _LINE.join([*lines, b""])
    names = [f"c{index}" for index in range(width)]
    if not raw:
        return [pa.chunked_array([pa.array([], pa.string())]) for _ in names]
    reading = arrow_csv.ReadOptions(column_names=names, block_size=min(len(raw), _LARGEST_BLOCK))
    parsing = arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=width > 1)
    types, nulls = dict.fromkeys(names, pa.string()), {"strings_can_be_null": True, "quoted_strings_can_be_null": False}
    converting = arrow_csv.ConvertOptions(column_types=types, null_values=[""], **nulls)
    return list(arrow_csv.read_csv(pa.BufferReader(raw), reading, parsing, converting).columns)


def _opened(file: Any) -> tuple[parquet.ParquetFile, list[str]]:
    """A Parquet file with its dictionaries as they stand in it, and the metadata that it carries."""
    schema = parquet.ParquetFile(file).schema_arrow
    values = {each.name: each.type.value_type if pa.types.is_dictionary(each.type) else each.type for each in schema}
    text = [name for name, kind in values.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)]
    read = parquet.ParquetFile(file, read_dictionary=text)
    stored = set(read.metadata.metadata or {}) - _WRITTEN_BY_ARROW
    return read, _metadata(read.schema_arrow, {key.decode(errors="replace") for key in stored})


def _row_groups(file: parquet.ParquetFile, baggage: list[str]) -> Iterator[Block]:
    """The row groups of a Parquet file; ``baggage`` gets what their dictionaries list besides."""
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        baggage += _unused(table)
        yield table.columns, None
    if not file.num_row_groups:
        yield file.schema_arrow.empty_table().columns, None


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
    return _gather(names, [(columns, counts)], found)


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
