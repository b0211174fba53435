"""Checks and changes of parameters that the models share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, NoReturn

from shoal.errors import PolicyProblem, did_you_mean
from shoal.models.limits import quoted


def whole_number_problems(where: str, value: object, *, at_least: int = 1) -> list[PolicyProblem]:
    """A parameter that counts something must be a whole number from ``at_least`` on."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= at_least:
        return []
    return [_problem(where, value, f"a whole number, {at_least} or more")]


def number_problems(
    where: str, value: object, *, low: float, high: float = math.inf, open_low: bool = False
) -> list[PolicyProblem]:
    """A parameter that measures something must be a finite number within its range."""
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        number = float(value)
        if (number > low if open_low else number >= low) and number <= high:
            return []
    if high == math.inf:
        rule = f"a number above {low:g}" if open_low else f"a number, {low:g} or more"
    else:
        rule = f"a number above {low:g} and at most {high:g}" if open_low else f"a number from {low:g} to {high:g}"
    return [_problem(where, value, rule)]


def mapping_problems(where: str, value: object, *, of: str, low: float, open_low: bool) -> list[PolicyProblem]:
    """A parameter with one limit a value or category: text (or null) to a number up to 1, at least one of them."""
    if not isinstance(value, Mapping) or not value:
        return [_problem(where, value, f"a mapping from {of} to limit with at least one entry")]
    problems = key_problems(where, value, of=of)
    for key, limit in value.items():
        place = f"{where}.{'null' if key is None else key}"
        problems += number_problems(place, limit, low=low, high=1, open_low=open_low)
    return problems


def key_problems(where: str, mapping: Mapping[Any, Any], *, of: str) -> list[PolicyProblem]:
    """Keys of a mapping are labels; a YAML number or boolean has to be quoted to be one."""
    return [
        PolicyProblem(where, f"the {of} {key!r} is not text.", f"Write it in quotes: '{key}'.", {"key": key})
        for key in mapping
        if not (key is None or isinstance(key, str))
    ]


def sensitive_problems(value: object) -> list[PolicyProblem]:
    """The model must name its sensitive column."""
    return [] if isinstance(value, str) and value else [_problem("sensitive", value, "the name of a sensitive column")]


def unknown_problems(
    where: str, asked: Iterable[object], known: Iterable[object], *, of: str, column: str
) -> list[PolicyProblem]:
    """A limit for a value or category that the column does not have protects nothing, so it is refused."""
    known = tuple(known)
    return [
        PolicyProblem(
            where,
            f"column {column!r} has no {of} {key!r}.",
            did_you_mean(key, ("null" if each is None else each for each in known)),
            {of: key, "known": known},
        )
        for key in asked
        if key not in known
    ]


def whole(parameter: str, value: float) -> int:
    """A relaxed value of a parameter that counts something."""
    if value != int(value):
        raise ValueError(f"{parameter} counts something and must be a whole number, not {value}")
    return int(value)


def no_parameter(model: str, parameter: str, known: Iterable[str]) -> NoReturn:
    """Refuse to relax what the model does not have."""
    raise ValueError(f"{model} has no parameter {parameter!r} to relax. {did_you_mean(parameter, known)}")


def shown(number: float | Fraction) -> str:
    """A figure in a message, short but not rounded to something else where it is whole."""
    return str(number) if isinstance(number, Fraction) else f"{number:.6g}"


def counted(count: int, things: str) -> str:
    """A number of things, named in the plural: ``1 record``, ``2 records``, ``1 distinct category``."""
    single = things.removesuffix("ies") + "y" if things.endswith("ies") else things.removesuffix("s")
    return f"{count} {single if count == 1 else things}"


def listed(lacking: Iterable[str]) -> str:
    """Several shortcomings as one phrase; ``nothing`` when there is none."""
    return "; ".join(lacking) or "nothing"


def _problem(where: str, value: object, rule: str) -> PolicyProblem:
    got = quoted(value) if isinstance(value, str) else "nothing" if value is None else str(value)
    return PolicyProblem(where, f"must be {rule}, not {got}.", facts={"value": value, "rule": rule})
