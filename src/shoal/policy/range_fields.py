"""What a policy may write under ``ranges``: a list of columns, or for each of some columns how it is divided."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, Tag, WithJsonSchema

from shoal.hierarchies.base_intervals import FREE, Periods
from shoal.hierarchies.hierarchy import LABEL_SCHEMA, is_scalar, scalar_text
from shoal.policy.fields import ByColumn, by_shape, finite_number, label_text, refuse

HIERARCHY_ORDER = "hierarchy"  # the order in which the column's hierarchy lists its values
_KEYS = ("step", "origin", "order", "names")
_FORMS = "{step: 5}, {step: 1 month}, {order: [low, mid, high]}, {order: hierarchy} or free"


def _range_form(value: Any) -> Any:
    """How one column is divided; `free` for tight ranges."""
    if value == FREE:
        return FREE
    if not isinstance(value, Mapping) or not value or not set(value) <= set(_KEYS):
        raise refuse(f"must be one of {_FORMS}")
    if ("step" in value) == ("order" in value):
        raise refuse("must have either a step or an order", "step-or-order")
    return _steps(value) if "step" in value else _order(value)


def _steps(value: Mapping[Any, Any]) -> dict[str, Any]:
    step = value["step"]
    if "names" in value:
        raise refuse("names are for runs of an order: a run of steps is named by its ends", "names-without-order")
    if isinstance(step, str):
        if Periods.of_text(step) is None:
            raise refuse(f"step must be a number above 0, or a period such as 1 month (given: {step})", "range-step")
        if "origin" in value:
            raise refuse("origin is for steps of numbers: periods are those of the calendar", "range-step")
        return {"step": step}
    if finite_number(step) <= 0:
        raise refuse(f"step must be a number above 0, or a period such as 1 month (given: {step})", "range-step")
    return {"step": step} | ({"origin": finite_number(value["origin"])} if "origin" in value else {})


def _order(value: Mapping[Any, Any]) -> dict[str, Any]:
    order, names = value["order"], value.get("names")
    if "origin" in value:
        raise refuse("origin is for steps of numbers: an order begins with its first value", "range-order")
    if order != HIERARCHY_ORDER:
        if not isinstance(order, (list, tuple)) or len(order) < 2:
            raise refuse("order must list two values or more from first to last, or be the word hierarchy")
        order = [label_text(each) for each in order]
        if None in order:
            raise refuse("order must list values: a missing value is part of no run", "range-order")
        if len(set(order)) < len(order):
            raise refuse("order lists a value more than once", "range-order")
    return {"order": order} | ({} if names is None else {"names": _names(names, order)})


def _names(names: Any, order: list[str] | str) -> dict[str, list[str]]:
    """Each name with the first and the last value of its run."""
    if not isinstance(names, Mapping) or not names:
        raise refuse("names must be a mapping from a name to the first and the last value of a run")
    found = {}
    for name, ends in names.items():
        if name is None or not is_scalar(name) or not isinstance(ends, (list, tuple)) or len(ends) != 2:
            raise refuse("names must be a mapping from a name to the first and the last value of a run")
        one, other = (str(label_text(end)) for end in ends)
        if not isinstance(order, str) and not (
            one in order and other in order and order.index(one) < order.index(other)
        ):
            message = f"the name {name!r} must have two values of the order, the earlier first (given: {one}, {other})"
            raise refuse(message, "range-names")
        if not isinstance(order, str) and scalar_text(name) in order:
            raise refuse(f"the name {name!r} is a value of the order", "range-names")
        found[str(scalar_text(name))] = [one, other]
    if len({tuple(ends) for ends in found.values()}) < len(found):
        raise refuse("two names are for the same run", "range-names")
    return found


_FORM_SCHEMA = {
    "anyOf": [
        {"const": FREE},
        {
            "type": "object",
            "properties": {
                "step": {
                    "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}],
                    "description": "width of the base intervals: a number, or a period such as 1 month",
                },
                "origin": {"type": "number", "description": "where steps of numbers are counted from"},
            },
            "required": ["step"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "order": {
                    "anyOf": [{"const": HIERARCHY_ORDER}, {"type": "array", "items": LABEL_SCHEMA, "minItems": 2}],
                    "description": "the values from first to last, or the order of the column's hierarchy",
                },
                "names": {
                    "type": "object",
                    "additionalProperties": {"type": "array", "items": LABEL_SCHEMA, "minItems": 2, "maxItems": 2},
                    "description": "names of some runs, each with its first and last value",
                },
            },
            "required": ["order"],
            "additionalProperties": False,
        },
    ]
}
RangeForm = Annotated[Any, PlainValidator(_range_form), WithJsonSchema(_FORM_SCHEMA)]
Ranges = Annotated[
    Annotated[list[str], Tag("<columns>")] | Annotated[dict[str, RangeForm], ByColumn, Tag("<mapping>")],
    by_shape("<mapping>", "<columns>", Mapping),
]
