"""How much memory a run may take, what it is going to need, and when records are streamed instead of held.

What a streamed run needs follows the distinct rows: their codes and counts while they are counted and searched, and a
few times as much for a moment. The figures were measured with ``benchmarks/scale.py``, and are above what it took.
"""

from dataclasses import dataclass

from shoal.encode.result import keeps_duplicates, works_on_records
from shoal.errors import InputError
from shoal.formatting import data_size, listing, parse_data_size, pluralize
from shoal.io.counting import DistinctRowCounter
from shoal.io.multiple_files import is_many
from shoal.policy import Policy
from shoal.policy.data_source import DataSource
from shoal.policy.file_kinds import COMPRESSIONS, FileKind, sniff_kind
from shoal.search import ALGORITHMS
from shoal.search.algorithm import Demand

LEAST = 500_000_000  # Python, Arrow and the compiled kernels alone, and the blocks that are read: no run takes less
_BESIDE = 450_000_000  # of it, what stays beside the distinct rows
_PER_ROW = 260  # bytes of each distinct row for sorting, tuples and classes, beside its codes
_PER_CODE = 45  # bytes of each code of a row: as counted, sorted, searched, and as text while the release is verified
_PER_PERSON_ROW = 110  # bytes of each row of a person, beside its codes: sorted, in classes, and while it is verified
_PER_PERSON_CODE = 4  # bytes of each code of such a row; its other columns are counted without the person
_PER_KIND = 12  # bytes of each code of a row without its person
_PER_RECORD = 160  # bytes of each record for algorithms that move single records
_SORTING = 250_000_000  # what sorting on disk takes, where insensitive columns are not counted
_BY_ITSELF = 2_000_000_000  # without a limit, insensitive columns are counted while that takes no more than this
TEXT_STREAMED = 64_000_000  # bytes of text from which on files are streamed by themselves
PACKED_STREAMED = 8_000_000  # the same for Parquet and compressed text, which are smaller on disk than in memory


def memory_limit(memory: str | int | None) -> int | None:
    """Bytes from a number, or a text such as ``2GB``; `InputError` for anything else, and for too little."""
    try:
        limit = parse_data_size(memory) if isinstance(memory, str) else memory
    except ValueError as error:
        raise InputError(str(error), code="not-a-size") from None
    if limit is not None and limit < LEAST:
        why = f"Python, Arrow and the compiled kernels take most of {data_size(LEAST)}. Allow at least that."
        message = f"{data_size(limit)} of memory is not enough for any run: {why}"
        raise InputError(message, code="too-little-memory")
    return limit


@dataclass(frozen=True)
class Budget:
    """The memory that a streamed run may take; None: as much as it needs."""

    limit: int | None

    def leaves_out(self, counter: DistinctRowCounter, policy: Policy) -> bool:
        """Whether insensitive columns are no longer counted, since with them the distinct rows are too many."""
        if (
            not keeps_duplicates(policy)
            or policy.relative_columns
            or not any(name in counter.names for name in policy.names("insensitive"))
        ):
            return False
        return self._needed(counter, policy) > (_BY_ITSELF if self.limit is None else self.limit)

    def demands(self, counter: DistinctRowCounter, policy: Policy) -> frozenset[Demand]:
        """What the recoding must be like, by the columns that were counted and the memory that is left."""
        lacking = any(name not in counter.names for name in policy.names("insensitive"))
        needed = self._needed(counter, policy) + _PER_RECORD * counter.n_rows + (_SORTING if lacking else 0)
        no_room = self.limit is not None and needed > self.limit
        found = {Demand.EQUAL_LABELS: lacking, Demand.NO_SINGLE_RECORDS: no_room}
        return frozenset(demand for demand, made in found.items() if made)

    def check(self, counter: DistinctRowCounter, policy: Policy, share: float) -> None:
        """Raise `InputError` before the search, as soon as the distinct rows counted so far are too many."""
        if self.limit is None:
            return
        lacking = [name for name in policy.names("insensitive") if name not in counter.names]
        needed = self._needed(counter, policy) + (_SORTING if lacking else 0)
        if needed <= self.limit:
            return
        first, whole = ("", "") if share >= 1 else ("The first ", ", and more for the rest")
        which = f"the {len(counter.names)} columns that are released"
        if lacking:
            which = f"{len(counter.names)} of the columns that are released (without {listing(lacking)})"
        helps = ["allow more memory"]
        if works_on_records(policy):
            others = [name for name, entry in ALGORITHMS.items() if entry.bytes_per_row and not entry.works_on_records]
            helps.append(f"use {' or '.join(others)}, which do not hold single records")
        if not keeps_duplicates(policy) and len(lacking) < len(policy.names("insensitive")):
            helps.append("leave out insensitive columns with many values or long texts")
        helps.append("round values that are more precise than anybody needs")
        raise InputError(
            f"{first}{pluralize(counter.n_rows, 'record')} have {pluralize(counter.n_distinct, 'distinct combination')}"
            f" of {which}. That takes about {data_size(needed)}{whole}, and {data_size(self.limit)} is allowed. "
            f"Nothing was written. What helps: {'; '.join(helps)}.",
            code="memory-exceeded",
        )

    @staticmethod
    def _needed(counter: DistinctRowCounter, policy: Policy) -> int:
        """About how much a run on the rows counted so far is going to take at its peak."""
        names, local = len(counter.names), policy.search_algorithm.bytes_per_row
        rows = counter.n_distinct * (_PER_ROW + _PER_CODE * names + local)
        if policy.person_columns:  # most of them differ in nothing but their person
            of_people = counter.n_distinct * (_PER_PERSON_ROW + _PER_PERSON_CODE * names + local)
            rows = of_people + counter.n_kinds * _PER_KIND * names
        single = _PER_RECORD * counter.n_rows if works_on_records(policy) else 0
        return _BESIDE + rows + single + counter.dictionary_bytes


def streams(policy: Policy, source: DataSource, limit: int | None) -> bool:
    """Whether the records are streamed: when memory is limited, of several files, or of large ones."""
    if limit is not None:
        return True
    if policy.utility is not None or source.database is not None:
        return False
    if is_many(source.path):
        return True
    try:
        size = source.path.stat().st_size
    except OSError:
        return False  # the reader says what is wrong with it
    packed = source.path.suffix.lower() in COMPRESSIONS
    large = {FileKind.TEXT: PACKED_STREAMED if packed else TEXT_STREAMED, FileKind.PARQUET: PACKED_STREAMED}
    return size > large.get(sniff_kind(source.path), size)
