"""How the release was made: algorithm, search, checks, cost, and what is needed to repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.evidence.evidence import Evidence
from shoal.facts import plain
from shoal.formatting import data_size, duration, number, pluralize
from shoal.policy.yaml_text import dump_yaml
from shoal.present.html.markup import Markup, join, more, name_of, paragraph, row, table, tag

_STAGES = {
    "read": "Reading the data",
    "encode": "Preparing columns and hierarchies",
    "search": "Searching for the release",
    "recode": "Generalizing the records",
    "write": "Writing the release",
    "verify": "Independent check",
    "bound": "Bounding the least possible loss",
    "attack": "Attacking the release",
    "compose": "Comparing with earlier releases",
    "evidence": "Measuring the release",
    "utility": "Measuring utility for the task",
}
_LONGEST = 160  # facts longer than this are counted on the page; the evidence holds them in full
_FURTHER = ("applied", "engine")  # facts that are shown as they are


def provenance_section(evidence: Evidence) -> list[Markup]:
    """Search, checks, cost, hashes, policy."""
    further = {key: plain(value) for key in _FURTHER if (value := getattr(evidence, key)) is not None}
    return [
        *_search(evidence),
        *_checks(evidence),
        *_not_done(evidence.not_done or {}),
        *_cost(evidence),
        *_repeat(evidence),
        *([more("Further facts", tag("pre", dump_yaml(further)))] if further else []),
        more("The policy", tag("pre", dump_yaml(plain(evidence.policy)))),
    ]


def _search(evidence: Evidence) -> list[Markup]:
    rows = [
        row("Algorithm", name_of(evidence.algorithm)),
        row("Seed for random choices", "none" if evidence.seed is None else str(evidence.seed)),
        *(_search_fact(key, value) for key, value in plain(evidence.search).items() if key != "refined"),
    ]
    return [table("The search.", ["Fact", "Figure"], rows)]


def _search_fact(key: str, value: Any) -> Markup:
    if key == "nodes" and isinstance(value, int):
        return row("Nodes (combinations of levels)", number(value))
    if key == "checked" and isinstance(value, int):
        return row("Nodes checked", number(value))
    if key == "metric":
        return row("Measure that decides between releases", name_of(str(value)))
    if key == "minimal_nodes" and isinstance(value, list):
        return row("Minimal nodes (they satisfy, and no less general one does)", number(len(value)))
    if key == "path" and isinstance(value, list):
        return row("Steps up from the original values", number(max(len(value) - 1, 0)))
    return row(name_of(key), _any(value))


def _any(value: Any) -> Markup:
    """A value of which nothing is known but that it is plain data."""
    if isinstance(value, bool):
        return join("yes" if value else "no")
    if isinstance(value, (int, float)):
        return join(number(value))
    if not isinstance(value, (dict, list)):
        return join("none" if value is None else str(value))
    text = dump_yaml(value)
    return tag("pre", text) if len(text) <= _LONGEST else join(f"{pluralize(len(value), 'item')}, in the evidence file")


def _checks(evidence: Evidence) -> list[Markup]:
    said = "The independent verifier reads the finished release and the policy and shares no code with the search."
    rows = [
        row(
            name_of(check.name),
            tag("span", "passed" if check.passed else "failed", class_="mark good" if check.passed else "mark"),
            check.message,
        )
        for check in evidence.checks
    ]
    return [paragraph(said), table("Checks of the independent verifier.", ["Check", "Outcome", "Found"], rows)]


def _not_done(not_done: Mapping[str, str]) -> list[Markup]:
    """What a table that was not held in memory had to do without."""
    if not not_done:
        return []
    rows = [row(what, why) for what, why in not_done.items()]
    said = "The records were not all held in memory, and the following was not done:"
    return [paragraph(said), table("Not done at this size.", ["What", "Why"], rows)]


def _cost(evidence: Evidence) -> list[Markup]:
    memory = evidence.peak_memory_bytes
    rows = [
        *(row(_STAGES.get(name, name), duration(value)) for name, value in evidence.seconds_by_stage.items()),
        row("All stages", duration(evidence.seconds)),
        row("Peak memory", "not known" if memory is None else data_size(memory)),
    ]
    return [table("Time and memory.", ["Stage", "Used"], rows)]


def _repeat(evidence: Evidence) -> list[Markup]:
    """How to make the release again and how to check it, and what identifies release, policy and versions."""
    release = evidence.release_sha256
    unwritten = "none: the evidence was made before the release was written to a file"
    rows = [
        row("Release file (SHA-256)", tag("code", release) if release is not None else unwritten),
        row("Policy (SHA-256)", tag("code", evidence.policy_sha256)),
        *(row(f"Version of {name}", tag("code", value)) for name, value in evidence.versions.items()),
    ]
    timed = evidence.search.get("refined", {}).get("ended") == "time"
    clock = " This one was refined until a time limit, so another run may end differently." if timed else ""
    return [
        paragraph(
            "To repeat: ",
            tag("code", "shoal anonymize POLICY"),
            " with the same data, policy and versions makes the same release, byte for byte, and the same evidence "
            f"except for time and memory.{clock}",
        ),
        paragraph(
            "To check: ",
            tag("code", "shoal verify RELEASE --policy POLICY --original DATA"),
            " checks its models, this evidence, and that every record is true.",
        ),
        table("What identifies this release.", ["Item", "Value"], rows),
    ]
