"""Where recorded figures differ from figures found again, in words."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from shoal.facts import plain
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
_LONGEST = 60
"""Characters of a fact that a message shows."""
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
        then, now = dict(before.pop(0)), plain(check)
        for each in (then, now):  # a streamed release may have been compared by fewer columns than now
            each["facts"] = {key: value for key, value in each["facts"].items() if key != "not_compared"}
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


def differing_facts(shown: Mapping[str, Any], evidence: Mapping[str, Any]) -> list[str]:
    """Where facts of the evidence are not what a release shows; of mappings only what is shown is compared."""
    known = plain(shown)
    wrong_levels = known.pop("wrong_levels")
    found = [*_algorithm(evidence), *_levels(wrong_levels, evidence["levels"]), *_models_shown(known, evidence)]
    for key, value in known.items():
        found += _unlike(key, value, evidence[key])
    if "measures" in known and evidence["bound"] is not None:
        found += _unlike("bound.reached", known["measures"]["ncp"], evidence["bound"]["reached"])
    return found


def _algorithm(evidence: Mapping[str, Any]) -> Iterator[str]:
    asked = evidence["policy"].get("algorithm", {})
    name = asked.get("name") if isinstance(asked, Mapping) else asked
    if name is not None and evidence["algorithm"] != name:
        yield f"the algorithm of the recorded policy is {name} and recorded as {evidence['algorithm']}"


def _levels(wrong: Mapping[str, Sequence[int]], recorded: Mapping[str, int] | None) -> Iterator[str]:
    if recorded is None:
        return
    if recorded.keys() != wrong.keys():
        yield f"levels are recorded of {', '.join(recorded)}, and the quasi-identifiers are {', '.join(wrong)}"
    for name, level in recorded.items():
        if level in wrong.get(name, ()):
            yield f"levels.{name} is recorded as {level}, and not all of its labels stand there"


def _models_shown(known: dict[str, Any], evidence: Mapping[str, Any]) -> Iterator[str]:
    """Models are told apart by name, column and what is asked; the same may be asked twice."""
    recorded = list(evidence["models"])
    for model in known.pop("models"):
        name = model["model"] if model["sensitive"] is None else f"{model['model']}[{model['sensitive']}]"
        same = ("model", "sensitive", "asked")
        mine = [each for each in recorded if not any(_differ(model[key], each[key]) for key in same)]
        if not mine:
            yield f"{name} as asked is not recorded"
            continue
        recorded.remove(mine[0])
        for key in ("reached", "holds", "weakest"):
            if _differ(model[key], mine[0][key]):
                yield f"{key} of {name} is recorded otherwise"


def _unlike(where: str, shown: Any, recorded: Any) -> Iterator[str]:
    """Each place where what is recorded is not what is shown."""
    if isinstance(shown, Mapping) and isinstance(recorded, Mapping) and where.partition(".")[0] == "columns":
        for key, value in shown.items():
            yield from _unlike(f"{where}.{key}", value, recorded.get(key))
    elif isinstance(shown, Mapping) and isinstance(recorded, Mapping):
        for key in {**shown, **recorded}:
            yield from _unlike(f"{where}.{key}", shown.get(key), recorded.get(key))
    elif _differ(shown, recorded):
        yield f"{where} is {json.dumps(shown)} and recorded as {json.dumps(recorded)}"


def _fact(checks: Sequence[Check], name: str, key: str) -> Any:
    return next((check.facts.get(key) for check in checks if check.name == name), None)


def differing_attacks(
    again: Sequence[Mapping[str, Any]],
    recorded: Sequence[Mapping[str, Any]],
    *,
    original: bool,
    lacking: Collection[str] = (),
) -> tuple[list[str], int]:
    """The attacks that find something else than is recorded, and how many could be compared.

    With the original all that is told of an attack must be the same; without it words and details may say less. Those
    ``lacking`` may be recorded as not tried.
    """
    before = {(each["name"], each["sensitive"]): each for each in recorded}
    problems, compared = [], 0
    for each in again:
        other = before.get((each["name"], each["sensitive"]))
        untried = other is not None and other["status"] == "not tried" and each["name"] in lacking
        if each["status"] == "not tried" or untried:
            continue
        compared += 1
        if other is None:
            problems.append(f"{each['name']} is not recorded")
            continue
        keys = [key for key in (each if original else _ATTACK_FIGURES) if _differ(each[key], other[key])]
        if {"records", "of"} & set(keys):
            figures = [f"{one['records'] or 0:,} of {one['of'] or 0:,} records" for one in (each, other)]
            problems.append(f"{each['name']} exposes {figures[0]} and is recorded with {figures[1]}")
        elif keys:
            told = ", ".join(f"{key} {_short(each[key])} and is recorded with {_short(other[key])}" for key in keys)
            problems.append(f"{each['name']} has {told}")
    return problems, compared


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


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
