"""Fingerprints of what a policy declares: whether two policies mean the same, without keeping what they say.

A declaration may list values (a tree, a table of levels, categories), so an entry of a registry has only its hash. A
hierarchy that stands in a file of its own counts by its content: the same tree in another file is the same tree.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from shoal.errors import PolicyError
from shoal.hierarchies import HierarchyError, read_levels, scalar_text
from shoal.policy import Policy
from shoal.policy.yaml_text import read_yaml

FLAT = "flat"


def hierarchy_kind(policy: Policy, column: str) -> str:
    """The kind of a column's hierarchy; flat where none is declared."""
    spec = policy.columns[column].hierarchy
    return FLAT if spec is None else spec.kinds[0]


def hierarchy_fingerprint(policy: Policy, column: str) -> str:
    """Hash of a column's hierarchy as declared."""
    return _hashed([hierarchy_kind(policy, column), _declared(policy, column)])


def categories_fingerprint(policy: Policy, column: str) -> str | None:
    """Hash of a sensitive column's categories; None where it has none."""
    declared = policy.columns[column].category_values
    return _hashed(list(declared.items())) if declared else None  # in order: the first is the most sensitive


def policy_fingerprints(policy: Policy) -> dict[str, Any]:
    """Hashes of what a policy says of each column and of the privacy asked: what a recoding stands on.

    Where data and output lie, the algorithm and its options, suppression and tasks may change without a harm.
    """
    columns = {}
    for name, column in policy.columns.items():
        said = column.model_dump(exclude={"hierarchy", "categories"})
        columns[name] = _hashed([said, hierarchy_fingerprint(policy, name), categories_fingerprint(policy, name)])
    return {"columns": columns, "privacy": _hashed([spec.model_dump() for spec in policy.privacy])}


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The places in which two policies differ, by their fingerprints."""
    names = sorted({*one["columns"], *other["columns"]})
    columns = [f"columns.{name}" for name in names if one["columns"].get(name) != other["columns"].get(name)]
    return [*columns, *(["privacy"] if one["privacy"] != other["privacy"] else [])]


def _declared(policy: Policy, column: str) -> Any:
    """What a hierarchy says, files replaced by what is in them."""
    spec = policy.columns[column].hierarchy
    if spec is None or spec.flat:
        return None
    if spec.tree is not None:
        return read_yaml(policy.path(spec.tree))[0] if isinstance(spec.tree, str) else spec.tree
    if spec.levels is not None:
        try:
            return read_levels(policy.path(spec.levels.path), spec.levels.separator, where=f"columns.{column}").rows
        except HierarchyError as error:
            raise PolicyError(error.problems, policy.source) from None
    return spec.model_dump(exclude_none=True)


def _hashed(content: Any) -> str:
    text = json.dumps(_canonical(content), ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _canonical(content: Any) -> Any:
    """Texts in lists: the order of a mapping's keys tells nothing, and 5 is "5", as everywhere in a policy."""
    if isinstance(content, Mapping):
        pairs = [[scalar_text(key), _canonical(value)] for key, value in content.items()]
        return sorted(pairs, key=lambda pair: (pair[0] is None, pair[0] or ""))
    if isinstance(content, (list, tuple)):
        return [_canonical(each) for each in content]
    return repr(content) if isinstance(content, float) else scalar_text(content)
