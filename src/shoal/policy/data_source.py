"""Where the input lies and how its text is written: what the policy's ``data:`` says."""

from dataclasses import dataclass
from pathlib import Path

from shoal.errors import DataError
from shoal.policy.location import DatabaseTable

COMMON_ENCODINGS = "Common ones are utf-8, latin-1, cp1252 and utf-16."


def is_encoding(name: str) -> bool:
    """Whether text can be encoded by a name."""
    try:
        "a".encode(name)
    except (LookupError, ValueError):
        return False
    return True


@dataclass(frozen=True)
class DataSource:
    """What holds a table: a file, or a table of a database.

    Separator, encoding and quote concern text files; others carry their own.
    """

    path: Path
    separator: str = ","
    encoding: str = "utf-8"
    quote: str = '"'
    """The character around cells that contain separators or line breaks; empty: the file has no quoting."""
    missing: tuple[str, ...] = ("",)  # texts that stand for a missing value, compared exactly
    quoted_missing: bool = True
    """Whether a quoted cell can be missing too. Text in a file that has types counts as quoted."""
    sheet: str | int | None = None
    """Which sheet of a workbook: its name, or its number counted from 1; None is the first."""
    labels: bool = True  # whether values of a statistics package that have a label are read as their label
    unpacked: int | None = None  # bytes that a compressed file may unpack to; None: as many as tables usually do
    database: DatabaseTable | None = None
    """The table of a database; ``path`` is then no more than its name for messages."""

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts that stand for a missing value in a file that has types."""
        return self.missing if self.quoted_missing else ()

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or self.separator in "\r\n\0\ufeff":
            message = f"The separator must be one character and not a line break, but is {self.separator!r}."
            fix = 'Give for example separator: ";" or separator: "\\t" for a tab.'
            raise DataError(f"{message} {fix}", code="invalid-separator")
        if self.quote and (len(self.quote) != 1 or not self.quote.isascii() or self.quote in "\r\n\0"):
            message = f"The quote must be one ASCII character or empty for none, but is {self.quote!r}."
            raise DataError(message, code="invalid-quote")
        if self.quote == self.separator:
            message = f"The quote and the separator are both {self.quote!r}; they must differ."
            raise DataError(message, code="invalid-quote")
        if not is_encoding(self.encoding):
            message = f"There is no text encoding {self.encoding!r}."
            raise DataError(f"{message} {COMMON_ENCODINGS}", code="unknown-encoding")


def release_source(path: Path) -> DataSource:
    """How a release written by `shoal.io.write_table` is read back exactly: an empty cell is missing, ``""`` is not."""
    return DataSource(path, quoted_missing=False)
