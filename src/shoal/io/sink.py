"""Sinks: where a release goes. It is written aside, verified there, then put in place with its documents."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import pyarrow as pa

from shoal.encode.result import Result, as_written
from shoal.errors import InputError, OutputError
from shoal.io.multiple_files import data_files, would_be_read
from shoal.io.read import read_table
from shoal.io.source import CountedTable, Reading
from shoal.io.staging import Staged
from shoal.io.write import sha256_of, write_table, writer_of, written_suffixes
from shoal.policy import Policy
from shoal.policy.data_source import release_source
from shoal.search.problem import Progress

TextOf = Callable[[Any, str], Any]  # the texts of a column, given its values and its name


@dataclass(frozen=True, eq=False)
class ReleaseFiles:
    """The files of a release in a cluster."""

    read: Callable[[Callable[[str, Any], Any]], list[Any]]
    """What a function says of the name and the bytes of each file, where it lies; in the order of the names."""


@dataclass(frozen=True, eq=False)
class WrittenRelease:
    """A release that is written, or ready to be, and not yet in place."""

    release: Path | pa.Table | CountedTable | ReleaseFiles | Mapping[str, Path]
    """What the verifier reads; a file for each linked table."""
    sha256: str | None = None  # the hash of what was written
    rows_out_of_order: Callable[[TextOf], int] | None = None
    """Of files in a cluster: rows that stand before one that sorts ahead of them, by the verifier's own texts."""
    rows_not_in_original: Callable[[TextOf], int] | None = None
    """Of columns that a cluster did not count: rows with combinations that the original does not have as often."""
    columns: tuple[str, ...] = ()  # of a count: all columns that were written, counted or not


class ReleaseData(Protocol):
    """A released table, wherever it lies."""

    def records(self) -> pa.Table:
        """The released table, a row per record."""


@dataclass(frozen=True)
class ReleaseFile:
    """A release that is read from its file when it is used."""

    path: Path

    def records(self) -> pa.Table:
        """The table in the file."""
        return read_table(release_source(self.path))


