"""Where Spark finds or puts a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from shoal.errors import DataError

_ADDRESS = "spark:"


@dataclass(frozen=True)
class Place:
    """Where Spark finds or puts a table: a path, or a name of its catalog."""

    format: str
    path: str | None = None
    table: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> Place | None:
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
        """The place as one text, which `of` reads."""
        where = f"table:{self.table}" if self.path is None else quote(self.path, safe="/:@!$&'()*+,;= ")
        return f"{_ADDRESS}{self.format}:{where}" + (f"?{urlencode(self.options)}" if self.options else "")

    def __str__(self) -> str:
        return f"the table {self.table}" if self.path is None else self.path


def read(session: Any, place: Place, text: Mapping[str, str] | None = None) -> Any:
    """The frame of a place; ``text`` has the options with which files of text are read, all columns as they stand."""
    reader = session.read.format(place.format).options(**{**(text or {}), **dict(place.options)})
    return reader.table(place.table) if place.path is None else reader.load(place.path)


def with_empty_texts(frame: Any) -> Any:
    """A frame of text whose cells without anything are empty texts, which may be marks of a missing value or not."""
    names = list(frame.columns)
    return frame.toDF(*(f"c{place}" for place in range(len(names)))).na.fill("").toDF(*names)


def write(frame: Any, place: Place, text: Mapping[str, str] | None = None, *, replace: bool = False) -> None:
    """Write a frame; where something is there already that is an error, unless it may be replaced."""
    mode = "overwrite" if replace else "error"
    writer = frame.write.format(place.format).mode(mode).options(**{**(text or {}), **dict(place.options)})
    if place.path is None:
        writer.saveAsTable(place.table)
    else:
        writer.save(place.path)
