"""What is wrong with one privacy model of a policy, as far as it can be told without the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel

from shoal.declarations import Parameter, ParameterKind
from shoal.errors import PolicyProblem, did_you_mean
from shoal.models import MODELS, Model
from shoal.policy.check_columns import may_have_categories
from shoal.policy.model_specs import MODEL_SPECS, ModelSpec, SensitiveModelSpec, build_model, sensitive_columns
from shoal.policy.partial import PartialPolicy, PartialSpec, read_part
from shoal.policy.spec import ColumnSpec
from shoal.policy.validation_problems import policy_text
from shoal.table.classes import SensitiveDomain

_BY_ENTRY = (ParameterKind.BY_CATEGORY, ParameterKind.BY_VALUE_OR_ONE, ParameterKind.LIMITS)
_NO_COLUMN = "?"
Columns = Mapping[str, PartialSpec[ColumnSpec]]
Roles = Mapping[str, str | None]  # the role of each column; None where it cannot be told


@dataclass(frozen=True)
class ModelEntry:
    """One entry of ``privacy``, as far as it is right."""

    where: str
    part: PartialSpec[ModelSpec]
    spec: ModelSpec  # with stand-ins for the parameters that are damaged


def read_model(content: Any, where: str, parts: PartialPolicy) -> ModelEntry | None:
    """Read one entry by the model that it names."""
    if isinstance(content, BaseModel):
        content = content.model_dump(exclude_unset=True)
    known = f"Known: {', '.join(MODEL_SPECS)}."
    if not isinstance(content, Mapping):
        fix = f"Write {{model: {content}, …}}." if content in list(MODEL_SPECS) else known
        parts.add(where, f"must be a mapping with a model and its parameters (given: {policy_text(content)}).", fix,
                  code="wrong-type")  # fmt: skip
        return None
    name = content.get("model")
    if name is None:
        parts.add(where, f"names no model (given: {policy_text(content)}).", known, code="missing-key")
        return None
    if not isinstance(name, str) or name not in MODEL_SPECS:
        parts.add(f"{where}.model", f"unknown model {policy_text(name)}.", did_you_mean(name, MODEL_SPECS),
                  code="unknown-model")  # fmt: skip
        return None
    declared = MODELS[name].parameters
    stand_ins = {each.name: _stand_in(each) for each in declared if each.required}
    mappings = frozenset(each.name for each in declared if each.kind in _BY_ENTRY)
    part = read_part(MODEL_SPECS[name], content, where, parts, stand_ins=stand_ins, by_entry=mappings)
    return ModelEntry(where, part, part.value) if part.value is not None else None


def _stand_in(parameter: Parameter) -> Any:
    """A legal value of a parameter, to check the others with when it is damaged."""
    one = min(max(1, parameter.low), parameter.high)
    if parameter.kind is ParameterKind.LIMITS:
        return {"": {}}
    return {"": one} if parameter.kind is ParameterKind.BY_CATEGORY else one


def check_model(
    each: ModelEntry, entries: Sequence[ModelEntry], columns: Columns, roles: Roles, parts: PartialPolicy
) -> None:
    """Note what is wrong with the parameters of a model, alone and with k, and with the columns that it is on."""
    spec, where = each.spec, each.where
    names = _columns(each, columns)
    model = build_model(spec, next(iter(names), _NO_COLUMN))
    _add_problems(model.parameter_problems(), each, parts)
    _check_sizes(model, each, entries, parts)
    if not isinstance(spec, SensitiveModelSpec) or "sensitive" in each.part.damaged:
        return
    if not names and spec.sensitive is None and columns and None not in roles.values():
        parts.add(where, f"{spec.model} needs a sensitive column, and no column has that role.",
                  "Give a column the role sensitive.", code="no-sensitive-column")  # fmt: skip
    for name in names:
        _check_on(build_model(spec, name), each, columns, roles, parts)


def _check_sizes(model: Model, each: ModelEntry, entries: Sequence[ModelEntry], parts: PartialPolicy) -> None:
    """A class of k records has at most k distinct values."""
    others = [build_model(one.spec, _NO_COLUMN) for one in entries if not one.part.damaged]
    k = max((other.least_records for other in others if other.column is None), default=0)
    for name in (parameter.name for parameter in model.parameters if parameter.within_class_size):
        needed = getattr(model, name)
        if needed > k > 0 and name not in each.part.replaced:
            parts.add(f"{each.where}.{name}",
                      f"{name} = {needed} is larger than k = {k}: {needed} distinct values need {needed} records.",
                      f"Require k >= {needed} or {name} <= {k}.", code="more-than-class-size")  # fmt: skip


def _add_problems(problems: Sequence[PolicyProblem], each: ModelEntry, parts: PartialPolicy) -> None:
    """Note a model's problems, but not with parameters that only stand in for damaged ones."""
    for problem in problems:
        if problem.where.split(".")[0] not in each.part.replaced:
            parts.add(f"{each.where}.{problem.where}", problem.message, problem.fix, code=problem.code, **problem.facts)


