"""How much memory a run may take, what it is going to need, and when records are streamed instead of held.

What a streamed run needs follows the distinct cells: their codes and counts while they are counted and searched, and a
few times as much for a moment. The figures were measured with ``benchmarks/scale.py``, and are above what it took.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import InputError
from shoal.io import CellCounter, FileKind, sniff_kind
from shoal.io.multiple_files import data_files, is_many
from shoal.pipeline.search import looks_at_records, parts_equals
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.search import ALGORITHMS, algorithms_by

_UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", re.ASCII | re.IGNORECASE)
LEAST = 500_000_000
"""Python, Arrow and the compiled kernels alone, and the blocks that are read: no run takes less."""
_BESIDE = 450_000_000
"""Of it, what stays beside the cells."""
_PER_CELL = 260
"""Bytes of each cell for sorting, tuples and classes, beside its codes."""
_PER_CODE = 45
"""Bytes of each code of a cell: as counted, sorted, searched, and as text while the release is verified."""
_PER_RECORD = 160
"""Bytes of each record for algorithms that move single records."""
_SORTING = 250_000_000
"""What sorting on disk takes, where insensitive columns are left out of the cells."""
_BY_ITSELF = 2_000_000_000
"""Without a limit, insensitive columns are counted while that takes no more than this."""
TEXT_STREAMED = 64_000_000
"""Bytes of text files from which on they are streamed without being told."""
PARQUET_STREAMED = 8_000_000
"""The same for Parquet, which is smaller on disk than in memory."""


def parse_memory(given: str | int | None) -> int | None:
    """Bytes from a number, or a text such as ``2GB``, ``500 MB`` or ``1.5GiB``; `InputError` for anything else."""
    if given is None or isinstance(given, int):
        limit = given
    else:
        found = _SIZE.fullmatch(given)
        if found is None:
            raise InputError(f"{given!r} is no amount of memory. Write for example 2GB, 500MB or 1.5GiB.")
        number, unit, binary = found.groups()
        step = _UNITS[unit.upper()]
        if binary and unit:
            step = 1024 ** ("KMGT".index(unit.upper()) + 1)
        limit = int(float(number) * step)
    if limit is not None and limit < LEAST:
        raise InputError(
            f"{in_words(limit)} of memory are not enough for any run: Python, Arrow and the compiled kernels take most "
            f"of {in_words(LEAST)}. Allow at least that."
        )
    return limit


def in_words(size: float) -> str:
    """Bytes for a message."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= step:
            return f"{size / step:.3g} {unit}"
    return f"{size:.0f} bytes"


@dataclass(frozen=True)
class Budget:
    """The memory that a streamed run may take; None: as much as it needs."""

    limit: int | None

    def sets_apart(self, counter: CellCounter, policy: Policy) -> bool:
        """Whether insensitive columns are to be left out of the cells, since with them these are too many.

        Not where records that are equal otherwise may part: then everything that is released decides who goes where.
        """
        if parts_equals(policy) or not any(name in counter.names for name in policy.names("insensitive")):
            return False
        needed = needed_bytes(counter.n_cells, counter.n_columns, counter.n_rows, policy) + counter.dictionary_bytes
        return needed > (_BY_ITSELF if self.limit is None else self.limit)

    def check(self, counter: CellCounter, policy: Policy, share: float) -> None:
        """Refuse before the search what would not fit: said as soon as the cells counted so far are too many."""
        if self.limit is None:
            return
        needed = needed_bytes(counter.n_cells, counter.n_columns, counter.n_rows, policy) + counter.dictionary_bytes
        if any(name not in counter.names for name in policy.names("insensitive")):
            needed += _SORTING
        if needed > self.limit:
            raise InputError(_refusal(self.limit, needed, counter, policy, share))


def needed_bytes(n_cells: int, n_columns: int, n_rows: int, policy: Policy) -> int:
    """About how much a run on so many cells is going to take at its peak."""
    single = _PER_RECORD * n_rows if looks_at_records(policy) else 0
    each = _PER_CELL + _PER_CODE * n_columns + ALGORITHMS[policy.algorithm.name].bytes_per_row
    return _BESIDE + n_cells * each + single


def _refusal(limit: int, needed: int, counter: CellCounter, policy: Policy, share: float) -> str:
    who, whole = ("", "") if share >= 1 else ("The first ", ", and more for the rest")
    apart = [name for name in policy.names("insensitive") if name not in counter.names]
    which = f"the {counter.n_columns} columns that are released"
    if apart:
        which = f"{counter.n_columns} of the columns that are released (without {', '.join(apart)})"
    helps = ["allow more memory"]
    if looks_at_records(policy):
        lighter = [name for name in algorithms_by("from-the-top") if not ALGORITHMS[name].works_on_records]
        helps.append(f"use {' or '.join(lighter)}, which do not hold single records")
    if parts_equals(policy) and any(name in counter.names for name in policy.names("insensitive")):
        helps.append("leave out insensitive columns with many values or long texts")
    helps.append("or round values that are finer than anybody needs before they come here")
    return (
        f"{who}{counter.n_rows:,} records have {counter.n_cells:,} distinct combinations of {which}. "
        f"That takes about {in_words(needed)}{whole}, and {in_words(limit)} are allowed. "
        f"Nothing was written. What helps: {'; '.join(helps)}."
    )


def streams(policy: Policy, source: DataSource, limit: int | None) -> bool:
    """Whether the records are streamed: when memory is limited, of several files, or of large ones.

    Without a limit, a policy with a ``utility`` task is run in memory, because models are trained on records. The
    release is the same either way.
    """
    if limit is not None:
        return True
    if policy.utility is not None or source.database is not None:
        return False
    if is_many(source.path):
        return True
    return any(_is_large(path) for path in data_files(source.path))


def _is_large(path: Path) -> bool:
    try:
        size = path.stat().st_size
    except OSError:
        return False  # the reader says what is wrong with it
    kind = sniff_kind(path)
    return size > {FileKind.TEXT: TEXT_STREAMED, FileKind.PARQUET: PARQUET_STREAMED}.get(kind, size)
