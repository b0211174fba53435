"""A release into a table of a database: made and verified as a file first, then written in one transaction.

The file lies in a hidden folder while the run lasts. The table is read back in the transaction that wrote it and must
be the verified file cell by cell; evidence and report are put in place, and only then is the transaction committed.
What fails or is stopped before takes everything back: the table, evidence and report, and the entry in a registry.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.errors import InputError, OutputError
from shoal.io import (
    DatabaseTable,
    DataSource,
    Staged,
    column_names,
    in_order_of_cells,
    read_batches,
    release_source,
    sha256_of,
    write_table,
)
from shoal.io.postgres.connection import connected
from shoal.io.postgres.tables import database_columns
from shoal.io.postgres.writer import TableWriter, check_target
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.table.arrow_types import decoded

if TYPE_CHECKING:
    from shoal.pipeline.write import Published

Confirm = Callable[[Mapping[str, Path]], None]
"""Called with the files of a release when they are in place; where it raises they are taken back."""


def publish_table(
    policy: Policy,
    source: DataSource,
    target: DatabaseTable,
    publish_file: Callable[[Path, Confirm], Published],
    *,
    evidence: str | Path | None = None,
    recoding: bool = False,
    force: bool = False,
) -> Published:
    """Publish a release as a table; ``publish_file`` makes it as a file and calls back before that is final.

    Evidence and report go beside the policy, under the table's name, or to ``evidence`` and beside that.
    """
    from shoal.pipeline.write import Published, policy_files  # noqa: PLC0415 - write.py builds on this file

    if recoding or policy.recoding:
        raise InputError(
            "a recoding names the file that was published, so it needs a release in a file. Leave --recoding out, or "
            "write the release to a .csv or .parquet file."
        )
    paths = about_paths(policy, target, evidence)
    inputs = policy_files(policy) if source.database is not None else [source.path, *policy_files(policy)]
    check_target(target, source.database, force=force)
    types = _kept_types(policy, source)
    tables: list[pa.Table] = []
    with Staged(list(paths.values()), inputs=inputs, force=force) as stage:
        name = file_name(target)
        with tempfile.TemporaryDirectory(prefix=".shoal-", dir=paths["evidence"].parent) as folder:

            def place(files: Mapping[str, Path]) -> None:
                for key, path in paths.items():
                    stage.path(path).write_bytes(files[key].read_bytes())
                with connected(target, "writing to", OutputError) as connection:
                    writer = _written(connection, target, files["release"], types)
                    tables.append(_read_back(writer, policy, files))
                    writer.place(force=force)
                    stage.commit(writer.commit)

            published = publish_file(Path(folder) / f"{name}.csv", place)
    kept = {key: path for key, path in published.paths.items() if key == "registry"}
    release = published.release
    if isinstance(release.held, Path):  # the file was for the while only
        release = dataclasses.replace(release, held=tables[-1])
    return Published(release, {"release": target, **paths, **kept})


def about_paths(policy: Policy, target: DatabaseTable, evidence: str | Path | None) -> dict[str, Path]:
    """Where evidence and report of a table go."""
    if evidence is None:
        name = file_name(target)
        return {"evidence": policy.path(f"{name}.evidence.json"), "report": policy.path(f"{name}.report.html")}
    path = Path(evidence)
    if path.suffix.lower() != ".json":
        raise OutputError(f"{path} is no name for evidence, which is JSON. Let it end in .json.")
    stem = path.name.removesuffix(path.suffix).removesuffix(".evidence")
    return {"evidence": path, "report": path.with_name(f"{stem}.report.html")}


def file_name(target: DatabaseTable) -> str:
    """The table's name as the name of a file: what is no letter, digit, dash or dot becomes an underscore."""
    return re.sub(r"[^\w.-]", "_", target.parts[1]).lstrip(".") or "release"


def _kept_types(policy: Policy, source: DataSource) -> dict[str, str]:
    """The SQL types of columns whose values are released as they are, where the input is a database."""
    if source.database is None:
        return {}
    shown = [
        *policy.names("insensitive"),
        *(n for n in policy.names("sensitive") if policy.published(n) != "categories"),
    ]
    return {column.name: column.kept for column in database_columns(source) if column.name in shown}


def _written(connection: Any, target: DatabaseTable, release: Path, types: Mapping[str, str]) -> TableWriter:
    """The release in the database, in the order of the file, not yet committed."""
    names = column_names(release_source(release))
    all_types = {name: types.get(name, "text") for name in names}
    writer = TableWriter.begin(connection, target, all_types)
    writer.write(_texts(release, names), all_types)
    return writer


def _texts(release: Path, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for batch in read_batches(release_source(release), names):
        columns = [decoded(pa.chunked_array([column])).combine_chunks() for column in batch.columns]
        yield pa.RecordBatch.from_arrays([_one(column) for column in columns], names=list(names))


def _one(column: Any) -> pa.Array:
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def _read_back(writer: TableWriter, policy: Policy, files: Mapping[str, Path]) -> pa.Table:
    """What stands in the table, verified like a file; it must be the very release that the evidence speaks of.

    A table has no order of rows, so they are put into that of a release.
    """
    table = in_order_of_cells(writer.read_back())
    verify(table, policy).raise_if_failed()
    again = files["release"].with_name("again.csv")
    write_table(table, again)
    claimed = json.loads(files["evidence"].read_bytes())["release_sha256"]
    found = sha256_of(again)
    again.unlink()
    if found != claimed:
        raise OutputError(f"{writer.target} does not hold what was written to it, so it is not kept.")
    return table
