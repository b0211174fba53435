"""One file per file format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shoal.errors import OutputError
from shoal.formatting import listing
from shoal.io.formats.csv_file import CSV
from shoal.io.formats.excel import EXCEL
from shoal.io.formats.file_format import FileFormat, FormatWriter
from shoal.io.formats.parquet_file import PARQUET
from shoal.io.formats.statistics_file import STATISTICS
from shoal.policy.file_kinds import FileKind, sniff_kind

_ALL = (CSV, PARQUET, EXCEL, STATISTICS)
FORMATS: Mapping[FileKind, FileFormat] = {kind: each for each in _ALL for kind in each.kinds}


def format_of(path: Path) -> FileFormat:
    """The format of a file by its suffix; `DataError` where no format has it."""
    return FORMATS[sniff_kind(path)]


def writer_of(path: Path) -> FormatWriter:
    """The writer of a release by the suffix of its path; `OutputError` where no format that is written has it."""
    suffix = path.suffix.lower()
    for each in _ALL:
        if each.writer is not None and suffix in each.written_suffixes:
            return each.writer
    known = listing([known for each in _ALL for known in each.written_suffixes])
    raise OutputError(
        f"A release is written as {known}, but {path} ends in {path.suffix!r}. Rename the output.",
        code="unknown-output-suffix",
    )
