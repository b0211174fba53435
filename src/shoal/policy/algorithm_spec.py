"""The algorithm and its options in a policy file, made from what the algorithms declare."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.declarations import Parameter, ParameterKind
from shoal.errors import did_you_mean
from shoal.hierarchies.flat import KIND as _FLAT
from shoal.hierarchies.kind import RunKind
from shoal.metrics import METRICS
from shoal.policy.partial import PartialPolicy, PartialSpec, read_part
from shoal.policy.spec import ColumnSpec, NamedSpec, declared_spec
from shoal.search import ALGORITHMS, DEFAULT_ALGORITHM, Algorithm, all_options
from shoal.search.algorithm import Demand

_EMPTY: dict[ParameterKind, Any] = {ParameterKind.LEVELS: {}, ParameterKind.RANGES: [], ParameterKind.WEIGHTS: {}}
Columns = Mapping[str, PartialSpec[ColumnSpec]]
_MAPPINGS = {ParameterKind.LEVELS, ParameterKind.WEIGHTS, ParameterKind.RANGES}


class _NamedAlgorithm(NamedSpec):
    """The algorithm and its options."""

    short_forms = ({"type": "string"},)
    example = f"{{name: {DEFAULT_ALGORITHM}}}"

    name: str = DEFAULT_ALGORITHM

    def declared(self, demands: Collection[Demand]) -> Algorithm:
        """What the algorithm declares with these options, in a run with these demands."""
        return ALGORITHMS[self.name].for_options(self.model_dump(exclude={"name"}), demands)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Each declared option."""


def _optional(option: Parameter) -> Parameter:
    """An option that one algorithm needs, but not every policy."""
    return replace(option, default=_EMPTY.get(option.kind)) if option.required else option


if TYPE_CHECKING:
    AlgorithmSpec = _NamedAlgorithm
else:
    _OPTIONS = [_optional(option) for option in all_options().values()]
    AlgorithmSpec = declared_spec("AlgorithmSpec", _NamedAlgorithm, _OPTIONS, globals(), _NamedAlgorithm.__doc__)


def read_algorithm(raw: Any, columns: Columns, parts: PartialPolicy) -> PartialSpec[AlgorithmSpec]:
    """Read the algorithm and note what is wrong with its name and its options."""
    mappings = frozenset(option.name for option in all_options().values() if option.kind in _MAPPINGS)
    part = read_part(AlgorithmSpec, {} if raw is None else raw, "algorithm", parts, by_entry=mappings)
    spec = part.value
    if spec is None:
        return part
    own = {name: option for name, option in all_options().items() if option.kind is ParameterKind.MEASURE}
    if "name" not in part.damaged:
        if spec.name not in ALGORITHMS:
            fix = did_you_mean(spec.name, ALGORITHMS)
            parts.add("algorithm.name", f"unknown algorithm {spec.name!r}.", fix, code="unknown-algorithm")
        else:
            own = {option.name: option for option in ALGORITHMS[spec.name].options}
            for key in sorted(spec.model_fields_set - {"name", "seed", *own}):
                fix = f"Its options: {', '.join(sorted({'seed', *own}))}."
                parts.add(f"algorithm.{key}", f"{spec.name} has no such option.", fix, code="unknown-option")
    for option in own.values():
        _check_option(option, getattr(spec, option.name), columns, parts)
    return part


def _check_option(option: Parameter, value: Any, columns: Columns, parts: PartialPolicy) -> None:
    """A measure must exist; columns must have the role that the option is about, and weights lie in their range."""
    where = f"algorithm.{option.name}"
    if option.kind is ParameterKind.MEASURE and value not in METRICS:
        parts.add(where, f"unknown measure {value!r}.", did_you_mean(value, METRICS), code="unknown-measure")
    if option.kind not in _MAPPINGS:
        return
    known = [name for name, column in columns.items() if column.role in {option.of, None}]
    for name in value or ():
        if name not in known:
            kind = "a quasi-identifier" if option.of == "quasi" else f"a {option.of} column"
            parts.add(f"{where}.{name}", f"is not {kind}.", did_you_mean(name, known), code="wrong-column")
    if option.kind is ParameterKind.RANGES and isinstance(value, Mapping):
        for name, form in value.items():
            _check_runs(f"{where}.{name}", form, columns.get(name), parts)
    if option.kind is ParameterKind.WEIGHTS:
        for name, weight in value.items():
            if not option.allows(weight):
                parts.add(f"{where}.{name}", f"must be {option.rule} (given: {weight}).", code="out-of-range")


def _check_runs(where: str, form: Any, column: PartialSpec[ColumnSpec] | None, parts: PartialPolicy) -> None:
    """Base intervals must be of a kind that the values of the column's hierarchy can lie in."""
    if not isinstance(form, Mapping) or column is None or column.value is None or "hierarchy" in column.damaged:
        return
    spec = column.value.hierarchy
    runs, listed = (_FLAT.runs, False) if spec is None else (spec.kind.runs, spec.kind.listed)
    asked = RunKind.ORDER
    if "step" in form:
        asked = RunKind.PERIODS if isinstance(form["step"], str) else RunKind.NUMBERS
    if asked not in runs:
        message = f"its values cannot be divided into {asked.value}."
        parts.add(where, message, _RUN_FIXES[asked], code="range-form", asked=asked.value)
    elif asked is RunKind.ORDER and isinstance(form["order"], str) and not listed:
        parts.add(
            where, "has no hierarchy that lists its values.", _RUN_FIXES[asked], code="range-form", asked=asked.value
        )


_RUN_FIXES = {
    RunKind.NUMBERS: "A step that is a number needs numbers: declare a hierarchy of intervals.",
    RunKind.PERIODS: "A step such as 1 month needs dates: declare a hierarchy of dates.",
    RunKind.ORDER: "List the values from first to last, order: [low, mid, high]; numbers and dates take a step.",
}
