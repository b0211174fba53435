"""What `anonymize` gives back: the released table, its evidence, and how to write them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import InputError, OutputError
from shoal.evidence import Evidence
from shoal.io import Kind, from_arrow, read_table, release_source
from shoal.policy import Policy
from shoal.present.report.page import write_report
from shoal.search.problem import Problem
from shoal.table.recoding import Recoding

if TYPE_CHECKING:
    from shoal.pipeline.why.explain import Why
    from shoal.pipeline.why.find import Matches


@dataclass(frozen=True, eq=False)
class Origin:
    """What a release was made from, as far as `Release.why` needs it: codes and counts, not the table itself."""

    problem: Problem
    order: NDArray[np.int64] | None
    """Which record of the data each row of the recoding is, where they were put into another order."""


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has been verified."""

    policy: Policy
    held: pa.Table | Path
    """The released table, or the file that holds it where it was streamed."""
    recoding: Recoding
    evidence: Evidence
    """What was asked, what holds, what was lost: the content of ``*.evidence.json``."""
    kind: Kind = Kind.ARROW
    search: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the search, such as the minimal nodes."""
    origin: Origin | None = field(default=None, repr=False)
    """What it was made from; never part of what is written."""
    registry: Path | None = field(default=None, repr=False)
    """The registry that it was held against, and that it becomes an entry of when it is written."""

    def __repr__(self) -> str:
        """The counts in one line; the table itself is ``data``."""
        facts = self.evidence
        classes = f"{facts['classes']} class{'' if facts['classes'] == 1 else 'es'}"
        return (
            f"<Release: {facts['released']} of {facts['records']} records in {classes}, "
            f"{facts['suppressed']} suppressed, loss {facts['measures']['loss']:.4f}>"
        )

    @property
    def table(self) -> pa.Table:
        """The released table, as Arrow; one that was streamed is read from its file."""
        return read_table(release_source(self.held)) if isinstance(self.held, Path) else self.held

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

    def write(
        self, path: str | Path, *, force: bool = False, as_of: str | datetime.date | None = None
    ) -> Mapping[str, Path]:
        """Write release, evidence and report together, verified on the written file; returns their paths.

        Where it was made with a registry it becomes an entry of it, of the day ``as_of`` or of today.
        """
        from shoal.pipeline.write import write_release  # noqa: PLC0415 - write.py builds on this file

        return write_release(self, Path(path), force=force, as_of=as_of).paths

    def why(
        self, record: int | None = None, *, where: Mapping[str, Any] | None = None, in_class: int | None = None
    ) -> Why | Matches:
        """Why a record or a class was generalized so far, and what blocks less; ``print`` it to read it in words.

        Name one of: ``record``, its number in the data counted from 1; ``where``, values of its quasi-identifiers;
        ``in_class``, the number of a class counted from 1 in the order of the release.
        """
        from shoal.pipeline.why.explain import explain  # noqa: PLC0415 - why.py builds on this file

        if self.origin is None:
            raise InputError("this release does not know what it was made from, so it cannot say why.")
        name = self.policy.algorithm.name
        return explain(self.origin, self.recoding, name, record=record, where=where, in_class=in_class)
