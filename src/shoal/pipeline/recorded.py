"""Where recorded figures differ from figures found again, in words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.verification import Check, Verification

_SAME = 1e-9
_REACHED = {
    "smallest_class": ("k",),
    "fewest_values": ("p", "l"),
    "fewest_categories": ("p",),
    "smallest_weight": ("alpha",),
    "smallest_l": ("l",),
    "largest_distance": ("t",),
    "largest_share[any value]": ("alpha",),
}
"""For a figure of the verifier, the parameters of a model that it is what was reached of."""
_ATTACK_FIGURES = ("status", "records", "of", "classes", "rate", "baseline", "leak")


_BY_ORIGINAL = frozenset({"truthfulness", "boundaries", "suppression"})
"""Checks that say more with the original than without it."""


def differing_figures(verification: Verification, evidence: Mapping[str, Any], *, original: bool) -> list[str]:
    """What the evidence says of a release and the verifier finds otherwise, who had the original or not."""
    if evidence.get("applied"):
        return list(_applied(verification, evidence))
    compared = [check for check in verification.checks if original or check.name not in _BY_ORIGINAL]
    found = [
        *_counts(verification, evidence),
        *_checks(compared, evidence),
        *_models(verification, evidence["models"]),
    ]
    return list(dict.fromkeys(found))


def _applied(verification: Verification, evidence: Mapping[str, Any]) -> Iterator[str]:
    """Of new records that joined a published release, the file has these alone or everything together."""
    together = evidence["applied"]["together"]
    alone = (evidence["released"], evidence["classes"])
    found = (verification.records, verification.classes)
    if found not in {alone, (together["records"], together["classes"])}:
        yield f"{found[0]:,} records in {found[1] or 0:,} classes are neither the new records nor all of them"
    elif found != alone:
        yield from _models(verification, together["models"])


def _counts(verification: Verification, evidence: Mapping[str, Any]) -> Iterator[str]:
    if evidence["verified"] is not True:
        yield "verified is not true in the evidence"
    if evidence["records"] != evidence["released"] + evidence["suppressed"]:
        yield f"{evidence['records']:,} records are recorded, which released and suppressed do not add up to"
    measured = {
        "released": verification.records,
        "classes": verification.classes,
        "suppressed": verification.suppressed,
        "class_sizes.smallest": _fact(verification.checks, "k-anonymity", "smallest_class"),
    }
    recorded = {**evidence, "class_sizes.smallest": evidence["class_sizes"]["smallest"]}
    for name, value in measured.items():
        if value is not None and recorded[name] != value:
            yield f"{name} is {value:,} and recorded as {recorded[name]:,}"


def _checks(checks: Sequence[Check], evidence: Mapping[str, Any]) -> Iterator[str]:
    """The verifier's own checks, which were recorded when the release was made; a model may be asked twice."""
    recorded: dict[str, list[Mapping[str, Any]]] = {}
    for each in evidence["checks"]:
        recorded.setdefault(each["name"], []).append(each)
    for check in checks:
        if check.name == "hash":
            continue
        before = recorded.get(check.name)
        if not before:
            yield f"the check {check.name} is not recorded"
            continue
        then, now = before.pop(0), json.loads(json.dumps(check.to_dict()))
        if then["passed"] != now["passed"] or _differ(then["facts"], now["facts"]):
            yield f"the check {check.name} is recorded otherwise"


def _models(verification: Verification, models: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What each model reaches, by the verifier's figures."""
    for model in models:
        name = model["model"] if model["sensitive"] is None else f"{model['model']}[{model['sensitive']}]"
        facts = next((check.facts for check in verification.checks if check.name == name), {})
        for figure, value in facts.items():
            parameters = _REACHED.get(figure, (figure.replace("largest_share[", "alpha["),))
            for parameter in parameters:
                reached = model["reached"].get(parameter)
                mine = figure in _REACHED or "[" in figure
                if mine and reached is not None and not _close(reached, value):
                    yield f"{name} reaches {parameter} {value:.6g} and is recorded with {reached:.6g}"


def _fact(checks: Sequence[Check], name: str, key: str) -> Any:
    return next((check.facts.get(key) for check in checks if check.name == name), None)


def differing_attacks(
    again: Sequence[Mapping[str, Any]], recorded: Sequence[Mapping[str, Any]]
) -> tuple[list[str], int]:
    """The attacks that find something else than is recorded, and how many could be compared."""
    before = {(each["name"], each["sensitive"]): each for each in recorded}
    problems, compared = [], 0
    for each in again:
        if each["status"] == "not tried":
            continue
        compared += 1
        other = before.get((each["name"], each["sensitive"]))
        if other is None:
            problems.append(f"{each['name']} is not recorded")
        elif any(_differ(each[key], other[key]) for key in _ATTACK_FIGURES):
            figures = [f"{one['records'] or 0:,} of {one['of'] or 0:,} records" for one in (each, other)]
            problems.append(f"{each['name']} exposes {figures[0]} and is recorded with {figures[1]}")
    return problems, compared


def _differ(one: Any, other: Any) -> bool:
    """Whether two pieces of plain data differ, numbers by more than rounding."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() != other.keys() or any(_differ(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or any(map(_differ, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return not _close(one, other)
    return bool(one != other)


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME)
