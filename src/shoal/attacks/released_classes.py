"""A release as an attacker reads it: its records, its classes, what they show and the secrets in them.

A release comes as a table of texts or, where it has just been made, as its recoding. Classes, labels and values are
numbered by their texts, so that both give the same classes. Rows of ``*`` that stand for suppressed records are left
out: they show nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.resolve import Resolved
from shoal.errors import DataError
from shoal.formatting import listing
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.problems import quoted
from shoal.io import encode, to_arrow
from shoal.models import Model, least_size
from shoal.policy import Policy
from shoal.table.classes import ClassStats, Histogram, Mask, SensitiveDomain
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import combine_codes
from shoal.table.recoding import Recoding
from shoal.verification.counted_rows import CountedRows
from shoal.verification.labels import labels_of
from shoal.verification.ranges import quasi_labels
from shoal.verification.read import read_release
from shoal.verification.release_checks import expected_columns, star_rows
from shoal.verification.stated_policy import stated

_LISTED = 6

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Column = tuple[tuple[Label, ...], Codes]
"""The values that occur in a column, sorted by text with the missing value last, and the index of each record's."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The released records, by class: what the classes show, and what each record has besides."""

    quasi: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    cells: Codes
    """``cells[j, c]``: index of the label of class ``c`` in column ``j``; classes in the order of their labels."""
    owner: Ints  # class of each row
    sensitive: Mapping[str, Column]
    insensitive: Mapping[str, Column]
    weights: Ints  # records that each row stands for
    unseen: tuple[str, ...] = ()
    """Insensitive columns that are released and not looked at, since they tell too many records apart."""


@dataclass(frozen=True, eq=False)
class Extras:
    """Insensitive columns, released as they are: each distinct combination within a class."""

    columns: tuple[str, ...]
    owner: Ints  # class of each combination
    codes: Codes
    """``codes[j, e]``: what combination ``e`` has in insensitive column ``j``."""
    stats: ClassStats  # sizes of the combinations, and the sensitive columns in each

    @property
    def sizes(self) -> Ints:
        """Records of each combination."""
        return self.stats.sizes


@dataclass(frozen=True, eq=False)
class Released:
    """A release: its classes, what they show and the secrets in them."""

    quasi: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]  # the labels that each quasi-identifier shows, sorted, the missing value last
    cells: Codes
    """``cells[j, c]``: place of the label that class ``c`` shows in column ``j``; no two classes show the same."""
    stats: ClassStats  # sizes of the classes, and the published sensitive columns as far as they occur
    models: tuple[Model, ...] = ()  # the models that the policy promises
    protected: Mapping[str, frozenset[Label] | None] = field(default_factory=dict)
    """For each sensitive column the values that its models speak of; None: all of them."""
    extras: Extras | None = None

    @property
    def sizes(self) -> Ints:
        """Records of each class."""
        return self.stats.sizes

    @cached_property
    def records(self) -> int:
        """Records released, suppressed ones not counted."""
        return int(self.stats.sizes.sum())

    @property
    def asked_k(self) -> int:
        """How many records the policy promises to hide each one among, 1 where it promises nothing."""
        return least_size(self.models)

    @property
    def k(self) -> int:
        """How many records must hide a person for the person not to be exposed: those promised, and two at least."""
        return max(2, self.asked_k)

    def labels_of(self, index: int) -> dict[str, Label]:
        """What a class shows, by quasi-identifier."""
        columns = zip(self.quasi, self.labels, self.cells[:, index].tolist(), strict=True)
        return {name: labels[code] for name, labels, code in columns}

    def is_protected(self, column: str) -> Mask:
        """For each value of a sensitive column whether the policy's models speak of it."""
        values, protected = self.stats.domains[column].values, self.protected.get(column)
        return np.array([protected is None or value in protected for value in values], dtype=np.bool_)


