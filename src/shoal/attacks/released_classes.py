"""A release as an attacker reads it: its records, its classes, what they show and the secrets in them.

A release comes as a table of texts or, where it has just been made, as its recoding. Classes, labels and values are
numbered by their texts, so that both give the same classes. Rows of ``*`` that stand for suppressed records are left
out: they show nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.resolve import Resolved
from shoal.errors import DataError
from shoal.formatting import listing
from shoal.hierarchies.bins import bin_labels
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.numbers_as_text import read_number
from shoal.hierarchies.problems import quoted
from shoal.io import encode, to_arrow
from shoal.models import Model, least_size
from shoal.policy import Policy
from shoal.table.classes import ClassStats, Histogram, SensitiveDomain
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import combine_codes
from shoal.table.linked import link_records
from shoal.table.people import PeopleRows, class_people
from shoal.table.recoding import Recoding
from shoal.verification.counted_rows import CountedRows
from shoal.verification.declared_labels import labels_of, quasi_labels
from shoal.verification.read import read_release
from shoal.verification.release_checks import expected_columns
from shoal.verification.star_readings import Stars
from shoal.verification.stated_policy import stated

LISTED = 6  # values that a message lists
Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Column = tuple[tuple[Label, ...], Codes]  # the values that occur, sorted by text, None last; the index of each record's


@dataclass(frozen=True, eq=False)
class Rows:
    """The released records, by class: what the classes show, and what each record has besides."""

    quasi: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]  # those that each quasi-identifier shows, sorted, the missing value last
    cells: Codes  # ``cells[j, c]``: index of the label of class ``c`` in column ``j``; classes ascend by their labels
    owner: Ints  # class of each row
    sensitive: Mapping[str, Column]
    insensitive: Mapping[str, Column]
    weights: Ints  # records that each row stands for
    person: Codes | None = None  # who each row is about; None where nobody said, as in a file without pseudonyms
    unseen: tuple[str, ...] = ()  # insensitive columns not looked at, since they tell too many records apart

    def people(self, owner: Ints) -> PeopleRows | None:
        """The people of groups, by the group of each row; None where it is not known who a row is about."""
        if self.person is None:
            return None
        values = {name: codes for name, (_, codes) in self.sensitive.items()}
        return PeopleRows(owner, self.person, values, self.weights)

    def stats(self, owner: Ints, n_groups: int, domains: Mapping[str, SensitiveDomain]) -> ClassStats:
        """Sizes and sensitive values of groups, by the group of each row."""
        sizes = np.bincount(owner, weights=self.weights, minlength=n_groups).astype(np.int64)
        histograms = {
            name: Histogram.of(owner, codes, n_groups, len(values), self.weights)
            for name, (values, codes) in self.sensitive.items()
        }
        return ClassStats(sizes, histograms, domains)


@dataclass(frozen=True, eq=False)
class Released:
    """A release: its classes, what they show (as in `Rows`) and the secrets in them."""

    quasi: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    cells: Codes
    stats: ClassStats  # sizes of the classes, and the published sensitive columns as far as they occur
    models: tuple[Model, ...]  # the models that the policy promises
    people: PeopleRows | None = None  # who is in the classes; None where it is not known, or every record is somebody's

    @property
    def sizes(self) -> Ints:
        """Records of each class."""
        return self.stats.sizes

    @cached_property
    def records(self) -> int:
        """Records released, suppressed ones not counted."""
        return int(self.stats.sizes.sum())

    def known(self, column: str) -> int:
        """Records released whose value of a sensitive column is known: those that an attack on it is about."""
        return int(self.stats.view(column).known.sum())

    @cached_property
    def class_people(self) -> Ints:
        """People of each class: its records, where it is not known that some are the same person's."""
        if self.people is None:
            return self.sizes
        return class_people(self.people.owner, self.people.person, len(self.sizes))

    @property
    def k(self) -> int:
        """How many records, or people where the models count these, must hide a person for the person not to be
        exposed: those promised, and two at least."""
        return max(2, least_size(self.models))

    def labels_of(self, index: int) -> dict[str, Label]:
        """What a class shows, by quasi-identifier."""
        shown = self.cells[:, index].tolist()
        return {name: labels[code] for name, labels, code in zip(self.quasi, self.labels, shown, strict=True)}


