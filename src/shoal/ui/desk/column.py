"""A column as questions about hierarchies and sensitive values see it: its values, and what the policy says of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.draft.profile import Profile
from shoal.encode.sensitive import Values
from shoal.errors import InputError, PolicyProblem
from shoal.hierarchies import BuiltHierarchy, HierarchyError, Label
from shoal.policy.check_columns import check_column
from shoal.policy.draft import Draft, PartialSpec, read_part
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import ColumnSpec, HierarchySpec
from shoal.ui.desk import table as desk_table
from shoal.ui.desk.desk import Desk


def profile(desk: Desk, name: str) -> Profile:
    """The values of a column with their records."""
    return desk_table.profile(desk, name)[0]


def counted(column: Profile) -> tuple[list[Label], list[int]]:
    """The distinct values, the missing one last, and the records of each."""
    missing = [column.missing] if column.missing else []
    return [*column.counts, *([None] if missing else [])], [*column.counts.values(), *missing]


def as_values(column: Profile) -> Values:
    """The values as the policy encodes them, each standing for itself: no row is needed to judge a declaration."""
    labels, counts = counted(column)
    return Values(tuple(labels), np.arange(len(labels), dtype=np.int32), np.array(counts, dtype=np.int64))


def declared(desk: Desk, name: str) -> tuple[PartialSpec[ColumnSpec], list[PolicyProblem]]:
    """What the policy says of a column, as far as it is right, and what is wrong with it."""
    content = desk.document()
    columns = content.get("columns") if isinstance(content, Mapping) else None
    given: Any = columns.get(name) if isinstance(columns, Mapping) else None
    if given is None:
        raise InputError(f"The policy has no column {name!r}. Give it a role first.", code="unknown-column")
    draft = Draft()
    part = check_column(name, read_part(ColumnSpec, given, f"columns.{name}", draft), draft)
    return part, draft.problems


def in_a_file(spec: HierarchySpec | None, where: str) -> list[PolicyProblem]:
    """A hierarchy in a separate file: the session has only its table, and no file of the server is ever read."""
    if spec is None or spec.file is None:
        return []
    message = f"the hierarchy is in the file {spec.file!r}, which this page does not have."
    fix = "Import the file, so that the policy contains the hierarchy."
    return [PolicyProblem(where, message, fix, code="hierarchy-in-file")]


def build(spec: HierarchySpec | None, column: Profile, where: str, *, with_data: bool = True) -> BuiltHierarchy:
    """The hierarchy, by the code that the pipeline builds it with. Raises `HierarchyError`."""
    if problems := in_a_file(spec, where):
        raise HierarchyError(problems)
    labels, counts = counted(column) if with_data else ([], [])
    return hierarchy_source(spec, Path(), where).build(labels, counts, where)
