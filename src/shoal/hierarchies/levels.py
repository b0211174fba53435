"""A hierarchy written as a table of levels: one line per value, then its ancestors (the format that ARX reads)."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.formatting import pluralize
from shoal.hierarchies.assemble import build, distinct_leaves, levels_of_paths
from shoal.hierarchies.hierarchy import BuiltHierarchy, Hierarchy, Label, is_scalar, scalar_text
from shoal.hierarchies.kind import FieldKind, HierarchyField, HierarchyKind, RunKind
from shoal.hierarchies.problems import Problems, quoted, refuse, refuse_unknown_values

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
        return build(levels_of_paths(rows), values, where)


def read_levels(path: str | Path, separator: str | None = None, *, where: str = "") -> Levels:
    """Read a table of levels from a UTF-8 file, as `levels_of_text` reads its text."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        facts = {"path": str(path), "byte": error.start}
        message = f"{path} is not UTF-8 (byte {error.start:,})."
        refuse(where, message, "Save the file as UTF-8.", code="file-encoding", **facts)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}."
        refuse(where, message, "Correct the path.", code="file-unreadable", path=str(path))
    return levels_of_text(text, str(path), separator, where=where)


def levels_of_text(text: str, name: str, separator: str | None = None, *, where: str = "") -> Levels:
    """Read a table of levels: one line per value, fields quoted where they need it; blank lines are skipped."""
    if separator is not None and len(separator) != 1:
        refuse(where, f"the separator {separator!r} is not one character.", 'Give one, such as ";".', code="separator")
    candidates = SEPARATORS if separator is None else (separator,)
    tables = {each: _fields(text, each) for each in candidates}
    read = [table for table in tables.values() if not isinstance(table, csv.Error)]
    even = [table for table in read if len({len(fields) for _, fields in table}) == 1 and len(table[0][1]) > 1]
    if not even:
        _refuse_text(tables, name, where)
    return Levels(tuple(tuple(field or None for field in fields) for _, fields in even[0]))


Lines = list[tuple[int, list[str]]]


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


def _refuse_text(tables: dict[str, Lines | csv.Error], name: str, where: str) -> None:
    """Why no separator makes a table of the text, for the one that comes closest."""
    broken = [table for table in tables.values() if isinstance(table, csv.Error)]
    read = {separator: table for separator, table in tables.items() if not isinstance(table, csv.Error)}
    if broken and not any(len(fields) > 1 for lines in read.values() for _, fields in lines):
        message = f"{name} is not well-formed CSV: {broken[0]}."
        refuse(where, message, "Correct the quotes.", code="levels-malformed", path=name)
    if not any(read.values()):
        fix = "Write one line per value, followed by its ancestors."
        refuse(where, f"{name} is empty.", fix, code="levels-empty", path=name)
    separator, lines = max(read.items(), key=lambda each: sum(len(fields) > 1 for _, fields in each[1]))
    widths = Counter(len(fields) for _, fields in lines)
    sign = _NAMES.get(separator, repr(separator))
    if set(widths) == {1}:
        named = "semicolon, tab or comma" if len(tables) > 1 else sign
        fix = "Write the ancestors after each value, or give the separator."
        message = f"{name} has one field per line: no line is split by {named}."
        refuse(where, message, fix, code="levels-one-field", path=name)
    usual = max(widths, key=lambda width: (widths[width], width))
    problems, fix = Problems(where), "Give every value one label per level."
    for number, fields in ((number, len(fields)) for number, fields in lines if len(fields) != usual):
        message = (
            f"{name}, line {number} has {pluralize(fields, 'field')} where most lines have {usual} (split by {sign})."
        )
        problems.add(message, fix, code="levels-uneven", path=name, line=number, fields=fields, expected=usual)
    problems.refuse("lines with another number of fields")


def _checked(rows: Sequence[Sequence[object]], where: str) -> list[tuple[Label, ...]]:
    """The rows as canonical text, if they are a table."""
    if not rows:
        fix = "Give one row per value, followed by its ancestors."
        refuse(where, "the table of levels is empty.", fix, code="levels-empty")
    width, table, problems = len(rows[0]), [], Problems(where)
    for number, row in enumerate(rows, start=1):
        if (message := _row_problem(row, width)) is None:
            table.append(tuple(scalar_text(field) for field in row))
        else:
            fix = "Give every value one label per level."
            problems.add(f"row {number} {message}", fix, code="levels-uneven", row=number)
    problems.refuse("rows that are wrong")
    return table


def _row_problem(row: Sequence[object], width: int) -> str | None:
    if isinstance(row, str) or not isinstance(row, Sequence):
        return f"is {row!r}, not a list of labels."
    if len(row) != width:
        return f"has {pluralize(len(row), 'field')} where the first has {width}."
    if width < 2:
        return "has no ancestor: a row is a value and at least one label above it."
    if strange := [field for field in row if not is_scalar(field)]:
        return f"contains {strange[0]!r}, which is not a label."
    if row[0] is not None and None in row:
        return f"({quoted(scalar_text(row[0]))}) has no label at level {list(row).index(None)}."
    return None


def to_levels_csv(hierarchy: Hierarchy) -> str:
    """A table of levels, separated by semicolons, that `read_levels` reads; the missing value is an empty field."""
    if "" in hierarchy.labels:
        message = "the empty text is a value, and a table of levels cannot distinguish it from the missing value."
        fix = "Declare empty text as missing, or write the nested form."
        refuse("", message, fix, code="empty-text-as-value")
    fields = [""] * len(hierarchy.labels)
    for node, label in enumerate(hierarchy.labels):
        if label is not None:  # quoted where it would be read otherwise (the csv module leaves a lone CR bare)
            fields[node] = '"' + label.replace('"', '""') + '"' if re.search(r'[;"\r\n]', label) else label
    return "".join(";".join([fields[node] for node in column]) + "\n" for column in hierarchy.levels.T.tolist())


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
    runs=frozenset({RunKind.NUMBERS, RunKind.ORDER}),
)
