"""Where recorded facts differ from facts found again: the fact, what the release shows, and what is recorded."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.facts import Facts, plain
from shoal.verification import Check, Verification

_SAME = 1e-9
_LESS_OR_MORE = frozenset({"not_compared", "compared", "identifiers"})  # facts that depend on what was at hand
_REACHED = {
    "smallest_class": ("k",),
    "fewest_values": ("p", "l"),
    "fewest_categories": ("p",),
    "smallest_weight": ("alpha",),
    "smallest_l": ("l",),
    "largest_distance": ("t",),
    "fewest_numbers": ("k",),
    "fewest_people": ("k",),
    "smallest_span": ("e",),
    "largest_share[any value]": ("alpha",),
}
"""For a figure of the verifier, the parameters of a model whose reached value it is."""
_ATTACK_FIGURES = ("status", "records", "of", "classes", "rate", "baseline", "leak")
_ASKED = ("model", "sensitive", "asked")  # the facts by which a model is found again
_BY_ORIGINAL = frozenset({"truthfulness", "boundaries", "suppression"})
"""Checks that say more with the original than without it."""


@dataclass(frozen=True, eq=False)
class Difference(Facts):
    """A fact that is recorded otherwise than the release shows it."""

    fact: str
    """Where it is in the evidence: ``class_sizes.mean``, ``models.k-anonymity.reached.k``."""
    shown: Any
    recorded: Any


def differing_figures(verification: Verification, evidence: Mapping[str, Any], *, original: bool) -> list[Difference]:
    """Figures of the verifier, who had the original or not, that are recorded otherwise."""
    if evidence.get("applied"):  # the file has the new records alone, or everything together
        together = evidence["applied"]["together"]
        found, alone = (verification.records, verification.classes), (evidence["released"], evidence["classes"])
        if found not in {alone, (together["records"], together["classes"])}:
            return [Difference("records and classes", found, alone)]
        return [] if found == alone else list(_models(verification, together["models"]))
    people, judged = verification.people_counted, {_model_name(model) for model in evidence["models"]}
    sizes = [each.facts["smallest_class"] for each in verification.checks if "smallest_class" in each.facts]
    figures = {
        "verified": True,
        "records": evidence["released"] + evidence["suppressed"],
        "released": verification.records,
        "classes": verification.classes,
        "suppressed": verification.suppressed,
        "class_sizes": {"smallest": sizes[0]} if sizes and not people else None,
    }
    known = {name: value for name, value in figures.items() if value is not None}
    unlike = frozenset() if original else _BY_ORIGINAL
    unlike |= judged | {"people"} if people is False else set()  # recorded in people, who were not counted now
    checks = [check for check in verification.checks if check.name not in unlike]
    return [
        *_differences("", known, evidence, partly=True),
        *_checks(checks, evidence["checks"]),
        *(() if people is False else _models(verification, evidence["models"])),
    ]


def _checks(checks: Sequence[Check], recorded: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    """The verifier's own checks, recorded when the release was made; the same model may be required twice."""
    left = list(recorded)
    for check in checks:
        if check.name == "hash":
            continue
        before = next((each for each in left if each["name"] == check.name), None)
        if before is None:
            yield Difference(f"checks.{check.name}", check.passed, None)
            continue
        left.remove(before)
        then, now = _compared(before), _compared(plain(check))
        if _differ(then, now):
            yield Difference(f"checks.{check.name}", now, then)


