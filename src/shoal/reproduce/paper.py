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
        return [row[self.columns.index(name)] for row in self.rows]

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

    name: str  # the file's name without its suffix
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.header) for row in self.rows), self.name


class Results(list[dict[str, Any]]):
    """What an experiment measured: one row per run, under the names that the columns of its sheet have."""

    def where(self, **values: object) -> Results:
        """The runs with these values."""
        return Results(row for row in self if all(row[name] == value for name, value in values.items()))

    def column(self, name: str) -> list[Any]:
        """A measure of every run."""
        return [row[name] for row in self]

    def points(self, x: str, y: str) -> tuple[tuple[float, float], ...]:
        """One measure against another, as a line of a plot has them."""
        return tuple((float(row[x]), float(row[y])) for row in self)

    def ends(self, by: str) -> dict[str, Any]:
        """The first run of each value of a column, and the last, as texts show them."""
        groups = [self.where(**{by: value}) for value in dict.fromkeys(self.column(by))]
        return {"first": [each[0] for each in groups], "last": [each[-1] for each in groups]}

    def sheet(self, name: str, *, seconds: int = 6) -> Sheet:
        """All runs; columns of seconds have as many decimal places as said, others six."""
        decimals = [seconds if column.endswith("seconds") else 6 for column in self[0]]
        cells = (zip(row.values(), decimals, strict=True) for row in self)
        rows = (tuple(round(cell, to) if isinstance(cell, float) else cell for cell, to in row) for row in cells)
        return Sheet(name, tuple(self[0]), tuple(rows))


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
    paper: str  # what the paper prints or claims; empty where it says nothing
    found: str  # what is computed here
    expected: str = ""
    """What must be computed where the paper is silent, or differs from its own table or definition; typed by hand."""
    why: str = ""  # what is wrong with the print, or what else is to be known

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
        compared = {"paper": self.paper, "computed": self.found, "verdict": self.verdict}
        return {"about": self.about, **compared, "note": self.why}


@dataclass(frozen=True)
class Section:
    """One worked table or experiment: what the paper reports, what is measured, and why they differ."""

    paper: str
    title: str
    source: str  # where it is in the paper
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


@cache
def read_yaml(name: str) -> dict[str, Any]:
    """A file of ``papers/``."""
    path = resources.files("shoal.reproduce") / "papers" / f"{name}.yaml"
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


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
        """A section; its texts show ``figures`` and what was ``found`` for each of its statements."""
        texts, computed = self.content["sections"][name], found or {}
        described, values = texts.get("statements", {}), {**computed, **figures}
        assert described.keys() == computed.keys(), described.keys() ^ computed.keys()
        statements = []
        for key, given in described.items():
            about, paper, expected, why = [text.format_map(values) for text in given] + [""] * (4 - len(given))
            statements.append(Statement(about, paper, computed[key], expected, why))
        if name == "worked":
            verdicts = [each.verdict for each in statements]
            values = {
                "statements": len(verdicts),
                "equal": verdicts.count(EQUAL),
                "slips": verdicts.count(SLIP),
            } | values
            sheets = (*sheets, Results(each.to_dict() for each in statements).sheet(f"{self.name}-statements"))
        reports, measured, differs = (texts[key].format_map(values) for key in ("reports", "measured", "differs"))
        own = (self.name, texts["title"], texts["source"])
        return Section(*own, reports, measured, differs, tuple(sheets), tuple(drawings), tuple(statements))


@dataclass(frozen=True)
class Setting:
    """What the sections run on."""

    adult: pa.Table | None = None  # Adult without unknown values; None where only worked tables are reproduced
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
    seconds: float = 1.0  # about how long it takes on all of Adult: what the progress bar moves by
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
