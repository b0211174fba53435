"""Changes to a policy that a suggestion proposes, and how they are applied to its document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from shoal.errors import InputError

Path = tuple[str | int | None, ...]
"""Keys and indices from the top of a policy to a value; None is the key of the missing value."""


@dataclass(frozen=True)
class PolicyEdit:
    """One value of a policy that is set, or a key that is removed; the index after the last of a list adds to it."""

    path: Path
    value: Any = None  # none removes the key
    sensitive: str | None = None  # the column that the edit is for, where one entry may ask a model of several columns

    def to_dict(self) -> dict[str, Any]:
        """The edit as plain data, ready for JSON."""
        found = {"path": list(self.path), "value": self.value}
        return found if self.sensitive is None else {**found, "sensitive": self.sensitive}

    @staticmethod
    def from_dict(content: Any) -> PolicyEdit:
        """The edit that `to_dict` wrote; `InputError` for anything else."""
        if not isinstance(content, Mapping) or not isinstance(content.get("path"), Sequence) or not content["path"]:
            raise InputError("an edit needs the path of the value that it changes.", code="edit-unreadable")
        return PolicyEdit(tuple(content["path"]), content.get("value"), content.get("sensitive"))


def apply_edits(document: Mapping[str, Any], edits: Iterable[PolicyEdit]) -> dict[str, Any]:
    """A copy of a policy document with every edit made; an entry on several columns is split where one is changed.

    Raises `InputError` where an edit does not fit the document.
    """
    changed = deepcopy(dict(document))
    split: dict[int, dict[str, Any]] = {}
    for edit in edits:
        try:
            if edit.sensitive is None:
                _set(changed, edit.path, edit.value)
                continue
            _, index, *path = edit.path
            entry = changed["privacy"][index]
            by_column = split.setdefault(index, {name: deepcopy(entry) for name in _columns(changed, entry)})  # type: ignore[arg-type]
            _set(by_column[edit.sensitive], path, edit.value)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InputError("the change no longer fits this policy. Make it by hand.", code="edit-outdated") from None
    if split:
        changed["privacy"] = [
            each
            for index, entry in enumerate(changed["privacy"])
            for each in (_joined(split[index]) if index in split else [entry])
        ]
    return changed


def _set(target: Any, path: Sequence[Any], value: Any) -> None:
    for key in path[:-1]:
        target = target[key]
    if value is not None and isinstance(target, list) and path[-1] == len(target):
        target.append(value)
    elif value is not None:
        target[path[-1]] = value
    elif isinstance(target, dict):
        target.pop(path[-1], None)
    else:
        raise TypeError


def _columns(document: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    """The sensitive columns that an entry is on: those it names, or all that there are."""
    named = entry.get("sensitive")
    if named is None:
        return [name for name, column in document["columns"].items() if column.get("role") == "sensitive"]
    return [named] if isinstance(named, str) else list(dict.fromkeys(named))


def _joined(by_column: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The entries of single columns; those that ask the same are one entry."""
    rest = dict(by_column)
    while rest:
        first = next(iter(rest.values()))
        alike = [name for name, each in rest.items() if each == first]
        for name in alike:
            del rest[name]
        if len(alike) == len(by_column):
            yield first
        else:
            yield {**first, "sensitive": alike[0] if len(alike) == 1 else alike}
