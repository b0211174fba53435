"""Every problem of a policy at once, as far as it can be told without the data.

The parts are read one by one and kept as far as they are right, so that a slip in one part hides nothing that is
wrong in another, and causes no further complaint.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import did_you_mean
from shoal.hierarchies.hierarchy import is_scalar, scalar_text
from shoal.hierarchies.problems import quoted
from shoal.models import MODELS
from shoal.policy.accept_spec import read_accept
from shoal.policy.algorithm_spec import read_algorithm
from shoal.policy.check_columns import check_column, usable
from shoal.policy.check_models import ModelEntry, check_model, read_model, usable_models
from shoal.policy.data_source import COMMON_ENCODINGS, is_encoding
from shoal.policy.engine_spec import check_engine
from shoal.policy.fields import Flag, Name, Output, PathText, Share, Suppressed
from shoal.policy.file_kinds import SUFFIXES, FileKind
from shoal.policy.partial import PartialPolicy, PartialSpec, read_part, read_value
from shoal.policy.person_spec import read_person
from shoal.policy.released_forms import check_by_itself, check_pseudonyms, check_relative
from shoal.policy.spec import ColumnSpec, DataSpec
from shoal.policy.tables_spec import read_tables
from shoal.policy.utility_spec import read_utility
from shoal.policy.validation_problems import policy_text

_SETTINGS = {
    "suppression": Share,
    "suppressed": Suppressed,
    "output": Output,
    "household": Name,
    "weight": Name,
    "registry": PathText,
    "recoding": Flag,
}


def check(raw: Mapping[Any, Any], known_keys: list[str]) -> PartialPolicy:
    """Read the parts of a policy and note every problem."""
    parts = PartialPolicy()
    for key in raw:
        if key not in known_keys:
            name = "null" if key is None else str(key)
            parts.add(name, "policies have no such key.", did_you_mean(name, known_keys), code="unknown-key")
    _read_data(raw.get("data"), parts)
    columns = _read_columns(raw.get("columns"), parts)
    asked = _read_models(raw.get("privacy"), parts)
    algorithm = read_algorithm(raw.get("algorithm"), columns, parts)
    readable = isinstance(raw.get("privacy"), (list, tuple)) and len(asked) == len(raw["privacy"])
    models = [each.spec.model for each in asked] if readable else None
    person = read_person(raw, columns, models, parts)
    read_tables(raw, columns, person, parts)
    read_utility(raw.get("utility"), columns, parts)
    read_accept(raw.get("accept"), columns, parts)
    check_engine(raw, parts)
    for key, kind in _SETTINGS.items():
        if key in raw:
            read_value(kind, raw[key], key, parts)
    _check_survey(raw, columns, parts)
    for name, column in columns.items():
        columns[name] = check_column(name, column, parts)
    check_pseudonyms(raw, columns, person, algorithm.whole, parts)
    check_relative(columns, person, parts)
    check_by_itself(raw, columns, parts)
    roles = {name: column.role for name, column in columns.items()}
    if columns and not {"quasi", None} & set(roles.values()):
        parts.add("columns", "no column has the role quasi, so there is nothing to generalize.",
                  "Give the role quasi to the columns that others may know.", code="no-quasi-identifier")  # fmt: skip
    for each in asked:
        check_model(each, asked, columns, roles, parts)
    parts.algorithm = algorithm.whole
    parts.columns = {name: usable(column) for name, column in columns.items()}
    parts.models = usable_models(asked, columns, roles)
    _check_named_values(parts)
    return parts


def _check_named_values(parts: PartialPolicy) -> None:
    """A limit on a spelling that is read as another value, or on an unknown one, would limit nothing."""
    for where, model in parts.models:
        if model.column not in parts.columns:
            continue
        column = parts.columns[model.column]
        value_of = column.value_of
        for value in model.named_values():
            if value in column.unknown_values:
                message = f"names {quoted(value)}, which is unknown in column {model.column!r}, so it has no share."
                fix = f"Leave it out, or write unknown_counts: true in columns.{model.column} to count it as a value."
                parts.add(where, message, fix, value=value, code="unknown-named")
            if value in value_of:
                message = f"names {value!r}, which columns.{model.column}.same reads as {value_of[value]!r}."
                parts.add(where, message, "Name the value instead.", value=value, code="spelling-named")


def _read_data(raw: Any, parts: PartialPolicy) -> None:
    if raw is None:
        parts.data = DataSpec(path="")
        return
    parts.data = read_part(DataSpec, raw, "data", parts).whole
    if parts.data is None:
        return
    if not is_encoding(parts.data.encoding):
        where, name = "data.encoding", parts.data.encoding
        parts.add(where, f"there is no text encoding {name!r}.", COMMON_ENCODINGS, code="unknown-encoding")
        parts.data = None
    elif parts.data.sheet is not None and Path(parts.data.path).suffix.lower() not in SUFFIXES[FileKind.EXCEL]:
        parts.add("data.sheet", f"{parts.data.path} is not a workbook, so it has no sheets.",
                  f"Leave sheet out; workbooks are {', '.join(SUFFIXES[FileKind.EXCEL])}.",
                  code="not-a-workbook")  # fmt: skip


def _read_columns(raw: Any, parts: PartialPolicy) -> dict[str, PartialSpec[ColumnSpec]]:
    if not isinstance(raw, Mapping) or not raw:
        parts.add("columns", f"must be a mapping from column to {{role: …}} with at least one column{_raw_value(raw)}.",
                  "Write columns: {age: {role: quasi}}.", code="wrong-type")  # fmt: skip
        return {}
    columns: dict[str, PartialSpec[ColumnSpec]] = {}
    for given, content in raw.items():
        if given is None or not is_scalar(given):
            parts.add(f"columns.{policy_text(given)}", "a column's name is text.", code="wrong-type")
            continue
        name = str(scalar_text(given))
        if name in columns:
            parts.add(
                f"columns.{name}", "is listed twice.", "A column has one role: keep one of them.", code="listed-twice"
            )
            continue
        columns[name] = read_part(ColumnSpec, content, f"columns.{name}", parts, stand_ins={"role": "insensitive"})
    return columns


def _check_survey(raw: Mapping[Any, Any], columns: Mapping[str, Any], parts: PartialPolicy) -> None:
    """Household and weight are two different columns of the policy."""
    given = {key: raw.get(key) for key in ("household", "weight")}
    named = {key: str(scalar_text(name)) for key, name in given.items() if name is not None and is_scalar(name)}
    for key, name in named.items():
        if columns and name not in columns:
            parts.add(key, f"unknown column {name!r}.", did_you_mean(name, list(columns)), code="unknown-column")
    if len(named) > len(set(named.values())):
        parts.add("weight", f"{named['weight']!r} is already the household.", "Name another.", code="listed-twice")


def _raw_value(raw: Any) -> str:
    return "" if raw is None else f" (given: {policy_text(raw)})"


def _read_models(raw: Any, parts: PartialPolicy) -> list[ModelEntry]:
    if not isinstance(raw, (list, tuple)) or not raw:
        parts.add("privacy", f"must be a list with at least one model{_raw_value(raw)}.",
                  f"Write privacy: [{next(iter(MODELS.values())).example}].", code="wrong-type")  # fmt: skip
        return []
    read = [read_model(content, f"privacy[{index}]", parts) for index, content in enumerate(raw)]
    return [each for each in read if each is not None]
