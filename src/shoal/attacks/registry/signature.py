"""The signature of a release: its classes as it shows them.

For each class the released labels of the quasi-identifiers, how many records it has, and how often each published
sensitive value occurs in it. Labels and values are kept once and cells as indices into them, sorted by text, so that
the same release always has the same signature.

Of what the policy declares only fingerprints are kept, since a declaration may list values (a tree, a table of levels,
categories). A hierarchy in a file of its own counts by its content: the same tree in another file is the same tree.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.class_fit import CodePairs
from shoal.attacks.released_classes import Codes, Ints, Rows, by_text
from shoal.errors import PolicyError
from shoal.hierarchies import HierarchyError, read_levels, scalar_text
from shoal.hierarchies.hierarchy import Label
from shoal.policy import Policy
from shoal.policy.yaml_text import read_yaml
from shoal.table.classes import Histogram


def hierarchy_kind(policy: Policy, column: str) -> str:
    """The kind of a column's hierarchy; flat where none is declared."""
    spec = policy.columns[column].hierarchy
    return "flat" if spec is None else spec.kinds[0]


def hierarchy_fingerprint(policy: Policy, column: str) -> str:
    """Hash of a column's hierarchy as declared, files replaced by what is in them."""
    spec = policy.columns[column].hierarchy
    declared: Any = None
    if spec is not None and spec.tree is not None:
        declared = read_yaml(policy.path(spec.tree))[0] if isinstance(spec.tree, str) else spec.tree
    elif spec is not None and spec.levels is not None:
        try:
            path, separator = policy.path(spec.levels.path), spec.levels.separator
            declared = read_levels(path, separator, where=f"columns.{column}").rows
        except HierarchyError as error:
            raise PolicyError(error.problems, policy.source) from None
    elif spec is not None and not spec.flat:
        declared = spec.model_dump(exclude_none=True)
    return _hashed([hierarchy_kind(policy, column), declared])


def categories_fingerprint(policy: Policy, column: str) -> str | None:
    """Hash of a sensitive column's categories; None where it has none."""
    declared = policy.columns[column].category_values
    return _hashed(list(declared.items())) if declared else None  # in order: the first is the most sensitive


_NEWER = ("bins", "relative", "key")
"""Keys that earlier fingerprints do not know: left out where a policy does not use them, so that those stay valid."""


