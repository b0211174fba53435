"""What `anonymize` gives back: the released table, its evidence, and how to write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import OutputError
from shoal.io import Kind, from_arrow
from shoal.policy import Policy
from shoal.report import write_report
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has been verified."""

    policy: Policy
    table: pa.Table
    """The released table, as Arrow."""
    recoding: Recoding
    evidence: Mapping[str, Any]
    """What was asked, what holds, what was lost: the content of ``*.evidence.json``."""
    kind: Kind = Kind.ARROW
    search: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the search, such as the minimal nodes."""

    def __repr__(self) -> str:
        """The counts in one line; the table itself is ``data``."""
        facts = self.evidence
        classes = f"{facts['classes']} class{'' if facts['classes'] == 1 else 'es'}"
        return (
            f"<Release: {facts['released']} of {facts['records']} records in {classes}, "
            f"{facts['suppressed']} suppressed, loss {facts['measures']['loss']:.4f}>"
        )

    @property
    def data(self) -> Any:
        """The released table in the kind that came in: pandas, polars or Arrow."""
        return from_arrow(self.table, self.kind)

    def report(self, path: str | Path) -> Path:
        """Write the report page and return its path."""
        target = Path(path)
        try:
            target.write_text(write_report(self.evidence), encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from None
        return target

    def write(self, path: str | Path, *, force: bool = False) -> Mapping[str, Path]:
        """Write release, evidence and report together, verified on the written file; returns their paths."""
        from shoal.pipeline.write import write_release  # noqa: PLC0415 - write.py builds on this file

        return write_release(self, Path(path), force=force).paths
