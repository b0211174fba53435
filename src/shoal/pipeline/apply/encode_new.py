"""New records in codes, as far as the policy can read them.

A record with a value that a hierarchy does not have, or that is in no category, cannot be recoded: it is noted with its
column and left aside. Everything else is encoded as for a release of its own, except that a sensitive column has the
values published before in its domain, too, and that a boundary may name groups which the new records do not have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.released_classes import as_written, by_text
from shoal.encode.resolve import QuasiColumn, Resolved
from shoal.encode.sensitive import SensitiveColumn, Values, encode_sensitive, in_bins, with_unknown
from shoal.encode.spellings import Spellings
from shoal.errors import DataError, PolicyError
from shoal.hierarchies import Hierarchy, HierarchyError, boundary_caps
from shoal.hierarchies.hierarchy import Label
from shoal.hierarchies.leaf_order import in_listed_order
from shoal.hierarchies.numbers_as_text import parse_decimal, range_ends
from shoal.pipeline.apply.published import Base
from shoal.policy import Policy
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.policy.spec import ColumnSpec
from shoal.table.distinct_rows import DistinctRows

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class NewRecords:
    """The new records, in the order of their content."""

    resolved: Resolved  # codes of the distinct rows; those of unreadable values mean nothing
    entry: NDArray[np.int64]  # the distinct row of each record
    unreadable: tuple[Mapping[str, Any], ...]
    """Why records cannot be recoded: the ``column``, ``what`` is wrong with how many different ``values``."""
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
    resolved = Resolved.of(policy, rows, quasi, sensitive)
    entry = np.repeat(np.arange(rows.n_rows), rows.counts)
    return NewRecords(resolved, entry, tuple(encoder.unreadable), encoder.reason[entry])


class _Encoder:
    """Encodes column after column, and notes what it cannot read."""

    def __init__(self, base: Base, rows: DistinctRows) -> None:
        self._base, self._policy, self._rows = base, base.policy, rows
        self.unreadable: list[Mapping[str, Any]] = []
        self.reason: Codes = np.full(rows.n_rows, -1, dtype=np.int32)

    def quasi(self, name: str) -> QuasiColumn:
        """A quasi-identifier; the ends of published ranges are leaves, too, whether a new record has them or not."""
        column, spec = self._rows.columns[name], self._policy.columns[name]
        ends: list[str] = []
        if name in self._policy.algorithm.ranges and self._policy.range_form(name) is None:
            published = self._base.rows.labels[self._policy.names("quasi").index(name)]
            ends = [end for label in published for end in range_ends(label) or () if end not in column.labels]
        hierarchy, leaf = self._hierarchy(name, [*column.labels, *ends])
        of_label = np.array([leaf.get(label, 0) for label in column.labels], dtype=np.int32)
        boundary = spec.boundary  # groups and levels that the new records are too few to have bound nothing
        if isinstance(boundary, int):
            boundary = min(boundary, hierarchy.height)
        elif boundary is not None:
            boundary = [label for label in boundary if label in hierarchy.by_label] or None
        caps = boundary_caps(hierarchy, boundary, f"columns.{name}.boundary")
        return QuasiColumn(hierarchy, of_label, column.codes, caps)

    def sensitive(self, name: str) -> SensitiveColumn:
        """A sensitive column, with the values published before in its domain, and those that a model names."""
        policy, spec, publish = self._policy, self._policy.columns[name], self._policy.published(name)
        column = self._rows.columns[name]
        self._check_spellings(name, publish)
        if spec.bins is not None:
            return self._in_bins(name)
        declared = dict.fromkeys(value for group in spec.category_values.values() for value in group)
        unknown = [label for label in column.labels if label in spec.unknown_values]
        good = [label for label in column.labels if label not in unknown and (not declared or label in declared)]
        self._note(name, "in no category", set(column.labels) - {*good, *unknown})
        shown: dict[Label, Label] = {label: label for label in good}
        if spec.hierarchy is not None:
            hierarchy, leaf = self._hierarchy(name, good)
            shown = {label: hierarchy.labels[code] for label, code in leaf.items()}
        shown |= {label: label for label in unknown}
        if publish == "categories":
            before = [label for label in self._base.rows.sensitive[name][0] if label in spec.unknown_values]
            shown = {label: label for label in shown}
            texts = list(dict.fromkeys([*(shown or list(declared)[:1]), *before]))
        else:
            named = [value for model in policy.models() if model.column == name for value in model.named_values()]
            known = {*shown.values(), *self._base.rows.sensitive[name][0], *as_written(policy, name, named)}
            texts = sorted(known, key=by_text)
            spec = _as_released(policy, name, spec, texts)
        code_of = {text: number for number, text in enumerate(texts)}
        of_label = np.array([code_of[shown[label]] if label in shown else 0 for label in column.labels], dtype=np.int32)
        codes = of_label[column.codes]
        counts = np.bincount(codes, weights=self._rows.counts, minlength=len(texts)).astype(np.int64)
        found, problems = encode_sensitive(name, spec, Values(tuple(texts), codes, counts), publish, policy.path("."))
        if found is None or problems:
            raise PolicyError(problems, policy.source)
        return found

    def _check_spellings(self, name: str, publish: str) -> None:
        """Raise `PolicyError` where new values are spelled like others, among them or in what is published."""
        column = self._rows.columns[name]
        counts = np.bincount(column.codes, weights=self._rows.counts, minlength=len(column.labels)).astype(np.int64)
        published = () if publish in {"categories", "bins"} else self._base.rows.sensitive[name][0]
        values = dict.fromkeys(published, 0) | dict(zip(column.labels, counts.tolist(), strict=True))
        problems = Spellings.of(name, self._policy.columns[name], values.items(), published).problems()
        if problems:
            raise PolicyError(problems, self._policy.source)

    def _in_bins(self, name: str) -> SensitiveColumn:
        """A column of numbers in bins; those that were published before are in its domain, and those a model names."""
        column, policy = self._rows.columns[name], self._policy
        unknown = policy.columns[name].unknown_values
        good = [
            label
            for label in column.labels
            if label not in unknown and (label is None or parse_decimal(label) is not None)
        ]
        self._note(name, "not a number", set(column.labels) - {*good, *unknown})
        shown = dict(zip(good, as_written(policy, name, good), strict=True))
        named = [value for model in policy.models() if model.column == name for value in model.named_values()]
        before = [value for value in self._base.rows.sensitive[name][0] if value not in unknown]
        domain, _ = in_bins(name, list(shown.values()), (*before, *named))
        there = {*column.labels, *self._base.rows.sensitive[name][0]}
        domain = with_unknown(domain, [label for label in there if label in unknown])
        code_of = {value: code for code, value in enumerate(domain.values)}
        of_label = [code_of.get(shown.get(label, label), 0) for label in column.labels]
        return SensitiveColumn(domain, np.array(of_label, dtype=np.int32)[column.codes])

    def _hierarchy(self, name: str, values: Sequence[Label]) -> tuple[Hierarchy, dict[Label, int]]:
        """The hierarchy of those values that it can have, and their leaves; `PolicyError` where it is wrong itself.

        Where none is left it is built for the missing value alone.
        """
        where, good, orders = f"columns.{name}.hierarchy", list(values), self._policy.listed_orders
        source = hierarchy_source(self._policy.columns[name].hierarchy, self._policy.path("."), where)
        while True:
            try:
                values_or_none = good or [None]
                counts = [1] * len(values_or_none)
                built = source.build(values_or_none, counts, where)
                if name in orders:
                    built = in_listed_order(built, orders[name], values_or_none, counts, where)
                break
            except HierarchyError as error:
                strange = {value for problem in error.problems for value in problem.facts.get("values", ())}
                if not strange & set(good):
                    raise PolicyError(error.problems, self._policy.source) from None
                good = [value for value in good if value not in strange]
        self._note(name, "not in the hierarchy", set(values) - set(good))
        return built.hierarchy, dict(zip(good, built.codes.tolist(), strict=False))

    def _note(self, name: str, what: str, strange: set[Label]) -> None:
        column = self._rows.columns[name]
        unreadable = np.array([label in strange for label in column.labels], dtype=np.bool_)
        if unreadable.any():
            self.reason[unreadable[column.codes] & (self.reason < 0)] = len(self.unreadable)
            self.unreadable.append({"column": name, "what": what, "values": int(unreadable.sum())})


def _as_released(policy: Policy, name: str, spec: ColumnSpec, texts: Sequence[Label]) -> ColumnSpec:
    """The column over values as a release writes them: dates are ISO there, whatever the data has."""
    if spec.hierarchy is None:
        return spec
    hierarchy, categories = spec.hierarchy, spec.category_values
    if hierarchy.dates is not None:
        lengths = {len(text) for text in texts if text is not None and text not in spec.unknown_values}
        form = {7: "%Y-%m", 4: "%Y"}.get(max(lengths, default=0))
        hierarchy = hierarchy.model_copy(update={"dates": hierarchy.dates.model_copy(update={"format": form})})
    written = {category: as_written(policy, name, values) for category, values in categories.items()}
    return spec.model_copy(update={"hierarchy": hierarchy, "categories": written or None})
