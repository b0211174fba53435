"""A table as a paper prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class PaperTable:
    """A printed table: its columns and its rows, every cell as printed text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), self.title

    def column(self, name: str) -> list[str]:
        """One column from top to bottom."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def records(self) -> list[dict[str, str]]:
        """The rows as records."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def classes(self, quasi: Sequence[str], sensitive: str) -> dict[tuple[str, ...], list[str]]:
        """The sensitive values of each combination of quasi-identifiers, in order of first appearance."""
        found: dict[tuple[str, ...], list[str]] = {}
        for record in self.records():
            found.setdefault(tuple(record[name] for name in quasi), []).append(record[sensitive])
        return found

    def arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """Some of its columns, or all, as a table of texts."""
        return pa.table({name: pa.array(self.column(name), type=pa.string()) for name in names or self.columns})
