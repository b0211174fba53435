"""Every problem of a policy at once, as far as it can be told without the data.

The parts are read one by one, so that a slip in one column hides nothing that is wrong in another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from shoal.algorithms import ALGORITHMS
from shoal.errors import PolicyProblem, did_you_mean
from shoal.hierarchies.text import scalar_text
from shoal.metrics import METRICS
from shoal.models import MODELS, KAnonymity, Model
from shoal.policy.spec import (
    MODEL_SPECS,
    AlgorithmSpec,
    ColumnSpec,
    HierarchySpec,
    ModelSpec,
    SensitiveModelSpec,
)


@dataclass
class Draft:
    """What could be read of a policy, and everything that is wrong with it."""

    columns: dict[str, ColumnSpec] = field(default_factory=dict)
    models: list[tuple[str, Model]] = field(default_factory=list)
    """Each model with its place in the policy."""
    algorithm: AlgorithmSpec | None = None
    data: Any = None
    """What the policy says of the data, as it stands there."""
    problems: list[PolicyProblem] = field(default_factory=list)

    def add(self, where: str, message: str, fix: str = "", **facts: Any) -> None:
        """Note a problem."""
        self.problems.append(PolicyProblem(where, message, fix, facts))


def check(raw: Mapping[str, Any], known_keys: list[str]) -> Draft:
    """Read the parts of a policy and note every problem."""
    draft = Draft(data=raw.get("data"))
    for key in raw:
        if key not in known_keys:
            draft.add(str(key), "no such key in a policy.", did_you_mean(key, known_keys))
    _read_columns(raw.get("columns"), draft)
    _read_models(raw.get("privacy"), draft)
    _read_algorithm(raw.get("algorithm"), draft)
    for name, column in draft.columns.items():
        _check_column(name, column, draft)
    _check_together(draft)
    return draft


def validation_problems(error: ValidationError, where: str) -> Iterator[PolicyProblem]:
    """A pydantic error as problems in our own words; unknown keys are told elsewhere, with the nearest known one."""
    for detail in error.errors():
        parts = [str(part) for part in detail["loc"] if not _is_union_branch(str(part))]
        place = ".".join([where, *parts]) if where else ".".join(parts)
        if detail["type"] == "extra_forbidden":
            continue
        given = detail.get("input")
        if detail["type"] == "missing":
            yield PolicyProblem(place, "is required and not there.")
        else:
            yield PolicyProblem(place, f"{detail['msg']} (given: {given!r}).")


def _is_union_branch(part: str) -> bool:
    """pydantic names the branch of a union in an error's place; a reader of the policy knows no branches."""
    return (
        part in MODEL_SPECS or "[" in part or part in {"int", "float", "str", "bool", "date", "dict", "constrained-str"}
    )


def _read_columns(raw: Any, draft: Draft) -> None:
    if not isinstance(raw, Mapping) or not raw:
        draft.add("columns", "must be a mapping from column name to {role: …}, with at least one column.")
        return
    for given, content in raw.items():
        name = str(scalar_text(given))
        where = f"columns.{name}"
        column = _parse(ColumnSpec, content, where, draft)
        if isinstance(column, ColumnSpec):
            draft.columns[name] = column


def _parse(spec: type[BaseModel], content: Any, where: str, draft: Draft) -> BaseModel | None:
    """One part by its spec; problems noted, None when it cannot be used."""
    before = len(draft.problems)
    if isinstance(content, BaseModel):
        content = content.model_dump(exclude_unset=True)
    if not isinstance(content, Mapping):
        draft.add(where, f"must be a mapping with the keys {', '.join(spec.model_fields)} (given: {content!r}).")
        return None
    _unknown_keys(spec, content, where, draft)
    try:
        parsed: BaseModel = TypeAdapter(spec).validate_python(dict(content))
    except ValidationError as error:
        draft.problems.extend(validation_problems(error, where))
        return None
    return parsed if len(draft.problems) == before else None


