"""Reading a policy's YAML without its surprises.

YAML 1.1, which PyYAML reads by default, turns the zip code 01234 into the number 668, the country code NO into False
and 12:30 into 750, and takes the last of two equal keys without a word. Here numbers have no leading zeros, only
``true`` and ``false`` are booleans (YAML 1.2), and a key that stands twice is a problem.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from shoal.errors import PolicyError, PolicyProblem


class _Loader(yaml.SafeLoader):
    """SafeLoader with the scalars of YAML 1.2's core schema and a complaint about repeated keys."""

    repeated: list[PolicyProblem]


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|false)$", "tf"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|)$", ["~", "n", ""]),
    ("tag:yaml.org,2002:int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        r"^[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
        "-+.0123456789",
    ),
    ("tag:yaml.org,2002:float", r"^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$", "-+."),
):
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


def _mapping(loader: _Loader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if isinstance(key, (list, dict)):
            loader.repeated.append(
                PolicyProblem(f"line {line}", "a key must be a single value, not a list or mapping.")
            )
            continue
        if key in result:
            loader.repeated.append(
                PolicyProblem(
                    f"line {line}",
                    f"the key {key!r} stands twice in the same mapping.",
                    "A column has one role and a setting one value: keep one of them.",
                )
            )
        result[key] = loader.construct_object(value_node, deep=deep)
    return result


def _construct(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    return _mapping(loader, node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _construct)


def parse_yaml(text: str, source: str) -> Any:
    """The content of a YAML document; syntax errors and repeated keys are a `PolicyError`."""
    loader = _Loader(text)
    loader.repeated = []
    try:
        content = loader.get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise PolicyError([PolicyProblem(where, f"not valid YAML: {reason}.")], source) from None
    finally:
        loader.dispose()
    if loader.repeated:
        raise PolicyError(loader.repeated, source)
    return content


def read_yaml(path: Path) -> tuple[Any, bytes]:
    """The content of a YAML file and its bytes."""
    source = str(path)
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = PolicyProblem("", f"not UTF-8 text (byte {error.start}).", "Save the file as UTF-8.")
        raise PolicyError([problem], source) from None
    except OSError as error:
        raise PolicyError([PolicyProblem("", f"cannot be read: {error.strerror or error}.")], source) from None
    return parse_yaml(text, source), raw
