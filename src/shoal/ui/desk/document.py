"""The policy as the page edits it: the same document as the file, as JSON.

JSON has no missing value as a key, a policy has (``limits: {null: …}``): a NUL character stands for it, which no text
of a policy can hold. And JavaScript puts keys that read like 0, 1, 2 before all others, whatever their order: where the
order means something, such a mapping goes as a list (categories as pairs, groups of a tree one by one).
The page sends the whole document back after each change; it is written as the YAML file that
the command line runs, problems and all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.yaml_text import parse_yaml
from shoal.ui.server.policy_limits import session_problems

MISSING_KEY = "\x00"


def to_page(document: Any) -> Any:
    """A document with every key a text, in an order that JavaScript keeps."""
    if isinstance(document, Mapping) and isinstance(document.get("columns"), Mapping):
        columns = {name: _column_to_page(column) for name, column in document["columns"].items()}
        document = {**document, "columns": columns}
    return _text_keys(document)


def from_page(document: Any) -> Any:
    """A document as the policy has it."""
    document = _policy_keys(document)
    if isinstance(document, dict) and isinstance(document.get("columns"), dict):
        for column in document["columns"].values():
            if isinstance(column, dict) and isinstance(column.get("categories"), list):
                column["categories"] = _from_pairs(column["categories"])
    return document


def tree_to_page(tree: Any) -> Any:
    """A tree as the page has it: groups one by one in a list where JavaScript would reorder their names."""
    return _text_keys(_tree_in_order(tree))


def _text_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {MISSING_KEY if key is None else str(key): _text_keys(each) for key, each in value.items()}
    return [_text_keys(each) for each in value] if isinstance(value, (list, tuple)) else value


def _policy_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {None if key == MISSING_KEY else key: _policy_keys(each) for key, each in value.items()}
    return [_policy_keys(each) for each in value] if isinstance(value, list) else value


def _reordered(mapping: Mapping[Any, Any]) -> bool:
    """Whether JavaScript may put these keys in another order: it takes some for the indices of a list."""
    keys = [str(key) for key in mapping]
    return len(keys) > 1 and any(key.isascii() and key.isdecimal() and (key == "0" or key[0] != "0") for key in keys)


def _column_to_page(column: Any) -> Any:
    if not isinstance(column, Mapping):
        return column
    changed = dict(column)
    categories, hierarchy = column.get("categories"), column.get("hierarchy")
    if isinstance(categories, Mapping) and _reordered(categories):
        changed["categories"] = [[key, values] for key, values in categories.items()]
    if isinstance(hierarchy, Mapping) and "tree" in hierarchy:
        changed["hierarchy"] = {**hierarchy, "tree": _tree_in_order(hierarchy["tree"])}
    return changed


def _tree_in_order(node: Any) -> Any:
    """Nested groups, those with names that JavaScript would reorder one by one in a list, which means the same."""
    if isinstance(node, Mapping):
        below = {key: _tree_in_order(each) for key, each in node.items()}
        return [{key: each} for key, each in below.items()] if _reordered(below) else below
    return [_tree_in_order(each) for each in node] if isinstance(node, (list, tuple)) else node


def _from_pairs(pairs: list[Any]) -> Any:
    """Categories from pairs of name and values; what is no such list stays, for the policy's own check to refuse."""
    if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        return pairs
    names = [name for name, _ in pairs]
    return dict(pairs) if len(set(names)) == len(names) else pairs


@dataclass(frozen=True, eq=False)
class CheckedPolicy:
    """A policy document, and what is wrong with it as far as that shows without the data."""

    document: Any  # with every short form expanded where there is no problem
    policy: Policy | None
    problems: list[PolicyProblem]
    draft: Any = None
    """What could be read of a policy with problems (`shoal.policy.check.Draft`)."""


def check_document(document: Any) -> CheckedPolicy:
    """A document with its problems, those included that only this page has."""
    try:
        return _checked(Policy.model_validate(document))
    except PolicyError as error:
        return CheckedPolicy(document, None, list(error.problems), error.draft)


def check_file(path: Path) -> CheckedPolicy:
    """A policy file with its problems; an empty policy where there is no file."""
    if not path.exists():
        return CheckedPolicy({}, None, [])
    try:
        return _checked(Policy.load(path))
    except PolicyError as error:
        try:
            content = parse_yaml(text_of(path), path.name)
        except PolicyError:
            content = {}
        return CheckedPolicy(content, None, list(error.problems), error.draft)


def _checked(policy: Policy) -> CheckedPolicy:
    return CheckedPolicy(policy.to_dict(), policy, session_problems(policy))


def text_of(path: Path) -> str:
    """The text of a policy file; empty where there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def revision_of(text: str) -> str:
    """What distinguishes one state of the policy file from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def file_facts(text: str) -> dict[str, str]:
    """The policy file as the page has it."""
    return {"yaml": text, "revision": revision_of(text)}


def problem_to_page(problem: PolicyProblem, document: Any) -> dict[str, Any]:
    """A problem as the page shows it, with the column and the entry under ``privacy`` that it is about."""
    section, _, rest = problem.where.partition(".")
    columns = document.get("columns") if isinstance(document, Mapping) else None
    names = [str(name) for name in columns] if isinstance(columns, Mapping) else []
    column = max((name for name in names if f"{rest}.".startswith(f"{name}.")), key=len, default=None)
    name, _, index = section.partition("[")
    return {
        "code": problem.code,
        "where": problem.where,
        "section": name,
        "column": column if section == "columns" else None,
        "entry": int(index[:-1]) if index[:-1].isdecimal() else None,
        "message": problem.message,
        "fix": problem.fix,
    }
