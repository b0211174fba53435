"""A recoding as a function of single batches: what each record becomes, wherever it lies; it holds no record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.encode.result import Result, published_words, release_columns, splits_duplicates
from shoal.errors import DataError, InputError
from shoal.formatting import pluralize
from shoal.hierarchies.hierarchy import ROOT_LABEL
from shoal.table.canonical_text import texts_and_codes
from shoal.table.distinct_rows import DistinctColumn, DistinctRows
from shoal.table.encoded import Codes, distinct_codes

_KEY_LIMIT = 2**62


@dataclass(frozen=True, eq=False)
class Recoder:
    """What each record becomes by its values."""

    columns: tuple[str, ...]  # the columns that are released, in the order of the data
    quasi: Mapping[str, Mapping[str | None, int]]  # for each quasi-identifier the leaf of each value
    index: _Tuples
    tuple_class: Codes  # class of each distinct tuple, or -1 where it is suppressed
    labels: Mapping[str, tuple[pa.Array, Codes]]  # for each quasi-identifier its labels, and that of each class
    sensitive: Mapping[str, Mapping[str, tuple[Mapping[str | None, int], pa.Array]]]
    """For each sensitive column the columns that are published in other words: what each value becomes."""

    @staticmethod
    def of(result: Result, columns: Sequence[str] | None = None) -> Recoder:
        """The recoder of a recoding that splits no duplicates, else `InputError`; ``columns`` are all of the data."""
        policy = result.search_policy
        if splits_duplicates(result.made_by):
            raise InputError(
                f"{result.made_by.algorithm.name} may put records with equal quasi-identifiers into different classes, "
                "so a batch by itself does not tell where a record goes.",
                code="splits-duplicates",
            )
        table, recoding = result.resolved.problem.table, result.recoding
        tuple_class = np.full(table.n_tuples, -1, dtype=np.int32)
        tuple_class[table.row_tuple] = recoding.row_class
        counted, labels, sensitive = result.rows.columns, {}, {}
        for j, (name, hierarchy) in enumerate(zip(recoding.quasi, recoding.hierarchies, strict=True)):
            labels[name] = pa.array(hierarchy.labels, type=pa.string()), recoding.nodes[:, j]
        for name, secret in result.resolved.sensitive.items():
            words, value_of = published_words(policy, name, secret), policy.columns[name].value_of
            if value_of:  # the batches have the spellings of the data
                words = {name: (counted[name].codes, counted[name].values)} | words
            sensitive[name] = {
                shown: (_code_of_value(counted[name], codes, value_of), texts)
                for shown, (codes, texts) in words.items()
            }
        return Recoder(
            columns=tuple(release_columns(policy, list(columns or result.names))),
            quasi={name: _code_of_value(counted[name], each.codes) for name, each in result.resolved.quasi.items()},
            index=_Tuples.of(table.codes, [hierarchy.n_leaves for hierarchy in result.resolved.problem.hierarchies]),
            tuple_class=tuple_class,
            labels=labels,
            sensitive=sensitive,
        )

    def recode(self, batch: pa.RecordBatch | pa.Table) -> pa.Table:
        """The released rows of a batch, in its order; suppressed records are left out."""
        leaves = [_codes(name, leaf_of, batch.column(name)) for name, leaf_of in self.quasi.items()]
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
                column = batch.column(name)
                plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
                released[name] = plain.take(rows)
            for shown, (code_of, texts) in worded.items():
                released[shown] = texts.take(pa.array(_codes(name, code_of, batch.column(name))[kept]))
        return pa.table(released)

    def stars(self, count: int, schema: pa.Schema) -> pa.Table:
        """Rows of ``*`` for suppressed records."""
        stars = pa.array([ROOT_LABEL] * count, pa.string())
        return pa.table(
            {each.name: stars if each.name in self.labels else pa.nulls(count, each.type) for each in schema}
        )


@dataclass(frozen=True, eq=False)
class RowFinder:
    """Finds the distinct row of each record, and its part of that row where a search parted it between classes."""

    columns: Mapping[str, Mapping[str | None, int]]  # the code of each value, and of its other spellings
    index: _Tuples
    row: NDArray[np.int64]  # the distinct row of each entry of the index
    starts: NDArray[np.int64]  # the records of the rows before each row
    parts: NDArray[np.int64] | None  # the rows of the result in the order of the rows that they are part of
    ends: NDArray[np.int64]  # where the records of each of them end

    @staticmethod
    def of(rows: DistinctRows, result: Result) -> RowFinder:
        """``rows`` are the distinct rows before a search parted them."""
        codes = np.stack([column.codes for column in rows.columns.values()])
        order = np.lexsort(codes[::-1])
        index = _Tuples.of(codes[:, order], [len(column.labels) for column in rows.columns.values()])
        specs = result.policy.columns
        columns = {
            name: _code_of_value(column, column.codes, specs[name].value_of) for name, column in rows.columns.items()
        }
        parts = None
        if result.rows is not rows:
            of_part = order[index.find([column.codes for column in result.rows.columns.values()], result.rows.n_rows)]
            parts = np.argsort(of_part, kind="stable")
        ends = np.cumsum(result.rows.counts if parts is None else result.rows.counts[parts])
        return RowFinder(columns, index, order, np.cumsum(rows.counts) - rows.counts, parts, ends)

    def find(self, batch: pa.RecordBatch | pa.Table) -> NDArray[np.int64]:
        """The distinct row of each record of a batch."""
        codes = [_codes(name, code_of, batch.column(name)) for name, code_of in self.columns.items()]
        return self.row[self.index.find(codes, batch.num_rows)]

    def part_at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of the result that some records are part of, given how many come before, by distinct row."""
        assert self.parts is not None, "the rows were parted"
        return self.parts[np.searchsorted(self.ends, positions, side="right")]


