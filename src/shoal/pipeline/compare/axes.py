"""What a grid varies - a parameter of some models of the policy, or the suppression - and its values.

Values are written as ``2,5,10``, ``2..10``, or with a step ``2..50..8``, ``0.1..0.5..0.1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

from pydantic import TypeAdapter, ValidationError

from shoal.errors import InputError, did_you_mean
from shoal.hierarchies.labels import parse_decimal
from shoal.models import MODELS
from shoal.policy import Policy
from shoal.policy.fields import Share
from shoal.policy.model_specs import ModelSpec, build_model

Number = int | float
Values = str | Number | Iterable[Number]  # how the values may be given: as text, as one number, or as several

MOST = 10_000  # values of one parameter, and points of one grid, at most: more is a slip of the keyboard


def read_values(given: Values, where: str) -> tuple[Number, ...]:
    """The values, each once, in the order given. Raises `InputError` that names the place."""
    if isinstance(given, str):
        parts = [value for part in given.split(",") for value in _part(part.strip(), given, where)]
    elif isinstance(given, (int, float)):
        parts = [given]
    else:
        parts = list(given)
    strange = [value for value in parts if isinstance(value, bool) or not isinstance(value, (int, float))]
    if strange or not parts:
        what = f"{strange[0]!r} is not a number" if strange else "there is no value"
        raise InputError(f"{where}: {what}. {_FORMS}", code="bad-values")
    return tuple(dict.fromkeys(parts))


_FORMS = "Write values as 2,5,10 or 2..10 or, with a step, 2..50..8."


def _part(part: str, given: str, where: str) -> Iterator[Number]:
    """One value, or all from a first to a last one."""
    ends = [parse_decimal(end) for end in part.split("..")] if part else []
    if not 1 <= len(ends) <= 3 or None in ends:
        raise InputError(f"{where}: {given!r} cannot be read as values. {_FORMS}", code="bad-values")
    numbers = [end for end in ends if end is not None]
    if len(numbers) == 1:
        yield _plain(numbers[0])
        return
    low, high = numbers[:2]
    if len(numbers) == 2 and (low % 1 or high % 1):
        raise InputError(f"{where}: {part!r} needs a step, such as {low}..{high}..0.1.", code="bad-values")
    step = numbers[2] if len(numbers) == 3 else Decimal(1)
    if step <= 0:
        raise InputError(f"{where}: the step {step} of {part!r} is not above zero.", code="bad-values")
    if low > high:
        raise InputError(f"{where}: {part!r} begins above its end. Write {high}..{low}.", code="bad-values")
    if (high - low) / step >= MOST:
        raise InputError(f"{where}: {part!r} has more than {MOST:,} values. Use a larger step.", code="too-many-points")
    while low <= high:
        yield _plain(low)
        low += step


def _plain(number: Decimal) -> Number:
    return int(number) if number == number.to_integral_value() else float(number)


def written(value: Number) -> str:
    """A value as it stands in names and tables."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


_SUPPRESSION = "suppression"


@dataclass(frozen=True)
class GridAxis:
    """A parameter and its values."""

    name: str
    """How tables and files name it: ``k``, or ``t-closeness.t`` where it was asked for so."""
    places: tuple[int, ...]
    """The entries of ``privacy`` that it is set in; none for the suppression."""
    parameter: str
    values: tuple[Number, ...]

    def label(self, value: Number) -> str:
        """The axis at one value, fit for the name of a file."""
        return f"{self.name.replace('[', '').replace(']', '')}{written(value)}"

    def set_in(self, content: dict[str, Any], value: Number) -> None:
        """Put one value in its place in a policy's content."""
        if not self.places:
            content[_SUPPRESSION] = value
        for place in self.places:
            content["privacy"][place][self.parameter] = value


