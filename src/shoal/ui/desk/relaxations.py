"""A suggested change to a policy, applied to it: what a forecast or a diagnosis offers becomes a button."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.errors import InputError
from shoal.models import model_title
from shoal.models.limits import limit_name
from shoal.policy import Policy
from shoal.policy.model_specs import ModelSpec, sensitive_columns

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_SUPPRESSION = re.compile(r"suppression: (\S+) \(")
_LIMITS = ("alp", "dif")


@dataclass(frozen=True)
class _Place:
    """One number of one entry under ``privacy``, on one sensitive column."""

    entry: int
    column: str | None
    parameter: str
    path: tuple[Any, ...]


def relaxed(policy: Policy, change: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a policy with a change (``where``, ``value``, ``text``) made to it."""
    document = policy.to_dict()
    where, value, text = str(change.get("where", "")), change.get("value"), str(change.get("text", ""))
    places = _places(policy)
    if where == "suppression":
        document["suppression"] = _plain(float(str(value)))
    elif where == "privacy":
        _ask(document, policy, places, list(_several(str(value), places)))
    elif where in places:
        _ask(document, policy, places, [(where, float(str(value)))])
    elif where == "boundaries" or where in {f"columns.{name}.boundary" for name in policy.columns}:
        for name, column in document["columns"].items():
            if where in {"boundaries", f"columns.{name}.boundary"}:
                column.pop("boundary", None)
    elif where == "algorithm.safe":
        document["algorithm"]["safe"] = True
        _also(document, policy, text)
    elif where in {f"algorithm.group.{name}" for name in policy.algorithm.group}:
        document["algorithm"]["group"][where.removeprefix("algorithm.group.")] = int(float(str(value)))
    else:
        raise InputError(f"the change {where!r} does not fit this policy any more. Change it by hand.")
    return document


def label(policy: Policy, change: Mapping[str, Any]) -> str:
    """A change as a button says it."""
    where, value, text = str(change["where"]), change["value"], str(change["text"])
    places = _places(policy)
    if where == "suppression":
        needed = text.rpartition("(")[2].rstrip(")")
        return f"Let {100 * float(value):g} % of the records be left out ({needed})"
    if where in places:
        return f"Ask {_asked(policy, places, where, value)}"
    if where == "privacy":
        return "Ask " + " and ".join(
            _asked(policy, places, name, found) for name, found in _several(str(value), places)
        )
    if where == "boundaries" or where.endswith(".boundary"):
        return text[0].upper() + text[1:]
    return f"Set {text}"


def _asked(policy: Policy, places: Mapping[str, _Place], name: str, value: float) -> str:
    place = places[name]
    model = policy.privacy[place.entry].model
    on = f" on {place.column!r}" if place.column is not None else ""
    which = f" (entry {place.entry + 1})" if name.startswith("privacy[") else ""
    return f"{place.parameter} = {_plain(float(value))} of {model_title(model)}{on}{which}"


def _places(policy: Policy) -> dict[str, _Place]:
    """Where each number stands, by the name that a suggested change gives it: ``p-sensitive(condition).p``.

    Where several entries ask one model of one column the entry tells them apart: ``privacy[1].t-closeness(s).t``.
    """
    asked = [(entry, spec, column) for entry, spec in enumerate(policy.privacy) for column in _columns(policy, spec)]
    often = Counter((spec.model, column) for _, spec, column in asked)
    found: dict[str, _Place] = {}
    for entry, spec, column in asked:
        which = f"privacy[{entry}]." if often[spec.model, column] > 1 else ""
        on = f"({column})" if column is not None else ""
        for parameter, path in _numbers(spec):
            found[f"{which}{spec.model}{on}.{parameter}"] = _Place(entry, column, parameter, path)
    return found


def _columns(policy: Policy, spec: ModelSpec) -> list[str | None]:
    """The sensitive columns that an entry is on; None for a model that reads none."""
    return [*sensitive_columns(spec, policy.columns)] or [None]


def _numbers(spec: ModelSpec) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Each number of an entry, named as its model names it."""
    for key, value in spec.model_dump(exclude={"model", "sensitive"}).items():
        if not isinstance(value, Mapping):
            yield key, (key,)
            continue
        for each in value:
            if key == "limits":
                yield from ((limit_name(part, each), (key, each, part)) for part in _LIMITS)
            else:
                yield limit_name(key, each), (key, each)


def _several(text: str, places: Mapping[str, _Place]) -> Iterator[tuple[str, float]]:
    """The changes of ``a.k = 2 with b(c).p = 1``. Names hold columns and values, so they are known and not guessed."""
    while text:
        fits = [name for name in places if text.startswith(f"{name} = ")]
        name = max(fits, key=len, default="")
        number = _NUMBER.match(text, len(name) + 3)
        if not fits or number is None:
            raise InputError("the change does not fit this policy any more. Change it by hand.")
        yield name, float(number[0])
        text = text[number.end() :].removeprefix(" with ")


def _ask(
    document: dict[str, Any], policy: Policy, places: Mapping[str, _Place], changes: list[tuple[str, float]]
) -> None:
    """Change numbers of entries; one that is on several columns parts, since the change is for one of them."""
    entries: dict[int, dict[str | None, dict[str, Any]]] = {}
    for name, value in changes:
        place = places[name]
        columns, entry = _columns(policy, policy.privacy[place.entry]), document["privacy"][place.entry]
        parted = entries.setdefault(place.entry, {column: _copy(entry) for column in columns})
        target: Any = parted[place.column]
        for key in place.path[:-1]:
            target = target[key]
        target[place.path[-1]] = _plain(value)
    document["privacy"] = [
        each
        for number, entry in enumerate(document["privacy"])
        for each in (_joined(entries[number]) if number in entries else [entry])
    ]


def _joined(parted: Mapping[str | None, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The entries of single columns, those that still ask the same as one again."""
    rest = dict(parted)
    while rest:
        first = next(iter(rest.values()))
        alike = [column for column, each in rest.items() if each == first]
        for column in alike:
            del rest[column]
        if len(alike) == len(parted):
            yield first
            continue
        yield {**first, "sensitive": alike[0] if len(alike) == 1 else alike}


def _copy(value: Any) -> Any:
    return {key: _copy(each) for key, each in value.items()} if isinstance(value, Mapping) else value


def _also(document: dict[str, Any], policy: Policy, text: str) -> None:
    """What a change to the safe form of ranges asks beside it."""
    further = text.partition("safe: true under algorithm and ")[2]
    if share := _SUPPRESSION.match(further):
        document["suppression"] = _plain(float(share[1]))
    for name in policy.algorithm.group:
        if level := re.fullmatch(rf"level (\d+) for {re.escape(repr(name))} under group", further):
            document["algorithm"]["group"][name] = int(level[1])


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() else value
