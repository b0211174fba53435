"""Text tables: every cell is read as the text it is, no type is guessed ("01234" stays), and nothing is repaired.

The header is read with the standard library, the records with Arrow. Three properties of Arrow's parser are dealt
with here: it takes a quote that is never closed for a long cell (a record appended at the end goes missing then), it
cannot hold a record larger than its block (the block grows), and it skips empty lines (which in a file of one column
are missing values).

CSV is written in UTF-8 with commas and line feeds. A missing value is an empty cell, an empty text is ``""``.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError
from shoal.formatting import data_size, pluralize
from shoal.io.bounded_slices import repeated_rows, slice_bounds, text_sizes
from shoal.io.columns import check_names, chosen
from shoal.io.formats.file_format import FileFormat
from shoal.io.formats.text_stream import STAND_IN, TextStream
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind
from shoal.table.canonical_text import canonical_text
from shoal.table.encoded import Counts

END: Final = "\x1eend\x1e"
BLOCKS: Final = (1 << 20, 1 << 24, 1 << 28)  # a record must fit into the last: its parser takes a few times as much
_BATCH: Final = 1 << 22  # bytes of text that are parsed at once for a batch, at first
_ROWS: Final = 1 << 16  # lines that are repeated at once for a release
_BYTES: Final = 1 << 23  # bytes of them
_NEEDS_QUOTES: Final = '[",\r\n]|^\ufeff|^$'
_DICTIONARY: Final = pa.dictionary(pa.int32(), pa.string())
Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)
_EMPTY_LINES: Final = 10_000  # that may precede a header
_ROWS_COUNT = "the header counts as a row"


@dataclass(frozen=True)
class Header:
    """The column names of a text file and how many empty lines precede them."""

    source: DataSource
    names: list[str]
    empty_lines: int

    @property
    def end(self) -> str:
        """The record appended at the end of the text."""
        return _separator(self.source).join([END] * len(self.names))


def read_header(source: DataSource) -> Header:
    """Read no more of the file than its header."""
    with TextStream(source) as stream, io.TextIOWrapper(io.BufferedReader(stream), "utf-8", newline="") as text:
        rows = csv.reader(
            text,
            delimiter=_separator(source),
            quotechar=source.quote or None,
            quoting=csv.QUOTE_MINIMAL if source.quote else csv.QUOTE_NONE,
            strict=True,
        )
        try:
            first = enumerate(islice(rows, _EMPTY_LINES))
            empty_lines, row = next(((index, row) for index, row in first if row), (0, []))
        except csv.Error as error:
            message = f"{source.path}: the header cannot be read ({error})."
            fix = f"Check for a quote {source.quote} that is never closed."
            raise DataError(f"{message} {fix}", code="header-unreadable") from None
    if not row:
        message = f"{source.path} is empty: it has no header. The first line must name the columns."
        raise DataError(message, code="empty-file")
    names = check_names([name.replace(_separator(source), source.separator) for name in row], str(source.path))
    if any("\0" in name for name in names):
        message = f"{source.path}: the header contains NUL characters. Most likely the file is in UTF-16:"
        raise DataError(f"{message} give encoding: utf-16-le (or utf-16-be) in the policy.", code="wrong-encoding")
    return Header(source, names, empty_lines)


def _separator(source: DataSource) -> str:
    return source.separator if source.separator.isascii() else STAND_IN


def read_csv(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The columns asked for, each of type string."""
    header = read_header(source)
    wanted = chosen(header.names, columns, str(source.path))
    for block in BLOCKS:
        try:
            table = _parse(header, wanted or header.names[:1], block)
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                continue
            raise _explained(header, block, error) from None
        return _without_end(header, table, block).select(wanted)
    raise _too_long(source)


def csv_batches(source: DataSource, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Blocks of a text file; where a record is longer than a block, on with larger blocks from there."""
    header = read_header(source)
    wanted = chosen(header.names, columns, str(source.path))
    given = 0
    for block in (_BATCH, *(each for each in BLOCKS if each > _BATCH)):
        skipped = 0
        try:
            for batch, share in _blocks(header, wanted or header.names[:1], block):
                left = max(given - skipped, 0)  # what was given before a record was found too long
                skipped += batch.num_rows
                if batch.num_rows > left:
                    given += batch.num_rows - left
                    yield batch.select(wanted).slice(left), share
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                continue
            raise _explained(header, block, error) from None
        return
    raise _too_long(source)


def _blocks(header: Header, wanted: Sequence[str], block: int) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The blocks without the record appended at the end, each with the share of the file read so far."""
    from pyarrow import csv as arrow_csv  # noqa: PLC0415  only text files need it

    kind = _DICTIONARY if header.source.separator.isascii() else pa.string()
    last: pa.RecordBatch | None = None
    with TextStream(header.source, header.end) as stream:
        for batch in arrow_csv.open_csv(stream, **_options(header, wanted, block, kind)):
            if not batch.num_rows:  # a block may hold no more than a part of a record
                continue
            if last is not None:
                yield last, stream.share()
            last = _restored(batch, header.source)
    yield _without_end(header, last, block), 1.0


def _parse(header: Header, wanted: Sequence[str], block: int, invalid_row: Any = None) -> pa.Table:
    from pyarrow import csv as arrow_csv  # noqa: PLC0415  only text files need it

    with TextStream(header.source, header.end) as stream:
        table = arrow_csv.read_csv(stream, **_options(header, wanted, block, pa.string(), invalid_row))
    return _restored(table, header.source)


def _options(
    header: Header, wanted: Sequence[str], block: int, kind: pa.DataType, invalid_row: Any = None
) -> dict[str, Any]:
    """How the parser is to read: the columns wanted, as one type of text."""
    from pyarrow import csv as arrow_csv  # noqa: PLC0415  only text files need it

    names, source = header.names, header.source
    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=names, skip_rows=header.empty_lines, skip_rows_after_names=1, block_size=block,
            use_threads=invalid_row is None,
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=_separator(source), quote_char=source.quote or False, newlines_in_values=True,
            ignore_empty_lines=len(names) > 1, invalid_row_handler=invalid_row,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, kind), include_columns=list(wanted), null_values=list(source.missing),
            strings_can_be_null=bool(source.missing), quoted_strings_can_be_null=source.quoted_missing,
        ),
    }  # fmt: skip


