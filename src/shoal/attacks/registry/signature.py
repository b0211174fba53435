"""The signature of a release: its classes as it shows them.

For each class the released labels of the quasi-identifiers, how many records it has, and how often each published
sensitive value occurs in it. Labels and values are kept once and cells as indices into them, sorted by text, so that
the same release always has the same signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.registry.fingerprint import categories_fingerprint, hierarchy_fingerprint, hierarchy_kind
from shoal.attacks.released_classes import Rows
from shoal.hierarchies.hierarchy import Label
from shoal.policy import Policy
from shoal.table.classes import Histogram

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ReleasedQuasi:
    """A quasi-identifier as released: its labels, and how they are to be read."""

    name: str
    kind: str
    """The kind of its hierarchy: ``intervals``, ``tree``, …"""
    ranged: bool
    """Whether it is released as ranges ``22<=30``."""
    fingerprint: str
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class ReleasedSecret:
    """A sensitive column as released."""

    name: str
    published: str
    """``values``, ``categories`` or ``both``."""
    categories: str | None
    """Fingerprint of its categories; None where it declares none."""
    values: tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class Signature:
    """The classes of a release."""

    quasi: tuple[ReleasedQuasi, ...]
    secrets: tuple[ReleasedSecret, ...]
    cells: Codes
    """``cells[j, c]``: index of the label that class ``c`` shows in quasi-identifier ``j``."""
    sizes: Ints
    histograms: Mapping[str, Histogram]

    def secret(self, name: str) -> ReleasedSecret | None:
        """A sensitive column; None where the release has none of that name."""
        return next((each for each in self.secrets if each.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """The signature as plain data, as an entry of a registry keeps it."""
        quasi = {
            each.name: {
                "kind": each.kind,
                "ranged": each.ranged,
                "fingerprint": each.fingerprint,
                "labels": list(each.labels),
                "cells": self.cells[index].tolist(),
            }
            for index, each in enumerate(self.quasi)
        }
        secrets = {
            each.name: {
                "published": each.published,
                "categories": each.categories,
                "values": list(each.values),
                "starts": self.histograms[each.name].starts.tolist(),
                "codes": self.histograms[each.name].values.tolist(),
                "counts": self.histograms[each.name].counts.tolist(),
            }
            for each in self.secrets
        }
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
            values = tuple(each["values"])
            histogram = Histogram(
                np.array(each["starts"], dtype=np.int64),
                np.array(each["codes"], dtype=np.int32),
                np.array(each["counts"], dtype=np.int64),
            )
            _require(len(histogram.starts) == len(sizes) + 1 and _within(histogram.values, len(values)))
            _require(len(histogram.values) == len(histogram.counts) == int(histogram.starts[-1]))
            _require(bool((np.diff(histogram.starts) > 0).all()) and histogram.starts[0] == 0)
            _require(bool((histogram.per_class_sum(histogram.counts) == sizes).all()))
            secrets.append(ReleasedSecret(name, str(each["published"]), each["categories"], values))
            histograms[name] = histogram
        _require(bool(quasi) and len(sizes) > 0)
        return Signature(tuple(quasi), tuple(secrets), np.stack(cells), sizes, histograms)


def _require(right: bool) -> None:
    if not right:
        raise ValueError("its classes do not fit together")


def _within(codes: NDArray[Any], count: int) -> bool:
    return not len(codes) or bool(codes.min() >= 0 and codes.max() < count)


def signature_of(policy: Policy, rows: Rows) -> Signature:
    """The signature of released records."""
    quasi = [
        ReleasedQuasi(
            name=name,
            kind=hierarchy_kind(policy, name),
            ranged=name in policy.algorithm.ranges,
            fingerprint=hierarchy_fingerprint(policy, name),
            labels=tuple(labels),
        )
        for name, labels in zip(policy.names("quasi"), rows.labels, strict=True)
    ]
    n_classes = rows.cells.shape[1]
    return Signature(
        quasi=tuple(quasi),
        secrets=tuple(
            ReleasedSecret(name, policy.published(name), categories_fingerprint(policy, name), values)
            for name, (values, _) in rows.sensitive.items()
        ),
        cells=rows.cells.astype(np.int32),
        sizes=np.bincount(rows.owner, weights=rows.weights, minlength=n_classes).astype(np.int64),
        histograms={
            name: Histogram.of(rows.owner, codes, n_classes, len(values), rows.weights)
            for name, (values, codes) in rows.sensitive.items()
        },
    )
