"""Files of hierarchies, in and out: a table of levels as ARX writes it, or a tree in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.errors import InputError, PolicyError, PolicyProblem
from shoal.hierarchies import Hierarchy, HierarchyError, Label, Tree, levels_of_text, to_levels_csv, to_nested
from shoal.policy.draft import Draft, read_part
from shoal.policy.spec import HierarchySpec
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.desk.column import build, counted, declared, profile
from shoal.ui.desk.desk import Desk
from shoal.ui.desk.document import problem_to_page, tree_to_page

_PAGE = 100
"""Values in one list, at most."""


def import_hierarchy(desk: Desk, query: Mapping[str, Any]) -> dict[str, Any]:
    """A file of a hierarchy as a tree for the policy, with what it lacks and what is listed twice; nothing changes.

    ``text`` is a table of levels (CSV), or a tree in YAML where the file's name ends so.
    """
    name, file, text = str(query.get("name")), str(query.get("file", "")), str(query.get("text", ""))
    column = profile(desk, name)
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
    column = profile(desk, name)
    part, problems = declared(desk, name)
    if part.value is None or "hierarchy" in part.damaged:
        raise PolicyError(problems)
    spec = part.value.hierarchy
    own = spec is not None and (spec.tree is not None or spec.order is not None)
    try:
        built = build(spec, column, f"columns.{name}.hierarchy", with_data=not own).hierarchy
        text = to_levels_csv(built) if form == "csv" else dump_yaml(to_nested(built))
    except HierarchyError as error:
        raise PolicyError(error.problems) from None
    return {"file": f"{name}.levels.csv" if form == "csv" else f"{name}.tree.yaml", "text": text}