def rows_of_release(release: Any, policy: Policy, *, suppressed: int | None = None) -> Rows:
    """The records of a release from a path or a table; `DataError` where a column is missing or nothing is released.

    ``suppressed`` is how many rows of ``*`` stand for suppressed records, as the verifier found; without it they are
    read as the verifier tries first.
    """
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
    stars = Stars.of(cells, asked, quasi_labels(asked), given.counts)
    counts = stars.left(given.counts, stars.usual if suppressed is None else suppressed)
    shown = counts > 0
    if not shown.all():
        cells, counts = {name: column.filter(pa.array(shown)) for name, column in cells.items()}, counts[shown]
    if not len(counts):
        raise DataError("The release has no records, so there is nothing to attack.", code="release-empty")
    quasi = {name: _coded(cells[name]) for name in policy.names("quasi")}
    columns = [codes for _, codes in quasi.values()]
    keys, _ = combine_codes(columns, [len(labels) for labels, _ in quasi.values()])
    _, first, owner = np.unique(keys, return_index=True, return_inverse=True)
    rows = Rows(
        quasi=tuple(quasi),
        labels=tuple(labels for labels, _ in quasi.values()),
        cells=np.array([codes[first] for codes in columns], dtype=np.int32),
        owner=owner.astype(np.int64),
        sensitive={name: _coded(cells[name]) for name in policy.names("sensitive")},
        insensitive={name: _coded(cells[name]) for name in policy.names("insensitive")},
        weights=counts,
    )
    if policy.pseudonym is None:
        return rows
    person = _coded(cells[policy.pseudonym])[1]
    return _linked(replace(rows, person=person), person)


def rows_of_recoding(policy: Policy, table: DistinctRows, resolved: Resolved, recoding: Recoding) -> Rows:
    """The same records from the recoding that a release was written from, without reading it again."""
    shown = [_occurring(hierarchy.labels, recoding.nodes[:, j]) for j, hierarchy in enumerate(recoding.hierarchies)]
    cells = np.array([codes for _, codes in shown], dtype=np.int32)
    order = np.lexsort(cells[::-1])
    number = np.empty(recoding.n_classes, dtype=np.int64)
    number[order] = np.arange(recoding.n_classes)
    kept = np.flatnonzero(recoding.row_class >= 0)
    columns = {name: table.columns[name] for name in policy.names("insensitive") if name in table.columns}
    rows = Rows(
        quasi=recoding.quasi,
        labels=tuple(labels for labels, _ in shown),
        cells=cells[:, order],
        owner=number[recoding.row_class[kept]],
        sensitive={
            name: _occurring(secret.domain.values, secret.codes[kept]) for name, secret in resolved.sensitive.items()
        },
        insensitive={name: _occurring(column.labels, column.codes[kept]) for name, column in columns.items()},
        weights=np.ones(len(kept), dtype=np.int64) if recoding.weights is None else recoding.weights[kept],
        person=None if resolved.problem.table.person is None else resolved.problem.table.person[kept],
        unseen=tuple(name for name in policy.names("insensitive") if name not in columns),
    )
    person = resolved.problem.table.person
    return rows if policy.pseudonym is None or person is None else _linked(rows, person[kept])


def _linked(rows: Rows, person: Codes) -> Rows:
    """The records by classes within linked classes, in an order that depends on what these hold alone."""
    keys, _ = combine_codes(list(rows.cells), [len(labels) for labels in rows.labels])
    _, some, same = np.unique(keys, return_index=True, return_inverse=True)  # classes that show the same
    owner, first, _ = link_records(person.astype(np.int64), same[rows.owner].astype(np.int64), rows.weights)
    return replace(rows, cells=rows.cells[:, some[same[rows.owner[first]]]], owner=owner)


def _coded(column: Any) -> Column:
    labels, codes = encode(column)
    return tuple(labels), codes


