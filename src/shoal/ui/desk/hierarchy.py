"""Questions about a hierarchy: what it makes of the column's values, level by level; and its files, in and out.

A file is a table of levels as ARX writes it, or a tree in YAML.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.draft.profile import Profile, date_form, round_widths
from shoal.draft.propose import propose
from shoal.draft.wording import flow
from shoal.errors import InputError, PolicyError, PolicyProblem
from shoal.hierarchies import (
    HIERARCHY_KINDS,
    BuiltHierarchy,
    Hierarchy,
    HierarchyError,
    Label,
    Tree,
    boundary_caps,
    capped_levels,
    levels_of_text,
    to_levels_csv,
    to_nested,
)
from shoal.policy.check_columns import check_column
from shoal.policy.draft import Draft, PartialSpec, read_part
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import ColumnSpec, HierarchySpec
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.document import problem_to_page, tree_to_page
from shoal.ui.desk.table import profile
from shoal.ui.server.policy_limits import hierarchy_file_problems

_DRAWN = 1000  # groups of a level that are drawn to scale, at most; the answer says how many there are
_PAGE = 100  # groups in one list, at most


def hierarchy(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """What the declared hierarchy makes of the column: levels, three values on their way up, and every problem.

    With ``level`` comes a page of that level's groups (from ``offset``, those that hold ``search``).
    """
    name = str(query.get("name"))
    column, _ = profile(desk, name)
    part, problems = declared(desk, name)
    spec = part.value.hierarchy if part.value is not None else None
    answer: dict[str, Any] = {
        "name": name,
        "kind": spec.kinds[0] if spec is not None and spec.kinds else "flat",
        "proposals": _proposals(column),
        "built": False,
        "levels": [],
        "examples": [],
    }
    if part.value is not None and "hierarchy" not in part.damaged:
        try:
            counted_hierarchy = _CountedHierarchy.of(_build(spec, column), column)
            answer.update(counted_hierarchy.described(answer["kind"]))
            boundary = part.value.boundary_labels if "boundary" not in part.damaged else None
            caps = boundary_caps(counted_hierarchy.built.hierarchy, boundary, f"columns.{name}.boundary")
            answer.update(counted_hierarchy.limited(caps, query))
            if "level" in query:
                answer["listed"] = counted_hierarchy.listed(query, caps)
        except HierarchyError as error:
            problems = [*problems, *error.problems]
    return {**answer, "problems": [problem_to_page(each, desk.document()) for each in problems]}


def counted(column: Profile) -> tuple[list[Label], list[int]]:
    """The distinct values, the missing one last, and the records of each."""
    missing = [column.missing] if column.missing else []
    return [*column.counts, *([None] if missing else [])], [*column.counts.values(), *missing]


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


def _build(spec: HierarchySpec | None, column: Profile, *, with_data: bool = True) -> BuiltHierarchy:
    """The hierarchy, by the code that the pipeline builds it with. Raises `HierarchyError`."""
    if problems := hierarchy_file_problems(column.name, spec):
        raise HierarchyError(problems)
    where = f"columns.{column.name}.hierarchy"
    return hierarchy_source(spec, Path(), where).build(*(counted(column) if with_data else ([], [])), where)


@dataclass(frozen=True, eq=False)
class _CountedHierarchy:
    """A hierarchy and the records under each of its nodes."""

    built: BuiltHierarchy
    column: Profile
    records: NDArray[np.int64]  # records of each leaf

    @staticmethod
    def of(built: BuiltHierarchy, column: Profile) -> _CountedHierarchy:
        counts = np.array(counted(column)[1], dtype=np.int64)
        records = np.zeros(built.hierarchy.n_leaves, dtype=np.int64)
        np.add.at(records, built.codes, counts)
        return _CountedHierarchy(built, column, records)

    def groups(self, level: int) -> list[tuple[int, int]]:
        """Node and records of each group of a level, in the order of the leaves."""
        nodes = self.built.hierarchy.levels[level]
        starts = np.flatnonzero(np.diff(nodes, prepend=-1))
        sums = np.add.reduceat(self.records, starts)
        return list(zip(nodes[starts].tolist(), sums.tolist(), strict=True))

    def described(self, kind: str) -> dict[str, Any]:
        """Each level: how many groups, the smallest of them, and where they are drawn to scale, all of them."""
        tree = self.built.hierarchy
        levels = []
        for level in range(tree.height + 1):
            groups = self.groups(level)
            filled = [records for _, records in groups if records]
            entry: dict[str, Any] = {"level": level, "groups": len(groups), "filled": len(filled)}
            entry["smallest"] = min(filled, default=0)
            if HIERARCHY_KINDS[kind].on_a_scale and 0 < level < tree.height and len(groups) <= _DRAWN:
                entry["drawn"] = [[tree.labels[node], records] for node, records in groups]
            levels.append(entry)
        return {"built": True, "height": tree.height, "root": tree.labels[tree.root], "levels": levels}

    def limited(self, caps: NDArray[np.int32], query: Mapping[str, Any]) -> dict[str, Any]:
        """The last level that a boundary leaves, and how far some values get on each level.

        They are the value asked for, else the commonest, a middling and the rarest one.
        """
        tree, ladder = self.built.hierarchy, capped_levels(self.built.hierarchy, caps)
        rows = [bisect_right(ladder.nominal, level) - 1 for level in range(tree.height + 1)]
        values, counts = counted(self.column)
        present = self.column.distinct
        shown = sorted({0, present // 2, present - 1}) if present else []
        if "value" in query and query["value"] in values:
            shown = [values.index(query["value"])]
        examples = []
        for index in shown:
            leaf = int(self.built.codes[index])
            path = [tree.labels[ladder.nodes[row, leaf]] for row in rows]
            example = {"value": values[index], "records": counts[index], "path": path}
            examples.append({**example, "limited": bool(caps[leaf] != tree.root)})
        return {"reach": ladder.nominal[-1], "examples": examples}

    def listed(self, query: Mapping[str, Any], caps: NDArray[np.int32]) -> dict[str, Any]:
        """A page of the groups of one level, those first that come first in the hierarchy."""
        tree = self.built.hierarchy
        level = min(max(int(query["level"]), 0), tree.height)
        search, offset = str(query.get("search", "")).casefold(), max(int(query.get("offset", 0)), 0)
        limits = set(caps.tolist())
        found = [
            [tree.labels[node], records, node in limits and node != tree.root]
            for node, records in self.groups(level)
            if search in (tree.labels[node] or "").casefold()
        ]
        return {"level": level, "found": len(found), "offset": offset, "groups": found[offset : offset + _PAGE]}


def _proposals(column: Profile) -> dict[str, Any]:
    """What each kind of hierarchy may begin with, read off the values as `shoal init` does."""
    proposals: dict[str, Any] = {}
    dates = date_form(column)
    if column.numbers is not None and (widths := round_widths(column.numbers, decimals=column.decimals)):
        proposals["intervals"] = {"intervals": widths}
    if dates is not None and dates.clear:
        proposals["dates"] = {"dates": {"units": dates.units()}}
        if dates.formats[0] is not None:
            proposals["dates"]["dates"]["format"] = dates.formats[0]
    first = propose(column, dates).spec
    if isinstance(first, dict):
        proposals.setdefault(next(iter(first)), first)
    proposals.pop("tree", None)
    settled = {kind: parse_yaml(flow(spec), "a proposal") for kind, spec in proposals.items()}
    return {
        kind: HierarchySpec.model_validate(spec).model_dump(exclude_unset=True, exclude_none=True)
        for kind, spec in settled.items()
    }


def import_hierarchy(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """A file of a hierarchy as a tree for the policy, with what it lacks and what is listed twice; nothing changes.

    ``text`` is a table of levels (CSV), or a tree in YAML where the file's name ends so.
    """
    name, file, text = str(query.get("name")), str(query.get("file", "")), str(query.get("text", ""))
    column, _ = profile(desk, name)
    is_yaml = file.lower().endswith((".yaml", ".yml"))
    try:
        tree = _yaml_tree(text, file) if is_yaml else _levels_tree(text, file)
    except HierarchyError as error:
        raise PolicyError(error.problems, file or "the file") from None
    try:
        known = Tree(tree).build([], [], "").hierarchy
    except HierarchyError as error:
        return {"tree": tree_to_page(tree), "problems": [problem_to_page(each, {}) for each in error.problems]}
    leaves = known.labels[: known.n_leaves]
    placed, here = set(leaves), set(counted(column)[0])
    lacking = [[value, count] for value, count in column.counts.items() if value not in placed]
    absent = [value for value in leaves if value not in here]
    return {
        "tree": tree_to_page(tree),
        "problems": [],
        "leaves": known.n_leaves,
        "height": known.height,
        "groups": len(known.labels) - known.n_leaves,
        "lacking": {"values": lacking[:_PAGE], "count": len(lacking), "records": sum(count for _, count in lacking)},
        "absent": {"values": absent[:_PAGE], "count": len(absent)},
    }


def _yaml_tree(text: str, file: str) -> Any:
    """The tree that a YAML file holds: alone, or under ``tree`` as a policy has it."""
    content = parse_yaml(text, file)
    for key in ("hierarchy", "tree"):
        if isinstance(content, Mapping) and set(content) == {key}:
            content = content[key]
    if not isinstance(content, (Mapping, list)):
        raise InputError(f"{file} has no tree. Write {{group: [value, value]}}.", code="no-tree")
    draft = Draft()
    part = read_part(HierarchySpec, {"tree": content}, "", draft)
    if part.whole is None:
        raise HierarchyError(draft.problems)
    return part.whole.tree


def _levels_tree(text: str, file: str) -> Any:
    """A table of levels as a tree; `HierarchyError` where it is no hierarchy, or where the tree would differ."""
    table = levels_of_text(text, file).build([], [], "").hierarchy
    tree = to_nested(table)
    if _paths(Tree(tree).build([], [], "").hierarchy) != _paths(table):
        message = f"{file} cannot be written as a tree: a value would have another label at some level."
        fix = "Run the policy on the command line with hierarchy: {levels: {path: FILE}}."
        raise HierarchyError([PolicyProblem("", message, fix, code="levels-not-a-tree")])
    return tree


def _paths(tree: Hierarchy) -> list[list[Label]]:
    """The labels of each leaf, level by level."""
    return [[tree.labels[node] for node in nodes] for nodes in tree.levels.T.tolist()]


def export_hierarchy(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """The hierarchy as a file: a table of levels (``csv``), or a tree (``yaml``). It holds values of the data."""
    name, form = str(query.get("name")), str(query.get("form"))
    if form not in {"csv", "yaml"}:
        raise InputError(f"A hierarchy is exported as csv or yaml, not as {form!r}.", code="unknown-format")
    column, _ = profile(desk, name)
    part, problems = declared(desk, name)
    if part.value is None or "hierarchy" in part.damaged:
        raise PolicyError(problems)
    spec = part.value.hierarchy
    own = spec is not None and (spec.tree is not None or spec.order is not None)
    try:
        built = _build(spec, column, with_data=not own).hierarchy
        text = to_levels_csv(built) if form == "csv" else dump_yaml(to_nested(built))
    except HierarchyError as error:
        raise PolicyError(error.problems) from None
    return {"file": f"{name}.levels.csv" if form == "csv" else f"{name}.tree.yaml", "text": text}


ANSWERS = {"hierarchy": hierarchy, "import_hierarchy": import_hierarchy, "export_hierarchy": export_hierarchy}
