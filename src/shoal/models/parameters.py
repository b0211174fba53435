"""The parameters of a model: limits by value as mappings that can be hashed, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from shoal.declarations import Parameter, ParameterKind
from shoal.errors import PolicyProblem, did_you_mean
from shoal.hierarchies.hierarchy import Label


class FrozenMapping(Mapping[Any, Any]):
    """A mapping that cannot change, so that a model that holds one can be compared and hashed."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[Any, Any]) -> None:
        self._items = {key: frozen(value) for key, value in items.items()}

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def with_item(self, path: Sequence[Any], value: Any) -> FrozenMapping:
        """A copy with the item at the end of a path of keys changed."""
        first, *rest = path
        return FrozenMapping({**self._items, first: self._items[first].with_item(rest, value) if rest else value})


def frozen(value: Any) -> Any:
    """A mapping, and those inside it, as a `FrozenMapping`; anything else as it is."""
    return FrozenMapping(value) if isinstance(value, Mapping) and not isinstance(value, FrozenMapping) else value


def limit_name(parameter: str, key: Label) -> str:
    """The name of one limit of a mapping, for example ``alpha[HIV]``."""
    return f"{parameter}[{'(missing)' if key is None else key}]"


def parameter_problems(parameter: Parameter, value: object) -> list[PolicyProblem]:
    """What is wrong with the value of one parameter; ``where`` is its name, or that of an entry below it."""
    if parameter.kind is ParameterKind.CHOICE:
        if value in list(parameter.choices):
            return []
        fix = did_you_mean(value, parameter.choices)
        return [PolicyProblem(parameter.name, f"there is no {parameter.name} {value!r}.", fix, code="unknown-choice")]
    if parameter.kind is ParameterKind.FLAG:
        right = isinstance(value, bool)
        return [] if right else [wrong_value(parameter.name, value, "true or false", code="wrong-type")]
    if parameter.kind in {ParameterKind.BY_CATEGORY, ParameterKind.LIMITS} or isinstance(value, Mapping):
        return _mapping_problems(parameter, value)
    return _number_problems(parameter, value, parameter.name)


def _number_problems(parameter: Parameter, value: object, where: str) -> list[PolicyProblem]:
    """A number must be finite and lie within the declared range; a count must be whole."""
    kind = Integral if parameter.kind is ParameterKind.WHOLE else Real
    right = isinstance(value, kind) and not isinstance(value, bool)
    if right and parameter.allows(float(value)):  # type: ignore[arg-type]
        return []
    return [wrong_value(where, value, parameter.rule, code="out-of-range" if right else "wrong-type")]


def _mapping_problems(parameter: Parameter, value: object) -> list[PolicyProblem]:
    """A mapping from values or categories to limits, with at least one entry; its keys are text (or null)."""
    of = "category" if parameter.kind is ParameterKind.BY_CATEGORY else "value"
    if not isinstance(value, Mapping) or not value:
        limit = f"{{{', '.join(part.name for part in parameter.parts)}}}" if parameter.parts else "limit"
        rule = f"a mapping from {of} to {limit} with at least one entry"
        return [wrong_value(parameter.name, value, rule, code="wrong-type" if value != {} else "empty")]
    problems = []
    for key in value:
        if not (key is None or isinstance(key, str)):
            message, fix = f"the {of} {key!r} is not text.", f"Write it in quotes: '{key}'."
            problems.append(PolicyProblem(parameter.name, message, fix, {"key": key}, code="wrong-type"))
    entry_problems = _part_problems if parameter.parts else _number_problems
    for key, limit in value.items():
        problems += entry_problems(parameter, limit, f"{parameter.name}.{'null' if key is None else key}")
    return problems


def _part_problems(parameter: Parameter, limit: object, where: str) -> list[PolicyProblem]:
    """Every entry has each of the declared numbers and no other."""
    names = [part.name for part in parameter.parts]
    if not isinstance(limit, Mapping):
        return [wrong_value(where, limit, f"{{{', '.join(f'{name}: …' for name in names)}}}", code="wrong-type")]
    problems = []
    for part in parameter.parts:
        if part.name in limit:
            problems += _number_problems(part, limit[part.name], f"{where}.{part.name}")
        else:
            fix = f"Write {part.name}: {part.high:g} to leave it free."
            problems.append(PolicyProblem(where, f"{part.name} is missing.", fix, code="missing-key"))
    for key in limit:
        if key not in names:
            fix = did_you_mean(key, names)
            problems.append(PolicyProblem(where, f"there is no limit {key!r}.", fix, code="unknown-key"))
    return problems


def wrong_value(where: str, value: Any, rule: str, *, code: str) -> PolicyProblem:
    """The problem of a value that breaks a rule."""
    got = repr(value) if isinstance(value, str) else "nothing" if value is None else str(value)
    return PolicyProblem(where, f"must be {rule}, not {got}.", facts={"value": value, "rule": rule}, code=code)