def _unknown_keys(spec: type[BaseModel], content: Mapping[Any, Any], where: str, draft: Draft) -> None:
    for key, value in content.items():
        if key not in spec.model_fields:
            draft.add(f"{where}.{key}", "no such key here.", did_you_mean(key, spec.model_fields))
        elif key == "hierarchy" and isinstance(value, Mapping):
            _unknown_keys(HierarchySpec, value, f"{where}.hierarchy", draft)
        elif isinstance(value, Mapping) and spec is HierarchySpec and key != "tree":
            kind = next(
                part for part in getattr(spec.model_fields[key].annotation, "__args__", ()) if part is not type(None)
            )
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                _unknown_keys(kind, value, f"{where}.{key}", draft)


def _read_models(raw: Any, draft: Draft) -> None:
    if not isinstance(raw, list) or not raw:
        draft.add("privacy", "must be a list with at least one model, such as {model: k-anonymity, k: 5}.")
        return
    for place, content in enumerate(raw):
        where = f"privacy[{place}]"
        if isinstance(content, BaseModel):
            content = content.model_dump(exclude_unset=True)  # noqa: PLW2901 - one shape from here on
        name = content.get("model") if isinstance(content, Mapping) else None
        if name is None:
            draft.add(where, "names no model.", f"Known: {', '.join(MODEL_SPECS)}.")
        elif name not in MODEL_SPECS:
            draft.add(f"{where}.model", f"unknown model {name!r}.", did_you_mean(name, MODEL_SPECS))
        else:
            spec = _parse(MODEL_SPECS[name], content, where, draft)
            if isinstance(spec, ModelSpec):
                draft.models.extend((where, model) for model in build_models(spec, draft.columns))


def build_models(spec: ModelSpec, columns: Mapping[str, ColumnSpec]) -> list[Model]:
    """The models of one entry: one for each sensitive column that it is on."""
    parameters = {name: value for name, value in spec if name not in {"model", "sensitive"}}
    if "limits" in parameters:
        parameters["limits"] = {
            value: {"alp": limit.alp, "dif": limit.dif} for value, limit in parameters["limits"].items()
        }
    kind: Any = MODELS[spec.model]
    if not isinstance(spec, SensitiveModelSpec):
        return [kind(**parameters)]
    named = spec.sensitive
    if named is None:
        named = [name for name, column in columns.items() if column.role == "sensitive"]
    return [kind(**parameters, sensitive=name) for name in ([named] if isinstance(named, str) else named)]


def _read_algorithm(raw: Any, draft: Draft) -> None:
    content = {"name": raw} if isinstance(raw, str) else raw
    spec = _parse(AlgorithmSpec, {} if content is None else content, "algorithm", draft)
    if not isinstance(spec, AlgorithmSpec):
        return
    draft.algorithm = spec
    if spec.name not in ALGORITHMS:
        draft.add("algorithm.name", f"unknown algorithm {spec.name!r}.", did_you_mean(spec.name, ALGORITHMS))
    else:
        options = ALGORITHMS[spec.name].options
        for key in sorted(spec.model_fields_set - {"name", "seed"}):
            if key not in options:
                fix = f"Its options: {', '.join(sorted({'seed', *options}))}."
                draft.add(f"algorithm.{key}", f"{spec.name} has no such option.", fix)
    if spec.metric not in METRICS:
        draft.add("algorithm.metric", f"unknown measure {spec.metric!r}.", did_you_mean(spec.metric, METRICS))
    quasi = [name for name, column in draft.columns.items() if column.role == "quasi"]
    for key, named in (("weights", spec.weights), ("node", spec.node or {})):
        for name in named:
            if name not in quasi:
                draft.add(f"algorithm.{key}.{name}", "is not a quasi-identifier.", did_you_mean(name, quasi))
    for name, weight in spec.weights.items():
        if not 0 <= weight <= 1:
            draft.add(f"algorithm.weights.{name}", f"must lie in [0, 1] (given: {weight:g}).")


