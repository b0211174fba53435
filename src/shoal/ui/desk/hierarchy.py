"""Questions about a hierarchy: what it makes of the column's values, level by level; and its files, in and out.

A file is a table of levels as ARX writes it, or a tree in YAML.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.draft.profile import Profile, date_form, round_widths
from shoal.draft.propose import propose
from shoal.errors import InputError, PolicyError, PolicyProblem
from shoal.hierarchies import HIERARCHY_KINDS, HierarchyError, Tree, boundary_caps, capped_levels, levels_of_text
from shoal.hierarchies.hierarchy import BuiltHierarchy, Hierarchy, Label
from shoal.hierarchies.levels import to_levels_csv
from shoal.hierarchies.tree import to_nested
from shoal.policy.check_columns import check_column
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.partial import PartialPolicy, PartialSpec, read_part
from shoal.policy.spec import ColumnSpec, HierarchySpec
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.document import problem_to_page, tree_to_page
from shoal.ui.desk.table import expanded_proposal, profile_as_read
from shoal.ui.server.policy_limits import hierarchy_file_problems

_DRAWN = 1000  # groups of a level that are drawn to scale, at most; the answer says how many there are
_PAGE = 100  # groups in one list, at most


def hierarchy(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """What the declared hierarchy makes of the column: levels, three values on their way up, and every problem.

    With ``level`` comes a page of that level's groups (from ``offset``, those that hold ``search``).
    """
    name = str(query.get("name"))
    column, part, problems = merged_column(desk, name)
    if part.value is not None and part.value.role == "sensitive" and not part.value.unknown_counts:
        column = replace(column.without(part.value.unknown or ()), missing=0)  # what is unknown has no place in it
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
            built = _build(spec, column)
            tree, groups = built.hierarchy, _groups_by_level(built, column)
            answer |= _about_levels(tree, answer["kind"], groups)
            boundary = part.value.boundary if "boundary" not in part.damaged else None
            caps = boundary_caps(tree, boundary, f"columns.{name}.boundary")
            answer |= _about_examples(built, column, caps, query)
            if "level" in query:
                level = min(max(int(query["level"]), 0), tree.height)
                search, offset = str(query.get("search", "")).casefold(), max(int(query.get("offset", 0)), 0)
                limits = set(caps.tolist()) - {tree.root}
                wanted = [each for each in groups[level] if search in (tree.labels[each[0]] or "").casefold()]
                found = [[tree.labels[node], records, node in limits] for node, records in wanted]
                page = found[offset : offset + _PAGE]
                answer["listed"] = {"level": level, "found": len(found), "offset": offset, "groups": page}
        except HierarchyError as error:
            problems = [*problems, *error.problems]
    return {**answer, "problems": desk.checked().problems_to_page(problems)}


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
    policy = PartialPolicy()
    part = check_column(name, read_part(ColumnSpec, given, f"columns.{name}", policy), policy)
    return part, policy.problems


def merged_column(desk: Desk, name: str) -> tuple[Profile, PartialSpec[ColumnSpec], list[PolicyProblem]]:
    """The values of a column, other spellings counted as their value, and what `declared` gives."""
    part, problems = declared(desk, name)
    column, _ = profile_as_read(desk, name)
    return (column if part.value is None else column.merged(part.value.value_of)), part, problems


def _build(spec: HierarchySpec | None, column: Profile, *, with_data: bool = True) -> BuiltHierarchy:
    """The hierarchy, by the code that the pipeline builds it with. Raises `HierarchyError`."""
    if problems := hierarchy_file_problems(column.name, spec):
        raise HierarchyError(problems)
    where = f"columns.{column.name}.hierarchy"
    return hierarchy_source(spec, Path(), where).build(*(counted(column) if with_data else ([], [])), where)


def _groups_by_level(built: BuiltHierarchy, column: Profile) -> list[list[tuple[int, int]]]:
    """For each level node and records of each group, in the order of the leaves."""
    records = np.zeros(built.hierarchy.n_leaves, dtype=np.int64)
    np.add.at(records, built.codes, np.array(counted(column)[1], dtype=np.int64))
    levels = []
    for nodes in built.hierarchy.levels:
        starts = np.flatnonzero(np.diff(nodes, prepend=-1))
        sums = np.add.reduceat(records, starts)
        levels.append(list(zip(nodes[starts].tolist(), sums.tolist(), strict=True)))
    return levels


def _about_levels(tree: Hierarchy, kind: str, groups_by_level: list[list[tuple[int, int]]]) -> dict[str, Any]:
    """Each level: how many groups, the smallest of them, and where they are drawn to scale, all of them."""
    levels = []
    for level, groups in enumerate(groups_by_level):
        filled = [records for _, records in groups if records]
        entry: dict[str, Any] = {"level": level, "groups": len(groups), "filled": len(filled)}
        entry["smallest"] = min(filled, default=0)
        if HIERARCHY_KINDS[kind].on_a_scale and 0 < level < tree.height and len(groups) <= _DRAWN:
            entry["drawn"] = [[tree.labels[node], records] for node, records in groups]
        levels.append(entry)
    return {"built": True, "height": tree.height, "root": tree.labels[tree.root], "levels": levels}


def _about_examples(
    built: BuiltHierarchy, column: Profile, caps: NDArray[np.int32], query: Mapping[str, Any]
) -> dict[str, Any]:
    """The last level that a boundary leaves, and how far some values get on each level.

    They are the value asked for, else the commonest, a middling and the rarest one.
    """
    tree, ladder = built.hierarchy, capped_levels(built.hierarchy, caps)
    rows = [bisect_right(ladder.nominal, level) - 1 for level in range(tree.height + 1)]
    values, counts = counted(column)
    shown = sorted({0, column.distinct // 2, column.distinct - 1}) if column.distinct else []
    if "value" in query and query["value"] in values:
        shown = [values.index(query["value"])]
    examples = []
    for index in shown:
        leaf = int(built.codes[index])
        path = [tree.labels[ladder.nodes[row, leaf]] for row in rows]
        example = {"value": values[index], "records": counts[index], "path": path}
        examples.append({**example, "limited": bool(caps[leaf] != tree.root)})
    return {"reach": ladder.nominal[-1], "examples": examples}


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
    return {kind: expanded_proposal(spec) for kind, spec in proposals.items() if kind != "tree"}


def import_hierarchy(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """A file of a hierarchy as a tree for the policy, with what it lacks and what is listed twice; nothing changes.

    ``text`` is a table of levels (CSV), or a tree in YAML where the file's name ends so.
    """
    name, file, text = str(query.get("name")), str(query.get("file", "")), str(query.get("text", ""))
    column, _, _ = merged_column(desk, name)
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
    known_values, here = set(leaves), set(counted(column)[0])
    lacking = [[value, count] for value, count in column.counts.items() if value not in known_values]
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
    policy = PartialPolicy()
    part = read_part(HierarchySpec, {"tree": content}, "", policy)
    if part.whole is None:
        raise HierarchyError(policy.problems)
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
    column, part, problems = merged_column(desk, name)
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
