"""What a reproduction is made of: sections, each with its sheets, plots, statements and one paragraph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.search.problem import Progress, no_progress

Cell = str | int | float | None
EQUAL, SLIP, SILENT, FAILED = VERDICTS = ("equal", "slip of the paper", "the paper is silent", "NOT REPRODUCED")
"""How what a paper says and what is computed may compare."""


@dataclass(frozen=True)
class Sheet:
    """A table of results; it becomes one CSV file."""

    name: str
    """The file's name without its suffix."""
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.header) for row in self.rows), self.name


@dataclass(frozen=True)
class Drawing:
    """A plot; it becomes one SVG file."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Statement:
    """Something that a paper says of a worked table, beside what Shoal computes."""

    about: str
    paper: str
    """What the paper prints or claims; empty where it says nothing."""
    found: str
    """What is computed here."""
    expected: str = ""
    """What must be computed where the paper is silent, or differs from its own table or definition; typed by hand."""
    why: str = ""
    """What is wrong with the print, or what else is to be known."""

    @property
    def holds(self) -> bool:
        """Whether the computation gives what it must: the paper's own word, or its known correction."""
        return self.found == (self.expected or self.paper)

    def to_dict(self) -> dict[str, str]:
        """The statement as plain data."""
        told = {"about": self.about, "paper": self.paper, "computed": self.found}
        return {**told, "verdict": self.verdict, "note": self.why}

    @property
    def verdict(self) -> str:
        """How the two compare."""
        if not self.holds:
            return FAILED
        if not self.paper:
            return SILENT
        return SLIP if self.expected else EQUAL


@dataclass(frozen=True)
class Section:
    """One worked table or experiment: what the paper reports, what is measured, and why they differ."""

    paper: str
    title: str
    source: str
    """Where it stands in the paper."""
    reports: str
    measured: str
    differs: str
    sheets: tuple[Sheet, ...]
    drawings: tuple[Drawing, ...] = ()
    statements: tuple[Statement, ...] = ()


def statement_sheet(name: str, statements: Sequence[Statement]) -> Sheet:
    """Statements as a sheet."""
    header = ("about", "paper", "computed", "verdict", "note")
    return Sheet(
        name, header, tuple((each.about, each.paper, each.found, each.verdict, each.why) for each in statements)
    )


@dataclass(frozen=True)
class Setting:
    """What the sections run on."""

    adult: pa.Table | None = None
    """Adult without unknown values; None where only worked tables are asked for."""
    quick: bool = False
    progress: Progress = no_progress

    def records(self, sample: int) -> pa.Table:
        """Adult, or in a quick run a seeded sample of it."""
        assert self.adult is not None, "experiments need the Adult table"
        if not self.quick or self.adult.num_rows <= sample:
            return self.adult
        return drawn(self.adult, sample, seed=0)


def drawn(table: pa.Table, records: int, *, seed: int) -> pa.Table:
    """So many records drawn at random without replacement, in the order of the table; all where it has no more."""
    if table.num_rows <= records:
        return table
    places = np.sort(np.random.default_rng(seed).choice(table.num_rows, records, replace=False))
    return table.take(pa.array(places))


@dataclass(frozen=True)
class Task:
    """One section or several still to be made."""

    paper: str
    title: str
    make: Callable[[Setting], Sequence[Section]]
    seconds: float = 1.0
    """About how long it takes on all of Adult: what the bar moves by."""
    needs_adult: bool = False


def figure(value: float | int | None) -> str:
    """A number as statements have it: 4 and not 4.0."""
    return "none" if value is None else f"{value:g}"
