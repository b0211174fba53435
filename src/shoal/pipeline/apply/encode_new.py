"""New records in codes, as far as the policy can read them.

A record with a value that a hierarchy does not have, or that is in no category, cannot be recoded: it is noted with its
column and left aside. Everything else is encoded as for a release of its own, except that a sensitive column has the
values published before in its domain, too, and that a boundary may name groups which the new records do not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.released_classes import as_written
from shoal.encode.resolve import QuasiColumn, Resolved, encode_rows, problem_of
from shoal.encode.sensitive import SensitiveColumn, Values, encode_sensitive
from shoal.errors import DataError, PolicyError
from shoal.hierarchies import BuiltHierarchy, Hierarchy, HierarchyError, HierarchySource, boundary_caps
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.labels import range_ends
from shoal.pipeline.apply.published import Base
from shoal.policy import Policy
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import ColumnSpec
from shoal.table.distinct_rows import DistinctRows

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
NOT_IN_HIERARCHY, NOT_IN_CATEGORY = "not in the hierarchy", "in no category"


@dataclass(frozen=True)
class Unreadable:
    """Why some records cannot be recoded."""

    column: str
    what: str
    """`NOT_IN_HIERARCHY` or `NOT_IN_CATEGORY`."""
    values: int  # how many different values that is


@dataclass(frozen=True, eq=False)
class NewRecords:
    """The new records, in the order of their content."""

    resolved: Resolved  # codes of the distinct rows; those of unreadable values mean nothing
    entry: NDArray[np.int64]  # the distinct row of each record
    unreadable: tuple[Unreadable, ...]
    reason: Codes
    """For each record the first reason why it cannot be recoded, as an index of ``unreadable``; -1 where none."""

    @cached_property
    def records(self) -> Resolved:
        """Codes of every record."""
        return self.resolved.take(self.entry, None)


def encode_new(rows: DistinctRows, base: Base) -> NewRecords:
    """Encode new records. Raises `DataError` when there is none."""
    if not rows.n_rows:
        raise DataError("the data has a header and no records: there is nothing to recode.", code="no-records")
    encoder, policy = _Encoder(base, rows), base.policy
    quasi = {name: encoder.quasi(name) for name in policy.names("quasi")}
    sensitive = {name: encoder.sensitive(name) for name in policy.names("sensitive")}
    resolved = Resolved(problem_of(policy, encode_rows(rows, quasi, sensitive), quasi, sensitive), quasi, sensitive)
    entry = np.repeat(np.arange(rows.n_rows), rows.counts)
    return NewRecords(resolved, entry, tuple(encoder.unreadable), encoder.reason[entry])


class _Encoder:
    """Encodes column after column, and notes what it cannot read."""

    def __init__(self, base: Base, rows: DistinctRows) -> None:
        self._base, self._policy, self._rows = base, base.policy, rows
        self.unreadable: list[Unreadable] = []
        self.reason: Codes = np.full(rows.n_rows, -1, dtype=np.int32)

    def _note(self, column: str, what: str, labels: Sequence[Label], strange: set[Label], codes: Codes) -> None:
        if not strange:
            return
        rows = np.array([label in strange for label in labels], dtype=np.bool_)[codes] & (self.reason < 0)
        self.reason[rows] = len(self.unreadable)
        self.unreadable.append(Unreadable(column, what, len(strange)))

    def quasi(self, name: str) -> QuasiColumn:
        """A quasi-identifier; the ends of published ranges are leaves, too, whether a new record has them or not."""
        spec, where = self._policy.columns[name], f"columns.{name}.hierarchy"
        labels, codes = self._rows.columns[name].labels, self._rows.columns[name].codes
        source = hierarchy_source(spec.hierarchy, self._policy.path("."), where)
        ends = list(self._range_ends(name))
        built, good = _built(source, [*labels, *(end for end in ends if end not in labels)], where, self._policy)
        self._note(name, NOT_IN_HIERARCHY, labels, set(labels) - set(good), codes)
        leaf = dict(zip(good, built.codes.tolist(), strict=False))
        of_label = np.array([leaf.get(label, 0) for label in labels], dtype=np.int32)
        return QuasiColumn(built.hierarchy, of_label[codes], _caps(built.hierarchy, spec, f"columns.{name}.boundary"))

    def _range_ends(self, name: str) -> Iterator[str]:
        if name not in self._policy.algorithm.ranges:
            return
        for label in self._base.rows.labels[self._policy.names("quasi").index(name)]:
            yield from range_ends(label) or ()

    def sensitive(self, name: str) -> SensitiveColumn:
        """A sensitive column, with the values published before in its domain."""
        spec, publish = self._policy.columns[name], self._policy.published(name)
        labels, codes = self._rows.columns[name].labels, self._rows.columns[name].codes
        declared = {value for group in spec.category_values.values() for value in group}
        strange = {label for label in labels if label not in declared} if declared else set()
        self._note(name, NOT_IN_CATEGORY, labels, strange, codes)
        read: dict[Label, Label] = {label: label for label in labels if label not in strange}
        if spec.hierarchy is not None:
            where = f"columns.{name}.hierarchy"
            source = hierarchy_source(spec.hierarchy, self._policy.path("."), where)
            built, good = _built(source, list(read), where, self._policy)
            self._note(name, NOT_IN_HIERARCHY, labels, set(read) - set(good), codes)
            leaves = built.hierarchy.labels
            read = {value: leaves[code] for value, code in zip(good, built.codes.tolist(), strict=False)}
        shown: Mapping[Label, Label] = read
        if publish == "categories":
            shown = {label: label for label in read}
            texts = list(read) or [next(value for group in spec.category_values.values() for value in group)]
        else:
            known = {*read.values(), *self._base.rows.sensitive[name][0], *self._limited(name)}
            texts = sorted(known, key=lambda text: (text is None, text or ""))
            spec = _as_released(self._policy, name, spec, texts)
        place = {text: number for number, text in enumerate(texts)}
        of_label = np.array([place[shown[label]] if label in shown else 0 for label in labels], dtype=np.int32)
        coded = of_label[codes]
        counts = np.bincount(coded, weights=self._rows.counts, minlength=len(texts)).astype(np.int64)
        values = Values(tuple(texts), coded, counts)
        column, problems = encode_sensitive(name, spec, values, publish, self._policy.path("."))
        if column is None or problems:
            raise PolicyError(problems, self._policy.source)
        return column

    def _limited(self, name: str) -> Iterator[Label]:
        """The values that a model names: it asks for them whether they occur or not."""
        for model in self._policy.models():
            if model.column == name:
                yield from as_written(self._policy, name, list(model.named_values()))


def _built(
    source: HierarchySource, values: Sequence[Label], where: str, policy: Policy
) -> tuple[BuiltHierarchy, list[Label]]:
    """The hierarchy of those values that it can have, and these values; `PolicyError` where it is wrong itself.

    Where none is left it is built for the missing value alone, which is then not among the values given back.
    """
    good = list(values)
    while True:
        try:
            return source.build(good or [None], [1] * max(len(good), 1), where), good
        except HierarchyError as error:
            strange = {value for problem in error.problems for value in problem.facts.get("values", ())}
            if not strange & set(good):
                raise PolicyError(error.problems, policy.source) from None
            good = [value for value in good if value not in strange]


def _caps(hierarchy: Hierarchy, spec: ColumnSpec, where: str) -> Codes:
    """The boundary of each leaf. Groups and levels that the new records are too few to have bound nothing."""
    boundary = spec.boundary_labels
    if isinstance(boundary, int):
        boundary = min(boundary, hierarchy.height)
    elif boundary is not None:
        boundary = [label for label in boundary if label in hierarchy.by_label]
    return boundary_caps(hierarchy, boundary or (boundary if boundary == 0 else None), where)


def _as_released(policy: Policy, name: str, spec: ColumnSpec, texts: Sequence[Label]) -> ColumnSpec:
    """The column over values as a release writes them: dates are ISO there, whatever the data has."""
    if spec.hierarchy is None:
        return spec
    hierarchy, categories = spec.hierarchy, spec.category_values
    if hierarchy.dates is not None:
        lengths = {len(text) for text in texts if text is not None}
        form = {7: "%Y-%m", 4: "%Y"}.get(max(lengths, default=0))
        hierarchy = hierarchy.model_copy(update={"dates": hierarchy.dates.model_copy(update={"format": form})})
    written = {category: as_written(policy, name, values) for category, values in categories.items()}
    return spec.model_copy(update={"hierarchy": hierarchy, "categories": written or None})
