"""The files of a release, block by block, without the readers that the rest of Shoal uses: so many records of a text
file, row groups of a Parquet file.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedIOBase, StringIO
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from shoal.errors import DataError
from shoal.verification.canonical_text import Codes

_WRITTEN_BY_ARROW = b"ARROW:schema"  # in every Parquet file of Arrow's: the types of its columns, which are checked
_SPARK_VERSION, _SPARK_SCHEMA = b"org.apache.spark.version", b"org.apache.spark.sql.parquet.row.metadata"
_RECORDS_AT_A_TIME, _BYTES_AT_A_TIME = 100_000, 1 << 20
_LARGEST_BLOCK = (1 << 31) - 1  # what Arrow reads at once: no cell lies on the edge of two blocks
_LINE, _QUOTE, _RETURN = b"\n", b'"', b"\r"

Block = tuple[Sequence[Any], Codes | None]  # columns, and how many rows each row stands for; one where it is not said


def csv_blocks(file: BufferedIOBase, path: Path, seen: Any) -> tuple[list[str], Iterator[Block]]:
    """UTF-8 with commas; an empty cell is missing, ``""`` an empty text."""
    lines = records(file, path, seen)
    encoding = "utf-8-sig"
    for line in lines:
        text = line.decode(encoding).removesuffix("\r")
        encoding = "utf-8"
        if names := next(csv.reader(StringIO(text, newline=""), strict=True), []):
            return names, _parsed_blocks(lines, len(names))
    raise DataError(f"The release {path} is empty: it has no header.", code="empty")


def _parsed_blocks(lines: Iterator[bytes], width: int) -> Iterator[Block]:
    """The records after the header, so many at a time; first a block of none, which has the columns in any case."""
    block: list[bytes] = []
    yield _parsed_runs(block, width)
    while block := list(islice(lines, _RECORDS_AT_A_TIME)):
        yield _parsed_runs(block, width)


def records(file: BufferedIOBase, path: Path, seen: Any = None) -> Iterator[bytes]:
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


def opened_parquet(file: Any) -> tuple[parquet.ParquetFile, list[str]]:
    """A Parquet file with its dictionaries as they stand in it, and the metadata that it carries."""
    schema = parquet.ParquetFile(file).schema_arrow
    values = {each.name: each.type.value_type if pa.types.is_dictionary(each.type) else each.type for each in schema}
    text = [name for name, kind in values.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)]
    read = parquet.ParquetFile(file, read_dictionary=text)
    return read, carried_metadata(read.schema_arrow, read.metadata.metadata or {})


def row_groups(file: parquet.ParquetFile, baggage: list[str]) -> Iterator[Block]:
    """The row groups of a Parquet file; ``baggage`` gets what their dictionaries list besides."""
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        baggage += unused_values(table)
        yield table.columns, None
    if not file.num_row_groups:
        yield file.schema_arrow.empty_table().columns, None


def carried_metadata(schema: Any, stored: Mapping[bytes, bytes]) -> list[str]:
    """Metadata of the schema, of the file that it is ``stored`` in, and of the fields."""
    found = {**stored, **(schema.metadata or {})}
    keys = {key.decode(errors="replace") for key, value in found.items() if not _is_plain_schema(key, value)}
    for field in schema:
        keys |= {f"{field.name}: {key.decode()}" for key in field.metadata or {} if key != b"PARQUET:field_id"}
    return [f"it carries metadata ({', '.join(sorted(keys))})"] if keys else []


def _is_plain_schema(key: bytes, value: bytes) -> bool:
    """Whether metadata says only how the columns are called and typed, which is checked, or which Spark wrote it."""
    if key != _SPARK_SCHEMA:
        return key in {_WRITTEN_BY_ARROW, _SPARK_VERSION}
    try:
        fields = json.loads(value)["fields"]
        return all(set(each) <= {"name", "type", "nullable", "metadata"} and not each["metadata"] for each in fields)
    except (ValueError, KeyError, TypeError):
        return False


def unused_values(table: Any) -> list[str]:
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
