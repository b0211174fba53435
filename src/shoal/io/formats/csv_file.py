"""Text tables: every cell is read as the text it is, no type is guessed ("01234" stays), and nothing is repaired.

The header is read with the standard library, the records with Arrow. Three properties of Arrow's parser are dealt
with here: it takes a quote that is never closed for a long cell (a record appended at the end goes missing then), it
cannot hold a record larger than its block (the block grows), and it skips empty lines (which in a file of one column
are missing values).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError
from shoal.formatting import pluralize
from shoal.io.columns import check_names, chosen
from shoal.io.formats.csv_writer import CsvWriter
from shoal.io.formats.file_format import FileFormat
from shoal.io.formats.text_stream import STAND_IN, TextStream
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import FileKind

END: Final = "\x1eend\x1e"
BLOCKS: Final = (1 << 20, 1 << 24, 1 << 28, (1 << 31) - 1)
_BATCH: Final = 1 << 22  # bytes of text that are parsed at once for a batch, at first
_DICTIONARY: Final = pa.dictionary(pa.int32(), pa.string())
Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)
_ROWS_COUNT = "the header counts as a row"


@dataclass(frozen=True)
class Header:
    """The column names and how many empty lines precede them."""

    names: list[str]
    empty_lines: int


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
            for empty_lines, row in enumerate(rows):
                if row:
                    return Header(_names(row, source), empty_lines)
        except csv.Error as error:
            raise DataError(
                f"{source.path}: the header cannot be read ({error}). Check for a quote {source.quote} that is never "
                "closed.",
                code="header-unreadable",
            ) from None
    raise DataError(
        f"{source.path} is empty: it has no header. The first line must name the columns.", code="empty-file"
    )


def read_csv(source: DataSource, columns: Sequence[str] | None) -> pa.Table:
    """The columns asked for, each of type string."""
    header = read_header(source)
    wanted = chosen(header.names, columns, str(source.path))
    for block in BLOCKS:
        try:
            table = _parse(source, header, wanted or header.names[:1], block)
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                continue
            raise _explained(source, header, block, error) from None
        return _without_end(source, header, table, block).select(wanted)
    raise _too_long(source)


def csv_batches(source: DataSource, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Blocks of a text file; where a record is longer than a block, on with larger blocks from there."""
    header = read_header(source)
    wanted = chosen(header.names, columns, str(source.path))
    given = 0
    for block in (_BATCH, *(each for each in BLOCKS if each > _BATCH)):
        skipped = 0
        try:
            for batch, share in _blocks(source, header, wanted or header.names[:1], block):
                left = max(given - skipped, 0)  # what was given before a record was found too long
                skipped += batch.num_rows
                if batch.num_rows > left:
                    given += batch.num_rows - left
                    yield batch.select(wanted).slice(left), share
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                continue
            raise _explained(source, header, block, error) from None
        return
    raise _too_long(source)