def rows_of_release(release: Any, policy: Policy) -> Rows:
    """The records of a release from a path or a table; `DataError` where a column is missing or nothing is released."""
    asked = stated(policy)
    given = read_release(release if isinstance(release, str | Path | pa.Table | CountedRows) else to_arrow(release)[0])
    expected = expected_columns(asked)
    lacking = [name for name in expected if name not in given.columns]
    if lacking:
        raise DataError(
            f"The release does not have {listing([quoted(each) for each in lacking])}, which the policy names; it has "
            f"{listing([quoted(each) for each in given.names])}. Use the policy that the release was made by.",
            code="release-columns",
        )
    cells = {name: given.columns[name] for name in expected}
    starred = star_rows(cells, asked, quasi_labels(asked), given.counts)
    if starred.any():
        cells = {name: column.filter(pa.array(~starred)) for name, column in cells.items()}
    if starred.all():
        raise DataError("The release has no records, so there is nothing to attack.", code="release-empty")
    quasi = {name: _coded(cells[name]) for name in policy.names("quasi")}
    columns = [codes for _, codes in quasi.values()]
    keys, _ = combine_codes(columns, [len(labels) for labels, _ in quasi.values()])
    _, first, owner = np.unique(keys, return_index=True, return_inverse=True)
    return Rows(
        quasi=tuple(quasi),
        labels=tuple(labels for labels, _ in quasi.values()),
        cells=np.array([codes[first] for codes in columns], dtype=np.int32),
        owner=owner.astype(np.int64),
        sensitive={name: _coded(cells[name]) for name in policy.names("sensitive")},
        insensitive={name: _coded(cells[name]) for name in policy.names("insensitive")},
        weights=given.counts[~starred],
    )


def rows_of_recoding(policy: Policy, table: DistinctRows, resolved: Resolved, recoding: Recoding) -> Rows:
    """The same records from the recoding that a release was written from, without reading it again."""
    shown = [_occurring(hierarchy.labels, recoding.nodes[:, j]) for j, hierarchy in enumerate(recoding.hierarchies)]
    cells = np.array([codes for _, codes in shown], dtype=np.int32)
    order = np.lexsort(cells[::-1])
    number = np.empty(recoding.n_classes, dtype=np.int64)
    number[order] = np.arange(recoding.n_classes)
    kept = np.flatnonzero(recoding.row_class >= 0)
    columns = {name: table.columns[name] for name in policy.names("insensitive") if name in table.columns}
    return Rows(
        quasi=recoding.quasi,
        labels=tuple(labels for labels, _ in shown),
        cells=cells[:, order],
        owner=number[recoding.row_class[kept]],
        sensitive={
            name: _occurring(secret.domain.values, secret.codes[kept]) for name, secret in resolved.sensitive.items()
        },
        insensitive={name: _occurring(column.labels, column.codes[kept]) for name, column in columns.items()},
        weights=np.ones(len(kept), dtype=np.int64) if recoding.weights is None else recoding.weights[kept],
        unseen=tuple(name for name in policy.names("insensitive") if name not in columns),
    )


def _coded(column: Any) -> Column:
    labels, codes = encode(column)
    return tuple(labels), codes


def _occurring(labels: Sequence[Label], codes: Codes) -> tuple[tuple[Label, ...], Codes]:
    """The labels that occur, sorted by text with the missing value last, and the codes by these."""
    present = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    ordered = sorted(present.tolist(), key=lambda place: by_text(labels[place]))
    rank = np.zeros(len(labels), dtype=np.int32)
    rank[ordered] = np.arange(len(ordered), dtype=np.int32)
    return tuple(labels[place] for place in ordered), rank[codes]


def by_text(label: Label) -> tuple[bool, str]:
    """The order of texts, the missing value last."""
    return label is None, label or ""


