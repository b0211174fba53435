"""How a text file is written: its encoding and its separator, guessed for a draft that a person reads.

Nothing else in Shoal guesses; what is found here is written into the policy, where it can be seen and corrected.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from shoal.errors import DataError
from shoal.io import DataSource
from shoal.io.formats.text_stream import TextStream
from shoal.policy.file_kinds import COMPRESSIONS

SEPARATORS = (",", ";", "\t", "|")
_BLOCK = 1 << 20
_RECORDS = 200
"""Records that the separator is judged by."""
_ONLY_CP1252 = frozenset(range(0x80, 0xA0)) - {0x81, 0x8D, 0x8F, 0x90, 0x9D}
"""Bytes that are letters or signs in cp1252 and control characters in latin-1."""


@dataclass(frozen=True)
class Found:
    """The way a text file is written, and why that is thought."""

    separator: str
    encoding: str
    why_separator: str
    why_encoding: str


def sniff(path: Path, *, separator: str | None, encoding: str | None) -> Found:
    """Separator and encoding as given, or as the file's content suggests.

    A file that cannot be opened or decoded gets the defaults: reading it then says what is wrong.
    """
    why_encoding = why_separator = "as given"
    if encoding is None:
        encoding, why_encoding = _encoding(path)
    if separator is None:
        separator, why_separator = _separator(path, encoding)
    return Found(separator, encoding, why_separator, why_encoding)


def _encoding(path: Path) -> tuple[str, str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    utf8, high = True, set[int]()
    try:
        for number, block in enumerate(_blocks(path)):
            if number == 0 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16", "the file starts with the byte order mark of UTF-16"
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
        return "utf-8", "the default"
    if utf8:
        return "utf-8", "the whole file is valid UTF-8"
    guess = "cp1252" if high and high <= _ONLY_CP1252 else "latin-1"
    return guess, f"a guess: the file is not UTF-8, and {guess} is usual then; look whether accented letters are right"


def _blocks(path: Path) -> Iterator[bytes]:
    with pa.input_stream(str(path), compression=COMPRESSIONS.get(path.suffix.lower())) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _separator(path: Path, encoding: str) -> tuple[str, str]:
    """The candidate that splits the header into most columns, among those that split most records likewise."""
    default = "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes) else ","
    best, columns = default, 1
    for candidate in (default, *(each for each in SEPARATORS if each != default)):
        header, *records = _widths(path, candidate, encoding) or [1]
        if header > columns and 2 * records.count(header) >= len(records):
            best, columns = candidate, header
    return best, f"it splits the header into {columns} columns" if columns > 1 else "the usual one; there is one column"


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
