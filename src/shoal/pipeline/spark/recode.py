"""Recoding where the records lie: what is sent to the workers, and what comes back to be put in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from shoal.io import canonical_text
from shoal.pipeline.recoder import Recoder
from shoal.pipeline.search import Searched
from shoal.pipeline.spark.coarsening import Coarse

ORDER = "\0order of "
"""Begins the names of columns that only put rows in order: the texts of values that are no text."""


@dataclass(frozen=True, eq=False)
class OnWorkers:
    """A recoder, what it needs to know of columns that were coarsened, and how values are written."""

    recoder: Recoder
    raised: Mapping[str, Coarse]
    as_text: bool
    """Whether all values are written in their canonical text, as files of text are."""

    def __call__(self, batch: pa.RecordBatch) -> pa.Table:
        """The released rows of a batch, and texts to order them by."""
        columns = {name: batch.column(name) for name in batch.schema.names}
        for name, coarse in self.raised.items():
            columns[name] = coarse.raised(columns[name])
        return with_order(self.recoder.recode(pa.table(columns)), as_text=self.as_text)

    def empty(self, types: Mapping[str, pa.DataType]) -> pa.Table:
        """A table of no rows with the columns that a batch gives."""
        return self(pa.RecordBatch.from_arrays([pa.array([], kind) for kind in types.values()], list(types)))

    def stars(self, empty: pa.Table) -> pa.Table:
        """One suppressed record as the policy may keep it: ``*`` and nothing else."""
        shown = [field for field in empty.schema if not field.name.startswith(ORDER)]
        return with_order(self.recoder.stars(1, pa.schema(shown)), as_text=self.as_text)


def recoder_of(searched: Searched, names: Sequence[str], raised: Mapping[str, Coarse], *, as_text: bool) -> OnWorkers:
    """What the workers need of a recoding; ``names`` are the columns of the data that are used, in its order."""
    return OnWorkers(Recoder.of(searched, names), raised, as_text)


def with_order(table: pa.Table, *, as_text: bool) -> pa.Table:
    """A released table with the texts that order it, or all of it as text."""
    made = {name: table.column(name) for name in table.column_names}
    if as_text:
        return pa.table({name: canonical_text(cells) for name, cells in made.items()})
    others = {name: cells for name, cells in made.items() if not pa.types.is_string(cells.type)}
    return pa.table({**made, **{f"{ORDER}{name}": canonical_text(cells) for name, cells in others.items()}})
