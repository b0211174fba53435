"""Several tables of the same people, released together: where each is, and how its records are joined to another."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from shoal.errors import did_you_mean
from shoal.policy.fields import ByColumn, Name, some
from shoal.policy.partial import PartialPolicy, PartialSpec, read_part
from shoal.policy.spec import ColumnSpec, DataSpec, Spec

TABLE = "(table)"
"""The column that says which table a record belongs to, where all are one."""
TABLE_COLUMN = {"role": "quasi", "hierarchy": {"flat": True}, "boundary": 0}
"""It is known, and never generalized."""
_EXAMPLE = "tables: {patients: {data: patients.csv, columns: [patient_id, sex]}}"


class TableSpec(Spec):
    """One of several tables."""

    example = "{data: visits.csv, columns: [patient_id, ward], join: {patient_id: patients}}"

    data: DataSpec = Field(description="the table, as under data")
    columns: Annotated[list[Name], AfterValidator(some)] = Field(
        description="those of the policy's columns that the table has; its others are not released"
    )
    join: Annotated[dict[str, Name], ByColumn] = Field(
        default_factory=dict, description="columns of the table, each with the table that it is looked up in"
    )


Tables = Annotated[dict[str, TableSpec], ByColumn]


def read_tables(
    raw: Mapping[Any, Any],
    columns: Mapping[str, PartialSpec[ColumnSpec]],
    person: tuple[str, ...],
    parts: PartialPolicy,
) -> None:
    """Note everything that is wrong with ``tables``, alone and with the rest of the policy."""
    tables = raw.get("tables")
    if tables is None:
        return
    if not isinstance(tables, Mapping) or not tables:
        message = "must be a mapping from names to tables."
        parts.add("tables", message, f"Write {_EXAMPLE}.", code="wrong-type")
        return
    specs = {str(name): read_part(TableSpec, content, f"tables.{name}", parts) for name, content in tables.items()}
    for name, part in specs.items():
        if part.value is not None:
            _check_table(name, part.value, specs, columns, parts)
    if all(part.value is not None for part in specs.values()):
        named = {column for part in specs.values() if part.value is not None for column in part.value.columns}
        for column in columns:
            if column not in {*named, TABLE}:
                fix = "List it under the columns of a table, or leave it out."
                parts.add(f"columns.{column}", "no table has the column.", fix, code="unknown-column")
    for name, stated in columns.items():
        _check_column(name, stated.value, [part.value for part in specs.values() if part.value is not None], parts)
    pseudonyms = [name for name, part in columns.items() if part.role in {"pseudonym", None}]
    if not set(person) & set(pseudonyms):
        message = "tables that are released together are joined by a pseudonym, but the policy has none."
        fix = "Name the person, and give the column the role pseudonym; or release each table with its own policy."
        parts.add("tables", message, fix, code="no-pseudonym")
    for key, reason in _EXCLUDED.items():
        if raw.get(key) not in (None, False, "drop"):
            parts.add(key, f"cannot be used with tables: {reason}.", "Leave it out.", code="not-with-tables")


_EXCLUDED = {
    "data": "each table has its own",
    "suppressed": "a record of * only would not show which table it belongs to",
    "utility": "it is measured on one table",
    "household": "it is measured on one table",
    "weight": "it is measured on one table",
}


def _check_table(
    name: str,
    spec: TableSpec,
    specs: Mapping[str, PartialSpec[TableSpec]],
    columns: Mapping[str, PartialSpec[ColumnSpec]],
    parts: PartialPolicy,
) -> None:
    where = f"tables.{name}"
    if not name or name.startswith(".") or set(name) & set('/\\:*?"<>|'):
        parts.add(where, "the name is used for its file, but has a character that file names cannot have.",
                  "Use letters, digits, - and _.", code="table-name")  # fmt: skip
    for index, column in enumerate(spec.columns):
        if column not in columns:
            parts.add(f"{where}.columns[{index}]", f"the policy has no column {column!r}.",
                      did_you_mean(column, columns), code="unknown-column")  # fmt: skip
    if len(set(spec.columns)) < len(spec.columns):
        parts.add(f"{where}.columns", "names a column twice.", "Name each column once.", code="listed-twice")
    others = [each for each in specs if each != name]
    for column, other in spec.join.items():
        if other not in others:
            parts.add(f"{where}.join.{column}", f"there is no other table {other!r}.",
                      did_you_mean(other, others), code="unknown-table")  # fmt: skip


def _check_column(name: str, column: ColumnSpec | None, tables: Sequence[TableSpec], parts: PartialPolicy) -> None:
    if name == TABLE and column != ColumnSpec.model_validate(TABLE_COLUMN):
        parts.add(f"columns.{name}", "the name is reserved for a column of all tables.", "Choose another name.",
                  code="reserved-name")  # fmt: skip
    if column is not None and column.unknown_counts and any(name not in table.columns for table in tables):
        message = "a table does not have the column, so its missing cells would count as values."
        parts.add(f"columns.{name}.unknown_counts", message, "Leave it out.", code="not-with-tables")