def _columns(each: ModelEntry, columns: Columns) -> list[str]:
    """The sensitive columns that an entry is on."""
    known = {name: part.value for name, part in columns.items() if part.value is not None}
    return [] if "sensitive" in each.part.damaged else sensitive_columns(each.spec, known)


def _check_on(model: Model, each: ModelEntry, columns: Columns, roles: Roles, parts: PartialPolicy) -> None:
    """A model with the sensitive column that it is on."""
    name, where = str(model.column), f"{each.where}.sensitive"
    if name not in columns:
        if columns:
            sensitive = [column for column, role in roles.items() if role == "sensitive"]
            parts.add(
                where, f"unknown column {name!r}.", did_you_mean(name, sensitive or columns), code="unknown-column"
            )
        return
    if roles[name] not in {"sensitive", None}:
        parts.add(where, f"{name!r} has the role {roles[name]}, not sensitive: a column cannot be known to an attacker "
                  "and secret at once." if roles[name] == "quasi" else
                  f"{name!r} has the role {roles[name]}, not sensitive.", "Name a sensitive column, or give it that "
                  "role alone.", code="wrong-role")  # fmt: skip
        return
    column = columns[name].value
    if model.needs_numbers and column is not None and column.bins is not None and "bins" not in columns[name].damaged:
        parts.add(where, f"{model.name} compares numbers, but {name!r} is published in bins.",
                  f"Leave out bins, or ask for a model that does not need numbers on {name!r}.",
                  code="bins-not-numbers")  # fmt: skip
        return
    if not model.needs_categories or column is None or may_have_categories(columns[name]):
        return
    if not column.categories:
        parts.add(f"columns.{name}.categories", f"{model.name} needs the values in categories, and there are none.",
                  "Write {category: [value, value]}, most sensitive first.", code="no-categories")  # fmt: skip
        return
    _check_on_categories(model, each, column, parts)


def _check_on_categories(model: Model, each: ModelEntry, column: ColumnSpec, parts: PartialPolicy) -> None:
    """A model that reads categories with those that are declared; their problems need no data."""
    name, declared = str(model.column), column.category_values
    values = tuple(value for group in declared.values() for value in group)
    category_of = np.array([code for code, group in enumerate(declared.values()) for _ in group], dtype=np.int32)
    domain = SensitiveDomain(name, values, categories=tuple(declared), category_of=category_of)
    _add_problems(model.domain_problems(domain), each, parts)
    for parameter in model.parameters:
        needed = getattr(model, parameter.name)
        counts = parameter.quantity == "distinct categories" and parameter.name not in each.part.replaced
        if counts and needed > len(declared):
            parts.add(
                f"{each.where}.{parameter.name}",
                f"{parameter.name} = {needed} distinct categories are required, and {name!r} has {len(declared)}.",
                f"Require {parameter.name} <= {len(declared)}, or declare more categories.",
                code="more-than-declared-categories",
            )


def usable_models(entries: Sequence[ModelEntry], columns: Columns, roles: Roles) -> list[tuple[str, Model]]:
    """The models that are right, on columns that are right, with their paths in the policy."""
    right = [each for each in entries if not each.part.damaged]
    alone = [
        (each.where, build_model(each.spec, None)) for each in right if not isinstance(each.spec, SensitiveModelSpec)
    ]
    return alone + [
        (each.where, build_model(each.spec, name))
        for each in right
        for name in _columns(each, columns)
        if roles.get(name) == "sensitive" and not columns[name].damaged
    ]
