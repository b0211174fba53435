"""How the release was made: algorithm, search, checks, cost, and what is needed to repeat it."""

from typing import Any

from shoal.evidence.evidence import Evidence
from shoal.facts import plain
from shoal.formatting import data_size, duration, number, pluralize
from shoal.policy.yaml_text import dump_yaml
from shoal.present.choice import left_out_phrases, tried_phrases
from shoal.present.html.markup import Markup, join, mark, more, name_of, paragraph, table, tag

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
_SEARCH = {
    "nodes": "Nodes (combinations of levels)",
    "checked": "Nodes checked",
    "metric": "Measure that decides between releases",
    "minimal_nodes": "Minimal nodes (they satisfy, and no less general one does)",
    "path": "Steps up from the original values",
    "conceal": "Key that conceals why the search stopped",
    "chosen": "Algorithm chosen",
    "tried": "Algorithms tried",
    "left_out": "Algorithms not tried",
}  # facts of a search that have words; others are shown under their own names
_CHOICE = {"tried": tried_phrases, "left_out": left_out_phrases}
_KEYS = {"given": "given by the owner", "fresh": "made for this run"}
_LONGEST = 160  # facts longer than this are counted on the page; the evidence holds them in full
_FURTHER = ("applied", "engine")  # facts that are shown as they are


def provenance_section(evidence: Evidence) -> list[Markup]:
    """Search, checks, cost, hashes, policy."""
    further = {key: plain(value) for key in _FURTHER if (value := getattr(evidence, key)) is not None}
    search = [
        ("Algorithm", name_of(evidence.algorithm)),
        ("Seed for random choices", "none" if evidence.seed is None else str(evidence.seed)),
        *((_SEARCH.get(key, name_of(key)), _figure(key, value)) for key, value in plain(evidence.search).items()
          if key != "refined"),
    ]  # fmt: skip
    said = "The independent verifier reads the finished release and the policy and shares no code with the search."
    checks = [(name_of(each.name), mark(each.passed, "passed", "failed"), each.message) for each in evidence.checks]
    memory = evidence.peak_memory_bytes
    cost = [
        *((_STAGES.get(name, name), duration(value)) for name, value in evidence.seconds_by_stage.items()),
        ("All stages", duration(evidence.seconds)),
        ("Peak memory", "not known" if memory is None else data_size(memory)),
    ]
    parts = [
        table("The search.", ["Fact", "Figure"], search),
        paragraph(said),
        table("Checks of the independent verifier.", ["Check", "Outcome", "Found"], checks),
    ]
    if evidence.not_done:
        parts.append(table("Not done, with the reasons.", ["What", "Why"], evidence.not_done.items()))
    parts += [table("Time and memory.", ["Stage", "Used"], cost), *_repeat(evidence)]
    if further:
        parts.append(more("Further facts", tag("pre", dump_yaml(further))))
    return [*parts, more("The policy", tag("pre", dump_yaml(plain(evidence.policy))))]


def _figure(key: str, value: Any) -> Markup:
    """A fact of the search, of which nothing may be known but that it is plain data."""
    if key == "minimal_nodes" and isinstance(value, list):
        return join(number(len(value)))
    if key == "path" and isinstance(value, list):
        return join(number(max(len(value) - 1, 0)))
    if key == "conceal" and isinstance(value, dict):
        return join(_KEYS.get(value.get("key", ""), str(value.get("key"))))
    if key == "chosen" and isinstance(value, dict):
        value = value.get("name")
    if key in {"metric", "chosen"}:
        return name_of(str(value))
    if key in _CHOICE and isinstance(value, list):
        value = "; ".join(_CHOICE[key]({key: value})) or None
    if isinstance(value, bool):
        return join("yes" if value else "no")
    if isinstance(value, (int, float)):
        return join(number(value))
    if not isinstance(value, (dict, list)):
        return join("none" if value is None else str(value))
    text = dump_yaml(value)
    return tag("pre", text) if len(text) <= _LONGEST else join(f"{pluralize(len(value), 'item')}, in the evidence file")


def _repeat(evidence: Evidence) -> list[Markup]:
    """How to make the release again and how to check it, and what identifies release, policy and versions."""
    release = evidence.release_sha256
    unwritten = "none: the evidence was made before the release was written to a file"
    rows = [
        ("Release file (SHA-256)", tag("code", release) if release is not None else unwritten),
        ("Policy (SHA-256)", tag("code", evidence.policy_sha256)),
        *((f"Version of {name}", tag("code", value)) for name, value in evidence.versions.items()),
    ]
    again = (
        " with the same data, policy and versions makes the same release, byte for byte, and the same evidence except "
        "for time and memory."
    )
    if evidence.search.get("refined", {}).get("ended") == "time":
        again += " This one was refined until a time limit, so another run may end differently."
    key = evidence.search.get("conceal", {}).get("key")
    if key == "given":
        again += " It needs the same key in the environment variable SHOAL_CONCEAL_KEY."
    elif key == "fresh":
        again += " This one is an exception: its key was made for the run and not kept, so another run differs."
    check = tag("code", "shoal verify RELEASE --policy POLICY --original DATA")
    return [
        paragraph("To repeat: ", tag("code", "shoal anonymize POLICY"), again),
        paragraph("To check: ", check, " checks its models, this evidence, and that every record is true."),
        table("What identifies this release.", ["Item", "Value"], rows),
    ]
