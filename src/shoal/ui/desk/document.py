"""The policy as the page edits it: the same document as the file, as JSON.

JSON has no missing value as a key, a policy has (``limits: {null: …}``): a NUL character stands for it, which no text
of a policy can hold. And JavaScript puts keys that read like 0, 1, 2 before all others, whatever their order: where the
order means something, such a mapping goes as a list (categories as pairs, groups of a tree one by one).
The page sends the whole document back after each change; it is written as the YAML file that
the command line runs, problems and all.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.yaml_text import parse_yaml
from shoal.present.diagnosis import edit_label
from shoal.ui.server.policy_limits import session_problems

MISSING_KEY = "\x00"


def to_page(document: Any) -> Any:
    """A document with every key a text, in an order that JavaScript keeps."""
    if isinstance(document, Mapping) and isinstance(document.get("columns"), Mapping):
        columns = {name: _column_to_page(column) for name, column in document["columns"].items()}
        document = {**document, "columns": columns}
    return _text_keys(document)


def from_page(document: Any) -> Any:
    """A document as the policy has it. Categories in pairs that are no mapping stay, for its own check to refuse."""
    document = _with_keys(document, lambda key: None if key == MISSING_KEY else key)
    if isinstance(document, dict) and isinstance(document.get("columns"), dict):
        for column in document["columns"].values():
            pairs = column.get("categories") if isinstance(column, dict) else None
            if isinstance(pairs, list) and all(
                isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
            ):
                categories = dict(pairs)
                column["categories"] = categories if len(categories) == len(pairs) else pairs
    return document


def tree_to_page(tree: Any) -> Any:
    """A tree as the page has it: groups one by one in a list where JavaScript would reorder their names."""
    return _text_keys(_tree_in_order(tree))


def _text_keys(value: Any) -> Any:
    return _with_keys(value, lambda key: MISSING_KEY if key is None else str(key))


def _with_keys(value: Any, change: Callable[[Any], Any]) -> Any:
    """A document with every key changed."""
    if isinstance(value, Mapping):
        return {change(key): _with_keys(each, change) for key, each in value.items()}
    return [_with_keys(each, change) for each in value] if isinstance(value, (list, tuple)) else value


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


@dataclass(frozen=True, eq=False)
class CheckedPolicy:
    """A policy document, and what is wrong with it as far as that shows without the data."""

    document: Any  # with every short form expanded where there is no problem
    policy: Policy | None
    problems: list[PolicyProblem]
    partial: Any = None
    """What could be read of a policy with problems (`shoal.policy.partial.PartialPolicy`)."""

    def valid(self) -> Policy:
        """The policy. Raises `PolicyError` with every problem it has in itself."""
        if self.policy is None or self.problems:
            raise PolicyError(self.problems)
        return self.policy

    def problems_to_page(self, problems: Iterable[PolicyProblem] | None = None) -> list[dict[str, Any]]:
        """These problems, or all of its own, as the page shows them."""
        return [problem_to_page(each, self.document) for each in (self.problems if problems is None else problems)]


def check_document(document: Any) -> CheckedPolicy:
    """A document with its problems, those included that only this page has."""
    return _check(lambda: Policy.model_validate(document), lambda: document)


def check_file(path: Path) -> CheckedPolicy:
    """A policy file with its problems; an empty policy where there is no file."""

    def content() -> Any:
        try:
            return parse_yaml(text_of(path), path.name)
        except PolicyError:
            return {}

    return _check(lambda: Policy.load(path), content) if path.exists() else CheckedPolicy({}, None, [])


def _check(load: Callable[[], Policy], content: Callable[[], Any]) -> CheckedPolicy:
    try:
        policy = load()
    except PolicyError as error:
        return CheckedPolicy(content(), None, list(error.problems), error.partial)
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
        "edits": [{"label": edit_label(edit), "edits": [edit.to_dict()]} for edit in problem.edits],
    }
