"""Counting where the records are: distinct rows, brought to the driver as codes instead of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

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
from shoal.table.recoding import Recoding

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedFrame:
    """The distinct combinations of some columns, each with how many records have it."""

    frame: Any  # the columns c0, c1, … and `COUNT`
    names: tuple[str, ...]

    def total(self) -> tuple[int, int]:
        """How many combinations there are, and of how many records."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        row = self.frame.agg(f.count(f.lit(1)).alias("rows"), f.sum(COUNT).alias("records")).toArrow().to_pylist()[0]
        return int(row["rows"]), int(row["records"] or 0)


def grouped(given: Named, names: Sequence[str]) -> CountedFrame:
    """Count the records by some columns: one shuffle, of the distinct rows and not of the records."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    chosen = given.select(names)
    return CountedFrame(chosen.frame.groupBy(chosen.frame.columns).agg(f.count(f.lit(1)).alias(COUNT)), tuple(names))


def distinct_values(counted: CountedFrame) -> dict[str, pa.Array]:
    """The distinct values of each column, null last where there is one, in one pass over the distinct rows."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    cells = [counted.frame[f"c{place}"] for place in range(len(counted.names))]
    sets = [f.collect_set(cell).alias(f"v{place}") for place, cell in enumerate(cells)]
    nulls = [f.max(cell.isNull()).alias(f"n{place}") for place, cell in enumerate(cells)]
    table = counted.frame.agg(*sets, *nulls).toArrow()
    found = {}
    for place, name in enumerate(counted.names):
        values = in_utc(table.column(f"v{place}").combine_chunks().flatten())
        null = pa.nulls(1 if table.column(f"n{place}")[0].as_py() else 0, values.type)
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
    def of(values: pa.Array) -> Codebook:
        """The codes of a column's distinct values by their canonical text."""
        labels, typed, codes = encode_values(values)
        return Codebook(values, codes, labels, typed)

    def encode(self, column: pa.Array) -> pa.Array:
        """The code of each cell."""
        places = pc.index_in(in_utc(column).cast(self.values.type), value_set=self.values)
        if places.null_count:
            raise DataError(
                "the data changed while it was read: a value has appeared that was not there before.",
                code="data-changed",
            )
        return pa.array(self.codes[places.to_numpy()])


def coded(counted: CountedFrame, books: Mapping[str, Codebook]) -> Any:
    """The distinct rows of a counted frame by the codes of their values, which take less room than texts."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    by = [f"c{place}" for place in range(len(books))]
    kinds = ", ".join([*(f"{name} int" for name in by), f"{COUNT} bigint"])

    def encode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            codes = [book.encode(batch.column(place)) for place, book in enumerate(books.values())]
            yield pa.RecordBatch.from_arrays([*codes, batch.column(len(by)).cast(pa.int64())], [*by, COUNT])

    frame = counted.frame.mapInArrow(encode, kinds)
    shared = any(len(book.labels) < len(book.values) for book in books.values())
    return frame.groupBy(by).agg(f.sum(COUNT).alias(COUNT)) if shared else frame


def collect_rows(frame: Any, books: Mapping[str, Codebook]) -> DistinctRows:
    """The distinct rows of a frame of codes on the driver, in the order of their content."""
    table = frame.toArrow()
    columns = {
        name: DistinctColumn(book.labels, book.typed, table.column(place).to_numpy().astype(np.int32))
        for place, (name, book) in enumerate(books.items())
    }
    return DistinctRows(columns, table.column(COUNT).to_numpy().astype(np.int64)).in_order()


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
        if not self.step:
            return Codebook.of(self.values)
        labels, typed, codes = encode_values(self.labels)
        return Codebook(self.values, codes, labels, typed)

    def raised(self, column: pa.Array) -> pa.Array:
        """The values of the data, made coarser."""
        return self.labels.take(pc.index_in(column.cast(self.values.type), value_set=self.values))

    def declared(self) -> dict[str, Any]:
        """The hierarchy from here on, and its boundary, as a policy declares them."""
        starts = set(self.ladder.nodes[self.step].tolist())
        caps = set(self.ladder.nodes[-1].tolist()) - {self.hierarchy.root}
        tree = {self.hierarchy.labels[self.hierarchy.root]: self._below(self.hierarchy.root, starts)}
        boundary = sorted((self.hierarchy.labels[cap] for cap in caps), key=lambda label: (label is None, label or ""))
        return {"hierarchy": {"tree": tree}, **({"boundary": boundary} if boundary else {})}

    def _below(self, node: int, starts: set[int]) -> dict[Label, Any]:
        children = np.flatnonzero(self.hierarchy.parents == node)
        ordered = sorted(children.tolist(), key=lambda child: int(self.hierarchy.first[child]))
        labels = self.hierarchy.labels
        return {labels[child]: None if child in starts else self._below(child, starts) for child in ordered}


@dataclass(frozen=True, eq=False)
class CoarseRows:
    """Distinct rows that fit, and the policy with which they are searched."""

    rows: DistinctRows
    policy: Policy
    columns: Mapping[str, CoarseColumn]


def coarsen(counted: CountedFrame, policy: Policy, allowed: int, progress: Progress) -> CoarseRows:
    """Make quasi-identifiers coarser until the distinct rows fit; `DataError` where they never do."""
    values = distinct_values(counted)
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
    return CoarseRows(collect_rows(frame, books), _policy_of(policy, raised), raised)


def _column(name: str, values: pa.Array, policy: Policy) -> CoarseColumn:
    spec, where = policy.columns[name], f"columns.{name}.hierarchy"
    labels, codes = encode(values)
    try:
        source = hierarchy_source(spec.hierarchy, policy.path("."), where)
        built = source.build(labels, [1] * len(labels), where)
        caps = boundary_caps(built.hierarchy, spec.boundary_labels, f"columns.{name}.boundary")
    except HierarchyError as error:
        raise PolicyError(error.problems, policy.source) from None
    leaves = np.asarray(built.codes[codes], dtype=np.int32)
    return CoarseColumn(name, values, leaves, built.hierarchy, capped_levels(built.hierarchy, caps))


def _policy_of(policy: Policy, raised: Mapping[str, CoarseColumn]) -> Policy:
    """The policy for rows of which some columns were made coarser."""
    columns = policy.model_dump(exclude_unset=True)["columns"]
    for name, column in raised.items():
        kept = {key: value for key, value in columns[name].items() if key not in {"hierarchy", "boundary"}}
        columns[name] = {**kept, **column.declared()}
    return policy.changed(columns=columns) if raised else policy


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
        if levels is not None:
            shown = {labels[node] for node in np.unique(recoding.nodes[:, index]).tolist()}
            levels[name] = _full_level(column, shown, levels[name])
    return replace(recoding, hierarchies=tuple(hierarchies), nodes=nodes, levels=levels)


def _full_level(column: CoarseColumn, shown: set[Label], level: int) -> int:
    """The level of a full-domain recoding, counted from the values of the data."""
    for step in range(column.step, len(column.ladder.nodes)):
        if shown <= {column.hierarchy.labels[node] for node in np.unique(column.ladder.nodes[step]).tolist()}:
            return column.ladder.nominal[step]
    return level