def _restored(rows: Rows, source: DataSource) -> Rows:
    """A table or batch with the separator back in its cells, where a stand-in was parsed instead of it."""
    if source.separator.isascii():
        return rows
    restored = [pc.replace_substring(column, STAND_IN, source.separator) for column in rows.columns]
    return type(rows).from_arrays(restored, rows.schema.names)


def _without_end(header: Header, rows: Rows | None, block: int) -> Rows:
    """The rows without the record appended at the end; where that is swallowed, a quote was never closed."""
    last = -1 if rows is None else rows.num_rows - 1
    if rows is not None and last >= 0 and all(column[last].as_py() == END for column in rows.columns):
        return rows.slice(0, last)
    seen = int(_parse(header, header.names[:1], block).num_rows)
    raise _never_closed(header.source, seen + 1 + header.empty_lines)


def _too_long(source: DataSource) -> DataError:
    size = data_size(BLOCKS[-1])
    message = f"{source.path} has a record of more than {size}. Most likely a quote {source.quote} is never closed."
    return DataError(message, code="unclosed-quote")


def _never_closed(source: DataSource, row: int) -> DataError:
    return DataError(
        f"{source.path}: the quote {source.quote} that opens in row {row} ({_ROWS_COUNT}) is never closed, so the rest "
        'of the file would be one cell. Close it, or give quote: "" in the policy if the file has no quoting.',
        code="unclosed-quote",
    )


def _explained(header: Header, block: int, error: pa.ArrowInvalid) -> DataError:
    """Parse once more, in order, to say which record has too many or too few fields."""
    source, count = header.source, 0
    first: Any = None

    def note(row: Any) -> str:
        nonlocal first, count
        first = first or row
        count += 1
        return "skip"

    try:
        _parse(header, header.names[:1], block, note)
    except pa.ArrowInvalid as again:
        error = again
    if first is None:
        reason = str(error).splitlines()[0]
        return DataError(f"{source.path} cannot be read as a table: {reason}.", code="not-a-table")
    if first.text.rstrip("\r\n").endswith(END):
        return _never_closed(source, first.number)
    more = f" The same is true of {pluralize(count - 1, 'more row')}." if count > 1 else ""
    return DataError(
        f"{source.path}: row {first.number} ({_ROWS_COUNT}) has {pluralize(first.actual_columns, 'field')} where the "
        f"header has {first.expected_columns}.{more} Quote cells that contain the separator {source.separator!r}, and "
        "check that it is the right separator.",
        code="uneven-rows",
    )


def write_csv(parts: Iterable[tuple[pa.Table, Counts]], path: Path, schema: pa.Schema) -> None:
    """Write tables one after the other, each row as often as its count says."""
    with path.open("wb") as file:
        file.write(_bytes(_lines([pa.array([name]) for name in schema.names])) if len(schema) else b"\n")
        for table, counts in parts if len(schema) else ():
            lines = _lines([canonical_text(column) for column in table.columns])
            if (counts == 1).all():
                file.write(_bytes(lines))
                continue
            bounds = slice_bounds(text_sizes(pa.table({"line": lines})), rows=_ROWS, nbytes=_BYTES, counts=counts)
            for rows in repeated_rows(counts, bounds):
                file.write(_bytes(lines.take(pa.array(rows))))


def _lines(columns: list[pa.Array]) -> pa.Array:
    """The columns side by side, one line per row."""
    cells = [_quoted(column.cast(pa.large_string())) for column in columns]
    lines = pc.binary_join_element_wise(*cells, _large(","), null_handling="replace", null_replacement="")
    return pc.binary_join_element_wise(lines, _large(""), _large("\n"))


def _bytes(lines: pa.Array) -> memoryview:
    """The text of lines that lie one after the other."""
    _, _, text = lines.buffers()
    return memoryview(text)[: pc.sum(pc.binary_length(lines)).as_py()]


def _quoted(texts: pa.Array) -> pa.Array:
    """Quotes only where a cell would be misread without them."""
    needs = pc.match_substring_regex(texts, _NEEDS_QUOTES)
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    around = pc.binary_join_element_wise(_large('"'), doubled, _large('"'), _large(""))
    return pc.if_else(needs, around, texts)


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


CSV = FileFormat(
    (FileKind.TEXT,), lambda source: read_header(source).names, read_csv, csv_batches, write_csv, (".csv",)
)
