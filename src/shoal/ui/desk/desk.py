"""What the desk process holds: the table of its session, read once, and the policy, checked once per change."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import DataError, InputError
from shoal.io import column_names, read_table
from shoal.policy import Policy
from shoal.policy.spec import DataSpec
from shoal.ui.desk.document import CheckedPolicy, check_document, check_file, revision_of, text_of
from shoal.ui.server.workspace import Workspace


class Cache(dict[Hashable, Any]):
    """What questions keep for the next time."""

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, made when it is first needed."""
        if key not in self:
            self[key] = make()
        return self[key]


@dataclass
class Desk:
    """One session's table and policy, as the questions need them."""

    workspace: Workspace
    max_rows: int
    cache: Cache = field(default_factory=Cache)  # emptied when the table is another
    _table: tuple[str, pa.Table] | None = None  # how the file was read, and its table
    _checked: tuple[str, CheckedPolicy] | None = None  # the revision of the policy file that was checked last

    def data_spec(self, content: Any = None) -> DataSpec:
        """How the policy says that the file is to be read."""
        content = self.document() if content is None else content
        given = content.get("data") if isinstance(content, dict) else None
        try:
            spec = DataSpec.model_validate(given if given is not None else self.workspace.table().name)
        except ValueError:
            message = "`data` in the policy does not say correctly how the file is read. Correct it in the policy file."
            raise InputError(message, code="data-unreadable") from None
        return spec.model_copy(update={"path": self.workspace.table().name})

    def hold(self, content: Any, revision: str) -> None:
        """Check a document that was just written as the policy file, so that the file need not be read."""
        self._checked = (revision, check_document(content))

    def checked(self) -> CheckedPolicy:
        """The policy file with its problems; read and checked again only where it has changed."""
        revision = revision_of(text_of(self.workspace.policy))
        if self._checked is None or self._checked[0] != revision:
            self._checked = (revision, check_file(self.workspace.policy))
        return self._checked[1]

    def document(self) -> Any:
        """The policy as plain data that nobody changes; it may have problems."""
        return self.checked().document

    def policy(self) -> Policy:
        """The policy. Raises `PolicyError` with every problem it has in itself."""
        self.workspace.table()  # without one there is no policy either
        return self.checked().valid()

    def table(self) -> pa.Table:
        """All columns of the file, read as the policy says; kept until it says otherwise."""
        spec = self.data_spec()
        if self._table is None or self._table[0] != spec.model_dump_json():
            self.open(self.read(self.workspace.table(), spec), spec)
        assert self._table is not None
        return self._table[1]

    def read(self, path: Path, spec: DataSpec) -> pa.Table:
        """A file as a table with every column that can be shown; more records than are allowed here is an error."""
        source = spec.source(path)
        table = read_table(source, column_names(source))
        self.check_size(path, table.num_rows)
        return table

    def check_size(self, path: Path, records: int) -> None:
        """Refuse a table with no records, or with more than are allowed here."""
        if not records:
            raise DataError(f"{path.name} has no records.", code="empty-table")
        if records > self.max_rows:
            limit = f"at most {self.max_rows:,} are allowed here."
            raise DataError(f"{path.name} has {records:,} records; {limit}", code="too-many-records")

    def open(self, table: pa.Table, spec: DataSpec) -> None:
        """Hold another table, which was just read in this way."""
        self.cache.clear()
        self._table = (spec.model_dump_json(), table)
