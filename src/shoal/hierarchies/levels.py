"""A hierarchy written as a table of levels: one line per value, then its ancestors (the format that ARX reads)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import PolicyProblem
from shoal.formatting import pluralize
from shoal.hierarchies.assemble import Level, build, distinct_leaves
from shoal.hierarchies.hierarchy import BuiltHierarchy, Label, is_scalar, scalar_text
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind
from shoal.hierarchies.problems import (
    HierarchyError,
    first_problems,
    quoted,
    refuse,
    refuse_most,
    refuse_unknown_values,
)

SEPARATORS = (";", "\t", ",")  # tried in this order: labels often hold commas ("[20, 25)"), seldom semicolons
_NAMES = {";": "a semicolon", "\t": "a tab", ",": "a comma"}


@dataclass(frozen=True)
class Levels:
    """A table of levels: each row a value and its label at level 1, 2, … up to the root.

    The root ``*`` is added where the last column has several labels. The missing value has ``None`` in the first
    field; it stays itself where the fields after are ``None`` too.
    """

    rows: Sequence[Sequence[object]]

    def build(self, values: Sequence[Label], counts: Sequence[int], where: str) -> BuiltHierarchy:
        """Build for the values of a column; a value that the table lacks is a problem."""
        rows = distinct_leaves(_checked(self.rows, where), where)
        refuse_unknown_values(values, counts, {row[0] for row in rows}, where, "the table of levels")
        return build([Level.of(column) for column in zip(*rows, strict=True)], values, None, where)


def read_levels(path: str | Path, separator: str | None = None, *, where: str = "") -> Levels:
    """Read a table of levels from a UTF-8 file, as `levels_of_text` reads its text."""
    return levels_of_text(_read(Path(path), where), str(path), separator, where=where)


def levels_of_text(text: str, name: str, separator: str | None = None, *, where: str = "") -> Levels:
    """Read a table of levels: one line per value, fields quoted where they need it; blank lines are skipped.

    Without ``separator`` it is the first of semicolon, tab and comma that gives every line the same number of fields,
    more than one. An empty first field is the missing value. Raises `HierarchyError`, whose messages call the text
    ``name``; ``where`` names the place in the policy.
    """
    if separator is not None and len(separator) != 1:
        message = f"the separator {separator!r} is not one character."
        refuse([PolicyProblem(where, message, 'Give one, such as ";".', code="separator")])
    candidates = SEPARATORS if separator is None else (separator,)
    tables = {each: _fields(text, each) for each in candidates}
    for table in tables.values():
        if not isinstance(table, csv.Error) and len({len(fields) for _, fields in table}) == 1 and len(table[0][1]) > 1:
            return Levels(tuple(tuple(field or None for field in fields) for _, fields in table))
    raise _unreadable(tables, name, where)


Lines = list[tuple[int, list[str]]]


def _read(path: Path, where: str) -> str:
    """The text of a file without a byte order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message, facts = f"{path} is not UTF-8 (byte {error.start:,}).", {"path": str(path), "byte": error.start}
        problem = PolicyProblem(where, message, "Save the file as UTF-8.", facts, code="file-encoding")
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}."
        problem = PolicyProblem(where, message, "Correct the path.", {"path": str(path)}, code="file-unreadable")
    raise HierarchyError([problem])


def _fields(text: str, separator: str) -> Lines | csv.Error:
    """Line number and fields of every line that is not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines: Lines = []
    begins = 1
    try:
        for fields in reader:
            if fields:
                lines.append((begins, fields))
            begins = reader.line_num + 1
    except csv.Error as error:
        return csv.Error(f"line {reader.line_num}: {error}")
    return lines


def _unreadable(tables: dict[str, Lines | csv.Error], name: str, where: str) -> HierarchyError:
    """Why no separator makes a table of the text, for the one that comes closest."""

    def problem(message: str, fix: str, code: str, **facts: object) -> PolicyProblem:
        return PolicyProblem(where, f"{name}{message}", fix, {"path": name, **facts}, code=code)

    broken = {separator: table for separator, table in tables.items() if isinstance(table, csv.Error)}
    read = {separator: table for separator, table in tables.items() if not isinstance(table, csv.Error)}
    if broken and not any(len(fields) > 1 for lines in read.values() for _, fields in lines):
        error = next(iter(broken.values()))
        return HierarchyError(
            [problem(f" is not well-formed CSV: {error}.", "Correct the quotes.", "levels-malformed")]
        )
    if not any(read.values()):
        fix = "Write one line per value, followed by its ancestors."
        return HierarchyError([problem(" is empty.", fix, "levels-empty")])
    separator, lines = max(read.items(), key=lambda each: sum(len(fields) > 1 for _, fields in each[1]))
    widths = Counter(len(fields) for _, fields in lines)
    sign = _NAMES.get(separator, repr(separator))
    if set(widths) == {1}:
        named = "semicolon, tab or comma" if len(tables) > 1 else sign
        fix = "Write the ancestors after each value, or give the separator."
        return HierarchyError(
            [problem(f" has one field per line: no line is split by {named}.", fix, "levels-one-field")]
        )
    usual = max(widths, key=lambda width: (widths[width], width))
    problems = [
        problem(
            f", line {number} has {pluralize(len(fields), 'field')} where most lines have {usual} (split by {sign}).",
            "Give every value one label per level.",
            "levels-uneven",
            line=number,
            fields=len(fields),
            expected=usual,
        )
        for number, fields in lines
        if len(fields) != usual
    ]
    return HierarchyError(first_problems(problems, "lines with another number of fields"))


def _checked(rows: Sequence[Sequence[object]], where: str) -> list[tuple[Label, ...]]:
    """The rows as canonical text, if they are a table."""
    if not rows:
        fix = "Give one row per value, followed by its ancestors."
        refuse([PolicyProblem(where, "the table of levels is empty.", fix, code="levels-empty")])
    width = len(rows[0])
    problems = []
    table = []
    for number, row in enumerate(rows, start=1):
        if (message := _row_problem(row, width)) is None:
            table.append(tuple(scalar_text(field) for field in row))
        else:
            fix = "Give every value one label per level."
            problems.append(PolicyProblem(where, f"row {number} {message}", fix, {"row": number}, code="levels-uneven"))
    refuse_most(problems, "rows that are wrong")
    return table


def _row_problem(row: Sequence[object], width: int) -> str | None:
    """What is wrong with one row."""
    if isinstance(row, str) or not isinstance(row, Sequence):
        return f"is {row!r}, not a list of labels."
    if len(row) != width:
        return f"has {pluralize(len(row), 'field')} where the first has {width}."
    if width < 2:
        return "has no ancestor: a row is a value and at least one label above it."
    for field in row:
        if not is_scalar(field):
            return f"contains {field!r}, which is not a label."
    if row[0] is not None and None in row:
        return f"({quoted(scalar_text(row[0]))}) has no label at level {list(row).index(None)}."
    return None


KIND = HierarchyKind(
    key="levels",
    summary="An ARX-style CSV file: one line per leaf value, then its ancestors.",
    fields=(
        HierarchyField("path", FieldKind.PATH, "the file, relative to the policy file"),
        HierarchyField("separator", FieldKind.CHARACTER, "found out when not given: semicolon, tab or comma", None),
    ),
    build=lambda fields, folder, where: read_levels(folder / fields["path"], fields["separator"], where=where),
    example="age-levels.csv",
    short_forms=({"type": "string"},),
    expand=lambda value: {"path": value} if isinstance(value, (str, Path)) else value,
    listed=True,
)
