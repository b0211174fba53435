"""Counting where the records are: distinct rows, brought to the driver as codes, or made coarser first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, PolicyError
from shoal.formatting import number
from shoal.hierarchies import Hierarchy, HierarchyError, boundary_caps, capped_levels
from shoal.hierarchies.boundaries import Ladder
from shoal.hierarchies.hierarchy import Label
from shoal.io.spark.cluster import COUNT, Named, in_utc
from shoal.policy import Policy
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.search.problem import Progress
from shoal.table.canonical_text import encode, encode_values
from shoal.table.distinct_rows import DistinctColumn, DistinctRows
from shoal.table.encoded import Codes
from shoal.table.recoding import Recoding

_PLAIN = 25_000_000  # values of distinct rows that come to the driver as they are; some hundred megabytes of text


def grouped(table: Named, names: Sequence[str]) -> Named:
    """The distinct combinations of some columns, each with how many records have it as `COUNT` beside them.

    One shuffle, of the distinct rows and not of the records.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    chosen = table.select(names)
    return Named(chosen.frame.groupBy(chosen.frame.columns).agg(f.count(f.lit(1)).alias(COUNT)), chosen.names)


def distinct_values(counted: Named, names: Sequence[str]) -> dict[str, pa.Array]:
    """The distinct values of some columns, null last where there is one, in one pass over the distinct rows."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    cells = [counted.cell(name) for name in names]
    sets = [f.collect_set(cell).alias(f"v{index}") for index, cell in enumerate(cells)]
    nulls = [f.max(cell.isNull()).alias(f"n{index}") for index, cell in enumerate(cells)]
    table = counted.frame.agg(*sets, *nulls).toArrow()
    found = {}
    for index, name in enumerate(names):
        values = in_utc(table.column(f"v{index}").combine_chunks().flatten())
        null = pa.nulls(1 if table.column(f"n{index}")[0].as_py() else 0, values.type)
        found[name] = pa.concat_arrays([values, null])
    return found


@dataclass(frozen=True, eq=False)
class Codebook:
    """The code of each value of a column: of its canonical text, or of what it was made into. Values may share one."""

    values: pa.Array  # distinct values; null among them where the column has missing values
    codes: Codes  # the code of each of them
    labels: tuple[str | None, ...]  # the text of each code
    typed: pa.Array  # a value of each code, in the type of the data

    @staticmethod
    def of(values: pa.Array, become: pa.Array | None = None) -> Codebook:
        """The codes of a column's distinct values by their canonical text, or that of what they become."""
        labels, typed, codes = encode_values(values if become is None else become)
        return Codebook(values, codes, labels, typed)

    def encode(self, column: pa.Array) -> pa.Array:
        """The code of each cell."""
        indices = pc.index_in(in_utc(column).cast(self.values.type), value_set=self.values)
        if indices.null_count:
            message = "the data changed while it was read: a value has appeared that was not there before."
            raise DataError(message, code="data-changed")
        return pa.array(self.codes[indices.to_numpy()])


