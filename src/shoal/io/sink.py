"""Sinks: where a release goes. It is written aside, verified there, then put in place with its documents.

A sink is entered, written to, and committed with the texts of the documents that go beside the release. Whatever fails
before leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import pyarrow as pa

from shoal.encode.result import Result, as_written
from shoal.errors import InputError, OutputError
from shoal.io.multiple_files import data_files, is_many, would_be_read
from shoal.io.read import read_table
from shoal.io.source import CountedTable, Reading
from shoal.io.staging import Staged
from shoal.io.write import check_table_suffix, sha256_of, write_counted
from shoal.policy import Policy
from shoal.policy.data_source import release_source
from shoal.search.problem import Progress, no_progress

TextOf = Callable[[Any, str], Any]  # the texts of a column, given its values and its name


@dataclass(frozen=True, eq=False)
class WrittenRelease:
    """A release that is written, or ready to be, and not yet in place."""

    release: Path | pa.Table | CountedTable  # what the verifier reads
    sha256: str | None = None  # the hash of what was written
    rows_out_of_order: Callable[[TextOf], int] | None = None
    """Of files in a cluster: rows that stand before one that sorts ahead of them, by the verifier's own texts."""
    rows_not_in_original: Callable[[TextOf], int] | None = None
    """Of columns that a cluster did not count: rows with combinations that the original does not have as often."""


class ReleaseData(Protocol):
    """A released table, wherever it lies."""

    def records(self) -> pa.Table:
        """The released table, a row per record."""
        ...


@dataclass(frozen=True)
class ReleaseFile:
    """A release that is read from its file when it is used."""

    path: Path

    def records(self) -> pa.Table:
        """The table in the file."""
        return read_table(release_source(self.path))


@dataclass(frozen=True, eq=False)
class ReleaseTable:
    """A release in memory."""

    table: pa.Table

    def records(self) -> pa.Table:
        """The table."""
        return self.table


class Sink(Protocol):
    """Where a release goes."""

    @property
    def documents(self) -> Mapping[str, Path]:
        """Where evidence, report and recoding go; nothing where a release stays in memory."""
        ...

    @property
    def location(self) -> Any:
        """Where the release itself is when it is in place; None in memory."""
        ...

    @property
    def stem(self) -> str:
        """The name of the release, for its entry in a registry."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:
        """Write the release aside."""
        ...

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:
        """Put everything in place; what holds the release from now on, or None: it is held in memory."""
        ...


class MemorySink:
    """A release that is given back in memory; nothing is written."""

    documents: Mapping[str, Path] = {}
    location: Any = None
    stem = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:  # noqa: ARG002
        """The released table, a row per record."""
        return WrittenRelease(result.released.records())

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:  # noqa: ARG002
        """Nothing is written."""
        return None


class FileSink:
    """A CSV or Parquet file with its documents beside it, put in place together."""

    def __init__(
        self, target: Path, *, recoding: bool = False, inputs: Sequence[Path] = (), force: bool = False
    ) -> None:
        check_table_suffix(target)
        self.location = target
        self.stem = target.stem
        paths = output_paths(target, recoding=recoding)
        self.documents = {name: path for name, path in paths.items() if name != "release"}
        self._stage = Staged(list(paths.values()), inputs=inputs, force=force)
        self._streamed = False

    def __enter__(self) -> Self:
        self._stage.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stage.__exit__(*error)

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:
        """Write the release under a hidden name."""
        self._streamed = reading.table is None
        staged = self._stage.path(self.location)
        write_result(result, reading, staged, progress)
        return WrittenRelease(staged, sha256_of(staged))

    def write_table(self, table: pa.Table) -> WrittenRelease:
        """Write a released table under a hidden name."""
        staged = self._stage.path(self.location)
        write_counted(as_written(table, staged), None, staged)
        return WrittenRelease(staged, sha256_of(staged))

    def commit(self, texts: Mapping[str, str]) -> ReleaseData | None:
        """Rename all files together."""
        write_documents(self._stage, self.documents, texts)
        self._stage.commit()
        return ReleaseFile(self.location) if self._streamed else None


def write_result(result: Result, reading: Reading, path: Path, progress: Progress = no_progress) -> None:
    """Write a release as a file: the bytes are those of the table with all its rows."""
    if reading.uncounted:
        reading.write_records(result, path, progress)
        return
    released = result.released
    table = as_written(released.table, path)
    write_counted(table, released.counts, path, lambda share: progress("writing", share))


def write_documents(stage: Staged, paths: Mapping[str, Path], texts: Mapping[str, str]) -> None:
    """Write what stands beside a release to the hidden files of a stage."""
    for name, path in paths.items():
        stage.write_text(path, texts[name])


def output_paths(release: Path, *, recoding: bool = False) -> dict[str, Path]:
    """The files of a release."""
    return {
        "release": release,
        **document_paths(release.parent, release.stem),
        **({"recoding": release.with_name(f"{release.stem}.recoding.json")} if recoding else {}),
    }


def document_paths(folder: Path, stem: str, evidence: str | Path | None = None) -> dict[str, Path]:
    """Where evidence and report of a release go: under its name in a folder, or to ``evidence`` and beside that."""
    path = Path(evidence) if evidence is not None else folder / f"{stem}.evidence.json"
    if path.suffix.lower() != ".json":
        raise OutputError(f"{path}: evidence is JSON, so its name ends in .json.", code="evidence-name")
    stem = path.name.removesuffix(path.suffix).removesuffix(".evidence")
    return {"evidence": path, "report": path.with_name(f"{stem}.report.html")}


def refuse_recoding(policy: Policy, recoding: bool) -> None:
    """Raise `InputError` where a recoding file is asked for beside a release that is no single file."""
    if recoding or policy.recoding:
        raise InputError(
            "a recoding names the file that was published, so it needs a release in a file. Leave --recoding out, or "
            "write the release to a .csv or .parquet file.",
            code="recoding-needs-file",
        )


def no_output() -> OutputError:
    """Nobody said where the release goes."""
    return OutputError(
        "the policy names no output and none was given. Set output: in the policy or pass --out.", code="no-output"
    )


def file_target(policy: Policy, out: str | Path | None) -> Path:
    """The file that a release goes to."""
    if out is None and policy.output is None:
        raise no_output()
    return Path(out) if out is not None else policy.path(str(policy.output))


def check_not_read_again(target: Path, data: Path, inputs: Sequence[Path]) -> None:
    """Raise `OutputError` where the release would be one of the files that its own data is read from next time."""
    if target not in inputs and would_be_read(target, data):
        raise OutputError(
            f"{target} would be read as data with {data} the next time. Choose another folder.",
            code="output-among-inputs",
        )


def input_files(policy: Policy, data: Path) -> list[Path]:
    """The files that a run reads, the data first; an output must never replace one."""
    return [*(data_files(data) if is_many(data) else [data]), *policy_files(policy)]


def policy_files(policy: Policy) -> list[Path]:
    """The file of a policy, and those of its hierarchies."""
    files = [Path(policy.source)] if Path(policy.source).is_file() else []
    for column in policy.columns.values():
        if column.hierarchy is not None and column.hierarchy.file is not None:
            files.append(policy.path(column.hierarchy.file))
    return files