def _models(verification: Verification, models: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    """What each model reaches, by the verifier's figures."""
    for model in models:
        name = _model_name(model)
        found = [check.facts for check in verification.checks if check.name in {name, f"linked {name}"}]
        for figure, value in found[0].items() if found else ():
            if figure not in _REACHED and "[" not in figure:
                continue
            values = [facts[figure] for facts in found if figure in facts]  # of linked records the worse is recorded
            for parameter in _REACHED.get(figure, (figure.replace("largest_share[", "alpha["),)):
                reached = model["reached"].get(parameter)
                if reached is not None and all(_differ(reached, each) for each in values):
                    yield Difference(f"models.{name}.reached.{parameter}", value, reached)


def _model_name(model: Mapping[str, Any]) -> str:
    return str(model["model"]) if model["sensitive"] is None else f"{model['model']}[{model['sensitive']}]"


def differing_facts(facts: Mapping[str, Any], evidence: Mapping[str, Any]) -> Iterator[Difference]:
    """Facts of the evidence that are not what a release shows."""
    known = plain(facts)
    wrong_levels, models, columns = known.pop("wrong_levels"), known.pop("models"), known.pop("columns")
    algorithm = evidence["policy"].get("algorithm", {})
    name = algorithm.get("name") if isinstance(algorithm, Mapping) else algorithm
    if name is not None and evidence["algorithm"] != name:
        yield Difference("algorithm", name, evidence["algorithm"])
    if evidence["levels"] is not None:
        if evidence["levels"].keys() != wrong_levels.keys():
            yield Difference("levels", list(wrong_levels), list(evidence["levels"]))
        for column, level in evidence["levels"].items():
            if level in wrong_levels.get(column, ()):
                yield Difference(f"levels.{column}", "another level", level)
    recorded = list(evidence["models"])
    for model in models:  # the same may be required twice
        alike = (each for each in recorded if not any(_differ(model[key], each[key]) for key in _ASKED))
        if (same := next(alike, None)) is not None:
            recorded.remove(same)
        yield from _differences(f"models.{_model_name(model)}", model, same)
    yield from _differences("columns", columns, evidence["columns"], partly=True)
    for key, value in known.items():
        yield from _differences(key, value, evidence.get(key))
    if "measures" in known and evidence["bound"] is not None:
        yield from _differences("bound.reached", known["measures"]["ncp"], evidence["bound"]["reached"])


def differing_attacks(
    again: Sequence[Mapping[str, Any]],
    recorded: Sequence[Mapping[str, Any]],
    *,
    original: bool,
    lacking: Sequence[str] = (),
) -> list[list[Difference]]:
    """For each attack that could be compared, what it finds otherwise than is recorded.

    With the original all facts of an attack must be the same; without it details may say less. Those ``lacking`` may be
    recorded as not tried.
    """
    before = {(each["name"], each["sensitive"]): each for each in recorded}
    found = []
    for each in again:
        other = before.get((each["name"], each["sensitive"]))
        untried = other is not None and other["status"] == "not tried" and each["name"] in lacking
        if each["status"] != "not tried" and not untried:
            facts = each if original else {key: each[key] for key in _ATTACK_FIGURES}
            found.append(list(_differences(f"attacks.{each['name']}", facts, other, partly=True)))
    return found


def _differences(path: str, fact: Any, recorded: Any, *, partly: bool = False) -> Iterator[Difference]:
    """Each fact that is recorded otherwise; ``partly``: what is not shown is not compared."""
    if isinstance(fact, Mapping) and isinstance(recorded, Mapping):
        for key in fact if partly else {**fact, **recorded}:
            where = f"{path}.{key}" if path else str(key)
            yield from _differences(where, fact.get(key), recorded.get(key), partly=partly)
    elif _differ(fact, recorded):
        yield Difference(path, fact, recorded)


def _compared(check: Mapping[str, Any]) -> dict[str, Any]:
    """What of a check is compared: a release may have been checked by fewer columns than now, or without a key."""
    facts = {key: fact for key, fact in check["facts"].items() if key not in _LESS_OR_MORE}
    return {"passed": check["passed"], "facts": facts}


def _differ(one: Any, other: Any) -> bool:
    """Whether two pieces of plain data differ, numbers by more than rounding."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() != other.keys() or any(_differ(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or any(map(_differ, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return not math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME)
    return bool(one != other)
