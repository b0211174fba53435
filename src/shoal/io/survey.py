"""Households and weights of records that are never all in memory: these are read a second time, and sorted on disk."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encode.recoder import RowFinder
from shoal.encode.result import Result
from shoal.encode.survey import Floats, Members, Survey, SurveyCheck, SurveyParts, Weights
from shoal.io.external_sort import SortedRuns
from shoal.io.multiple_files import Fingerprint
from shoal.io.read import read_batches
from shoal.policy.data_source import DataSource
from shoal.table.canonical_text import canonical_text
from shoal.table.distinct_rows import DistinctRows

_T = TypeVar("_T")
_DIGITS = 19  # of a 64-bit number: with leading zeros texts are in the order of their numbers


def survey_records(batch: pa.RecordBatch | pa.Table, finder: RowFinder, columns: Mapping[str, str]) -> pa.Table:
    """What a survey needs of some records: the distinct row, the weight in two numbers, the household as text.

    Records of one row are put into parts in this order.
    """
    found = {"row": pa.array(finder.find(batch), pa.int64())}
    if "weight" in columns:
        weights = Weights.of(batch.column(columns["weight"]))
        found |= {"whole": pa.array(weights.whole), "fraction": pa.array(weights.fraction)}
    if "household" in columns:
        found["household"] = canonical_text(batch.column(columns["household"]))
    return pa.table(found)


def whole_households(tables: Iterable[pa.Table | pa.RecordBatch]) -> Iterator[Members]:
    """The members of households from records that are sorted by them, with the part of each."""
    rest: pa.Table | None = None
    for table in tables:
        some = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
        joined = (some if rest is None else pa.concat_tables([rest, some])).combine_chunks()
        if not joined.num_rows:
            continue
        members = _members(joined)
        sure = int(np.searchsorted(members.household, members.household[-1]))  # the last household may go on
        if sure:
            yield Members(members.household[:sure], members.part[:sure])
        rest = joined.slice(sure)
    if rest is not None:
        yield _members(rest.combine_chunks())


def _members(records: pa.Table) -> Members:
    coded = pc.dictionary_encode(records.column("household")).combine_chunks()
    return Members(coded.indices.to_numpy(), records.column("part").to_numpy())


@dataclass(frozen=True, eq=False)
class SortedParts:
    """Records whose households are sorted on disk."""

    weights: Floats | None
    records: SortedRuns | None  # of households; None where the policy names none

    def fold(self, function: Callable[[Members], _T]) -> list[_T] | None:
        """Some thousand households at a time."""
        return None if self.records is None else [function(each) for each in whole_households(self.records.tables())]


@dataclass(frozen=True, eq=False)
class StreamSurvey(Survey):
    """A survey that is read in batches."""

    columns: Mapping[str, str]
    found: SurveyCheck  # what was found when the records were counted
    rows: DistinctRows  # the distinct rows as they were counted
    data: DataSource
    before: Fingerprint  # the files as they were when they were counted
    source: str  # of the policy

    def check(self) -> None:
        """Raise `PolicyError` with every problem of their values."""
        self.found.raise_problems(self.source)

    @contextmanager
    def parts(self, result: Result) -> Iterator[SurveyParts]:
        """The records by the row of a result that each is part of."""
        finder = RowFinder.of(self.rows, result)
        with TemporaryDirectory(prefix="shoal-") as folder:
            records = self._records(finder)
            if finder.parts is not None:
                records = _parted(records, finder, _folder(folder, "rows"))
            weights = Weights.none(result.rows.n_rows) if "weight" in self.columns else None
            homes = SortedRuns(_folder(folder, "households")) if "household" in self.columns else None
            for table in records:
                part = table.column("row")
                if weights is not None:
                    more = Weights(table.column("whole").to_numpy(), table.column("fraction").to_numpy())
                    weights.add(part.to_numpy(), more)
                if homes is not None:
                    homes.add(pa.table({"household": table.column("household"), "part": part}))
            self.before.check(self.data)
            yield SortedParts(None if weights is None else weights.numbers(), homes)

    def _records(self, finder: RowFinder) -> Iterator[pa.Table]:
        names = list(dict.fromkeys([*self.rows.columns, *self.columns.values()]))
        for batch in read_batches(self.data, names, lambda _: None):
            yield survey_records(batch, finder, self.columns)


def _folder(inside: str, name: str) -> Path:
    path = Path(inside, name)
    path.mkdir()
    return path


def _parted(records: Iterable[pa.Table], finder: RowFinder, folder: Path) -> Iterator[pa.Table]:
    """The same records with the row of the result that each is part of, in the order that settles it."""
    runs, done = SortedRuns(folder), 0
    for table in records:
        runs.add(_with_numbers(table, lambda column: pc.utf8_lpad(column.cast(pa.string()), _DIGITS, "0")))
    for table in runs.tables():
        part = pa.array(finder.part_at(np.arange(done, done + table.num_rows)))
        done += table.num_rows
        yield _with_numbers(table, lambda column: column.cast(pa.int64())).set_column(0, "row", part)


def _with_numbers(table: pa.Table, change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> pa.Table:
    """A table with its columns of numbers changed."""
    names = table.column_names
    return pa.table({name: table[name] if name == "household" else change(table[name]) for name in names})
