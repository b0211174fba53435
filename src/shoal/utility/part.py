"""Records, all or some of them, with what a policy makes of them: what utility is measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from shoal.encode.resolve import Resolved
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class Part:
    """A table, encoded, and its recoding."""

    table: pa.Table
    resolved: Resolved
    recoding: Recoding


Anonymize = Callable[[pa.Table], Part]
"""Anonymizes some of the records under the same policy."""
