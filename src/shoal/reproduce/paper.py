"""A paper and what is reproduced of it: printed tables, statements about them, and sections with sheets and plots.

Everything a paper prints, and every text about it, is in ``papers/*.yaml``; Python code only computes figures. Texts
have placeholders for them (``{records:,}``). Statements are written as ``[about, paper, expected, why]``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import yaml

from shoal.search.engine import LocalEngine
from shoal.search.kernels.load import load_kernels
from shoal.search.problem import Problem, Progress, no_progress

Result = TypeVar("Result")
Cell = str | int | float | None
EQUAL, SLIP, SILENT, FAILED = VERDICTS = ("equal", "slip of the paper", "the paper is silent", "NOT REPRODUCED")
"""How what a paper says and what is computed may compare."""


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
        index = self.columns.index(name)
        return [row[index] for row in self.rows]

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

    @property
    def verdict(self) -> str:
        """How the two compare."""
        return FAILED if not self.holds else SILENT if not self.paper else SLIP if self.expected else EQUAL

    def to_dict(self) -> dict[str, str]:
        """The statement as plain data."""
        names = ("about", "paper", "computed", "verdict", "note")
        return dict(zip(names, (self.about, self.paper, self.found, self.verdict, self.why), strict=True))


@dataclass(frozen=True)
class Section:
    """One worked table or experiment: what the paper reports, what is measured, and why they differ."""

    paper: str
    title: str
    source: str
    """Where it is in the paper."""
    reports: str
    measured: str
    differs: str
    sheets: tuple[Sheet, ...]
    drawings: tuple[Drawing, ...] = ()
    statements: tuple[Statement, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The section as plain data, its files by name."""
        texts = ("paper", "title", "source", "reports", "measured", "differs")
        return {
            **{name: getattr(self, name) for name in texts},
            "sheets": [f"{sheet.name}.csv" for sheet in self.sheets],
            "plots": [f"{drawing.name}.svg" for drawing in self.drawings],
            "statements": [each.to_dict() for each in self.statements],
        }


@dataclass(frozen=True)
class Paper:
    """The description of a paper, as its file has it."""

    name: str

    @property
    def content(self) -> dict[str, Any]:
        """The file."""
        return read_yaml(self.name)

    @property
    def title(self) -> str:
        """Authors, year and subject."""
        return str(self.content["title"])

    @cached_property
    def tables(self) -> dict[str, PaperTable]:
        """The printed tables by number, typed in by hand; spelling as printed, slips included."""
        tables = {}
        for number, table in self.content["tables"].items():
            header, *rows = [tuple(map(str.strip, line.split("|"))) for line in table["rows"].splitlines()]
            tables[number] = PaperTable(table["title"], header, tuple(rows))
        return tables

    def section(
        self,
        name: str,
        figures: Mapping[str, Any],
        *,
        sheets: Sequence[Sheet],
        drawings: Sequence[Drawing] = (),
        found: Mapping[str, str] | None = None,
    ) -> Section:
        """A section with its figures put into its texts; statements about worked tables become a sheet as well."""
        texts = self.content["sections"][name]
        described, computed = texts.get("statements", {}), found or {}
        assert described.keys() == computed.keys(), described.keys() ^ computed.keys()
        statements = []
        for key, given in described.items():
            about, paper, expected, why = [text.format_map(figures) for text in given] + [""] * (4 - len(given))
            statements.append(Statement(about, paper, computed[key], expected, why))
        if name == "worked":
            verdicts = [each.verdict for each in statements]
            counts = {"statements": len(verdicts), "equal": verdicts.count(EQUAL), "slips": verdicts.count(SLIP)}
            figures = {**counts, **figures}
            sheets = (*sheets, statement_sheet(f"{self.name}-statements", statements))
        reports, measured, differs = (texts[key].format_map(figures) for key in ("reports", "measured", "differs"))
        return Section(
            self.name, texts["title"], texts["source"], reports, measured, differs, tuple(sheets), tuple(drawings),
            tuple(statements),
        )  # fmt: skip


@cache
def read_yaml(name: str) -> dict[str, Any]:
    """A file of ``papers/``."""
    path = resources.files("shoal.reproduce") / "papers" / f"{name}.yaml"
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def statement_sheet(name: str, statements: Sequence[Statement]) -> Sheet:
    """Statements as a sheet."""
    rows = [each.to_dict() for each in statements]
    return Sheet(name, ("about", "paper", "computed", "verdict", "note"), tuple(tuple(row.values()) for row in rows))


@dataclass(frozen=True)
class Setting:
    """What the sections run on."""

    adult: pa.Table | None = None
    """Adult without unknown values; None where only worked tables are reproduced."""
    quick: bool = False
    progress: Progress = no_progress

    @property
    def table(self) -> pa.Table:
        """Adult, which experiments need."""
        assert self.adult is not None, "experiments need the Adult table"
        return self.adult

    def records(self, sample: int) -> pa.Table:
        """Adult, or in a quick run a seeded sample of it."""
        return random_sample(self.table, sample, seed=0) if self.quick else self.table


def random_sample(table: pa.Table, records: int, *, seed: int) -> pa.Table:
    """Records drawn at random without replacement, in the order of the table; all if it has no more."""
    if table.num_rows <= records:
        return table
    rows = np.sort(np.random.default_rng(seed).choice(table.num_rows, records, replace=False))
    return table.take(pa.array(rows))


@dataclass(frozen=True)
class Task:
    """One section or several still to be made."""

    paper: str
    title: str
    make: Callable[[Setting], Sequence[Section]]
    seconds: float = 1.0
    """About how long it takes on all of Adult: what the progress bar moves by."""
    needs_adult: bool = False


def timed_search(
    problem: Problem, search: Callable[[Problem, LocalEngine], Result], repeat: int = 1
) -> tuple[Result, LocalEngine, float]:
    """What a search finds, its engine, and the median of its seconds alone."""
    seconds = []
    for _ in range(repeat):
        engine = LocalEngine(problem.table, problem.ladders, problem.domains, kernels=load_kernels())
        start = time.perf_counter()
        result = search(problem, engine)
        seconds.append(time.perf_counter() - start)
    return result, engine, statistics.median(seconds)


def figure(value: float | int | None) -> str:
    """A number as statements have it: 4 and not 4.0."""
    return "none" if value is None else f"{value:g}"


def from_to(first: float, last: float, digits: int) -> str:
    """Two ends of a range."""
    return f"{first:,.{digits}f} to {last:,.{digits}f}"