def axes_of(policy: Policy, short: Mapping[str, Values | None], settings: Mapping[str, Values]) -> tuple[GridAxis, ...]:
    """The axes that are asked for, those of short forms first. Raises `InputError` for what the policy has not."""
    axes = [_short(policy, name, given) for name, given in short.items() if given is not None]
    axes += [_general(policy, key, given) for key, given in settings.items()]
    taken: dict[tuple[int, str], str] = {}
    for axis in axes:
        for place in axis.places or (-1,):
            other = taken.setdefault((place, axis.parameter), axis.name)
            if other != axis.name:
                message = f"{axis.parameter} of privacy[{place}] is set twice: by {other} and by {axis.name}."
                raise InputError(message, code="set-twice")
        for value in axis.values:  # every one must be one that its model takes, whatever the others are
            for problem in _value_problems(policy, axis, value):
                raise InputError(f"{axis.name} = {written(value)}: {problem}", code="bad-value")
    return tuple(axes)


def read_settings(texts: list[str]) -> dict[str, Values]:
    """Settings such as ``t-closeness.t=0.1,0.2`` by their keys."""
    settings: dict[str, Values] = {}
    for text in texts:
        key, sign, values = text.partition("=")
        if not sign or not key.strip():
            model = next(iter(MODELS.values()))
            example = f"{model.name}.{model.parameters[0].name}=2,3"
            raise InputError(f"--set {text}: write model.parameter=values, such as {example}.", code="bad-setting")
        if key.strip() in settings:
            raise InputError(f"--set {key.strip()} is listed twice. Give all its values at once.", code="set-twice")
        settings[key.strip()] = values
    return settings


def _numeric(spec: ModelSpec) -> list[str]:
    """The parameters of an entry that are single numbers."""
    return [name for name, value in spec if isinstance(value, Real) and not isinstance(value, bool)]


def _known(policy: Policy) -> str:
    """What could be set, in words."""
    return ", ".join(dict.fromkeys(f"{spec.model}.{name}" for spec in policy.privacy for name in _numeric(spec)))


def _short(policy: Policy, name: str, given: Values) -> GridAxis:
    places = tuple(place for place, spec in enumerate(policy.privacy) if name in _numeric(spec))
    if not places:
        message = f"--{name}: no model of the policy has a parameter {name} that is a number. It has: {_known(policy)}."
        raise InputError(message, code="unknown-parameter")
    return GridAxis(name, places, name, read_values(given, f"--{name}"))


def _general(policy: Policy, key: str, given: Values) -> GridAxis:
    where = f"--set {key}"
    if key == _SUPPRESSION:
        return GridAxis(key, (), key, read_values(given, where))
    named, _, parameter = key.rpartition(".")
    models = {f"privacy[{place}]": (place,) for place in range(len(policy.privacy))}
    for place, spec in enumerate(policy.privacy):
        models[spec.model] = (*models.get(spec.model, ()), place)
    if named not in models:
        known = [*dict.fromkeys(spec.model for spec in policy.privacy), _SUPPRESSION]
        message = f"{where}: the policy asks for no such model. {did_you_mean(named or key, known)}"
        raise InputError(message, code="unknown-model")
    places = tuple(place for place in models[named] if parameter in _numeric(policy.privacy[place]))
    if not places:
        message = f"{where}: no parameter {parameter!r} of {named} is a number. The policy has: {_known(policy)}."
        raise InputError(message, code="unknown-parameter")
    return GridAxis(key, places, parameter, read_values(given, where))


def _value_problems(policy: Policy, axis: GridAxis, value: Number) -> Iterator[str]:
    try:
        if not axis.places:
            TypeAdapter(Share).validate_python(value)
        for place in axis.places:
            spec = policy.privacy[place]
            changed = type(spec).model_validate({**spec.model_dump(exclude_unset=True), axis.parameter: value})
            yield from (f"{changed.model}.{each}" for each in build_model(changed, "?").parameter_problems())
    except ValidationError as error:
        yield f"{axis.parameter} {error.errors()[0]['msg']}."