def _blocks(
    source: DataSource, header: Header, wanted: Sequence[str], block: int
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The blocks without the record appended at the end; where that is swallowed, a quote was never closed."""
    from pyarrow import csv as arrow_csv  # noqa: PLC0415  only text files need it

    kind = _DICTIONARY if source.separator.isascii() else pa.string()
    last: pa.RecordBatch | None = None
    with TextStream(source, _end_of(source, header)) as stream:
        for batch in arrow_csv.open_csv(stream, **_options(source, header, wanted, block, kind)):
            if not batch.num_rows:  # a block may hold no more than a part of a record
                continue
            if last is not None:
                yield last, stream.share()
            last = _restored(batch, source)
    end = last.num_rows - 1 if last is not None else -1
    if last is None or any(column[end].as_py() != END for column in last.columns):
        raise _never_closed(source, _records_seen(source, header, block))
    if end:
        yield last.slice(0, end), 1.0


def _separator(source: DataSource) -> str:
    return source.separator if source.separator.isascii() else STAND_IN


def _names(row: list[str], source: DataSource) -> list[str]:
    if not source.separator.isascii():
        row = [name.replace(STAND_IN, source.separator) for name in row]
    names = check_names(row, str(source.path))
    if any("\0" in name for name in names):
        raise DataError(
            f"{source.path}: the header contains NUL characters. "
            "Most likely the file is in UTF-16: give encoding: utf-16-le (or utf-16-be) in the policy.",
            code="wrong-encoding",
        )
    return names


def _options(
    source: DataSource, header: Header, wanted: Sequence[str], block: int, kind: pa.DataType, invalid_row: Any = None
) -> dict[str, Any]:
    """How the parser is to read: the columns wanted, as one type of text."""
    from pyarrow import csv as arrow_csv  # noqa: PLC0415  only text files need it

    names = header.names
    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=names,
            skip_rows=header.empty_lines,
            skip_rows_after_names=1,
            block_size=block,
            use_threads=invalid_row is None,
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=_separator(source),
            quote_char=source.quote or False,
            newlines_in_values=True,
            ignore_empty_lines=len(names) > 1,
            invalid_row_handler=invalid_row,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, kind),
            include_columns=list(wanted),
            strings_can_be_null=bool(source.missing),
            quoted_strings_can_be_null=source.quoted_missing,
            null_values=list(source.missing),
        ),
    }


def _end_of(source: DataSource, header: Header) -> str:
    """The record appended at the end of the text."""
    return _separator(source).join([END] * len(header.names))


def _parse(
    source: DataSource, header: Header, wanted: Sequence[str], block: int, *, invalid_row: Any = None
) -> pa.Table:
    from pyarrow import csv as arrow_csv  # noqa: PLC0415  only text files need it

    with TextStream(source, _end_of(source, header)) as stream:
        table = arrow_csv.read_csv(stream, **_options(source, header, wanted, block, pa.string(), invalid_row))
    return _restored(table, source)


def _restored(rows: Rows, source: DataSource) -> Rows:
    """A table or batch with the separator back in its cells, where a stand-in was parsed instead of it."""
    if source.separator.isascii():
        return rows
    restored = [pc.replace_substring(column, STAND_IN, source.separator) for column in rows.columns]
    return type(rows).from_arrays(restored, rows.schema.names)


def _without_end(source: DataSource, header: Header, table: pa.Table, block: int) -> pa.Table:
    """The table without the record appended at its end; where that is swallowed, a quote was never closed."""
    last = table.num_rows - 1
    if last >= 0 and all(column[last].as_py() == END for column in table.columns):
        return table.slice(0, last)
    raise _never_closed(source, _records_seen(source, header, block))


def _records_seen(source: DataSource, header: Header, block: int) -> int:
    """How many records the parser sees, the header being one of them and empty lines before it too."""
    return int(_parse(source, header, header.names[:1], block).num_rows) + 1 + header.empty_lines


def _too_long(source: DataSource) -> DataError:
    return DataError(
        f"{source.path} has a record of more than 2 GiB. Most likely a quote {source.quote} is never closed.",
        code="unclosed-quote",
    )


def _never_closed(source: DataSource, row: int) -> DataError:
    """What is wrong with a file whose end was swallowed by a quote."""
    return DataError(
        f"{source.path}: the quote {source.quote} that opens in row {row} ({_ROWS_COUNT}) is never closed, so the rest "
        'of the file would be one cell. Close it, or give quote: "" in the policy if the file has no quoting.',
        code="unclosed-quote",
    )


def _explained(source: DataSource, header: Header, block: int, error: pa.ArrowInvalid) -> DataError:
    """Parse once more, in order, to say which record has too many or too few fields."""
    first: Any = None
    count = 0

    def note(row: Any) -> str:
        nonlocal first, count
        first = first or row
        count += 1
        return "skip"

    try:
        _parse(source, header, header.names[:1], block, invalid_row=note)
    except pa.ArrowInvalid as again:
        error = again
    if first is None:
        reason = str(error).splitlines()[0]
        return DataError(f"{source.path} cannot be read as a table: {reason}.", code="not-a-table")
    if first.text.rstrip("\r\n").endswith(END):
        return _never_closed(source, first.number)
    more = f" The same is true of {pluralize(count - 1, 'more row', 'more rows')}." if count > 1 else ""
    return DataError(
        f"{source.path}: row {first.number} ({_ROWS_COUNT}) has {pluralize(first.actual_columns, 'field')} where the "
        f"header has {first.expected_columns}.{more} Quote cells that contain the separator {source.separator!r}, and "
        "check that it is the right separator.",
        code="uneven-rows",
    )


CSV = FileFormat(
    kinds=(FileKind.TEXT,),
    column_names=lambda source: read_header(source).names,
    read=read_csv,
    read_batches=csv_batches,
    writer=CsvWriter(),
    written_suffixes=(".csv",),
)
