"""The fields of a policy that models and algorithms declare, as pydantic reads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from shoal.declarations import Parameter, ParameterKind
from shoal.policy.fields import ByColumn, ByValue, CategoryLimits, Integer, Level, Limits, Number, Seconds
from shoal.policy.spec import Spec

_TYPES: dict[ParameterKind, Any] = {
    ParameterKind.WHOLE: Integer,
    ParameterKind.NUMBER: Number,
    ParameterKind.SECONDS: Seconds | None,
    ParameterKind.FLAG: bool,
    ParameterKind.BY_CATEGORY: CategoryLimits,
    ParameterKind.BY_VALUE_OR_ONE: Limits,
    ParameterKind.MEASURE: str,
    ParameterKind.COLUMNS: list[str],
    ParameterKind.WEIGHTS: Annotated[dict[str, Number], ByColumn],
    ParameterKind.LEVELS: Annotated[dict[str, Level], ByColumn],
}


def declared_spec(
    name: str, base: type[Spec], parameters: Iterable[Parameter], module: dict[str, Any], doc: str = "", **others: Any
) -> Any:
    """A spec with a field for each declared parameter; it is put into its module, where pickle looks for it."""
    fields: dict[str, Any] = others | {each.name: _field(each, name, module) for each in parameters}
    spec: Any = create_model(name, __base__=base, __module__=module["__name__"], __doc__=doc, **fields)
    module[name] = spec
    return spec


def _field(parameter: Parameter, owner: str, module: dict[str, Any]) -> tuple[Any, Any]:
    kind = _type_of(parameter, owner, module)
    if parameter.required:
        return kind, Field(description=parameter.help)
    if parameter.default is None:
        kind = kind | None
    return kind, Field(parameter.default, description=parameter.help)


def _type_of(parameter: Parameter, owner: str, module: dict[str, Any]) -> Any:
    """What a policy may write for a parameter."""
    if parameter.kind is ParameterKind.CHOICE:
        return Literal[tuple(parameter.choices)]
    if parameter.kind is ParameterKind.LIMITS:
        entry = declared_spec(f"{owner}{parameter.name.title()}", Spec, parameter.parts, module)
        entry.example = str(parameter.start).replace("'", "")
        return Annotated[dict[str | None, entry], ByValue]  # type: ignore[valid-type]
    return _TYPES[parameter.kind]