def _occurring(labels: Sequence[Label], codes: Codes) -> tuple[tuple[Label, ...], Codes]:
    """The labels that occur, sorted by text with the missing value last, and the codes by these."""
    present = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    ordered = sorted(present.tolist(), key=lambda code: by_text(labels[code]))
    rank = np.zeros(len(labels), dtype=np.int32)
    rank[ordered] = np.arange(len(ordered), dtype=np.int32)
    return tuple(labels[code] for code in ordered), rank[codes]


def by_text(label: Label) -> tuple[bool, str]:
    """The order of texts, the missing value last."""
    return label is None, label or ""


def released_scene(rows: Rows, policy: Policy) -> Released:
    """The release as classes."""
    domains = {name: sensitive_domain(name, values, policy) for name, (values, _) in rows.sensitive.items()}
    stats = rows.stats(rows.owner, rows.cells.shape[1], domains)
    return Released(rows.quasi, rows.labels, rows.cells, stats, policy.models(), rows.people(rows.owner))


def released_by(rows: Rows, released: Released, names: Sequence[str]) -> Released:
    """The same release with some insensitive columns, which come last, taken for quasi-identifiers."""
    labels, columns = zip(*(rows.insensitive[name] for name in names), strict=True)
    widths = [rows.cells.shape[1], *map(len, labels)]
    keys, _ = combine_codes([rows.owner.astype(np.int32), *columns], widths)
    _, first, owner = np.unique(keys, return_index=True, return_inverse=True)
    cells = np.vstack([rows.cells[:, rows.owner[first]], *(column[first] for column in columns)])
    stats = rows.stats(owner.astype(np.int64), len(first), released.stats.domains)
    people = rows.people(owner.astype(np.int64))
    return Released((*rows.quasi, *names), (*rows.labels, *labels), cells, stats, released.models, people)


def histograms_in(rows: Rows, domains: Mapping[str, SensitiveDomain], n_classes: int) -> dict[str, Histogram]:
    """The histograms of the classes over domains that have more values than are released."""
    found = {}
    for name, domain in domains.items():
        code_of = {value: code for code, value in enumerate(domain.values)}
        values, codes = rows.sensitive[name]
        number = np.array([code_of[value] for value in values], dtype=np.int32)
        found[name] = Histogram.of(rows.owner, number[codes], n_classes, len(code_of), rows.weights)
    return found


def sensitive_domain(name: str, values: tuple[Label, ...], policy: Policy) -> SensitiveDomain:
    """The released values of a sensitive column with their categories; `DataError` for one that has none."""
    declared, unknown = policy.columns[name].category_values, policy.columns[name].unknown_values & set(values)
    if not declared:
        return SensitiveDomain(name, values, unknown=unknown)
    category_of = {
        value: code for code, group in enumerate(declared.values()) for value in as_written(policy, name, group)
    }
    if policy.published(name) == "categories":
        category_of = {category: code for code, category in enumerate(declared)}
    category_of |= dict.fromkeys(unknown, -1)
    strays = [quoted(value) for value in values if value not in category_of]
    if strays:
        raise DataError(
            f"The release has values of {name!r} in no category: {listing(strays, LISTED)}. Use the policy that the "
            "release was made by.",
            code="release-categories",
        )
    codes = np.array([category_of[value] for value in values], dtype=np.int32)
    return SensitiveDomain(name, values, categories=tuple(declared), category_of=codes, unknown=unknown)


def as_written(policy: Policy, name: str, values: Sequence[Label]) -> list[Label]:
    """Sensitive values as a release writes them: in bins, or as a hierarchy writes them ("039" is its leaf "39")."""
    bins, unknown = policy.columns[name].bins, policy.columns[name].unknown_values
    if bins is not None:
        found = [
            value for value in values if value not in unknown and (value is None or read_number(value) is not None)
        ]
        shown = dict(zip(found, bin_labels(bins, found, [1] * len(found), f"columns.{name}.bins"), strict=True))
        return [shown.get(value, value) for value in values]
    if policy.columns[name].hierarchy is None:
        return list(values)
    chains = labels_of(stated(policy), name).chains(values)
    return [chain[0] if chain else value for value, chain in zip(values, chains, strict=True)]
