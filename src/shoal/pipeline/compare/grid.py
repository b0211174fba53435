"""The grid of a comparison: what it varies, and its points - every algorithm with every combination of values.

An axis is a parameter of some models of the policy, or the suppression. Its values are written as ``2,5,10``,
``2..10``, or with a step ``2..50..8``, ``0.1..0.5..0.1``. A point is a complete policy of its own.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from numbers import Real
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from shoal.errors import InputError, PolicyError, did_you_mean
from shoal.hierarchies.numbers_as_text import parse_decimal
from shoal.io import DatabaseTable, Location
from shoal.models import MODELS
from shoal.pipeline.recoding_file import relative_path
from shoal.policy import Policy
from shoal.policy.fields import Share
from shoal.policy.model_specs import ModelSpec, build_model
from shoal.policy.yaml_text import dump_yaml
from shoal.search import ALGORITHMS, shared_options

Number = int | float
Values = str | Number | Iterable[Number]  # how the values may be given: as text, as one number, or as several

MOST = 10_000  # values of one parameter, and points of one grid, at most: more is a slip of the keyboard


def read_values(values: Values, where: str) -> tuple[Number, ...]:
    """The values, each once, in the order given. Raises `InputError` that names the option."""
    if isinstance(values, str):
        parts = [value for part in values.split(",") for value in _part(part.strip(), values, where)]
    elif isinstance(values, (int, float)):
        parts = [values]
    else:
        parts = list(values)
    strange = [value for value in parts if isinstance(value, bool) or not isinstance(value, (int, float))]
    if strange or not parts:
        what = f"{strange[0]!r} is not a number" if strange else "there is no value"
        raise InputError(f"{where}: {what}. {_FORMS}", code="bad-values")
    return tuple(dict.fromkeys(parts))


_FORMS = "Write values as 2,5,10 or 2..10 or, with a step, 2..50..8."


def _part(part: str, text: str, where: str) -> Iterator[Number]:
    """One value, or all from a first to a last one."""
    ends = [parse_decimal(end) for end in part.split("..")] if part else []
    if not 1 <= len(ends) <= 3 or None in ends:
        raise InputError(f"{where}: {text!r} cannot be read as values. {_FORMS}", code="bad-values")
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
    entries: tuple[int, ...]
    """The entries of ``privacy`` that it is set in; none for the suppression."""
    parameter: str
    values: tuple[Number, ...]


def axes_of(policy: Policy, short: Mapping[str, Values | None], settings: Mapping[str, Values]) -> tuple[GridAxis, ...]:
    """The axes that are asked for, those of short forms first. Raises `InputError` for what the policy has not."""
    axes = [_axis(policy, name, given, short=True) for name, given in short.items() if given is not None]
    axes += [_axis(policy, key, given) for key, given in settings.items()]
    taken: dict[tuple[int, str], str] = {}
    for axis in axes:
        for index in axis.entries or (-1,):
            other = taken.setdefault((index, axis.parameter), axis.name)
            if other != axis.name:
                message = f"{axis.parameter} of privacy[{index}] is set twice: by {other} and by {axis.name}."
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


def _axis(policy: Policy, key: str, values: Values, *, short: bool = False) -> GridAxis:
    """A parameter of every model that has it (``k``, the short form), or of those that the key names."""
    where = f"--{key}" if short else f"--set {key}"
    if key == _SUPPRESSION:
        return GridAxis(key, (), key, read_values(values, where))
    named, _, parameter = ("", "", key) if short else key.rpartition(".")
    entries = [
        (index, spec)
        for index, spec in enumerate(policy.privacy)
        if short or named in {spec.model, f"privacy[{index}]"}
    ]
    if not entries:
        known = [*dict.fromkeys(spec.model for spec in policy.privacy), _SUPPRESSION]
        message = f"{where}: the policy asks for no such model. {did_you_mean(named or key, known)}"
        raise InputError(message, code="unknown-model")
    indices = tuple(index for index, spec in entries if parameter in _numeric(spec))
    if not indices:
        has = ", ".join(dict.fromkeys(f"{spec.model}.{name}" for spec in policy.privacy for name in _numeric(spec)))
        message = f"{where}: no parameter {parameter!r} of {named or 'the models'} is a number. The policy has: {has}."
        raise InputError(message, code="unknown-parameter")
    return GridAxis(key, indices, parameter, read_values(values, where))


def _numeric(spec: ModelSpec) -> list[str]:
    """The parameters of an entry that are single numbers."""
    return [name for name, value in spec if isinstance(value, Real) and not isinstance(value, bool)]


def _value_problems(policy: Policy, axis: GridAxis, value: Number) -> Iterator[str]:
    try:
        if not axis.entries:
            TypeAdapter(Share).validate_python(value)
        for index in axis.entries:
            spec = policy.privacy[index]
            changed = type(spec).model_validate({**spec.model_dump(exclude_unset=True), axis.parameter: value})
            yield from (f"{changed.model}.{each}" for each in build_model(changed, "?").parameter_problems())
    except ValidationError as error:
        yield f"{axis.parameter} {error.errors()[0]['msg']}."


@dataclass(frozen=True)
class GridPoint:
    """One policy of the grid."""

    name: str
    algorithm: str
    parameters: Mapping[str, Number]
    text: str  # the policy as YAML; paths in it are relative to the folder of the points
    output: str  # the name of its release, in the folder of the points
    contradiction: PolicyError | None  # why no data could satisfy the policy (p larger than k), or None

    @property
    def policy_sha256(self) -> str:
        """The hash of its policy file."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_algorithms(names: str | Sequence[str], policy: Policy) -> tuple[str, ...]:
    """The algorithms, each once. Raises `InputError` for one that is unknown or lacks options that it needs."""
    given = names.split(",") if isinstance(names, str) else list(names)
    algorithms = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
    if not algorithms:
        raise InputError(f"no algorithm is named. {did_you_mean('', ALGORITHMS)}", code="no-algorithm")
    for name in algorithms:
        if name not in ALGORITHMS:
            raise InputError(f"unknown algorithm {name!r}. {did_you_mean(name, ALGORITHMS)}", code="unknown-algorithm")
        lacking = sorted(each for each in ALGORITHMS[name].needs if not getattr(policy.algorithm, each))
        if lacking:
            raise InputError(
                f"{name} needs {' and '.join(lacking)}, which the policy does not give. "
                f"Set algorithm: {{name: {name}, …}} in the policy, or leave {name} out.",
                code="missing-option",
            )
    return algorithms


