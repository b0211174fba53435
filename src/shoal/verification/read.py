"""Reading what is to be verified: the release as it is, a table, a file, or the files of a folder as one."""

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError
from shoal.verification.canonical_text import Codes, Mask, text_column
from shoal.verification.counted_rows import CountedRows, RowOrder, counted, grouped, rows_in_order
from shoal.verification.file_blocks import (
    Block,
    carried_metadata,
    csv_blocks,
    opened_parquet,
    row_groups,
    unused_values,
)

_ROW_LABELS = re.compile(r"__index_level_\d+__")  # columns in which row labels without a name travel
_PARQUET = {".parquet", ".pq"}
_ROWS_AT_A_TIME = 1 << 16
_BESIDES = ("_SUCCESS",)  # what Spark leaves in a folder besides its files, with checksums under hidden names


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
    release: str | Path | pa.Table | CountedRows | ReadRelease, apart: Sequence[str] = (), baggage: Sequence[str] = ()
) -> ReadRelease:
    """A release from a path or an Arrow table, unless it is read already; a file that is no table is a `DataError`.

    ``baggage`` is what a table is known to have carried besides its cells before it became an Arrow table.

    Of columns ``apart`` in a file only the order is looked at, and whether a row has anything there: they are not among
    the columns that are given. Of a folder, all columns are read.
    """
    if isinstance(release, ReadRelease):
        return release
    if not isinstance(release, str | Path):
        return _from_table(release, baggage)
    path = Path(release)
    if path.is_dir():
        return _read_folder(path)
    with _readable(path), path.open("rb") as file:
        return _read_file(file, path, apart)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What is wrong with a file becomes a `DataError`."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        message = f"The release {path} cannot be read as a table: {str(error).splitlines()[0]}"
        raise DataError(message, code="unreadable-release") from None
    except OSError as error:
        message = f"The release {path} cannot be read: {error.strerror or error}."
        raise DataError(message, code="unreadable-file") from None


def _read_file(file: BufferedIOBase, path: Path, apart: Sequence[str] = ()) -> ReadRelease:
    """A file of a release, hashed where there is evidence beside it: the same bytes that are checked."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        seen = hashlib.sha256() if evidence_beside(path) else None
        names, blocks = csv_blocks(file, path, seen)
        return _gather(names, blocks, [], apart, path, seen)
    if suffix in _PARQUET:
        seen = hashlib.file_digest(file, "sha256") if evidence_beside(path) else None
        read, found = opened_parquet(file)
        return _gather(read.schema_arrow.names, row_groups(read, found), found, apart, path, seen)
    message = f"The release {path} has the suffix {suffix!r}; a release is .csv, .parquet or .pq."
    raise DataError(message, code="unknown-suffix")


def read_part(name: str, content: Any) -> ReadRelease:
    """One of the files of a release in a folder, from its bytes; rows that are out of order are counted anyhow."""
    path = Path(name)
    with _readable(path):
        part = _read_file(BytesIO(content), path)
    if not part.order.wrong:
        return part
    *columns, counts = grouped([counted([*part.columns.values()], part.counts)], len(part.columns)).columns
    return replace(part, columns=dict(zip(part.columns, columns, strict=True)), counts=np.asarray(counts))


def joined_parts(parts: Sequence[ReadRelease], path: Path | None = None) -> ReadRelease:
    """The files of a release as one, in the order in which they are given; `DataError` without any."""
    if not parts:
        raise DataError("The release has no file: .csv, .parquet or .pq.", code="no-files")
    names = parts[0].names
    for part in parts:
        if part.names != names:
            message = f"{part.path} has other columns than {parts[0].path}: the files of a release have the same."
            raise DataError(message, code="unreadable-release")
    order = RowOrder()
    for part in parts:
        order.follow(part.order)
    columns = {
        name: pa.chunked_array([chunk for part in parts for chunk in part.columns[name].chunks], pa.string())
        for name in parts[0].columns
    }
    counts, baggage = np.concatenate([part.counts for part in parts]), [each for part in parts for each in part.baggage]
    return ReadRelease(names, columns, counts, order, tuple(dict.fromkeys(baggage)), path)


def _read_folder(path: Path) -> ReadRelease:
    """The files of a folder in the order of their names: what Spark wrote. Other files in it are baggage."""
    with _readable(path):
        shown = sorted(each for each in path.iterdir() if not each.name.startswith(".") and each.name not in _BESIDES)
    files = [each for each in shown if each.is_file() and each.suffix.lower() in {".csv", *_PARQUET}]
    if not files:
        message = f"The folder {path} has no file of a release: .csv, .parquet or .pq."
        raise DataError(message, code="no-files")
    parts = []
    for file in files:
        with _readable(file):
            parts.append(read_part(file.name, file.read_bytes()))
    release = joined_parts(parts, path)
    if others := [each.name for each in shown if each not in files]:
        release = replace(release, baggage=(*release.baggage, f"its folder has other files ({', '.join(others)})"))
    if (evidence := evidence_beside(path)) is None:
        return release
    return replace(release, sha256=content_sha256(release, _uncounted_columns(evidence)))


def folder_sha256(path: Path, evidence: Path) -> str:
    """The hash of a release in a folder, as its evidence has it."""
    return content_sha256(_read_folder(path), _uncounted_columns(evidence))


def _uncounted_columns(evidence: Path) -> list[str]:
    """The columns that the evidence of a release in a folder says were not counted, and are not in its hash."""
    try:
        return list(json.loads(evidence.read_bytes())["engine"]["left_out_of_cells"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def content_sha256(release: ReadRelease, without: Sequence[str] = ()) -> str:
    """The hash of a release in several files: of the names, then of the distinct rows in order, each with its count.

    Cells are separated by U+001F, and a missing one is U+0000; each row follows a line feed.
    """
    names = [name for name in release.columns if name not in without]
    columns, counts = rows_in_order([release.columns[name] for name in names], release.counts)
    digest = hashlib.sha256("\x1f".join(names).encode())
    for start in range(0, len(counts), _ROWS_AT_A_TIME):
        cells = [column.slice(start, _ROWS_AT_A_TIME).fill_null("\x00").to_pylist() for column in columns]
        numbers = map(str, counts[start : start + _ROWS_AT_A_TIME].tolist())
        digest.update("".join("\n" + "\x1f".join(row) for row in zip(*cells, numbers, strict=True)).encode())
    return digest.hexdigest()


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


def _from_table(release: pa.Table | CountedRows, baggage: Sequence[str]) -> ReadRelease:
    """A table in memory; its dictionaries and metadata are looked at before they are left behind."""
    counts: Codes | None = None
    if isinstance(release, CountedRows):
        release, counts = release.table, release.counts
    found = [*baggage, *carried_metadata(release.schema, {}), *unused_values(release)]
    names = [name for name in release.column_names if not _ROW_LABELS.fullmatch(name)]
    if len(names) < len(release.column_names):
        found.append("it carries row labels in a column of its own; drop it")
    columns = [column for name, column in zip(release.column_names, release.columns, strict=True) if name in names]
    return _gather(names, [(columns, counts)], found)