def released_scene(rows: Rows, policy: Policy) -> Released:
    """The release as classes."""
    domains = {name: _domain(name, values, policy) for name, (values, _) in rows.sensitive.items()}
    return Released(
        quasi=rows.quasi,
        labels=rows.labels,
        cells=rows.cells,
        stats=_stats(rows, rows.owner, rows.cells.shape[1], domains),
        models=policy.models(),
        protected={name: _protected(policy, name) for name in rows.sensitive},
        extras=_extras(rows, domains),
    )


def _stats(rows: Rows, owner: Ints, n_groups: int, domains: Mapping[str, SensitiveDomain]) -> ClassStats:
    """Sizes and sensitive values of the groups that the records are in."""
    sizes = np.bincount(owner, weights=rows.weights, minlength=n_groups).astype(np.int64)
    histograms = {
        name: _histogram(owner, codes, n_groups, len(values), rows.weights)
        for name, (values, codes) in rows.sensitive.items()
    }
    return ClassStats(sizes, histograms, domains)


def _histogram(owner: Ints, values: Codes, n_classes: int, width: int, weights: Ints) -> Histogram:
    """The histogram of the classes, counted in a table where that is no longer than the records, else sorted."""
    if n_classes * width > 4 * len(owner):
        return Histogram.of(owner, values, n_classes, width, weights)
    counts = np.bincount(owner * width + values, weights=weights, minlength=n_classes * width)
    keys = np.flatnonzero(counts)
    starts = np.searchsorted(keys, np.arange(n_classes + 1) * width)
    return Histogram(starts.astype(np.int64), (keys % width).astype(np.int32), counts[keys].astype(np.int64))


def _extras(rows: Rows, domains: Mapping[str, SensitiveDomain]) -> Extras | None:
    """The distinct combinations of class and insensitive columns; None without such columns."""
    if not rows.insensitive or rows.unseen:
        return None
    columns = [codes for _, codes in rows.insensitive.values()]
    parts = [rows.owner.astype(np.int32), *columns]
    widths = [rows.cells.shape[1], *(len(values) for values, _ in rows.insensitive.values())]
    _, first, owner = np.unique(combine_codes(parts, widths)[0], return_index=True, return_inverse=True)
    codes = np.array([column[first] for column in columns], dtype=np.int32)
    stats = _stats(rows, owner.astype(np.int64), len(first), domains)
    return Extras(tuple(rows.insensitive), rows.owner[first], codes, stats)


def _domain(name: str, values: tuple[Label, ...], policy: Policy) -> SensitiveDomain:
    """The released values of a sensitive column with their categories; `DataError` for one that has none."""
    declared = policy.columns[name].category_values
    if not declared:
        return SensitiveDomain(name, values)
    category_of = {
        value: place for place, group in enumerate(declared.values()) for value in as_written(policy, name, group)
    }
    if policy.published(name) == "categories":
        category_of = {category: place for place, category in enumerate(declared)}
    strays = [quoted(value) for value in values if value not in category_of]
    if strays:
        raise DataError(
            f"The release has values of {name!r} in no category: {listing(strays, _LISTED)}. Use the policy that the "
            "release was made by.",
            code="release-categories",
        )
    places = np.array([category_of[value] for value in values], dtype=np.int32)
    return SensitiveDomain(name, values, categories=tuple(declared), category_of=places)


def as_written(policy: Policy, name: str, values: Sequence[Label]) -> list[Label]:
    """Sensitive values as a release writes them: a hierarchy writes them in its own way ("039" is its leaf "39")."""
    if policy.columns[name].hierarchy is None:
        return list(values)
    chains = labels_of(stated(policy), name).chains(values)
    return [chain[0] if chain else value for value, chain in zip(values, chains, strict=True)]


def _protected(policy: Policy, name: str) -> frozenset[Label] | None:
    """The values that the models on a column speak of; None where they speak of all, or there are none."""
    models = [model for model in policy.models() if model.column == name]
    listed: set[Label] = set()
    for model in models:
        protected = model.protected_values()
        if protected is None:
            return None
        listed |= protected
    return frozenset(listed) if models else None
