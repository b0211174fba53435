"""What pydantic finds wrong with a part of a policy, in words and with paths that a reader of the policy knows."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from shoal.errors import PolicyProblem, did_you_mean
from shoal.policy.fields import TAGS, UNSHOWN, UNSHOWN_KEY

_LONGEST = 60
_DEEPEST = 3
_UNKNOWN = {"extra_forbidden", "invalid_key"}
_CODES = {
    "extra_forbidden": "unknown-key",
    "invalid_key": "unknown-key",
    "missing": "missing-key",
    "literal_error": "unknown-choice",
    "string_too_short": "wrong-length",
    "string_too_long": "wrong-length",
    "too_short": "empty",
    UNSHOWN: "unreadable-address",
}
Keys = tuple[str | int, ...]  # the keys, from the part's own down, that lead to a problem
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")


def located_problems(
    error: ValidationError, spec: type[BaseModel] | None, raw: Any, where: str
) -> Iterator[tuple[PolicyProblem, Keys]]:
    """Every problem of one part with its written path (``columns.age.hierarchy.intervals[1]``), and the keys of it."""
    for detail in error.errors(include_url=False):
        loc = tuple(part for part in detail["loc"] if part not in TAGS)
        path = _path(raw, loc)
        written_path = where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
        message, fix = _words(detail, loc, spec)
        yield PolicyProblem(written_path.removeprefix("."), message, fix, code=_code(detail["type"])), path


def _code(kind: str) -> str:
    """The code of a kind of error; the kinds of our own are codes already."""
    return _CODES.get(kind, kind if "-" in kind else "wrong-type")


def _path(raw: Any, loc: Keys) -> Keys:
    """The path in what was written; keys that a short form implies are not in it."""
    path: list[str | int] = []
    current = raw
    for part in loc:
        if isinstance(current, Mapping) and not isinstance(part, int):
            null = part == "None" and None in current and "None" not in current
            path.append("null" if null else str(part))
            current = current.get(None if null else part)
        elif isinstance(current, (list, tuple)) and isinstance(part, int):
            path.append(part)
            current = current[part] if part < len(current) else None
    return tuple(path)


def _words(detail: Any, loc: Keys, spec: type[BaseModel] | None) -> tuple[str, str]:
    """What is wrong and the fix."""
    kind, given = detail["type"], detail.get("input")
    holder = _holder(spec, loc)
    if kind in _UNKNOWN:
        return "no such key here.", did_you_mean(loc[-1], holder.model_fields if holder else ())
    if kind == "missing":
        field = holder.model_fields.get(str(loc[-1])) if holder else None
        meaning = f" ({field.description})" if field is not None and field.description else ""
        return "is required but missing.", f"Add {loc[-1]}: …{meaning}."
    if kind in {"model_type", "model_attributes_type"}:
        inner = _holder(spec, (*loc, ""))
        assert inner is not None, "a spec that lacks a mapping stands within a spec"
        return not_a_mapping(inner, given)
    if kind in {UNSHOWN, UNSHOWN_KEY}:
        return f"{detail['msg']}.", ""
    message, fix = _value_words(detail, given)
    return f"{message} (given: {policy_text(given)}).", fix


def _value_words(detail: Any, value: Any) -> tuple[str, str]:
    """What is wrong with a single value, a list or a mapping without keys of its own."""
    kind, message = detail["type"], detail["msg"]
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
        return f"must be one of {', '.join(allowed)}", _nearest(value, allowed)
    if kind == "string_type":
        quotable = isinstance(value, (bool, int, float))
        return "must be text", f"Write it in quotes: '{policy_text(value)}'." if quotable else ""
    if kind in {"string_too_short", "string_too_long"}:
        return "must be one character", ""
    if kind == "list_type":
        return "must be a list", "Write [one, another]."
    if kind == "dict_type":
        return "must be a mapping", "Write {key: value}."
    numeric = "number" in message and isinstance(value, str) and _NUMBER.fullmatch(value)
    return message, f"Write it without quotes: {value}." if numeric else ""


def not_a_mapping(spec: type[BaseModel], value: Any) -> tuple[str, str]:
    """What is wrong with something that stands where a part belongs, and the fix."""
    near = _nearest(value, spec.model_fields) if isinstance(value, str) else ""
    message = f"must be a mapping with the keys {', '.join(spec.model_fields)} (given: {policy_text(value)})."
    return message, f"{near} Write for example {getattr(spec, 'example', '{key: value}')}.".strip()


def _nearest(name: Any, allowed: Iterable[str]) -> str:
    """The nearest name alone, where the message lists all of them."""
    hint, mark, _ = did_you_mean(name, allowed).partition("? ")
    return f"{hint}?" if mark else ""


def policy_text(value: Any, depth: int = 0) -> str:
    """A value in the way that a policy writes it, not too long and not too deep (it may hold itself)."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, (Mapping, list, tuple)) and depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        text = "{" + ", ".join(f"{_key(key)}: {policy_text(each, depth + 1)}" for key, each in value.items()) + "}"
    elif isinstance(value, (list, tuple)):
        text = f"[{', '.join(policy_text(each, depth + 1) for each in value)}]"
    else:
        text = repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _key(key: Any) -> str:
    return "null" if key is None else str(key)


def _holder(spec: type[BaseModel] | None, loc: Keys) -> type[BaseModel] | None:
    """The spec whose keys the last part of a path is one of."""
    for part in loc[:-1]:
        field = spec.model_fields.get(str(part)) if spec is not None else None
        inner = _spec_within(field.annotation) if field is not None else None
        spec = inner if inner is not None else spec
    return spec


def _spec_within(annotation: Any) -> type[BaseModel] | None:
    """The one spec that a field's type holds, if any."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _spec_within(part)) is not None), None)
