"""The release of linked tables: a file for each in one folder, with one evidence and one report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encode.result import ReleasedRows, Result, as_written, release_columns
from shoal.errors import OutputError
from shoal.io.linked_tables import released_files
from shoal.io.sink import ReleaseData, StagedSink, WrittenRelease, document_paths
from shoal.io.source import Reading
from shoal.io.staging import writing
from shoal.io.write import sha256_of, write_table
from shoal.policy import Policy
from shoal.policy.tables_spec import TABLE
from shoal.search.problem import Progress
from shoal.table.canonical_text import order_of_cells

STEM = "release"  # of evidence and report


class LinkedSink(StagedSink):
    """A folder with a CSV file for each table, put in place together."""

    def __init__(self, policy: Policy, folder: Path, *, inputs: Sequence[Path] = (), force: bool = False) -> None:
        if folder.exists() and not folder.is_dir():
            message = f"{folder} is a file. Linked tables go to a folder, one file each."
            raise OutputError(message, code="not-a-folder")
        self._created = False
        self.files = released_files(policy, folder)
        documents = document_paths(folder, STEM)
        super().__init__(folder, folder.name, documents, *self.files.values(), inputs=inputs, force=force)

    def __enter__(self) -> Self:
        if not self.location.exists():
            with writing(self.location):
                self.location.mkdir()
            self._created = True
        try:
            return super().__enter__()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._created and not any(self.location.iterdir()):  # nothing was released
            self.location.rmdir()

    def write(self, result: Result, reading: Reading, progress: Progress) -> WrittenRelease:  # noqa: ARG002 - it is held
        """Write each table under a hidden name."""
        paths = {name: self._stage.path(path) for name, path in self.files.items()}
        for name, part in split(result.policy, result.released):
            table = as_written(part.table, paths[name])
            write_table(table, paths[name], part.counts)
            progress("writing", len(part.counts) / max(len(result.released.counts), 1))
        return WrittenRelease(paths, sha256_of_tables(paths))

    def _put_in_place(self) -> ReleaseData | None:
        self._stage.commit()
        return None


def sha256_of_tables(paths: Mapping[str, Path]) -> str:
    """One hash of all tables: that of the lines ``hash  name``, in the order of the names."""
    lines = "".join(f"{sha256_of(paths[name])}  {name}\n" for name in sorted(paths))
    return hashlib.sha256(lines.encode()).hexdigest()


def split(policy: Policy, released: ReleasedRows) -> list[tuple[str, ReleasedRows]]:
    """The released rows of each table with the columns that it has, and with the pseudonym."""
    found = []
    for name, spec in (policy.tables or {}).items():
        rows = np.flatnonzero(
            pc.equal(released.table.column(TABLE), name).combine_chunks().to_numpy(zero_copy_only=False)
        )
        wanted = [each for each in policy.columns if each in spec.columns or each == policy.pseudonym]
        names = shown_columns(policy, release_columns(policy, wanted))
        table = released.table.select(names).take(pa.array(rows))
        order = order_of_cells(table)
        found.append((name, ReleasedRows(table.take(pa.array(order)), released.counts[rows][order])))
    return found


def shown_columns(policy: Policy, names: Sequence[str]) -> list[str]:
    """The columns that these are released as: sensitive ones perhaps with their category beside them."""
    found = []
    for name in names:
        both = policy.columns[name].role == "sensitive" and policy.published(name) == "both"
        found += [name, f"{name}_category"] if both else [name]
    return found
