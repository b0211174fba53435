"""Several tables of the same people as one: the records of all of them, one table after the other.

A record has the columns of its own table, and nothing in the others; one more column says which table it is of. Who it
is about is in the table itself, or is looked up through its joins. So a column that several tables have is recoded
once, and everything that is promised of a person holds for all that is released of that person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, PolicyError, PolicyProblem, did_you_mean
from shoal.formatting import listing, pluralize
from shoal.io.read import column_names, read_table
from shoal.io.source import Reading, Source, TableSource
from shoal.policy import Policy
from shoal.policy.tables_spec import TABLE, TABLE_COLUMN
from shoal.search.problem import Progress
from shoal.table.canonical_text import canonical_text


@dataclass(frozen=True, eq=False)
class LinkedTables(Source):
    """The tables of a policy, read into memory."""

    def read(self, policy: Policy, progress: Progress) -> Reading:
        """All records; ``policy`` is that of `as_one_table`."""
        stacked = stack(policy, read_tables(policy))
        return TableSource(stacked, stacked.column_names).read(policy, progress)


def as_one_table(policy: Policy) -> Policy:
    """The policy for all tables as one: which table a record is of is known, and never generalized."""
    columns = policy.model_dump(exclude_unset=True)["columns"]
    return policy if TABLE in columns else policy.changed(columns={TABLE: TABLE_COLUMN, **columns})


def released_files(policy: Policy, folder: Path) -> dict[str, Path]:
    """The file of each released table in a folder."""
    return {name: folder / f"{name}.csv" for name in policy.tables or {}}


def read_tables(policy: Policy) -> dict[str, pa.Table]:
    """The columns that the policy names of each table; `PolicyError` where it names others."""
    found, problems, specs = {}, list[PolicyProblem](), policy.tables or {}
    for name, spec in specs.items():
        source = spec.data.source(policy.location(spec.data.path))
        joined = [column for other in specs.values() for column, to in other.join.items() if to == name]
        names, wanted = column_names(source), dict.fromkeys([*spec.columns, *spec.join, *joined])
        for column in wanted:
            if column not in names:
                fix = did_you_mean(column, names)
                message = f"the table has no column {column!r}."
                problems.append(PolicyProblem(f"tables.{name}", message, fix, code="unknown-column"))
        if not problems:
            found[name] = read_table(source, list(wanted))
    if problems:
        raise PolicyError(problems, policy.source)
    return found


def stack(policy: Policy, tables: Mapping[str, pa.Table]) -> pa.Table:
    """The records of all tables, each with who it is about and the table that it is of."""
    specs, parts = policy.tables or {}, []
    for name, table in tables.items():
        for column, other in specs[name].join.items():
            _check_found(name, table, column, other, tables[other])
        parts.append(_with_person(policy, name, tables))
    wanted = [name for name in policy.columns if any(name in part.column_names for part in parts)]
    types: dict[str, pa.DataType] = {}
    for name, part in zip(tables, parts, strict=True):
        for column in part.column_names:
            kind = part.schema.field(column).type
            if pa.types.is_null(types.setdefault(column, kind)):
                types[column] = kind
            elif not pa.types.is_null(kind) and kind != types[column]:
                message = f"column {column!r} has the type {kind} in {name} and {types[column]} in another table."
                raise DataError(f"{message} Use the same type in all of them.", code="types-differ")
    stacked = [
        pa.table({TABLE: pa.array([name] * part.num_rows, pa.string()), **dict(_columns(part, wanted, types))})
        for name, part in zip(tables, parts, strict=True)
    ]
    return pa.concat_tables(stacked)


def _columns(
    part: pa.Table, wanted: Sequence[str], types: Mapping[str, pa.DataType]
) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:
    """The columns of a table, with nothing in those that it does not have."""
    for name in wanted:
        there = name in part.column_names
        yield name, part.column(name).cast(types[name]) if there else pa.nulls(part.num_rows, types[name])


def _check_found(name: str, table: pa.Table, column: str, other: str, looked_up: pa.Table) -> None:
    """Raise `DataError` where a join leads nowhere."""
    if column not in looked_up.column_names:
        message = f"table {other!r} has no column {column!r}, by which {name!r} is joined to it."
        raise DataError(message, code="unknown-column")
    keys, known = canonical_text(table.column(column)), canonical_text(looked_up.column(column))
    lost = pc.invert(pc.is_in(keys, value_set=pc.unique(known).drop_null()))
    if count := pc.sum(lost).as_py():
        shown = [repr(each) for each in pc.unique(keys.filter(lost)).slice(0, 3).to_pylist()]
        records = pluralize(count, "record of", "records of")
        message = f"{records} {name!r} have a {column!r} that {other!r} does not have: {listing(shown)}."
        raise DataError(f"{message} Leave these records out, or complete {other!r}.", code="join-leads-nowhere")


def _with_person(
    policy: Policy, name: str, tables: Mapping[str, pa.Table], on_the_way: tuple[str, ...] = ()
) -> pa.Table:
    """A table with the columns that say who its records are about, from the tables that it is joined to if need be."""
    table, specs = tables[name], policy.tables or {}
    lacking = [column for column in policy.person_columns if column not in table.column_names]
    if not lacking:
        return table
    for column, other in specs[name].join.items():
        if other in on_the_way:
            continue
        joined = _with_person(policy, other, tables, (*on_the_way, name))
        if not all(each in joined.column_names for each in lacking):
            continue
        people = joined.select([column, *lacking]).group_by([column, *lacking], use_threads=False).aggregate([])
        if len(pc.unique(people.column(column))) < people.num_rows:
            message = f"{column!r} of {other!r} leads to several people, so it does not say who {name!r} is about."
            raise DataError(message, code="join-to-several-people")
        index = pc.index_in(canonical_text(table.column(column)), value_set=canonical_text(people.column(column)))
        for each in lacking:
            table = table.append_column(each, people.column(each).take(index))
        return table
    names = listing([repr(each) for each in lacking])
    message = f"has no {names} and no join that leads to it, so it is unknown who its records are about."
    fix = "Join it to a table that has it: join: {column: table}."
    raise PolicyError([PolicyProblem(f"tables.{name}", message, fix, code="no-person")], policy.source)