class Sink(Protocol):
    """Where a release goes."""

    documents: Mapping[str, Path] = {}  # where evidence, report and recoding go; nothing for a release in memory
    location: Any = None  # where the release itself is when it is in place; None in memory
    stem: str = ""  # the name of the release, for its entry in a registry
    hidden_files: tuple[Path, ...] = ()
    """What is renamed to the release, or right before it is committed: while all are there, none of it is in place."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:
        """Write the release aside."""

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:
        """Put everything in place; what holds the release from now on, or None: it is held in memory."""


class MemorySink(Sink):
    """A release that is given back in memory; nothing is written."""

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:  # noqa: ARG002
        """The released table, a row per record."""
        return WrittenRelease(result.released.records())

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:  # noqa: ARG002
        """Nothing is written."""
        return None


class StagedSink(Sink):
    """A release with documents: all is written aside and put in place together, each kind in `_put_in_place`."""

    def __init__(
        self, location: Any, stem: str, documents: Mapping[str, Path], *files: Path, inputs: Sequence[Path], force: bool
    ) -> None:
        self.location, self.stem, self.documents = location, stem, documents
        outputs = [*files, *documents.values()]
        self._last = files or outputs[:1]  # what is renamed last
        self._stage = Staged(outputs, private=[*documents.values()], inputs=inputs, force=force)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        check_documents(self.documents["evidence"], self.location)
        self._open.enter_context(self._stage)
        self.hidden_files = tuple(map(self._stage.path, self._last))
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:
        """Write the documents, and put the release in place with them."""
        for name, path in self.documents.items():
            self._stage.write_text(path, texts[name])
        return self._put_in_place()

    def _put_in_place(self) -> ReleaseData | None:
        raise NotImplementedError


class FileSink(StagedSink):
    """A CSV or Parquet file with its documents beside it, put in place together."""

    _streamed = False

    def __init__(
        self, target: Path, *, recoding: bool = False, inputs: Sequence[Path] = (), force: bool = False
    ) -> None:
        writer_of(target)
        documents = output_paths(target, recoding=recoding)
        del documents["release"]
        super().__init__(target, target.stem, documents, target, inputs=inputs, force=force)

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:
        """Write the release under a hidden name."""
        self._streamed = reading.table is None
        return write_result(result, reading, self._stage.path(self.location), progress)

    def write_table(self, table: pa.Table) -> WrittenRelease:
        """Write a released table under a hidden name."""
        staged = self._stage.path(self.location)
        write_table(as_written(table, staged), staged)
        return WrittenRelease(staged, sha256_of(staged))

    def _put_in_place(self) -> ReleaseData | None:
        self._stage.commit()
        return ReleaseFile(self.location) if self._streamed else None


def write_result(result: Result, reading: Reading, path: Path, progress: Progress) -> WrittenRelease:
    """Write a release as a file: the bytes are those of the table with all its rows."""
    if reading.uncounted:
        reading.write_records(result, path, progress)
    else:
        table = as_written(result.released.table, path)
        write_table(table, path, result.released.counts, lambda share: progress("writing", share))
    return WrittenRelease(path, sha256_of(path))


def output_paths(release: Path, *, recoding: bool = False) -> dict[str, Path]:
    """The files of a release."""
    more = {"recoding": release.with_name(f"{release.stem}.recoding.json")} if recoding else {}
    return {"release": release, **document_paths(release.parent, release.stem), **more}


def document_paths(folder: Path, stem: str, evidence: str | Path | None = None) -> dict[str, Path]:
    """Where evidence and report of a release go: under its name in a folder, or to ``evidence`` and beside that."""
    path = Path(evidence) if evidence is not None else folder / f"{stem}.evidence.json"
    if path.suffix.lower() != ".json":
        raise OutputError(f"{path}: evidence is JSON, so its name ends in .json.", code="evidence-name")
    stem = path.name.removesuffix(path.suffix).removesuffix(".evidence")
    return {"evidence": path, "report": path.with_name(f"{stem}.report.html")}


def check_documents(evidence: Path, release: Any) -> None:
    """Raise `OutputError` where evidence and report would replace those of another release that lies beside them.

    ``e.csv`` and ``e.parquet`` both have ``e.evidence.json``; whose it is, it says itself by the hash of its release.
    """
    try:
        digest = json.loads(evidence.read_bytes())["release_sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return  # no evidence, or of no release: nothing is lost that may not be replaced
    stem = evidence.name.removesuffix(evidence.suffix).removesuffix(".evidence")
    others = [evidence.with_name(f"{stem}{suffix}") for suffix in written_suffixes()]
    for other in others:
        is_target = isinstance(release, Path) and release.exists() and other.exists() and other.samefile(release)
        if other.is_file() and not is_target and sha256_of(other) == digest:
            message = f"{evidence} belongs to {other}, which would be left without its evidence and report."
            raise OutputError(
                f"{message} Choose another name for the output, or remove {other}.", code="documents-taken"
            )


def refuse_recoding(policy: Policy, recoding: bool) -> None:
    """Raise `InputError` where a recoding file is asked for beside a release that is no single file."""
    if recoding or policy.recoding:
        message = "a recoding names the file that was published, so it needs a release in a file."
        fix = "Leave --recoding out, or write the release to a .csv or .parquet file."
        raise InputError(f"{message} {fix}", code="recoding-needs-file")


def no_output() -> OutputError:
    """Nobody said where the release goes."""
    message = "the policy names no output and none was given. Set output: in the policy or pass --out."
    return OutputError(message, code="no-output")


def check_not_read_again(target: Path, data: Path, inputs: Sequence[Path]) -> None:
    """Raise `OutputError` where the release would be one of the files that its own data is read from next time."""
    if target not in inputs and would_be_read(target, data):
        message = f"{target} would be read as data with {data} the next time. Choose another folder."
        raise OutputError(message, code="output-among-inputs")


def input_files(policy: Policy, data: Path) -> list[Path]:
    """The files that a run reads, the data first; an output must never replace one."""
    return [*data_files(data), *policy_files(policy)]


def policy_files(policy: Policy) -> list[Path]:
    """The file of a policy, and those of its hierarchies."""
    files = [Path(policy.source)] if Path(policy.source).is_file() else []
    hierarchies = [column.hierarchy for column in policy.columns.values() if column.hierarchy is not None]
    return [*files, *(policy.path(each.file) for each in hierarchies if each.file is not None)]
