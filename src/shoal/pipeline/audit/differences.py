"""Where recorded facts differ from facts found again: the fact, what the release shows, and what is recorded."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.evidence.machine import versions
from shoal.facts import Facts, plain
from shoal.search import ALGORITHMS
from shoal.verification import Check, Verification
from shoal.verification.original_checks import passing_message

_SAME = 1e-9
_ROUNDED = 1e-6  # for a sum of figures that were rounded one by one
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
_BY_ORIGINAL = frozenset({"truthfulness", "boundaries", "suppression", "range-ends"})
"""Checks that say more with the original than without it."""
_KNOWN_TO_THE_RUN = frozenset({"classes-overlap", "key-unknown"})
"""Why an attack cannot be repeated that the run could make: it knew the class of each record, and the key."""
_BY_THE_RUN = frozenset({"insensitive"})
"""Checks that only a run makes, on a cluster."""


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
        *_checks(checks, evidence, unlike),
        *(() if original else _statements(evidence)),
        *(() if people is False else _models(verification, evidence["models"])),
    ]


def same_version(evidence: Mapping[str, Any]) -> bool:
    """Whether the evidence says that this version made it, which words its messages in the same way."""
    return bool(evidence["versions"].get("shoal") == versions()["shoal"])


def _checks(checks: Sequence[Check], evidence: Mapping[str, Any], unlike: frozenset[str]) -> Iterator[Difference]:
    """The verifier's own checks, recorded when the release was made; the same model may be required twice.

    Checks ``unlike`` those of the run are not compared. Others that are recorded and were not made now are invented.
    """
    left, messages = list(evidence["checks"]), same_version(evidence)
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
        elif messages and before["message"] != check.message and before["facts"] == plain(check)["facts"]:
            yield Difference(f"checks.{check.name}.message", check.message, before["message"])
    for each in left:
        if each["name"] not in unlike | _BY_THE_RUN:
            yield Difference(f"checks.{each['name']}", None, each["passed"])


def _statements(evidence: Mapping[str, Any]) -> Iterator[Difference]:
    """Recorded checks against the original, where that is not at hand: they must say what follows from their facts."""
    expected = {
        "truthfulness": {"records": evidence["released"], "without_original": 0},
        "boundaries": {"violations": 0},
        "suppression": {"suppressed": evidence["suppressed"], "original": evidence["records"]},
        "range-ends": {"cells": 0},
    }
    for check in evidence["checks"]:
        name, facts = check["name"], check["facts"]
        if name not in expected:
            continue
        yield from _differences(f"checks.{name}", {"passed": True, "facts": expected[name]}, check, partly=True)
        known = expected[name].keys() <= facts.keys()
        if known and same_version(evidence) and (message := passing_message(name, facts)) != check["message"]:
            yield Difference(f"checks.{name}.message", message, check["message"])


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


def differing_facts(
    facts: Mapping[str, Any], evidence: Mapping[str, Any], *, required: int | None
) -> Iterator[Difference]:
    """Facts of the evidence that are not what a release shows; ``required`` is the number of models."""
    known = plain(facts)
    levels, models, columns = known.pop("possible_levels"), known.pop("models"), known.pop("columns")
    algorithm = evidence["policy"].get("algorithm", {})
    name = algorithm.get("name") if isinstance(algorithm, Mapping) else algorithm
    if name is not None and evidence["algorithm"] != name:
        yield Difference("algorithm", name, evidence["algorithm"])
    yield from _levels(levels, evidence)
    recorded = list(evidence["models"])
    for model in models:  # the same may be required twice
        alike = (each for each in recorded if not any(_differ(model[key], each[key]) for key in _ASKED))
        if (same := next(alike, None)) is not None:
            recorded.remove(same)
        yield from _differences(f"models.{_model_name(model)}", model, same)
    if required is not None and len(evidence["models"]) != required:
        yield Difference("models", required, len(evidence["models"]))
    yield from _differences("columns", columns, evidence["columns"], partly=True)
    for key, value in known.items():
        yield from _differences(key, value, evidence.get(key))
    if "measures" in known and evidence["bound"] is not None:
        yield from _differences("bound.reached", known["measures"]["ncp"], evidence["bound"]["reached"])
    if evidence["bound"] is not None:
        yield from _bound(evidence["bound"], evidence["records"])
    for column, about in evidence["columns"].items():
        groups = (about.get("distribution") or {}).get("groups", ())
        for figure in ("before", "after") if groups else ():
            counted = sum(each[figure] for each in groups)
            if not math.isclose(counted, evidence["released"], rel_tol=_ROUNDED, abs_tol=_ROUNDED):
                yield Difference(f"columns.{column}.distribution.{figure}", evidence["released"], counted)


def _levels(possible: Mapping[str, Any], evidence: Mapping[str, Any]) -> Iterator[Difference]:
    """Levels that a column cannot have by its released labels; none where each class has its own."""
    chosen = (evidence["search"].get("chosen") or {}).get("name", evidence["algorithm"])
    recorded, algorithm = evidence["levels"], ALGORITHMS.get(chosen)
    if recorded is None or (algorithm is not None and algorithm.scope == "local"):
        if algorithm is not None and (recorded is None) != (algorithm.scope == "local"):
            yield Difference("levels", algorithm.scope, recorded)
        return
    if recorded.keys() != possible.keys():
        yield Difference("levels", list(possible), list(recorded))
    for column, level in recorded.items():
        height = evidence["columns"].get(column, {}).get("height", 0)
        if level > height or level not in possible.get(column, [level]):
            yield Difference(f"levels.{column}", possible.get(column), level)


def _bound(bound: Mapping[str, Any], records: int) -> Iterator[Difference]:
    """Figures of the bound that contradict each other; which bound it is only the search tells."""
    ncp, (low, high) = bound["ncp"], bound["ncp_interval"]
    yield from _differences("bound.ratio", bound["reached"] / ncp if ncp else None, bound["ratio"])
    yield from _differences("bound.gap", bound["reached"] / ncp - 1 if ncp else None, bound["gap"])
    yield from _differences("bound.checked", bound.get("unchecked") is None, bound["checked"])
    if not low - _SAME <= ncp <= high + _SAME:
        yield Difference("bound.ncp_interval", ncp, [low, high])
    if not bound["estimated"]:
        yield from _differences("bound.ncp_interval", [ncp, ncp], bound["ncp_interval"])
    if bound["records"] > records or bound["estimated"] != (bound["records"] < records):
        yield Difference("bound.records", records, bound["records"])


def differing_attacks(
    again: Sequence[Mapping[str, Any]],
    recorded: Sequence[Mapping[str, Any]],
    *,
    original: bool,
    lacking: Sequence[str] = (),
    elsewhere: Collection[str] = (),
) -> list[list[Difference]]:
    """For each attack that could be compared, what it finds otherwise than is recorded.

    With the original all facts of an attack must be the same; without it details may say less. Those ``lacking`` may be
    recorded as not tried; those made ``elsewhere``, beside other releases or by people, are not compared.
    """
    skipped = {_subject(each) for each in again if each["status"] == "not tried" and not original}
    skipped |= {_subject(each) for each in again if each["outcome"] in _KNOWN_TO_THE_RUN}
    skipped |= {_subject(each) for each in recorded if each["status"] == "not tried" and each["name"] in lacking}
    repeated, left = (
        [each for each in results if _subject(each) not in skipped and each["name"] not in elsewhere]
        for results in (again, recorded)
    )
    found = []
    for each in repeated:
        other = next((one for one in left if _attack_key(one) == _attack_key(each)), None)
        if other is not None:
            left.remove(other)
        facts = each if original else {key: each[key] for key in _ATTACK_FIGURES}
        found.append(list(_differences(f"attacks.{each['name']}", facts, other, partly=not original)))
    if left:
        found.append([Difference(f"attacks.{each['name']}", None, each["status"]) for each in left])
    return found


def _subject(result: Mapping[str, Any]) -> tuple[Any, Any]:
    """The attack and the sensitive column that a result is of."""
    return result["name"], result["sensitive"]


def _attack_key(result: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a result is about: an attack has one for each of the columns by which it works."""
    return result["name"], result["sensitive"], tuple(result.get("columns") or ())


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
