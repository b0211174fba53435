"""Where the input lies and how its text is written: what the policy's ``data:`` says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.errors import DataError
from shoal.policy.location import DatabaseTable


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
    missing: tuple[str, ...] = ("",)
    """Texts that stand for a missing value, compared exactly."""
    quoted_missing: bool = True
    """Whether a quoted cell can be missing too. Text in a file that has types counts as quoted."""
    sheet: str | int | None = None
    """Which sheet of a workbook: its name, or its number counted from 1; None is the first."""
    labels: bool = True
    """Whether values of a statistics package that have a label are read as their label."""
    database: DatabaseTable | None = None
    """The table of a database; ``path`` is then no more than its name for messages."""

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or self.separator in "\r\n\0\ufeff":
            raise DataError(
                f"The separator must be one character and not a line break, but is {self.separator!r}. "
                'Give for example separator: ";" or separator: "\\t" for a tab.',
                code="invalid-separator",
            )
        if self.quote and (len(self.quote) != 1 or not self.quote.isascii() or self.quote in "\r\n\0"):
            raise DataError(
                f"The quote must be one ASCII character or empty for none, but is {self.quote!r}.", code="invalid-quote"
            )
        if self.quote == self.separator:
            raise DataError(
                f"The quote and the separator are both {self.quote!r}; they must differ.", code="invalid-quote"
            )
        try:
            "a".encode(self.encoding)
        except (LookupError, ValueError):
            raise DataError(
                f"There is no text encoding {self.encoding!r}. Common ones are utf-8, latin-1, cp1252 and utf-16.",
                code="unknown-encoding",
            ) from None


def release_source(path: Path) -> DataSource:
    """How a release written by `shoal.io.write_table` is read back exactly: an empty cell is missing, ``""`` is not."""
    return DataSource(path, quoted_missing=False)
