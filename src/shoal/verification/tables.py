"""Several released tables of the same people, checked as one: every table by itself, and everything that joins them.

A record has the columns of its own table and nothing in the others; one more column says which table it is of. The
originals are put together in the same manner, with whom a record is about looked up through the joins: a second time,
from the files.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import DataError
from shoal.verification.canonical_text import Codes, Label, Mask
from shoal.verification.counted_rows import RowOrder
from shoal.verification.read import Original, ReadRelease, read_original, read_release
from shoal.verification.release_checks import check_baggage, check_columns, check_order, claimed_hash, expected_columns
from shoal.verification.result import Check
from shoal.verification.stated_policy import StatedPolicy

TABLE = "(table)"
EVIDENCE = "release.evidence.json"


def table_policy(policy: StatedPolicy, table: str) -> StatedPolicy:
    """What one of the released tables must have: its columns, and the pseudonym that joins it to the others."""
    names = (*policy.tables[table].columns, policy.pseudonym)
    columns = {name: column for name, column in policy.columns.items() if name in names}
    return replace(policy, columns=columns)


def read_released_tables(paths: Mapping[str, Path], policy: StatedPolicy) -> tuple[ReadRelease, list[Check]]:
    """The tables as one, and a check of each file; those that lack columns or are not there are not among them."""
    checks, parts = [], dict[str, ReadRelease]()
    hashes = ""
    for table in sorted(policy.tables):
        path = paths.get(table)
        if path is None or not path.is_file():
            message = f"there is no file of the table {table}"
            checks.append(Check(f"columns of {table}", False, message, {"missing": [table]}))
            continue
        given, own = read_release(path), table_policy(policy, table)
        found = [check_columns(given, own), check_baggage(given), check_order(given)]
        checks += [replace(each, name=f"{each.name} of {table}") for each in found]
        hashes += f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {table}\n"
        if not found[0].facts["missing"]:
            parts[table] = given
    folders = {path.parent for path in paths.values()}
    beside = next(iter(folders)) / EVIDENCE if len(folders) == 1 else None
    if beside is not None and beside.is_file():
        checks += claimed_hash(beside, hashlib.sha256(hashes.encode()).hexdigest())
    names = [name for name in expected_columns(policy) if name != TABLE]
    columns: dict[str, list[Any]] = {name: [] for name in (TABLE, *names)}
    for table, given in parts.items():
        rows = len(given.counts)
        columns[TABLE].append(pa.array([table] * rows, pa.string()))
        for name in names:
            columns[name].append(_text(given.columns[name]) if name in given.columns else pa.nulls(rows, pa.string()))
    stacked = {name: pa.chunked_array(each, pa.string()).combine_chunks() for name, each in columns.items()}
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(given.counts for given in parts.values())])
    return ReadRelease((TABLE, *names), stacked, counts, RowOrder()), checks


def _text(column: Any) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def read_original_tables(
    originals: Mapping[str, Original], policy: StatedPolicy, wanted: Sequence[str]
) -> tuple[dict[str, Any], Codes]:
    """Some columns of the original tables as one, and how many records each row stands for."""
    read = dict(_read(originals, policy))
    columns: dict[str, list[Any]] = {name: [] for name in wanted}
    counts = []
    for table, (cells, often) in read.items():
        people = _people(table, read, policy)
        shown = {name: cells[name] for name in policy.tables[table].columns}
        shown |= {TABLE: [table] * len(often), **people}
        counts.append(often)
        for name in wanted:
            columns[name].append(pa.array(shown.get(name, [None] * len(often)), pa.string()))
    stacked = {name: pa.chunked_array(each, pa.string()).combine_chunks() for name, each in columns.items()}
    return stacked, np.concatenate(counts)


Cells = tuple[dict[str, list[Label]], Codes]


def _read(originals: Mapping[str, Original], policy: StatedPolicy) -> Iterator[tuple[str, Cells]]:
    """The columns of each table that are released, that say who a record is about, or that join it to another."""
    for table, stated in policy.tables.items():
        joins = [column for other in policy.tables.values() for column, to in other.join.items() if to == table]
        names = list(dict.fromkeys([*stated.columns, *stated.join, *joins]))
        columns, counts = read_original(originals[table], names)
        yield table, ({name: _text(column).to_pylist() for name, column in columns.items()}, counts)


def _people(
    table: str, read: Mapping[str, Cells], policy: StatedPolicy, seen: tuple[str, ...] = ()
) -> dict[str, list[Label]]:
    """The columns that say whom each row of a table is about; `DataError` where they do not."""
    cells, counts = read[table]
    if all(name in cells for name in policy.person):
        return {name: cells[name] for name in policy.person}
    for column, other in policy.tables[table].join.items():
        if other in seen:
            continue
        people = _people(other, read, policy, (*seen, table))
        whose: dict[Label, tuple[Label, ...]] = {}
        for key, *person in zip(read[other][0][column], *people.values(), strict=True):
            if whose.setdefault(key, tuple(person)) != tuple(person):
                raise DataError(f"{column!r} of {other!r} leads to several people.", code="join-to-several-people")
        found = [whose.get(key, (None,) * len(policy.person)) for key in cells[column]]
        return {name: [each[place] for each in found] for place, name in enumerate(policy.person)}
    raise DataError(f"whom the {int(counts.sum()):,} records of {table!r} are about is not known.", code="no-person")


def rows_with(policy: StatedPolicy, tables: Any, column: str) -> Mask | None:
    """The rows of tables that have a column; None where there are no tables, or all of them have it."""
    having = [name for name, stated in policy.tables.items() if column in stated.columns]
    if len(having) == len(policy.tables):
        return None
    return np.isin(np.array(_text(tables).to_pylist(), dtype=object), having)
