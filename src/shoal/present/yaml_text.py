"""Plain data as YAML text, for reading; a page needs no more of YAML than this."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_](?:[\w ./+()-]*[\w./+()-])?", re.ASCII)
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_WIDTH = 80


def yaml_text(value: Any) -> str:
    """A value as lines of text."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [line for key, item in value.items() for line in _entry(f"{_scalar(key)}:", item)]
    if isinstance(value, (list, tuple)) and value:
        return [line for item in value for line in _item(item)]
    return [_scalar(value)]


def _entry(head: str, item: Any) -> list[str]:
    if _nested(item):
        return [head, *(f"  {line}" for line in _lines(item))]
    return [f"{head} {_scalar(item)}"]


def _item(item: Any) -> list[str]:
    first, *rest = _lines(item) if _nested(item) else [_scalar(item)]
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _nested(value: Any) -> bool:
    """Whether a value takes lines of its own; a short list of scalars does not."""
    if isinstance(value, (list, tuple)):
        scalars = all(not isinstance(each, (Mapping, list, tuple)) for each in value)
        return bool(value) and not (scalars and sum(len(_scalar(each)) + 2 for each in value) <= _WIDTH)
    return isinstance(value, Mapping) and bool(value)


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_scalar(each) for each in value)}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
