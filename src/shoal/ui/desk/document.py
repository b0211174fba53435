"""The policy as the page edits it: the same document as the file, as JSON.

JSON has no missing value as a key, a policy has (``limits: {null: …}``): a NUL character stands for it, which no text
of a policy can hold. And JavaScript puts keys that read like 0, 1, 2 before all others, whatever their order: where the
order means something, such a mapping goes as a list (categories as pairs, groups of a tree one by one).
The page sends the whole document back after each change; it is written as the YAML file that
the command line runs, problems and all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from shoal.errors import PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.yaml_text import dump_yaml, parse_yaml
from shoal.ui.server.confined import outside
from shoal.ui.server.workspace import Workspace, write_bytes

MISSING_KEY = "\x00"
_NUMBER_KEY = re.compile(r"0|[1-9][0-9]*")
"""What JavaScript takes for a place in a list when it is a key."""


def to_page(document: Any) -> Any:
    """A document with every key a text, in an order that JavaScript keeps."""
    if not isinstance(document, Mapping) or not isinstance(document.get("columns"), Mapping):
        return _text_keys(document)
    columns = {name: _column_to_page(column) for name, column in document["columns"].items()}
    return _text_keys({**document, "columns": columns})


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
    """Whether JavaScript may put these keys in another order."""
    return len(mapping) > 1 and any(_NUMBER_KEY.fullmatch(str(key)) for key in mapping)


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


def problems_of(document: Any) -> list[PolicyProblem]:
    """Everything that is wrong with a document, or that it may not name here, as far as it tells without the data."""
    return judged(document)[1]


def save(workspace: Workspace, document: Any) -> str:
    """Write the document as the policy file; its text."""
    text = dump(document)
    write_bytes(workspace.policy, text.encode())
    return text


def load(workspace: Workspace) -> tuple[Any, str]:
    """The document of the policy file, and its text; an empty one where there is none."""
    text = text_of(workspace)
    return (parse_yaml(text, "policy.yaml"), text) if text else ({}, "")


def text_of(workspace: Workspace) -> str:
    """The text of the policy file; empty where there is none."""
    return workspace.policy.read_text(encoding="utf-8") if workspace.policy.exists() else ""


def dump(document: Any) -> str:
    """A document as YAML text."""
    return dump_yaml(document)


def revision(text: str) -> str:
    """What tells one state of the policy file from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def parse(text: str) -> Any:
    """The document that a YAML text holds; `PolicyError` for what is no YAML."""
    return parse_yaml(text, "the policy")


def settled(document: Any) -> Any:
    """The document with every short form written out, as the page edits it; unchanged where it has problems."""
    return judged(document)[0]


def judged(document: Any) -> tuple[Any, list[PolicyProblem]]:
    """The document `settled`, and its problems: both at once, since reading a large policy takes time."""
    try:
        policy = Policy.model_validate(document)
    except PolicyError as error:
        return document, list(error.problems)
    return policy.to_dict(), outside(policy)


def problem_to_page(problem: PolicyProblem) -> dict[str, str]:
    """A problem as the page shows it."""
    return {"where": problem.where, "message": problem.message, "fix": problem.fix}
