"""From a table to the draft of its policy."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.draft.profile import Profile
from shoal.draft.propose import Proposal
from shoal.draft.roles import Decision, by_name, decide, is_unknown, searchable
from shoal.draft.survey import names_household, survey_column
from shoal.draft.text_format import MissingMarks, TextFormat, text_format
from shoal.draft.write import PolicyDraft
from shoal.encode.spellings import Spellings
from shoal.errors import DataError, InputError
from shoal.formatting import parse_data_size
from shoal.io import DataSource, FileKind, Location, base_name, column_names, encode, read_table, sniff_kind
from shoal.io.formats.excel import sheet_read
from shoal.io.postgres.tables import database_columns
from shoal.policy.spec import ColumnSpec, DataSpec
from shoal.table.canonical_text import has_text
from shoal.table.encoded import combine_codes


def draft_facts(
    path: Location,
    *,
    folder: Path | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    unpacked: str | None = None,
) -> PolicyDraft:
    """The draft of a policy for a file or a table of a database; `policy_text` writes it.

    ``folder`` is where the policy will be (the data's folder by default); separator and encoding of a text file are
    guessed when not given, and written into the policy; ``sheet`` is that of a workbook, by default the first;
    ``unpacked``, such as 8GB, is what a compressed file may unpack to, if it is more than usual. Raises `DataError` for
    a file that cannot be read as a table.
    """
    kind = _kind(path)
    if sheet is not None and kind is not FileKind.EXCEL:
        raise DataError(f"{path} is not a workbook, so it has no sheet {sheet!r}. Omit --sheet.", code="no-sheet")
    found = None
    if kind is FileKind.TEXT and isinstance(path, Path):
        found = text_format(path, separator=separator, encoding=encoding)
    source = _source(path, found, sheet, unpacked)
    names = column_names(source)
    unreadable = _unreadable(source, kind, names)
    table = read_table(source, [name for name in names if name not in unreadable])
    marks = _marks(table)
    decided = _decisions(table, marks) if table.num_rows else map(by_name, table.column_names)
    decisions, nodes, left_out = searchable(_with_a_quasi_identifier(list(decided)))
    return PolicyDraft(
        data=_relative(path, folder) if isinstance(path, Path) else path.text,
        output=f"{draft_name(path)}-release.csv",
        text_format=found,
        sheet=sheet_read(source) if kind is FileKind.EXCEL else None,
        unpacked=unpacked,
        marks=marks,
        decisions=decisions,
        nodes=nodes,
        left_out=left_out,
        records=table.num_rows,
        unique=_unique(table, [each.name for each in decisions if each.role == "quasi"], marks.missing),
        unreadable=tuple(unreadable.items()),
    )


def draft_name(data: Location) -> str:
    """The name that a policy and a release of some data get: that of its file or table."""
    name = base_name(data) if isinstance(data, Path) else data.parts[1]
    return re.sub(r"[/\\\0]", "_", name)


def _kind(path: Location) -> FileKind | None:
    """The kind of the file; None for a table of a database."""
    if not isinstance(path, Path):
        return None
    return sniff_kind(path) if path.is_file() else FileKind.TEXT  # reading says what is wrong with the path


def _source(
    path: Location, text_format: TextFormat | None, sheet: str | int | None, unpacked: str | None
) -> DataSource:
    if not isinstance(path, Path):
        return DataSpec(path=path.text).source(path)
    try:
        size = None if unpacked is None else parse_data_size(unpacked)
    except ValueError as error:
        raise InputError(str(error), code="not-a-size") from None
    if text_format is None:
        return DataSource(path, sheet=sheet, unpacked=size)
    return DataSource(path, separator=text_format.separator, encoding=text_format.encoding, unpacked=size)


def _unreadable(source: DataSource, kind: FileKind | None, names: Sequence[str]) -> dict[str, str]:
    """The columns that no policy can use, with their types: files of Parquet and databases may have such."""
    if kind is None:
        return {column.name: column.declared for column in database_columns(source) if not column.readable}
    if kind is not FileKind.PARQUET:
        return {}
    from pyarrow.parquet import read_schema  # noqa: PLC0415  start-up is quicker without it

    schema = read_schema(source.path)
    kinds = {name: schema.field(name).type for name in names}
    return {name: str(kind) for name, kind in kinds.items() if not has_text(_inner(kind))}


def _inner(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) else kind


def _counts(column: pa.ChunkedArray) -> dict[str | None, int]:
    """The different values of a column and how many records have each."""
    labels, codes = encode(column)
    return dict(zip(labels, np.bincount(codes, minlength=len(labels)).tolist(), strict=True))


def _marks(table: pa.Table) -> MissingMarks:
    marks = MissingMarks()
    for name in table.column_names:
        marks.add(name, {value: count for value, count in _counts(table.column(name)).items() if value is not None})
    return marks


def _decisions(table: pa.Table, marks: MissingMarks) -> Iterator[Decision]:
    missing, of_survey = marks.missing, any(map(names_household, table.column_names))
    for name in table.column_names:
        counts = _counts(table.column(name))
        present = {value: count for value, count in counts.items() if value is not None and value not in missing}
        profile = Profile.of(name, present, sum(counts.values()) - sum(present.values()))
        yield _decide(profile, marks, of_survey=of_survey)


def _decide(profile: Profile, marks: MissingMarks, *, of_survey: bool) -> Decision:
    """The role of a column; of a sensitive one without unknown values, and with spellings that are alike merged."""
    key = survey_column(profile, of_survey=of_survey)
    if key is not None:
        facts = {"distinct": profile.distinct, "present": profile.present}
        if key == "weight":
            facts["population"] = round(sum(value * n for value, n in profile.numbers or ()))
        return Decision(profile.name, "identifier", (key,), facts, distinct=profile.distinct)
    decision = decide(profile)
    if decision.role != "sensitive":
        return decision
    unknown = [value for value in profile.counts if is_unknown(value) or marks.could_be(value, profile.name)]
    unknown = sorted(unknown) if len(unknown) < profile.distinct else []
    spec = ColumnSpec(role="sensitive", unknown=unknown or None)
    same = Spellings.of(profile.name, spec, profile.counts.items()).same
    if not same and not unknown:
        return decision
    left = profile.merged(ColumnSpec(role="sensitive", same=same or None).value_of).without(unknown)
    merged = decide(left)
    return replace(merged, same=same, unknown=unknown) if merged.role == "sensitive" else merged


def _with_a_quasi_identifier(decisions: list[Decision]) -> list[Decision]:
    """The decisions, one column made a quasi-identifier where there is none, since a policy needs one.

    First a column that would be released as it is, then one that would not be released: it loses nothing by it.
    """
    if any(each.role == "quasi" for each in decisions):
        return decisions
    rank = {"insensitive": 0, "identifier": 1, "sensitive": 2}
    chosen = min(decisions, key=lambda each: (not each.distinct, rank[each.role], each.distinct))
    reasons = (*chosen.reasons, "stand-in")
    proposal = Proposal("flat", 2, "flat-stand-in")
    quasi = replace(chosen, role="quasi", reasons=reasons, proposal=proposal, same={}, unknown=())
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