def _code_of_value(
    column: DistinctColumn, codes: Codes, value_of: Mapping[str, str] | None = None
) -> dict[str | None, int]:
    """The code of each value of a column, and of its other spellings, from the codes of its distinct rows."""
    of_label = np.zeros(len(column.labels), dtype=np.int64)
    of_label[column.codes] = codes
    found = dict(zip(column.labels, of_label.tolist(), strict=True))
    return found | {other: found[value] for other, value in (value_of or {}).items() if value in found}


def _codes(name: str, code_of: Mapping[str | None, int], column: pa.Array | pa.ChunkedArray) -> Codes:
    """The code of each row; `DataError` for a value that was not there when the data was counted."""
    _, texts, rows = texts_and_codes(column, dictionary=True)
    used = np.zeros(len(texts) + 1, dtype=np.bool_)
    used[rows] = True
    of_text = np.array([code_of.get(text, -1) for text in [*texts.to_pylist(), None]], dtype=np.int32)
    if (of_text[used] < 0).any():
        raise DataError(
            f"column {name!r} has a value now that it did not have when it was counted. Start again when nobody writes "
            "to the data.",
            code="data-changed",
        )
    return of_text[rows]


@dataclass(frozen=True, eq=False)
class _Tuples:
    """Distinct tuples in ascending order, found by their codes."""

    radices: tuple[int, ...]
    ranks: Mapping[int, NDArray[np.int64]]  # by columns before which keys that would outgrow 64 bits become ranks
    keys: NDArray[np.int64]

    @staticmethod
    def of(codes: Codes, radices: Sequence[int]) -> _Tuples:
        """From codes that ascend by the first column, then the second, and so on."""
        keys, space, ranks = np.zeros(codes.shape[1], dtype=np.int64), 1, {}
        for j, (column, radix) in enumerate(zip(codes, radices, strict=True)):
            if space * radix > _KEY_LIMIT:
                ranks[j] = distinct_codes(keys)
                keys, space = np.searchsorted(ranks[j], keys), len(ranks[j])
            keys, space = keys * radix + column, space * radix
        return _Tuples(tuple(radices), ranks, keys)

    def find(self, columns: Sequence[Codes], rows: int) -> NDArray[np.int64]:
        """The index of each row's tuple; `DataError` for one that was not there when the data was counted."""
        keys = np.zeros(rows, dtype=np.int64)
        right = np.ones(rows, dtype=np.bool_)
        for j, (column, radix) in enumerate(zip(columns, self.radices, strict=True)):
            if j in self.ranks:
                keys, right = _ranked(self.ranks[j], keys, right)
            keys = keys * radix + column
        indices, right = _ranked(self.keys, keys, right)
        if not right.all():
            raise DataError(
                f"{pluralize(int(np.count_nonzero(~right)), 'record')} now have quasi-identifiers that no record had "
                "when the data was counted. Start again when nobody writes to the data.",
                code="data-changed",
            )
        return indices


def _ranked(
    known: NDArray[np.int64], keys: NDArray[np.int64], right: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The index of each key among those known, and which of them are."""
    indices = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return indices, right & (known[indices] == keys)
