"""What a grid varies: a parameter of one or several models of the policy, or the suppression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from pydantic import TypeAdapter, ValidationError

from shoal.errors import InputError, did_you_mean
from shoal.pipeline.compare.values import Number, Values, read_values, written
from shoal.policy import Policy
from shoal.policy.fields import Share
from shoal.policy.model_specs import ModelSpec, build_model

SHORT_FORMS = ("k", "p", "l", "t", "alpha")
"""Parameters that have an option of their own; each applies to every model of the policy that has it."""
_SUPPRESSION = "suppression"


@dataclass(frozen=True)
class Axis:
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


def axes_of(policy: Policy, short: Mapping[str, Values | None], settings: Mapping[str, Values]) -> tuple[Axis, ...]:
    """The axes that are asked for, those of short forms first. Raises `InputError` for what the policy has not."""
    axes = [_short(policy, name, given) for name, given in short.items() if given is not None]
    axes += [_general(policy, key, given) for key, given in settings.items()]
    taken: dict[tuple[int, str], str] = {}
    for axis in axes:
        for place in axis.places or (-1,):
            other = taken.setdefault((place, axis.parameter), axis.name)
            if other != axis.name:
                raise InputError(
                    f"{axis.parameter} of privacy[{place}] is set twice: by {other} and by {axis.name}.",
                    code="set-twice",
                )
        _check_values(policy, axis)
    return tuple(axes)


def read_settings(texts: list[str]) -> dict[str, Values]:
    """Settings such as ``t-closeness.t=0.1,0.2`` by their keys."""
    settings: dict[str, Values] = {}
    for text in texts:
        key, sign, values = text.partition("=")
        if not sign or not key.strip():
            raise InputError(
                f"--set {text}: write model.parameter=values, such as t-closeness.t=0.1,0.2.", code="bad-setting"
            )
        if key.strip() in settings:
            raise InputError(f"--set {key.strip()} stands there twice. Give its values in one.", code="set-twice")
        settings[key.strip()] = values
    return settings


def _numeric(spec: ModelSpec) -> list[str]:
    """The parameters of an entry that are single numbers."""
    return [name for name, value in spec if isinstance(value, Real) and not isinstance(value, bool)]


def _known(policy: Policy) -> str:
    """What could be set, in words."""
    return ", ".join(dict.fromkeys(f"{spec.model}.{name}" for spec in policy.privacy for name in _numeric(spec)))


def _short(policy: Policy, name: str, given: Values) -> Axis:
    places = tuple(place for place, spec in enumerate(policy.privacy) if name in _numeric(spec))
    if not places:
        raise InputError(
            f"--{name}: no model of the policy has a parameter {name} that is a number. It has: {_known(policy)}.",
            code="unknown-parameter",
        )
    return Axis(name, places, name, read_values(given, f"--{name}"))


def _general(policy: Policy, key: str, given: Values) -> Axis:
    where = f"--set {key}"
    if key == _SUPPRESSION:
        return Axis(key, (), key, read_values(given, where))
    named, _, parameter = key.rpartition(".")
    models = {f"privacy[{place}]": (place,) for place in range(len(policy.privacy))}
    for place, spec in enumerate(policy.privacy):
        models[spec.model] = (*models.get(spec.model, ()), place)
    if named not in models:
        known = [*dict.fromkeys(spec.model for spec in policy.privacy), _SUPPRESSION]
        raise InputError(
            f"{where}: the policy asks for no such model. {did_you_mean(named or key, known)}", code="unknown-model"
        )
    places = tuple(place for place in models[named] if parameter in _numeric(policy.privacy[place]))
    if not places:
        raise InputError(
            f"{where}: no parameter {parameter!r} of {named} is a number. The policy has: {_known(policy)}.",
            code="unknown-parameter",
        )
    return Axis(key, places, parameter, read_values(given, where))


def _check_values(policy: Policy, axis: Axis) -> None:
    """Every value must be one that its model takes, whatever the others are."""
    for value in axis.values:
        for problem in _value_problems(policy, axis, value):
            raise InputError(f"{axis.name} = {written(value)}: {problem}", code="bad-value")


def _value_problems(policy: Policy, axis: Axis, value: Number) -> Iterator[str]:
    try:
        if not axis.places:
            TypeAdapter(Share).validate_python(value)
        for place in axis.places:
            spec = policy.privacy[place]
            changed = type(spec).model_validate({**spec.model_dump(exclude_unset=True), axis.parameter: value})
            yield from (f"{changed.model}.{each}" for each in build_model(changed, "?").parameter_problems())
    except ValidationError as error:
        yield f"{axis.parameter} {error.errors()[0]['msg']}."