def coded(counted: Named, books: Mapping[str, Codebook]) -> Any:
    """The distinct rows of a counted frame by the codes of their values, which take less room than texts.

    Columns without a codebook stay as they are: a book of all people in each task would take more room than it saves.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    by, book_of = [f"c{index}" for index in range(len(counted.names))], [books.get(name) for name in counted.names]
    types = ["int" if book else kind for book, (_, kind) in zip(book_of, counted.frame.dtypes, strict=False)]
    kinds = ", ".join([*(f"{name} {kind}" for name, kind in zip(by, types, strict=True)), f"{COUNT} bigint"])

    def encode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            cells = zip(book_of, batch.columns, strict=False)
            codes = [book.encode(column) if book else column for book, column in cells]
            yield pa.RecordBatch.from_arrays([*codes, batch.column(len(by)).cast(pa.int64())], [*by, COUNT])

    frame = counted.frame.mapInArrow(encode, kinds)
    shared = any(len(book.labels) < len(book.values) for book in books.values())
    return frame.groupBy(by).agg(f.sum(COUNT).alias(COUNT)) if shared else frame


def distinct_rows(counted: Named, found: int, first: tuple[str, ...]) -> DistinctRows:
    """The distinct rows of a counted frame on the driver, some columns first in their order.

    Few of them come as they are; many as codes, which take less room than texts and more work in the cluster.
    """
    if found * len(counted.names) <= _PLAIN:
        return collect_rows(counted.frame, counted.names, {}, first)
    values = distinct_values(counted, [name for name in counted.names if name not in first])
    books = {name: Codebook.of(each) for name, each in values.items()}
    return collect_rows(coded(counted, books), counted.names, books, first)


def collect_rows(
    frame: Any, names: Sequence[str], books: Mapping[str, Codebook], first: tuple[str, ...]
) -> DistinctRows:
    """The distinct rows of a frame, with codes in columns that have a codebook, in the order of their content."""
    table, columns = frame.toArrow(), {}
    for index, name in enumerate(names):
        if name in books:
            codes = table.column(index).to_numpy().astype(np.int32)
            columns[name] = DistinctColumn(books[name].labels, books[name].typed, codes)
        else:
            columns[name] = DistinctColumn.of(in_utc(table.column(index)))
    rows = DistinctRows(columns, table.column(COUNT).to_numpy().astype(np.int64), None, first)
    return rows.with_columns(columns)  # values of the data may have the same text


@dataclass(frozen=True, eq=False)
class CoarseColumn:
    """A column at some step of its ladder."""

    name: str
    values: pa.Array  # the values of the data; null last where there is one
    leaves: np.ndarray[Any, np.dtype[np.int32]]  # the leaf of each of them
    hierarchy: Hierarchy  # the hierarchy as declared
    ladder: Ladder
    step: int = 0

    @property
    def level(self) -> int:
        """The level that it begins at."""
        return self.ladder.nominal[self.step]

    @property
    def can_rise(self) -> bool:
        """Whether there is a higher step at which no value has come to the root: that one tells nothing apart."""
        above = self.ladder.nodes[self.step + 1 :]
        return bool(len(above)) and not (above[0] == self.hierarchy.root).any()

    @property
    def labels(self) -> pa.Array:
        """What each value becomes."""
        nodes = self.ladder.nodes[self.step, self.leaves]
        return pa.array([self.hierarchy.labels[node] for node in nodes], pa.string())

    def book(self) -> Codebook:
        """The codes of the values by what they become."""
        return Codebook.of(self.values, self.labels if self.step else None)

    def raised(self, column: pa.Array) -> pa.Array:
        """The values of the data, made coarser."""
        return self.labels.take(pc.index_in(column.cast(self.values.type), value_set=self.values))

    def declared(self) -> dict[str, Any]:
        """The hierarchy from here on, and its boundary, as a policy declares them."""
        hierarchy, labels = self.hierarchy, self.hierarchy.labels
        starts = set(self.ladder.nodes[self.step].tolist())
        caps = set(self.ladder.nodes[-1].tolist()) - {hierarchy.root}

        def below(node: int) -> dict[Label, Any]:
            children = sorted(
                np.flatnonzero(hierarchy.parents == node).tolist(), key=lambda child: hierarchy.first[child]
            )
            return {labels[child]: None if child in starts else below(child) for child in children}

        boundary = sorted((labels[cap] for cap in caps), key=lambda label: (label is None, label or ""))
        tree = {labels[hierarchy.root]: below(hierarchy.root)}
        return {"hierarchy": {"tree": tree}, **({"boundary": boundary} if boundary else {})}


def coarsen(
    counted: Named, policy: Policy, allowed: int, progress: Progress
) -> tuple[DistinctRows, dict[str, CoarseColumn]]:
    """The distinct rows with quasi-identifiers made coarser until they fit; `DataError` where they never do."""
    values = distinct_values(counted, counted.names)
    quasi = [name for name in counted.names if policy.columns[name].role == "quasi"]
    columns = {name: _column(name, values[name], policy) for name in quasi}
    fixed = {*policy.algorithm.ranges, *policy.algorithm.group}
    while True:
        progress("coarsening", 0.0)
        books = {name: columns[name].book() if name in columns else Codebook.of(values[name]) for name in counted.names}
        frame = coded(counted, books)
        found = int(frame.count())
        if found <= allowed:
            break
        rising = [name for name in quasi if columns[name].can_rise and name not in fixed]
        if not rising:
            raise DataError(
                f"the data has {number(found)} distinct rows even where every quasi-identifier is as coarse as the "
                f"policy allows, and the driver may hold {number(allowed)} (engine.cells). Raise engine.cells and give "
                "the driver memory for them, or leave columns out.",
                code="too-many-distinct-rows",
            )
        widest = max(rising, key=lambda name: (len(books[name].labels), name))
        columns[widest] = replace(columns[widest], step=columns[widest].step + 1)
    raised = {name: column for name, column in columns.items() if column.step}
    return collect_rows(frame, counted.names, books, ()), raised


def _column(name: str, values: pa.Array, policy: Policy) -> CoarseColumn:
    spec, where = policy.columns[name], f"columns.{name}.hierarchy"
    labels, codes = encode(values)
    try:
        source = hierarchy_source(spec.hierarchy, policy.path("."), where)
        built = source.build(labels, [1] * len(labels), where)
        caps = boundary_caps(built.hierarchy, spec.boundary, f"columns.{name}.boundary")
    except HierarchyError as error:
        raise PolicyError(error.problems, policy.source) from None
    leaves = np.asarray(built.codes[codes], dtype=np.int32)
    return CoarseColumn(name, values, leaves, built.hierarchy, capped_levels(built.hierarchy, caps))


def coarse_policy(policy: Policy, raised: Mapping[str, CoarseColumn]) -> Policy:
    """The policy to search with, where some columns were made coarser."""
    columns = policy.model_dump(exclude_unset=True)["columns"]
    for name, column in raised.items():
        others = {key: value for key, value in columns[name].items() if key not in {"hierarchy", "boundary"}}
        columns[name] = {**others, **column.declared()}
    return policy.changed(columns=columns)


def in_full(recoding: Recoding, coarse: Mapping[str, CoarseColumn]) -> Recoding:
    """The recoding in the hierarchies as declared, so that measures count all values."""
    hierarchies, nodes = list(recoding.hierarchies), recoding.nodes.copy()
    levels = None if recoding.levels is None else dict(recoding.levels)
    for index, name in enumerate(recoding.quasi):
        if name not in coarse:
            continue
        column, labels = coarse[name], recoding.hierarchies[index].labels
        hierarchies[index] = column.hierarchy
        numbers = np.array([column.hierarchy.by_label.get(label, -1) for label in labels], dtype=np.int32)
        nodes[:, index] = numbers[recoding.nodes[:, index]]
        if levels is not None:  # counted from the values of the data
            shown = {labels[node] for node in np.unique(recoding.nodes[:, index]).tolist()}
            for step in range(column.step, len(column.ladder.nodes)):
                at_step = np.unique(column.ladder.nodes[step]).tolist()
                if shown <= {column.hierarchy.labels[node] for node in at_step}:
                    levels[name] = column.ladder.nominal[step]
                    break
    return replace(recoding, hierarchies=tuple(hierarchies), nodes=nodes, levels=levels)