def points_of(
    policy: Policy,
    algorithms: Sequence[str],
    axes: Sequence[GridAxis],
    *,
    metric: str,
    folder: Path,
    data: Location | None,
) -> tuple[GridPoint, ...]:
    """Every point, algorithm by algorithm. Raises `InputError` for too many, `PolicyError` where none can be."""
    size = math.prod([len(algorithms), *(len(axis.values) for axis in axes)])
    if size > MOST:
        message = f"the grid has {size:,} points, and at most {MOST:,} are allowed. Use larger steps."
        raise InputError(message, code="too-many-points")
    points = []
    for algorithm, *values in product(algorithms, *(axis.values for axis in axes)):
        content = _content(policy, str(algorithm), metric, folder, data)
        points.append(_point(content, str(algorithm), list(zip(axes, values, strict=True))))
    errors = [point.contradiction for point in points if point.contradiction is not None]
    if errors and len(errors) == len(points):
        raise errors[0]
    return tuple(points)


def _point(content: dict[str, Any], algorithm: str, at: Sequence[tuple[GridAxis, Any]]) -> GridPoint:
    """One point: a policy's content with the values of the axes set in it."""
    name = algorithm
    for axis, value in at:
        name += f"-{axis.name.replace('[', '').replace(']', '')}{written(value)}"
        if not axis.entries:
            content[_SUPPRESSION] = value
        for index in axis.entries:
            content["privacy"][index][axis.parameter] = value
    content["output"] = f"{name}{Path(content.get('output') or '').suffix or '.csv'}"
    contradiction = None
    try:
        Policy.model_validate(content)
    except PolicyError as error:
        contradiction = error
    head = f"# The point {name} of a comparison: shoal anonymize with this file makes its release.\n"
    parameters = {axis.name: value for axis, value in at}
    return GridPoint(name, algorithm, parameters, head + dump_yaml(content), content["output"], contradiction)


def _content(policy: Policy, algorithm: str, metric: str, folder: Path, data: Location | None) -> dict[str, Any]:
    """The policy with another algorithm and those of its options that it takes; paths are right in the folder."""
    content = policy.to_dict()
    for key in ("registry", "recoding"):  # the releases of a comparison are not published
        content.pop(key, None)
    options = policy.algorithm.model_dump(exclude_unset=True)
    if algorithm != policy.algorithm.name:
        options = {key: options[key] for key in options if key in shared_options(algorithm)}
    more = {"metric": metric} if "metric" in ALGORITHMS[algorithm].option_names else {}
    content["algorithm"] = {**options, "name": algorithm, **more}
    if data is not None:
        where = data.text if isinstance(data, DatabaseTable) else _rebased(data, folder)
        content["data"] = {**(content.get("data") or {}), "path": where}
    for column in content["columns"].values():
        declared = column.get("hierarchy") or {}
        if isinstance(declared.get("tree"), str):
            declared["tree"] = _rebased(policy.path(declared["tree"]), folder)
        if isinstance(declared.get("levels"), dict):
            declared["levels"]["path"] = _rebased(policy.path(declared["levels"]["path"]), folder)
    return content


def _rebased(path: Path, folder: Path) -> str:
    """A path as it reads from a folder; absolute ones, and those on another drive, stay absolute."""
    return str(path) if path.is_absolute() else relative_path(path, folder)