def policy_fingerprints(policy: Policy) -> dict[str, Any]:
    """Hashes of what a policy says of each column and of the privacy asked: what a recoding stands on.

    Where data and output lie, the algorithm and its options, suppression and tasks may change without a harm; and so
    may spellings of values, as long as what is published is not merged (`shoal.pipeline.apply.published`). Which
    values are unknown matters, where a policy says it.
    """
    columns = {}
    for name, column in policy.columns.items():
        left_out = {"hierarchy", "categories", "same", "different", "unknown", "unknown_counts"}
        said = column.model_dump(exclude=left_out | {key for key in _NEWER if getattr(column, key) is None})
        if column.unknown or column.unknown_counts:
            said["unknown"] = sorted(column.unknown_values, key=by_text)
        columns[name] = _hashed([said, hierarchy_fingerprint(policy, name), categories_fingerprint(policy, name)])
    return {"columns": columns, "privacy": _hashed([spec.model_dump() for spec in policy.privacy])}


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The paths at which two policies differ, by their fingerprints."""
    names = sorted({*one["columns"], *other["columns"]})
    columns = [f"columns.{name}" for name in names if one["columns"].get(name) != other["columns"].get(name)]
    return [*columns, *(["privacy"] if one["privacy"] != other["privacy"] else [])]


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


@dataclass(frozen=True)
class ReleasedQuasi:
    """A quasi-identifier as released: its labels, and how they are to be read."""

    name: str
    kind: str  # the kind of its hierarchy: ``intervals``, ``tree``, …
    ranged: bool  # whether it is released as ranges ``22<=30``
    fingerprint: str
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class ReleasedSecret:
    """A sensitive column as released."""

    name: str
    published: str  # ``values``, ``categories`` or ``both``
    categories: str | None  # fingerprint of its categories; None where it declares none
    values: tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class Signature:
    """The classes of a release."""

    quasi: tuple[ReleasedQuasi, ...]
    secrets: tuple[ReleasedSecret, ...]
    cells: Codes  # ``cells[j, c]``: index of the label that class ``c`` shows in quasi-identifier ``j``
    sizes: Ints
    histograms: Mapping[str, Histogram]

    def secret(self, name: str) -> ReleasedSecret | None:
        """A sensitive column; None where the release has none of that name."""
        return next((each for each in self.secrets if each.name == name), None)

    def allowed_values(self, column: str, groups: CodePairs) -> CodePairs:
        """The sensitive values that each class allows; ``groups`` are those that each published one stands for."""
        held = self.histograms[column]
        values, repeats = groups.lookup(held.values.astype(np.int64))
        return CodePairs.of((np.repeat(held.class_of, repeats), values), len(self.sizes))

    def to_dict(self) -> dict[str, Any]:
        """The signature as plain data, as an entry of a registry keeps it."""
        quasi, secrets = {}, {}
        for each, cells in zip(self.quasi, self.cells, strict=True):
            quasi[each.name] = {**_described(each), "cells": cells.tolist()}
        for secret in self.secrets:
            held = self.histograms[secret.name]
            starts, codes, counts = held.starts.tolist(), held.values.tolist(), held.counts.tolist()
            secrets[secret.name] = {**_described(secret), "starts": starts, "codes": codes, "counts": counts}
        return {"sizes": self.sizes.tolist(), "quasi": quasi, "sensitive": secrets}

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> Signature:
        """Read a signature back; `ValueError`, `KeyError` or `TypeError` for what is none."""
        sizes = np.array(content["sizes"], dtype=np.int64)
        quasi, cells = [], []
        for name, each in content["quasi"].items():
            labels, codes = tuple(each["labels"]), np.array(each["cells"], dtype=np.int32)
            _require(codes.shape == sizes.shape and _within(codes, len(labels)))
            quasi.append(ReleasedQuasi(name, str(each["kind"]), bool(each["ranged"]), str(each["fingerprint"]), labels))
            cells.append(codes)
        secrets, histograms = [], {}
        for name, each in content["sensitive"].items():
            values, codes = tuple(each["values"]), np.array(each["codes"], dtype=np.int32)
            starts, counts = (np.array(each[key], dtype=np.int64) for key in ("starts", "counts"))
            histogram = Histogram(starts, codes, counts)
            _require(len(starts) == len(sizes) + 1 and _within(codes, len(values)))
            _require(len(codes) == len(counts) == int(starts[-1]))
            _require(bool((np.diff(starts) > 0).all()) and starts[0] == 0)
            _require(bool((histogram.per_class_sum(counts) == sizes).all()))
            secrets.append(ReleasedSecret(name, str(each["published"]), each["categories"], values))
            histograms[name] = histogram
        _require(bool(quasi) and len(sizes) > 0)
        return Signature(tuple(quasi), tuple(secrets), np.stack(cells), sizes, histograms)


def _described(column: ReleasedQuasi | ReleasedSecret) -> dict[str, Any]:
    """The fields of a column but for its name, as plain data."""
    fields = {key: value for key, value in vars(column).items() if key != "name"}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}


def _require(right: bool) -> None:
    if not right:
        raise ValueError("its classes do not fit together")


def _within(codes: NDArray[Any], count: int) -> bool:
    return not len(codes) or bool(codes.min() >= 0 and codes.max() < count)


def signature_of(policy: Policy, rows: Rows) -> Signature:
    """The signature of released records."""
    quasi = []
    for name, labels in zip(policy.names("quasi"), rows.labels, strict=True):
        fingerprint, ranged = hierarchy_fingerprint(policy, name), name in policy.algorithm.ranges
        quasi.append(ReleasedQuasi(name, hierarchy_kind(policy, name), ranged, fingerprint, tuple(labels)))
    secrets = [
        ReleasedSecret(name, policy.published(name), categories_fingerprint(policy, name), values)
        for name, (values, _) in rows.sensitive.items()
    ]
    stats = rows.stats(rows.owner, rows.cells.shape[1], {})
    return Signature(tuple(quasi), tuple(secrets), rows.cells.astype(np.int32), stats.sizes, stats.histograms)
