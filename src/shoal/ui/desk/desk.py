"""What the desk process holds: the table of its session, read once, and encoded once for each set of columns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import DataError, InputError
from shoal.io import column_names, read_table
from shoal.io.source import TableSource, load_table
from shoal.policy import Policy
from shoal.policy.spec import DataSpec
from shoal.ui.desk import document
from shoal.ui.server.confined import load_confined
from shoal.ui.server.workspace import Workspace


@dataclass
class Desk:
    """One session's table and policy, as the questions need them."""

    workspace: Workspace
    max_rows: int
    _tables: dict[str, pa.Table] = field(default_factory=dict)
    _loaded: dict[str, TableSource] = field(default_factory=dict)
    _parsed: tuple[bytes, Any] | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    """What questions keep for the next time, each under its own name; emptied when another table is opened."""

    def path(self) -> Path:
        """The uploaded file."""
        path = self.workspace.table()
        if path is None:
            raise InputError("there is no table yet. Load one first.")
        return path

    def data_spec(self, content: Any = None) -> DataSpec:
        """How the policy says that the file is to be read."""
        content = self.document() if content is None else content
        given = content.get("data") if isinstance(content, dict) else None
        try:
            spec = DataSpec.model_validate(given if given is not None else self.path().name)
        except ValueError:
            raise InputError(
                "the policy says wrongly how the file is read: put `data` right in the policy file."
            ) from None
        return spec.model_copy(update={"path": self.path().name})

    def document(self) -> Any:
        """The policy as it stands, as plain data that nobody changes; it may have problems. A text is parsed once."""
        path = self.workspace.policy
        text = path.read_bytes() if path.exists() else b""
        if self._parsed is None or self._parsed[0] != text:
            self._parsed = (text, document.load(self.workspace)[0])
        return self._parsed[1]

    def policy(self) -> Policy:
        """The policy as it stands. Raises `PolicyError` with every problem it has in itself."""
        if not self.workspace.policy.exists():
            raise InputError("there is no table yet. Load one first.")
        return load_confined(self.workspace.policy)

    def table(self) -> pa.Table:
        """All columns of the file, read as the policy says; kept until it says otherwise."""
        spec = self.data_spec()
        key = spec.model_dump_json()
        if key not in self._tables:
            self._tables = {key: self.read(self.path(), spec)}
        return self._tables[key]

    def loaded(self, policy: Policy) -> TableSource:
        """The columns that a policy names, for the pipeline; read once for each set of columns."""
        spec = policy.data.model_dump_json() if policy.data is not None else ""
        key = json.dumps([spec, sorted(policy.columns), sorted(policy.names("identifier"))])
        if key not in self._loaded:
            self._loaded = {key: load_table(self.path(), policy)}
        return self._loaded[key]

    def read(self, path: Path, spec: DataSpec) -> pa.Table:
        """A file as a table with every column that can be shown; more records than are taken here is an error."""
        source = spec.source(path)
        table = read_table(source, column_names(source))
        if table.num_rows > self.max_rows:
            raise DataError(f"{path.name} has {table.num_rows:,} records; at most {self.max_rows:,} are taken here.")
        return table

    def keep(self, table: pa.Table, content: Any) -> None:
        """Hold a table that was just read as a document says."""
        self._tables = {self.data_spec(content).model_dump_json(): table}

    def forget(self) -> None:
        """Another table was opened."""
        self._tables, self._loaded = {}, {}
        self.notes.clear()
