"""Where a release goes that Spark writes, and how it appears all at once or not at all.

Files are written to a hidden folder beside the target, verified there, and the folder is renamed. Tables of a catalog,
Delta and Iceberg have commits of their own: the rows are verified before they are written, and compared afterwards.
Records are recoded where they are. Algorithms that split duplicates say how many of each distinct row go to which
class, and the release is unfolded from these counts.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ArrowException, fs

from shoal.encode.recoder import Recoder
from shoal.encode.result import Result, splits_duplicates
from shoal.errors import DataError, OutputError
from shoal.io.sink import ReleaseData, TextOf, WrittenRelease, document_paths, no_output, policy_files, write_documents
from shoal.io.source import CountedTable, Reading
from shoal.io.spark import check
from shoal.io.spark import cluster as spark
from shoal.io.spark.cluster import Named, spark_errors
from shoal.io.spark.counts import CoarseColumn
from shoal.io.spark.source import NO_TEXT, SparkReading, place_of
from shoal.io.staging import FORCE, Staged
from shoal.policy import Policy
from shoal.policy.spark_location import Place, read, write
from shoal.search.problem import Progress
from shoal.table.canonical_text import canonical_text, order_of_cells

ORDER = "\0order of "  # begins the names of columns that only put rows in order: the texts of values that are no text

_FILES = frozenset({"csv", "parquet", "orc"})  # formats whose tables are folders of files, which a rename moves
_TEXT = {
    "header": "true",
    "quote": '"',
    "escape": '"',
    "nullValue": "",
    "emptyValue": '""',
    "lineSep": "\n",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
_READ_BACK = {
    **{key: value for key, value in _TEXT.items() if key != "lineSep"},
    "nullValue": NO_TEXT,  # a cell without anything is missing, and "" an empty text
    "emptyValue": "",
    "mode": "FAILFAST",
    "multiLine": "true",
    "inferSchema": "false",
}


@dataclass(frozen=True, eq=False)
class OnWorkers:
    """What the workers need to recode records: a recoder, the columns made coarser, and how values are written."""

    recoder: Recoder
    coarse: Mapping[str, CoarseColumn]
    as_text: bool  # whether all values are written in their canonical text, as files of text are

    def __call__(self, batch: pa.RecordBatch) -> pa.Table:
        """The released rows of a batch, and texts to order them by."""
        columns = {name: batch.column(name) for name in batch.schema.names}
        for name, coarse in self.coarse.items():
            columns[name] = coarse.raised(columns[name])
        return with_order(self.recoder.recode(pa.table(columns)), as_text=self.as_text)

    def empty(self, types: Mapping[str, pa.DataType]) -> pa.Table:
        """A table of no rows with the columns that a batch gives."""
        return self(pa.RecordBatch.from_arrays([pa.array([], kind) for kind in types.values()], list(types)))

    def stars(self, empty: pa.Table) -> pa.Table:
        """One suppressed record as the policy may keep it: ``*`` and nothing else."""
        shown = [field for field in empty.schema if not field.name.startswith(ORDER)]
        return with_order(self.recoder.stars(1, pa.schema(shown)), as_text=self.as_text)


def with_order(table: pa.Table, *, as_text: bool) -> pa.Table:
    """A released table with the texts that order it, or all of it as text."""
    columns = {name: table.column(name) for name in table.column_names}
    if as_text:
        return pa.table({name: canonical_text(cells) for name, cells in columns.items()})
    others = {name: cells for name, cells in columns.items() if not pa.types.is_string(cells.type)}
    return pa.table({**columns, **{f"{ORDER}{name}": canonical_text(cells) for name, cells in others.items()}})


@dataclass(frozen=True, eq=False)
class SparkData:
    """A release in a cluster; its rows are computed when they are used."""

    result: Result
    reading: SparkReading

    def records(self) -> pa.Table:
        """The released table as Arrow, all of it on the driver."""
        with spark_errors():
            return self.released().collect()

    def frame(self) -> Any:
        """The released rows as a DataFrame of Spark, in the order of a release."""
        return self.released().public()

    def released(self, *, as_text: bool = False) -> Named:
        """The released rows in the order of a release; nothing is computed before they are used."""
        counted = splits_duplicates(self.result.policy)
        rows = self._from_counts(as_text) if counted else self._recoded(as_text)
        shown = [name for name in rows.names if not name.startswith(ORDER)]
        keys = [f"{ORDER}{name}" if f"{ORDER}{name}" in rows.names else name for name in shown]
        return spark.in_order(rows, keys, shown)

    def _recoded(self, as_text: bool) -> Named:
        """The records recoded where they are."""
        given, result = self.reading.given.frame, self.result
        workers = OnWorkers(Recoder.of(result, list(given.names)), self.reading.coarse, as_text)
        empty = workers.empty(given.arrow_types())
        rows, suppressed = spark.mapped(given, workers, empty), result.recoding.suppressed
        if result.policy.suppressed != "star" or not suppressed:
            return rows
        more = spark.unfolded(given.session, workers.stars(empty), np.array([suppressed], dtype=np.int64))
        return Named(rows.frame.union(more.frame), rows.names)

    def _from_counts(self, as_text: bool) -> Named:
        """The records unfolded from how many of each distinct row go to which class."""
        released = self.result.released
        table = with_order(released.table, as_text=as_text)
        return spark.unfolded(self.reading.given.frame.session, table, released.counts)


def counted_release(released: Any, reading: SparkReading, *, files: bool) -> WrittenRelease:
    """A released frame as the verifier gets it: its distinct rows in order, counted; of files the order, too."""
    names = [name for name in released.columns if name not in reading.uncounted]
    others = [name for name in released.columns if name in reading.uncounted]
    table, counts = check.counted_rows(_columns(released, names))
    order = order_of_cells(table)
    table, counts = table.take(pa.array(order)), counts[order]

    def out_of_order(text_of: TextOf) -> int:
        with spark_errors():
            return check.rows_out_of_order(released, text_of)

    def not_in_original(text_of: TextOf) -> int:
        theirs = reading.given.frame.select(others).public()
        with spark_errors():
            return check.rows_not_in(_columns(released, others), theirs, text_of)

    return WrittenRelease(
        CountedTable(table, counts),
        content_hash(table, counts),
        rows_out_of_order=out_of_order if files else None,
        rows_not_in_original=not_in_original if others else None,
    )


def _columns(frame: Any, names: Sequence[str]) -> Any:
    """Some columns of a frame, whatever signs their names have."""
    return Named.of(frame).select(names).public()


def content_hash(table: pa.Table, counts: NDArray[np.int64]) -> str:
    """The hash of a release that is no single file: of its distinct rows in order, each with how often it occurs."""
    digest = hashlib.sha256("\x1f".join(table.column_names).encode())
    step = 1 << 16
    for start in range(0, table.num_rows, step):
        cells = [canonical_text(column).cast(pa.large_string()) for column in table.slice(start, step).columns]
        number = pa.array(counts[start : start + step]).cast(pa.large_string())
        separator = pa.scalar("\x1f", pa.large_string())
        lines = pc.binary_join_element_wise(*cells, number, separator, null_handling="replace", null_replacement="\x00")
        digest.update("\n".join(["", *lines.to_pylist()]).encode())
    return digest.hexdigest()


class SparkMemorySink:
    """A release that stays in the cluster as a DataFrame; nothing is written."""

    documents: Mapping[str, Path] = {}
    location: Any = None
    stem = ""
    _data: SparkData | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:  # noqa: ARG002
        """A count of all released rows."""
        self._data = _data_of(result, reading)
        with spark_errors():
            written = counted_release(self._data.frame(), self._data.reading, files=False)
        return replace(written, sha256=None)

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:  # noqa: ARG002
        """Nothing is written."""
        return self._data


class SparkSink:
    """A folder of files, or a table that Spark writes; documents go beside a local folder, else beside the policy."""

    def __init__(
        self, policy: Policy, out: str | Path | None, *, evidence: str | Path | None = None, force: bool = False
    ) -> None:
        self._target = Target.of(policy, out, force=force)
        folder = self._target.folder
        self.documents = document_paths(folder if folder is not None else policy.path("."), self._target.stem, evidence)
        self.location = Path(self._target.place.path or str(self._target.place))
        self.stem = self._target.stem
        self._stage = Staged(list(self.documents.values()), inputs=policy_files(policy), force=force)
        self._open = ExitStack()
        self._hidden: Place | None = None
        self._data: SparkData | None = None
        self._sha256: str | None = None

    def __enter__(self) -> Self:
        self._open.enter_context(self._stage)
        if self._target.is_files:
            self._hidden = self._open.enter_context(self._target.hidden())
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:  # noqa: ARG002
        """Write files under a hidden name; of a table that commits by itself, count the rows that it will have."""
        self._data = _data_of(result, reading)
        target, session = self._target, self._data.reading.given.frame.session
        released = self._data.released(as_text=target.as_text)
        if self._hidden is not None:
            with spark_errors(OutputError):
                target.write(released, self._hidden)
        with spark_errors():
            frame = released.public() if self._hidden is None else target.read(session, self._hidden)
            written = counted_release(frame, self._data.reading, files=self._hidden is not None)
        self._sha256 = written.sha256
        return written

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:
        """Put release and documents in place together."""
        write_documents(self._stage, self.documents, texts)
        self._stage.commit(self._put)
        return self._data

    def _put(self) -> None:
        assert self._data is not None, "written before"
        target = self._target
        if self._hidden is not None:
            target.put(self._hidden)
            return
        with spark_errors(OutputError):
            target.write(self._data.released(as_text=target.as_text), target.place)
            frame = target.read(self._data.reading.given.frame.session, target.place)
            again = counted_release(frame, self._data.reading, files=False)
        if again.sha256 != self._sha256:
            raise OutputError(
                f"{target.place} does not hold what was written to it. Do not publish it: remove it.",
                code="not-as-written",
            )


def _data_of(result: Result, reading: Reading) -> SparkData:
    assert isinstance(reading, SparkReading), "a cluster's release comes from a cluster"
    return SparkData(result, reading)


@dataclass(frozen=True)
class Target:
    """Where a release goes."""

    place: Place
    force: bool

    @classmethod
    def of(cls, policy: Policy, out: str | Path | None, *, force: bool) -> Target:
        """The output given, or that of the policy; checked before any work."""
        if out is None and policy.output is None:
            raise no_output()
        text = str(out) if out is not None else str(policy.output)
        try:
            place = place_of(text, policy if out is None else None, "output")
        except DataError as error:
            raise OutputError(str(error), code=error.code) from None
        target = cls(place, force)
        if target.is_files:
            target.check()
        return target

    @property
    def is_files(self) -> bool:
        """Whether it is a folder of files."""
        return self.place.format in _FILES and self.place.path is not None

    @property
    def as_text(self) -> bool:
        """Whether all values are written in their canonical text."""
        return self.place.format == "csv"

    @property
    def folder(self) -> Path | None:
        """The local folder that it lies in; None where it lies elsewhere."""
        path = self.place.path
        return Path(path.removeprefix("file:")).parent if path and self._is_local(path) else None

    @property
    def stem(self) -> str:
        """How evidence and report beside it are called."""
        return PurePosixPath(self.place.path or str(self.place.table)).name.removesuffix(f".{self.place.format}")

    def check(self) -> None:
        """Raise `OutputError` where the folder cannot be written."""
        system, path = self._system()
        above = system.get_file_info(str(PurePosixPath(path).parent))
        if above.type != fs.FileType.Directory:
            raise OutputError(
                f"The folder {above.path} for {PurePosixPath(path).name} does not exist. Create it first.",
                code="no-folder",
            )
        if system.get_file_info(path).type != fs.FileType.NotFound and not self.force:
            raise OutputError(f"{self.place} exists already. Choose another output, or {FORCE}.", code="output-exists")

    def read(self, session: Any, place: Place) -> Any:
        """What was written."""
        return read(session, place, _READ_BACK if self.as_text else None)

    def write(self, released: Named, place: Place) -> None:
        """Write a release."""
        write(released.public(), place, _TEXT if self.as_text else None, replace=self.force)

    @contextmanager
    def hidden(self) -> Iterator[Place]:
        """A place beside the target for the while; whatever lies there at the end is removed."""
        system, path = self._system()
        aside = _beside(path)
        try:
            yield replace(self.place, path=self._before(path) + aside)
        finally:
            with suppress(OSError, ArrowException):
                if system.get_file_info(aside).type != fs.FileType.NotFound:
                    system.delete_dir(aside)

    def put(self, hidden: Place) -> None:
        """Give the hidden folder its name; an old one is kept until the new one is there."""
        system, path = self._system()
        new, old = str(hidden.path).removeprefix(self._before(path)), _beside(path)
        replaced = system.get_file_info(path).type != fs.FileType.NotFound
        if replaced and not self.force:
            raise OutputError(
                f"{self.place} was created in the meantime. Choose another output, or {FORCE}.", code="output-exists"
            )
        try:
            if replaced:
                system.move(path, old)
            try:
                system.move(new, path)
            except BaseException:
                if replaced:
                    system.move(old, path)
                raise
        except (OSError, ArrowException) as error:
            message = f"{self.place} cannot be put in place: {error}. Nothing was changed."
            raise OutputError(message, code="not-placed") from error
        if replaced:
            _remove(system, old)

    def _system(self) -> tuple[Any, str]:
        try:
            system, path = fs.FileSystem.from_uri(str(self.place.path))
            return system, str(path)
        except (OSError, ArrowException) as error:
            raise OutputError(
                f"{self.place} cannot be reached from here: {error}. Write a table of a catalog, Delta or Iceberg.",
                code="not-reachable",
            ) from None

    def _before(self, path: str) -> str:
        """What an address has before the path within its system: ``hdfs://namenode``."""
        return str(self.place.path).removesuffix(path)

    @staticmethod
    def _is_local(path: str) -> bool:
        return ":/" not in path or path.startswith("file:")


def _beside(path: str) -> str:
    whole = PurePosixPath(path)
    return str(whole.with_name(f".shoal-{secrets.token_hex(8)}{whole.suffix}"))


def _remove(system: Any, path: str) -> None:
    if system.get_file_info(path).type == fs.FileType.Directory:
        system.delete_dir(path)
    else:
        system.delete_file(path)
