"""A recoding as a function of single batches: what each record becomes, wherever it lies.

A recoder holds the values that were counted, the distinct tuples and their classes, and nothing of any record. It can
be pickled and sent to where the records are. Recodings that divide records with equal quasi-identifiers cannot be
applied this way: only counts say how many of them go where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.result import Result, release_columns, splits_duplicates
from shoal.errors import DataError, InputError
from shoal.formatting import pluralize
from shoal.hierarchies.hierarchy import ROOT_LABEL
from shoal.table.canonical_text import texts_and_codes
from shoal.table.distinct_rows import DistinctRows

Codes = NDArray[np.int32]
_KEY_LIMIT = 2**62


@dataclass(frozen=True, eq=False)
class Recoder:
    """What each record becomes by its values."""

    columns: tuple[str, ...]  # the columns that are released, in the order of the data
    quasi: Mapping[str, _Known]  # for each quasi-identifier the leaf of each value
    index: _Tuples
    tuple_class: Codes  # class of each distinct tuple, or -1 where it is suppressed
    labels: Mapping[str, tuple[pa.Array, Codes]]
    """For each quasi-identifier its labels, and the one that each class shows."""
    sensitive: Mapping[str, Mapping[str, tuple[_Known, pa.Array]]]
    """For each sensitive column the columns that are published in other words: what each value becomes."""

    @staticmethod
    def of(result: Result, columns: Sequence[str] | None = None) -> Recoder:
        """The recoder of a recoding that keeps records with equal quasi-identifiers together; `InputError` for others.

        ``columns`` are those of the data, where some are not among the distinct rows.
        """
        policy = result.search_policy
        if splits_duplicates(policy):
            raise InputError(
                f"{policy.algorithm.name} may put records with equal quasi-identifiers into different classes, so a "
                "batch by itself does not tell where a record goes.",
                code="splits-duplicates",
            )
        table, recoding = result.resolved.problem.table, result.recoding
        tuple_class = np.full(table.n_tuples, -1, dtype=np.int32)
        tuple_class[table.row_tuple] = recoding.row_class
        named = zip(recoding.quasi, recoding.hierarchies, strict=True)
        return Recoder(
            columns=tuple(release_columns(policy, list(columns or result.names))),
            quasi={name: _Known.of(name, result.rows, column.codes) for name, column in result.resolved.quasi.items()},
            index=_Tuples.of(table.codes, [hierarchy.n_leaves for hierarchy in result.resolved.problem.hierarchies]),
            tuple_class=tuple_class,
            labels={
                name: (pa.array(hierarchy.labels, type=pa.string()), recoding.nodes[:, place])
                for place, (name, hierarchy) in enumerate(named)
            },
            sensitive={name: _published(name, result) for name in result.resolved.sensitive},
        )

    def recode(self, batch: pa.RecordBatch | pa.Table) -> pa.Table:
        """The released rows of a batch, in its order; suppressed records are left out."""
        leaves = [known.codes(batch.column(name)) for name, known in self.quasi.items()]
        owner = self.tuple_class[self.index.find(leaves, batch.num_rows)]
        kept = np.flatnonzero(owner >= 0)
        rows, classes = pa.array(kept), owner[kept]
        released: dict[str, pa.Array | pa.ChunkedArray] = {}
        for name in self.columns:
            if name in self.labels:
                labels, of_class = self.labels[name]
                released[name] = labels.take(pa.array(of_class[classes]))
                continue
            worded = self.sensitive.get(name, {})
            if name not in worded:
                released[name] = _decoded(batch.column(name)).take(rows)
            for column, (known, texts) in worded.items():
                released[column] = texts.take(pa.array(known.codes(batch.column(name))[kept]))
        return pa.table(released)

    def stars(self, count: int, schema: pa.Schema) -> pa.Table:
        """Rows of ``*`` for suppressed records."""
        columns = {
            field.name: pa.array([ROOT_LABEL] * count, pa.string())
            if field.name in self.labels
            else pa.nulls(count, field.type)
            for field in schema
        }
        return pa.table(columns)


def _published(name: str, result: Result) -> dict[str, tuple[_Known, pa.Array]]:
    """The columns that a sensitive column is published as in other words than the data has."""
    policy, secret = result.search_policy, result.resolved.sensitive[name]
    categories = pa.array(secret.domain.categories, type=pa.string())
    known = _Known.of(name, result.rows, secret.codes)
    if policy.published(name) == "categories":
        return {name: (known, categories)}
    columns = {}
    if policy.columns[name].hierarchy is not None:
        columns[name] = (known, pa.array(secret.domain.values, type=pa.string()))
    if secret.category_codes is not None:
        columns[f"{name}_category"] = (_Known.of(name, result.rows, secret.category_codes), categories)
    return columns


def _decoded(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


@dataclass(frozen=True, eq=False)
class _Known:
    """The code of each value of a column."""

    name: str
    code_of: Mapping[str | None, int]

    @staticmethod
    def of(name: str, rows: DistinctRows, codes: Codes) -> _Known:
        """From the value of each distinct row, and its code."""
        column = rows.columns[name]
        of_label = np.zeros(len(column.labels), dtype=np.int64)
        of_label[column.codes] = codes
        return _Known(name, dict(zip(column.labels, of_label.tolist(), strict=True)))

    def codes(self, column: pa.Array | pa.ChunkedArray) -> Codes:
        """The code of each row; `DataError` for a value that was not there when the data was counted."""
        _, texts, rows = texts_and_codes(column, dictionary=True)
        used = np.zeros(len(texts) + 1, dtype=np.bool_)
        used[rows] = True
        of_text = np.array([self.code_of.get(text, -1) for text in [*texts.to_pylist(), None]], dtype=np.int32)
        if (of_text[used] < 0).any():
            raise DataError(
                f"column {self.name!r} has a value now that it did not have when it was counted. Start again when "
                "nobody writes to the data.",
                code="data-changed",
            )
        return of_text[rows]


@dataclass(frozen=True, eq=False)
class _Tuples:
    """Distinct tuples in ascending order, found by their codes."""

    radices: tuple[int, ...]
    ranks: Mapping[int, NDArray[np.int64]]
    """Before which columns the keys so far are replaced by their ranks, since they would outgrow 64 bits."""
    keys: NDArray[np.int64]

    @staticmethod
    def of(codes: Codes, radices: Sequence[int]) -> _Tuples:
        """From codes that ascend by the first column, then the second, and so on."""
        keys, space, ranks = np.zeros(codes.shape[1], dtype=np.int64), 1, {}
        for place, (column, radix) in enumerate(zip(codes, radices, strict=True)):
            if space * radix > _KEY_LIMIT:
                ranks[place] = np.unique(keys)
                keys, space = np.searchsorted(ranks[place], keys), len(ranks[place])
            keys, space = keys * radix + column, space * radix
        return _Tuples(tuple(radices), ranks, keys)

    def find(self, columns: Sequence[Codes], rows: int) -> NDArray[np.int64]:
        """The place of each row's tuple; `DataError` for one that was not there when the data was counted."""
        keys = np.zeros(rows, dtype=np.int64)
        right = np.ones(rows, dtype=np.bool_)
        for place, (column, radix) in enumerate(zip(columns, self.radices, strict=True)):
            if place in self.ranks:
                keys, right = _ranked(self.ranks[place], keys, right)
            keys = keys * radix + column
        places, right = _ranked(self.keys, keys, right)
        if not right.all():
            raise DataError(
                f"{pluralize(int(np.count_nonzero(~right)), 'record')} now have quasi-identifiers that no record had "
                "when the data was counted. Start again when nobody writes to the data.",
                code="data-changed",
            )
        return places


def _ranked(
    known: NDArray[np.int64], keys: NDArray[np.int64], right: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The place of each key among those known, and which of them are."""
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return places, right & (known[places] == keys)
