"""How the release was made: algorithm, search, checks, cost, and what is needed to repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.present.html.markup import Markup, join, more, name_of, paragraph, row, table, tag
from shoal.present.report.figures import UNSTATED, counted, entries_of, is_number, memory, number, part_of, seconds
from shoal.present.report.words import STAGES
from shoal.present.report.yaml_like import yaml_like

_LONGEST = 160
"""Facts longer than this are counted on the page; the evidence holds them in full."""

SHOWN = frozenset(
    {
        "verified",
        "records",
        "released",
        "suppressed",
        "classes",
        "levels",
        "measures",
        "models",
        "algorithm",
        "seed",
        "search",
        "columns",
        "not_released",
        "not_named",
        "class_sizes",
        "exposure",
        "attacks",
        "attack_seed",
        "bound",
        "evidence_version",
        "evidence_sha256",
        "utility",
        "not_done",
        "checks",
        "policy",
        "policy_sha256",
        "release_sha256",
        "versions",
        "seconds",
        "seconds_by_stage",
        "peak_memory_bytes",
    }
)
"""The keys of the evidence that some part of the page shows."""


def made_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """Search, checks, cost, hashes, policy - and whatever else the evidence holds."""
    parts = [*_search(evidence), *_checks(evidence), *_not_done(evidence), *_cost(evidence), *_repeat(evidence)]
    others = {key: value for key, value in evidence.items() if key not in SHOWN}
    if others:
        parts.append(more("Further facts in the evidence", tag("pre", yaml_like(others))))
    policy = evidence.get("policy")
    if policy is not None:
        parts.append(more("The policy", tag("pre", yaml_like(policy))))
    return parts


def _search(evidence: Mapping[str, Any]) -> list[Markup]:
    search = part_of(evidence, "search")
    algorithm, seed = evidence.get("algorithm"), evidence.get("seed")
    rows = [row("Algorithm", name_of(str(algorithm)) if algorithm is not None else UNSTATED)]
    rows.append(row("Seed for random choices", str(seed) if seed is not None else UNSTATED))
    rows += [_search_fact(str(key), value) for key, value in search.items()]
    return [table("The search.", ["Fact", "Figure"], rows)]


def _search_fact(key: str, value: object) -> Markup:
    if key == "nodes" and is_number(value):
        return row("Nodes (combinations of levels) there are", number(value))
    if key == "checked" and is_number(value):
        return row("Nodes checked", number(value))
    if key == "metric":
        return row("Measure that decides between releases", name_of(str(value)))
    if key == "minimal_nodes" and isinstance(value, (list, tuple)):
        return row("Minimal nodes (they satisfy, and no less general one does)", number(len(value)))
    if key == "path" and isinstance(value, (list, tuple)):
        return row("Steps up from the original values", number(max(len(value) - 1, 0)))
    return row(name_of(key), _any(value))


def _any(value: object) -> Markup:
    """A value of which nothing is known but that it is plain data."""
    if not isinstance(value, (Mapping, list, tuple)):
        return join(number(value))
    text = yaml_like(value)
    if len(text) <= _LONGEST:
        return tag("pre", text)
    return join(f"{counted(len(value), 'item')}, in the evidence file")


def _checks(evidence: Mapping[str, Any]) -> list[Markup]:
    checks = entries_of(evidence, "checks")
    if not checks:
        return [paragraph("The evidence lists no checks of the independent verifier.")]
    said = (
        "The independent verifier reads the finished release and the policy and shares no code with the search. "
        "It found:"
    )
    rows = [
        row(name_of(number(check.get("name"))), _outcome(check.get("passed")), number(check.get("message")))
        for check in checks
    ]
    return [paragraph(said), table("Checks of the independent verifier.", ["Check", "Outcome", "Found"], rows)]


def _not_done(evidence: Mapping[str, Any]) -> list[Markup]:
    """What a streamed table had to do without."""
    rows = [row(str(what), number(why)) for what, why in part_of(evidence, "not_done").items()]
    if not rows:
        return []
    said = "The records were streamed, and not all of this could be done without holding them:"
    return [paragraph(said), table("Not done at this size.", ["What", "Why"], rows)]


def _outcome(passed: object) -> Markup:
    if passed is True:
        return tag("span", "passed", class_="mark good")
    return tag("span", "failed" if passed is False else UNSTATED, class_="mark")


def _cost(evidence: Mapping[str, Any]) -> list[Markup]:
    rows = [
        row(STAGES.get(str(name), str(name)), seconds(value))
        for name, value in part_of(evidence, "seconds_by_stage").items()
    ]
    rows.append(row("All stages", seconds(evidence.get("seconds"))))
    rows.append(row("Most memory held", memory(evidence.get("peak_memory_bytes"))))
    return [table("Time and memory.", ["Stage", "Used"], rows)]


def _repeat(evidence: Mapping[str, Any]) -> list[Markup]:
    """What identifies the release and the policy, and the versions that a result may depend on."""
    release = evidence.get("release_sha256")
    unwritten = "none: the evidence was made before the release was written to a file"
    rows = [
        row("Release file (SHA-256)", tag("code", str(release)) if release is not None else unwritten),
        row("Policy (SHA-256)", _code(evidence.get("policy_sha256"))),
        *(row(f"Version of {name}", _code(value)) for name, value in part_of(evidence, "versions").items()),
    ]
    return [*_again(evidence), table("What it takes to recognize and repeat this release.", ["Item", "Is"], rows)]


def _again(evidence: Mapping[str, Any]) -> list[Markup]:
    """How to make the release again, and how to check it."""
    same = (
        " with the same data, policy and versions makes the same release, byte for byte, and the same evidence but for "
        "time and memory."
    )
    timed = part_of(part_of(evidence, "search"), "refined").get("ended") == "time"
    clock = " This one was refined until the time given was over, so another run may end elsewhere." if timed else ""
    checked = ": its models, this evidence, and that every record is true."
    verify = "shoal verify RELEASE --policy POLICY --original DATA"
    return [
        paragraph("To repeat: ", tag("code", "shoal anonymize POLICY"), same, clock),
        paragraph("To check: ", tag("code", verify), checked),
    ]


def _code(value: object) -> Markup:
    return tag("code", str(value)) if value is not None else join(UNSTATED)
