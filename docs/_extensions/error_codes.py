"""The codes of errors and policy problems, read from the source so that none is forgotten.

A code is written where the error is raised, as ``code="no-records"``, as the default of a parameter ``code`` of the
function that raises it, or as the ``default_code`` of an error class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import shoal
from shoal import errors

SOURCE = Path(shoal.__file__).parent
PROBLEM = errors.PolicyProblem.__name__
"""Codes of a problem are listed in ``problems`` of a `PolicyError`; all others are the code of the error itself."""
ERRORS = {
    name: each for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, errors.ShoalError)
}


@dataclass(frozen=True, order=True)
class Code:
    """A code, the class that carries it, and what its message says, with … for what differs."""

    name: str
    carrier: str
    message: str


def class_codes() -> list[Code]:
    """The code that each class of errors has unless a more specific one is given."""
    return [Code(each.default_code, name, (each.__doc__ or "").split("\n")[0]) for name, each in ERRORS.items()]


def specific_codes(source: Path = SOURCE) -> list[Code]:
    """Every code that is given where an error is raised or a problem is found; the first message of each."""
    found: dict[tuple[str, str], str] = {}
    for path in sorted(source.rglob("*.py")):
        for code in _codes(ast.parse(path.read_text(encoding="utf-8"))):
            key = code.name, code.carrier
            found[key] = found.get(key) or code.message
    return sorted(Code(*key, message) for key, message in found.items())


def _codes(module: ast.Module) -> Iterator[Code]:
    texts: dict[str, str] = {}
    for node in _in_order(module):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            texts[node.targets[0].id] = _text(node.value, {})
        if isinstance(node, ast.Call) and (name := _given(node)) and (carrier := _carrier(node)):
            given = node.args[1:] if getattr(node.func, "id", "") == PROBLEM else node.args  # where, then the message
            sentences = (text for each in given if " " in (text := _text(each, texts)))
            yield Code(name, carrier, next(sentences, ""))
        if isinstance(node, ast.FunctionDef):
            yield from _default_code(node)


def _default_code(function: ast.FunctionDef) -> Iterator[Code]:
    """The code that a function raises an error with unless it is given another one; the class is a default, too."""
    names = [each.arg for each in function.args.args]
    defaults = function.args.defaults
    given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    carriers = [each.id for each in defaults if isinstance(each, ast.Name) and each.id in ERRORS]
    if carriers and (code := _text(given.get("code", ast.Constant(None)), {})):
        messages = [text for each in defaults if " " in (text := _text(each, {}))]
        yield Code(code, carriers[0], f"{messages[0]}: …" if messages else "")


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _in_order(child)


def _given(call: ast.Call) -> str | None:
    for keyword in call.keywords:
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return keyword.value.value
    return None


def _carrier(call: ast.Call) -> str | None:
    """The class that a call makes; a function that is given a code makes a problem of it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ERRORS:
        return name
    return PROBLEM if name == PROBLEM or name.islower() else None


def _text(node: ast.expr, texts: dict[str, str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in node.values)
    if isinstance(node, ast.Name):
        return texts.get(node.id, "")
    return ""
