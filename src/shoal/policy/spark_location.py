"""Where Spark finds or puts a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from shoal.errors import DataError

_ADDRESS = "spark:"


@dataclass(frozen=True)
class SparkLocation:
    """Where Spark finds or puts a table: a path, or a name of its catalog."""

    format: str
    path: str | None = None
    table: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> SparkLocation | None:
        """Read ``spark:FORMAT:PATH`` or ``spark:FORMAT:table:NAME``, options behind a ``?``; None for anything else."""
        if not text.startswith(_ADDRESS):
            return None
        kind, _, rest = text.removeprefix(_ADDRESS).partition(":")
        rest, _, asked = rest.partition("?")
        options = tuple(parse_qsl(asked, keep_blank_values=True))
        table = rest.removeprefix("table:") if rest.startswith("table:") else None
        if not kind or not (rest if table is None else table):
            raise DataError(
                f"{text!r} is not a Spark location. Write spark:parquet:/folder or spark:delta:table:name.",
                code="unreadable-address",
            )
        return cls(kind, None if table is not None else unquote(rest), table, options)

    @property
    def address(self) -> str:
        """The location as one text, which `of` reads."""
        where = f"table:{self.table}" if self.path is None else quote(self.path, safe="/:@!$&'()*+,;= ")
        return f"{_ADDRESS}{self.format}:{where}" + (f"?{urlencode(self.options)}" if self.options else "")

    def __str__(self) -> str:
        return f"the table {self.table}" if self.path is None else self.path


def read(session: Any, location: SparkLocation, text: Mapping[str, str] | None = None) -> Any:
    """The frame of a location; ``text`` has the options for text files, whose columns are read as they stand."""
    reader = session.read.format(location.format).options(**{**(text or {}), **dict(location.options)})
    return reader.table(location.table) if location.path is None else reader.load(location.path)


def with_empty_texts(frame: Any) -> Any:
    """A frame of text whose cells without anything are empty texts, which may be marks of a missing value or not."""
    names = list(frame.columns)
    return frame.toDF(*(f"c{index}" for index in range(len(names)))).na.fill("").toDF(*names)


def write(frame: Any, location: SparkLocation, text: Mapping[str, str] | None = None, *, replace: bool = False) -> None:
    """Write a frame; where something is there already that is an error, unless it may be replaced."""
    mode = "overwrite" if replace else "error"
    writer = frame.write.format(location.format).mode(mode).options(**{**(text or {}), **dict(location.options)})
    if location.path is None:
        writer.saveAsTable(location.table)
    else:
        writer.save(location.path)
