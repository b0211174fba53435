"""Read a table in batches of records, so that memory does not follow its length.

The batches hold what `shoal.io.read_table` would give, some rows at a time; text may come with a dictionary, which the
cell counter takes as it is. Formats that can only be read whole come as one batch after the other of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pyarrow as pa

from shoal.io.multiple_files import Fingerprint, check_same_columns, parts_of
from shoal.io.postgres.tables import database_batches
from shoal.io.read import column_names, readable
from shoal.policy.data_source import DataSource

Done = Callable[[float], None]
"""Called with the share of the bytes that has been read, from 0 to 1."""
_NEARLY: Final = 0.999
"""The share that is reported before the last batch has been used: text is read ahead of it."""


def read_batches(source: DataSource, columns: Sequence[str], done: Done | None = None) -> Iterator[pa.RecordBatch]:
    """The columns asked for, a batch at a time; `DataError` where a file is wrong or changes meanwhile."""
    if source.database is not None:
        yield from database_batches(source, columns)
        return
    before = Fingerprint.of(source)
    total, behind = max(before.nbytes, 1), 0
    parts = parts_of(source)
    names = column_names(parts[0])
    for part, seen in zip(parts, before.files, strict=True):
        check_same_columns(parts[0].path, names, part.path, column_names(part))
        with readable(part) as form:
            for batch, share in form.batches(part, columns):
                yield batch
                if done is not None:
                    done(min((behind + share * seen.size) / total, _NEARLY))
        behind += seen.size
    before.check(source)
    if done is not None:
        done(1.0)
