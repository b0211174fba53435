"""How a text file is written: its encoding, its separator and its marks for no value, guessed for a draft.

Nothing else in Shoal guesses; what is found here is written into the policy, where it can be seen and corrected.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pyarrow as pa

from shoal.draft.wording import sentence
from shoal.errors import DataError
from shoal.io import DataSource
from shoal.io.formats.text_stream import TextStream
from shoal.policy.file_kinds import COMPRESSIONS

SEPARATORS = (",", ";", "\t", "|")
_BLOCK = 1 << 20
_RECORDS = 200  # records that the separator is judged by
_ONLY_CP1252 = frozenset(range(0x80, 0xA0)) - {0x81, 0x8D, 0x8F, 0x90, 0x9D}
"""Bytes that are letters or signs in cp1252 and control characters in latin-1."""
MARKS = frozenset({"", "?", "??", "-", "--", ".", "*", "na", "n/a", "#n/a", "n.a.", "nan", "null"})
"""In small letters and without outer blanks. A lone ``*`` would read as a suppressed value in the release."""
_TWO_LETTERS = re.compile(r"[A-Z]{2}")


@dataclass(frozen=True)
class TextFormat:
    """The way a text file is written, and why that is thought."""

    separator: str
    encoding: str
    separator_reason: str
    encoding_reason: str  # codes: see `shoal.draft.wording`
    columns: int = 0  # columns into which the separator splits the header

    @property
    def why_separator(self) -> str:
        """The reason for the separator, in words."""
        return sentence(self.separator_reason, {"columns": self.columns})

    @property
    def why_encoding(self) -> str:
        """The reason for the encoding, in words."""
        return sentence(self.encoding_reason, {"encoding": self.encoding})


def text_format(path: Path, *, separator: str | None, encoding: str | None) -> TextFormat:
    """Separator and encoding as given, or as the file's content suggests.

    A file that cannot be opened or decoded gets the defaults: reading it then says what is wrong.
    """
    separator_reason, encoding_reason, columns = "given", "given", 0
    if encoding is None:
        encoding, encoding_reason = _encoding(path)
    if separator is None:
        separator, columns = _separator(path, encoding)
        separator_reason = "splits-header" if columns > 1 else "one-column"
    return TextFormat(separator, encoding, separator_reason, encoding_reason, columns)


def _encoding(path: Path) -> tuple[str, str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    utf8, high = True, set[int]()
    try:
        for number, block in enumerate(_blocks(path)):
            if number == 0 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16", "byte-order-mark"
            if utf8:
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    utf8 = False
            high.update(byte for byte in set(block) if 0x80 <= byte < 0xA0)
        if utf8:
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        utf8 = False
    except OSError:
        return "utf-8", "default"
    if utf8:
        return "utf-8", "valid-utf-8"
    return "cp1252" if high and high <= _ONLY_CP1252 else "latin-1", "guessed-encoding"


def _blocks(path: Path) -> Iterator[bytes]:
    with pa.input_stream(str(path), compression=COMPRESSIONS.get(path.suffix.lower())) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _separator(path: Path, encoding: str) -> tuple[str, int]:
    """The candidate that splits the header into most columns, among those that split most records likewise."""
    default = "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes) else ","
    best, columns = default, 1
    for candidate in (default, *(each for each in SEPARATORS if each != default)):
        header, *records = _widths(path, candidate, encoding) or [1]
        if header > columns and 2 * records.count(header) >= len(records):
            best, columns = candidate, header
    return best, columns


def _widths(path: Path, separator: str, encoding: str) -> list[int]:
    """How many fields each of the first records has; none where the file cannot be read that way."""
    try:
        with TextStream(DataSource(path, separator=separator, encoding=encoding)) as stream:
            raw = stream.read(_BLOCK)
        text = io.StringIO(raw.decode("utf-8", "ignore"), newline="")
        widths = [len(row) for row in islice(csv.reader(text, delimiter=separator), _RECORDS) if row]
    except (OSError, csv.Error, DataError):
        return []
    cut_off = len(raw) == _BLOCK and 1 < len(widths) < _RECORDS
    return widths[:-1] if cut_off else widths


@dataclass
class MissingMarks:
    """The marks found in a table, and in which columns how often; those that may be values as well stay values."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)  # by mark, then by column
    doubtful: dict[str, dict[str, str]] = field(default_factory=dict)
    """Marks that may be values in some column: by mark, then the code of the reason by column."""

    def add(self, column: str, counts: Mapping[str, int]) -> None:
        """Look through the different values of a column."""
        for value, count in counts.items():
            if value.strip().casefold() in MARKS:
                self.counts.setdefault(value, {})[column] = count
                if reason := _doubt(value, counts):
                    self.doubtful.setdefault(value, {})[column] = reason

    def could_be(self, value: str, column: str) -> bool:
        """Whether a value is a mark in a column, although it may be a value in another one."""
        return column in self.counts.get(value, {}) and column not in self.doubtful.get(value, {})

    @property
    def missing(self) -> list[str]:
        """The cells that mean no value: the empty one and those found, without the doubtful ones, in a fixed order."""
        return ["", *sorted(mark for mark in self.counts if mark and mark not in self.doubtful)]


def _doubt(mark: str, counts: Mapping[str, int]) -> str:
    """Why a mark may be a value here: the policy's marks hold for all columns, so one such column is enough."""
    if mark == "-" and "+" in counts:
        return "may-be-negative"
    others = [value for value in counts if value.strip().casefold() not in MARKS]
    if mark == "NA" and len(others) > 1 and all(_TWO_LETTERS.fullmatch(value) for value in others):
        return "may-be-namibia"
    return ""