def _check_column(name: str, column: ColumnSpec, draft: Draft) -> None:
    where = f"columns.{name}"
    if column.hierarchy is not None and len(column.hierarchy.kinds) != 1:
        given = ", ".join(column.hierarchy.kinds) or "none"
        draft.add(f"{where}.hierarchy", f"needs exactly one kind of hierarchy (given: {given}).",
                  f"Known: {', '.join(HierarchySpec.model_fields)}.")  # fmt: skip
    if column.hierarchy is not None and column.role not in {"quasi", "sensitive"}:
        draft.add(f"{where}.hierarchy", f"a column of role {column.role} is not generalized.", "Leave it out.")
    if column.boundary is not None and column.role != "quasi":
        draft.add(f"{where}.boundary", f"only a quasi-identifier has a boundary; this column is {column.role}.")
    for key in ("categories", "publish"):
        if getattr(column, key) is not None and column.role != "sensitive":
            draft.add(f"{where}.{key}", f"only a sensitive column has {key}; this column is {column.role}.")
    if column.publish in {"categories", "both"} and not column.categories:
        draft.add(f"{where}.publish", f"{column.publish} needs categories, and the column declares none.")
    counts = Counter(value for values in column.category_values.values() for value in values)
    for value, count in counts.items():
        if count > 1:
            holders = [category for category, values in column.category_values.items() if value in values]
            shown = "the missing value" if value is None else repr(value)
            draft.add(f"{where}.categories", f"{shown} stands in {' and in '.join(map(repr, holders))}"
                      f"{' more than once' if len(holders) == 1 else ''}: a value has one category.")  # fmt: skip
    for category, values in column.category_values.items():
        if not values:
            draft.add(f"{where}.categories.{category}", "has no values.")


def _check_together(draft: Draft) -> None:
    roles = {name: column.role for name, column in draft.columns.items()}
    sensitive = [name for name, role in roles.items() if role == "sensitive"]
    if draft.columns and "quasi" not in roles.values():
        draft.add("columns", "no column has the role quasi, so there is nothing to hide a record by.")
    ks = [model.k for _, model in draft.models if isinstance(model, KAnonymity)]
    for where, model in draft.models:
        for problem in model.parameter_problems():
            draft.add(f"{where}.{problem.where}", problem.message, problem.fix)
        p = getattr(model, "p", None)
        if p is not None and ks and p > max(ks):
            draft.add(f"{where}.p", f"p = {p} is larger than k = {max(ks)}: {p} distinct values need {p} records.",
                      f"Ask k >= {p} or p <= {max(ks)}.")  # fmt: skip
        if model.column is None:
            continue
        if model.column not in roles:
            draft.add(f"{where}.sensitive", f"unknown column {model.column!r}.", did_you_mean(model.column, sensitive))
        elif roles[model.column] != "sensitive":
            draft.add(f"{where}.sensitive", f"{model.column!r} has the role {roles[model.column]}, not sensitive: a "
                      "column cannot be known to an attacker and secret at once.", "Give it one role.")  # fmt: skip
        elif model.needs_categories and not draft.columns[model.column].categories:
            draft.add(f"columns.{model.column}.categories", f"{model.name} needs the values in categories, most "
                      "sensitive first, and there are none.")  # fmt: skip
        elif model.needs_categories and p is not None and model.name != "p-alpha-sensitive":
            found = len(draft.columns[model.column].category_values)
            if p > found:
                draft.add(f"{where}.p", f"p = {p} distinct categories are asked, and {model.column!r} has {found}.")
    if not sensitive:
        for where, model in draft.models:
            if model.column is None and model.name != "k-anonymity":
                draft.add(where, f"{model.name} needs a sensitive column, and no column has that role.")
