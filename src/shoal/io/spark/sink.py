"""Where a release goes that Spark writes, and how it appears all at once or not at all.

Files go to a hidden folder that is renamed after the check; tables with commits of their own are compared afterwards.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ArrowException, fs

from shoal.encode.recoder import Recoder
from shoal.encode.result import Result
from shoal.errors import DataError, OutputError
from shoal.io.sink import (
    MemorySink,
    ReleaseData,
    ReleaseFiles,
    StagedSink,
    TextOf,
    WrittenRelease,
    document_paths,
    no_output,
    policy_files,
)
from shoal.io.source import CountedTable, Reading
from shoal.io.spark import check
from shoal.io.spark import cluster as spark
from shoal.io.spark.cluster import Named, spark_errors
from shoal.io.spark.source import NO_TEXT, SparkReading, spark_location
from shoal.io.staging import FORCE
from shoal.policy import Policy
from shoal.policy.spark_location import SparkLocation, read, write
from shoal.search.problem import Progress
from shoal.table.canonical_text import canonical_text, encode, order_of_cells

ORDER = "\0order of "  # begins the names of columns that only put rows in order: the texts of values that are no text

_FILES = frozenset({"csv", "parquet", "orc"})  # formats whose tables are folders of files, which a rename moves
_MOMENTS = "spark.sql.parquet.outputTimestampType"
_PLAIN = frozenset({"csv", "parquet"})  # of these, files that the verifier reads itself
_CELLS = {"header": "true", "quote": '"', "escape": '"', "ignoreLeadingWhiteSpace": "false",
          "ignoreTrailingWhiteSpace": "false"}  # fmt: skip
_TEXT = {**_CELLS, "nullValue": "", "emptyValue": '""', "lineSep": "\n"}
_READ_BACK = {**_CELLS, "nullValue": NO_TEXT, "emptyValue": "", "mode": "FAILFAST", "multiLine": "true",
              "inferSchema": "false"}  # fmt: skip
"""A cell without anything is missing, and ``""`` an empty text."""


def with_order(table: pa.Table, *, as_text: bool) -> pa.Table:
    """A released table with the texts that order it, or all of it as text."""
    columns = {name: table.column(name) for name in table.column_names}
    if as_text:
        return _texts(table)
    others = {name: cells for name, cells in columns.items() if not pa.types.is_string(cells.type)}
    return pa.table({**columns, **{f"{ORDER}{name}": canonical_text(cells) for name, cells in others.items()}})


def _texts(table: pa.Table) -> pa.Table:
    return pa.table({name: canonical_text(table.column(name)) for name in table.column_names})


def _in_order(rows: Named) -> Named:
    """Recoded rows in the order of a release, without the columns that only put them in order."""
    shown = [name for name in rows.names if not name.startswith(ORDER)]
    keys = [f"{ORDER}{name}" if f"{ORDER}{name}" in rows.names else name for name in shown]
    return spark.in_order(rows, keys, shown)


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
        if not self.from_counts:
            return _in_order(self._recoded(as_text))
        table, counts = self.result.released.table, self.result.released.counts
        session = self.reading.source.frame.session
        return spark.unfolded(session, _texts(table) if as_text else table, counts)

    @contextmanager
    def held(self, *, as_text: bool) -> Iterator[Named]:
        """The released rows while they are written: recoded once, though Spark reads what it sorts twice."""
        if self.from_counts:
            yield self.released(as_text=as_text)
            return
        rows = self._recoded(as_text)
        rows.frame.persist()
        try:
            yield _in_order(rows)
        finally:
            rows.frame.unpersist()

    @property
    def from_counts(self) -> bool:
        """Whether the counts on the driver say everything that is released."""
        return not self.reading.uncounted

    def content_hash(self) -> str:
        """The hash of what is to be written, where counts say all of it."""
        table, counts = self.result.released.table, self.result.released.counts
        codes = [encode(column)[1] for column in table.columns]
        differs = [np.diff(each, prepend=-1) != 0 for each in codes]
        starts = np.flatnonzero(np.logical_or.reduce(differs))  # classes may have the same labels
        return content_hash(table.take(pa.array(starts)), np.add.reduceat(counts, starts) if len(starts) else counts)

    def _recoded(self, as_text: bool) -> Named:
        """The released rows, recoded by the workers where the records lie."""
        given, result, coarse = self.reading.source.frame, self.result, self.reading.coarse
        recoder = Recoder.of(result, list(given.names))

        def recode(batch: pa.RecordBatch) -> pa.Table:
            columns = {name: batch.column(name) for name in batch.schema.names}
            raised = {name: column.raised(columns[name]) for name, column in coarse.items()}
            return with_order(recoder.recode(pa.table({**columns, **raised})), as_text=as_text)

        types = given.arrow_types()
        empty = recode(pa.RecordBatch.from_arrays([pa.array([], kind) for kind in types.values()], list(types)))
        rows, suppressed = spark.mapped(given, recode, empty), result.recoding.suppressed
        if result.policy.suppressed != "star" or not suppressed:
            return rows
        shown = pa.schema([field for field in empty.schema if not field.name.startswith(ORDER)])
        stars = with_order(recoder.stars(1, shown), as_text=as_text)
        more = spark.unfolded(given.session, stars, np.array([suppressed], dtype=np.int64))
        return Named(rows.frame.union(more.frame), rows.names)


def counted_release(released: Any, reading: SparkReading, *, files: bool) -> WrittenRelease:
    """A released frame as the verifier gets it: its distinct rows in order, counted; of files the order, too."""
    names = [name for name in released.columns if name not in reading.uncounted]
    others = [name for name in released.columns if name in reading.uncounted]
    frame = Named.of(released)
    table, counts = check.counted_rows(frame.select(names).public())
    order = order_of_cells(table)
    table, counts = table.take(pa.array(order)), counts[order]

    def out_of_order(text_of: TextOf) -> int:
        with spark_errors():
            return check.rows_out_of_order(released, text_of)

    def not_in_original(text_of: TextOf) -> int:
        theirs = reading.source.frame.select(others).public()
        with spark_errors():
            return check.rows_not_in(frame.select(others).public(), theirs, text_of)

    checks = out_of_order if files else None, not_in_original if others else None
    counted = CountedTable(table, counts)
    return WrittenRelease(counted, content_hash(table, counts), *checks, columns=tuple(released.columns))


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


class SparkMemorySink(MemorySink):
    """A release that stays in the cluster as a DataFrame; nothing is written."""

    _data: SparkData | None = None

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:  # noqa: ARG002
        """A count of all released rows."""
        assert isinstance(reading, SparkReading), "a cluster's release comes from a cluster"
        self._data = SparkData(result, reading)
        with spark_errors():
            written = counted_release(self._data.frame(), self._data.reading, files=False)
        return replace(written, sha256=None)

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:  # noqa: ARG002
        """Nothing is written."""
        return self._data


class SparkSink(StagedSink):
    """A folder of files, or a table that Spark writes; documents go beside a local folder, else beside the policy."""

    _hidden: SparkLocation | None = None
    _data: SparkData | None = None
    _sha256: str | None = None

    def __init__(
        self, policy: Policy, out: str | Path | None, *, evidence: str | Path | None = None, force: bool = False
    ) -> None:
        if out is None and policy.output is None:
            raise no_output()
        try:
            location = spark_location(
                str(policy.output if out is None else out), policy if out is None else None, "output"
            )
        except DataError as error:
            raise OutputError(str(error), code=error.code) from None
        self._target, self._force, self._as_text = location, force, location.format == "csv"
        self._is_files = location.format in _FILES and location.path is not None
        if self._is_files:
            self._check_folder()
        local = location.path is not None and (":/" not in location.path or location.path.startswith("file:"))
        folder = Path(str(location.path).removeprefix("file:")).parent if local else policy.path(".")
        stem = PurePosixPath(location.path or str(location.table)).name.removesuffix(f".{location.format}")
        documents = document_paths(folder, stem, evidence)
        super().__init__(
            Path(location.path or str(location)), stem, documents, inputs=policy_files(policy), force=force
        )

    def __enter__(self) -> Self:
        super().__enter__()
        if self._is_files:
            self._hidden = self._open.enter_context(self.hidden_folder())
        return self

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:  # noqa: ARG002
        """Write files under a hidden name; of a table that commits by itself, count the rows that it will have."""
        assert isinstance(reading, SparkReading), "a cluster's release comes from a cluster"
        self._data = SparkData(result, reading)
        if self._hidden is None:
            with spark_errors():
                frame = self._data.released(as_text=self._as_text).public()
                written = counted_release(frame, reading, files=False)
        else:
            with spark_errors(OutputError), self._data.held(as_text=self._as_text) as released:
                self._write(released, self._hidden)
            written = self._written_files(self._data, self._hidden)
        self._sha256 = written.sha256
        return written

    def _written_files(self, data: SparkData, folder: SparkLocation) -> WrittenRelease:
        """Files as the verifier gets them: each as it is, where they are small and plain, or else a count of them."""
        if data.from_counts and self._target.format in _PLAIN and not self._target.options:
            session = data.reading.source.frame.session

            def read_files(function: Callable[[str, Any], Any]) -> list[Any]:
                with spark_errors():
                    return spark.files_read(session, str(folder.path), function)

            return WrittenRelease(ReleaseFiles(read_files), data.content_hash())
        with spark_errors():
            return counted_release(self._read(folder), data.reading, files=True)

    def _put_in_place(self) -> ReleaseData | None:
        self._stage.commit(self._put_table if self._hidden is None else partial(self.put_folder, self._hidden))
        return self._data

    def _put_table(self) -> None:
        assert self._data is not None, "written before"
        with spark_errors(OutputError):
            with self._data.held(as_text=self._as_text) as released:
                self._write(released, self._target)
            again = counted_release(self._read(self._target), self._data.reading, files=False)
        if again.sha256 != self._sha256:
            message = f"{self._target} does not hold what was written to it. Do not publish it: remove it."
            raise OutputError(message, code="not-as-written")

    def _write(self, released: Named, location: SparkLocation) -> None:
        with moments_with_zone(released.session) if location.format == "parquet" else nullcontext():
            write(released.public(), location, _TEXT if self._as_text else None, replace=self._force)

    def _read(self, location: SparkLocation) -> Any:
        assert self._data is not None, "written before"
        return read(self._data.reading.source.frame.session, location, _READ_BACK if self._as_text else None)

    def _check_folder(self) -> None:
        """Raise `OutputError` before any work where the folder cannot be written."""
        system, path = _file_system(self._target)
        above, name = system.get_file_info(str(PurePosixPath(path).parent)), PurePosixPath(path).name
        if above.type != fs.FileType.Directory:
            message = f"The folder {above.path} for {name} does not exist. Create it first."
            raise OutputError(message, code="no-folder")
        if _exists(system, path) and not self._force:
            message = f"{self._target} exists already. Choose another output, or {FORCE}."
            raise OutputError(message, code="output-exists")

    @contextmanager
    def hidden_folder(self) -> Iterator[SparkLocation]:
        """A location beside the target, to write to meanwhile; whatever is there at the end is removed."""
        location = replace(self._target, path=_beside(str(self._target.path)))
        system, path = _file_system(location)
        try:
            yield location
        finally:
            with suppress(OSError, ArrowException):
                if _exists(system, path):
                    system.delete_dir(path)

    def put_folder(self, hidden: SparkLocation) -> None:
        """Give the hidden folder its name; an old one is kept until the new one is there."""
        (system, path), (_, new) = _file_system(self._target), _file_system(hidden)
        old, replaced = _beside(path), _exists(system, path)
        if replaced and not self._force:
            message = f"{self._target} was created in the meantime. Choose another output, or {FORCE}."
            raise OutputError(message, code="output-exists")
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
            message = f"{self._target} cannot be put in place: {error}. Nothing was changed."
            raise OutputError(message, code="not-placed") from error
        if replaced:
            folder = system.get_file_info(old).type == fs.FileType.Directory
            (system.delete_dir if folder else system.delete_file)(old)


@contextmanager
def moments_with_zone(session: Any) -> Iterator[None]:
    """Let Spark write moments to Parquet as such, in universal time; by default other programs cannot tell."""
    before = session.conf.get(_MOMENTS)
    session.conf.set(_MOMENTS, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        session.conf.set(_MOMENTS, before)


def _file_system(location: SparkLocation) -> tuple[Any, str]:
    """The file system of a location, and the path within it."""
    try:
        system, path = fs.FileSystem.from_uri(str(location.path))
    except (OSError, ArrowException) as error:
        message = f"{location} cannot be reached from here: {error}. Write a table of a catalog, Delta or Iceberg."
        raise OutputError(message, code="not-reachable") from None
    return system, str(path)


def _exists(system: Any, path: str) -> bool:
    return bool(system.get_file_info(path).type != fs.FileType.NotFound)


def _beside(path: str) -> str:
    """A hidden name in the same folder, with the same suffix."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.shoal-{secrets.token_hex(8)}{PurePosixPath(name).suffix}"
