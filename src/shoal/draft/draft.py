"""From a table to the draft of its policy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.draft.lattice import fit
from shoal.draft.marks import Marks
from shoal.draft.profile import Profile
from shoal.draft.propose import Proposal
from shoal.draft.roles import Decision, by_name, decide
from shoal.draft.sniff import Found, is_parquet, sniff
from shoal.draft.write import Facts, policy_text
from shoal.io import DataSource, column_names, encode, read_table
from shoal.io.columns import has_text
from shoal.io.read import PARQUET_SUFFIXES, TEXT_SUFFIXES
from shoal.io.textstream import COMPRESSIONS
from shoal.table.encoded import combine_codes


def draft_policy(
    path: Path, *, folder: Path | None = None, separator: str | None = None, encoding: str | None = None
) -> str:
    """The text of a commented policy for a CSV or Parquet file, which loads and runs as it is.

    ``folder`` is where the policy will stand (the data's folder by default); separator and encoding of a text file are
    guessed when not given, and written into the policy. Raises `DataError` for a file that cannot be read as a table.
    A table without any value gives a policy that loads, and nothing to release.
    """
    path = Path(path)
    found = None if is_parquet(path) else sniff(path, separator=separator, encoding=encoding)
    source = _source(path, found)
    names = column_names(source)
    unreadable = _unreadable(path, names) if found is None else {}
    table = read_table(source, [name for name in names if name not in unreadable])
    marks = _marks(table)
    decided = _decisions(table, marks.missing) if table.num_rows else map(by_name, table.column_names)
    fitted = fit(_with_a_quasi_identifier(list(decided)))
    return policy_text(
        Facts(
            data=_relative(path, folder),
            output=f"{base_name(path)}-release.csv",
            found=found,
            marks=marks,
            fitted=fitted,
            records=table.num_rows,
            unique=_unique(table, [each.name for each in fitted.decisions if each.role == "quasi"], marks.missing),
            unreadable=tuple(unreadable.items()),
        )
    )


def base_name(path: Path) -> str:
    """The name of a data file without the suffixes that say how it is stored: ``daten.2019`` for daten.2019.csv.gz."""
    name = path.name
    for known in (tuple(COMPRESSIONS), (*TEXT_SUFFIXES, *PARQUET_SUFFIXES)):
        suffix = next((each for each in known if name.lower().endswith(each)), "")
        name = name[: len(name) - len(suffix)]
    return name or "data"


def _source(path: Path, found: Found | None) -> DataSource:
    if found is None:
        return DataSource(path)
    return DataSource(path, separator=found.separator, encoding=found.encoding)


def _unreadable(path: Path, names: Sequence[str]) -> dict[str, str]:
    """The columns of a Parquet file that no policy can use, with their types."""
    from pyarrow.parquet import read_schema  # noqa: PLC0415  start-up is quicker without it

    schema = read_schema(path)
    kinds = {name: schema.field(name).type for name in names}
    return {name: str(kind) for name, kind in kinds.items() if not has_text(_inner(kind))}


def _inner(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) else kind


def _counts(column: pa.ChunkedArray) -> dict[str | None, int]:
    """The different values of a column and how many records have each."""
    labels, codes = encode(column)
    return dict(zip(labels, np.bincount(codes, minlength=len(labels)).tolist(), strict=True))


def _marks(table: pa.Table) -> Marks:
    marks = Marks()
    for name in table.column_names:
        marks.add(name, {value: count for value, count in _counts(table.column(name)).items() if value is not None})
    return marks


def _decisions(table: pa.Table, missing: Sequence[str]) -> Iterator[Decision]:
    for name in table.column_names:
        counts = _counts(table.column(name))
        present = {value: count for value, count in counts.items() if value is not None and value not in missing}
        yield decide(Profile.of(name, present, sum(counts.values()) - sum(present.values())))


def _with_a_quasi_identifier(decisions: list[Decision]) -> list[Decision]:
    """The decisions, one column made a quasi-identifier where there is none, since a policy needs one.

    First a column that would be released as it is, then one that would not be released: it loses nothing by it.
    """
    if any(each.role == "quasi" for each in decisions):
        return decisions
    rank = {"insensitive": 0, "identifier": 1, "sensitive": 2}
    chosen = min(decisions, key=lambda each: (not each.distinct, rank[each.role], each.distinct))
    why = f"{chosen.why} A policy needs a quasi-identifier and no column looks like one, so this stands in."
    note = "flat: a value is kept or becomes *; only values that many records share survive."
    quasi = replace(chosen, role="quasi", why=why, proposal=Proposal("flat", 2, note))
    return [quasi if each is chosen else each for each in decisions]


def _unique(table: pa.Table, quasi: Sequence[str], missing: Sequence[str]) -> int:
    """How many records no other equals on all these columns."""
    columns, sizes = [], []
    for name in quasi:
        labels, codes = encode(table.column(name))
        blank = len(labels)
        codes_of = np.array(
            [blank if label is None or label in missing else code for code, label in enumerate(labels)], dtype=np.int32
        )
        columns.append(codes_of[codes])
        sizes.append(blank + 1)
    if not table.num_rows:
        return 0
    keys, _ = combine_codes(columns, sizes)
    return int(np.count_nonzero(np.unique(keys, return_counts=True)[1] == 1))


def _relative(path: Path, folder: Path | None) -> str:
    """The data file as the policy names it, with forward slashes; absolute where no relative path leads to it."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links, and the path then reads strange
    if folder is None:
        return path.name
    try:
        return Path(os.path.relpath(absolute, os.path.abspath(folder))).as_posix()  # noqa: PTH100
    except ValueError:
        return absolute.as_posix()
