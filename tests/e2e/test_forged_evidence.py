"""Every leaf of an evidence file is changed, sealed again and audited: what passes is what cannot be known."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.evidence.evidence import seal, to_json
from shoal.pipeline.audit.audit import audit
from shoal.pipeline.release import publish
from shoal.policy import Policy

pytestmark = pytest.mark.slow

POLICY = """\
data: data.csv
columns:
  age: {role: quasi, hierarchy: {intervals: [5, 10, 20]}}
  zip: {role: quasi, hierarchy: {mask: right}}
  condition: {role: sensitive, categories: {Secret: [HIV, Cancer], Usual: [Flu, Cold]}, publish: both}
  ward: {role: insensitive}
  name: {role: identifier}
privacy:
  - {model: k-anonymity, k: 3}
  - {model: distinct-l-diversity, l: 2, sensitive: condition}
algorithm: %s
suppression: %s
output: release.csv
"""
UNKNOWABLE = ("search", "versions", "seconds", "seconds_by_stage", "peak_memory_bytes", "evidence_sha256")
"""Facts that neither the file nor the original tells: how the search went, on which machine, and how fast."""
IF_SUPPRESSED = "distribution"  # of a column: whose values are left out is not known
Place = tuple[str | int, ...]


@pytest.fixture(params=[("optimal", 0.2), ("mondrian", 0.0)], ids=lambda each: f"{each[0]}-{each[1]}")
def released(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Policy]:
    draw = random.Random(1)
    rows = [
        f"{draw.randint(20, 60)},{draw.choice(['11', '12', '21'])}{draw.randint(0, 9)},"
        f"{draw.choice(['HIV', 'Cancer', 'Flu', 'Cold'])},{draw.choice(['=North', 'South'])},p{number}"
        for number in range(40)
    ]
    (tmp_path / "data.csv").write_text("\n".join(["age,zip,condition,ward,name", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY % request.param, encoding="utf-8")
    policy = Policy.load(tmp_path / "policy.yaml")
    publish(policy)
    return tmp_path, policy


def places(content: Any, place: Place = ()) -> Iterator[Place]:
    """Every leaf, the end of every list, and a key that no mapping has."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from places(value, (*place, key))
        yield (*place, "+key")
    elif isinstance(content, list):
        for index, value in enumerate(content):
            yield from places(value, (*place, index))
        yield (*place, "+item")
    else:
        yield place


def forged(evidence: dict[str, Any], place: Place) -> dict[str, Any]:
    """The evidence with one leaf changed, as somebody would who knows how it is sealed."""
    changed = copy.deepcopy(evidence)
    *way, last = place
    at: Any = changed
    for key in way:
        at = at[key]
    if last == "+key":
        at["forged"] = 1
    elif last == "+item":
        at.append(copy.deepcopy(at[-1]) if at else "forged")
    else:
        at[last] = other(at[last])
    return {**changed, "evidence_sha256": seal(changed)}


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 0.125 if value < 0.5 else value - 0.125
    return "forged" if value is None else f"{value}x"


def may_pass(place: Place, evidence: dict[str, Any], only_by_the_run: set[str]) -> bool:
    if place[0] == "attacks" and isinstance(place[1], int):
        return evidence["attacks"][place[1]]["name"] in only_by_the_run
    return place[0] in UNKNOWABLE or (IF_SUPPRESSED in place and evidence["suppressed"] > 0)


def test_a_forged_fact_passes_only_if_nothing_tells_it(released: tuple[Path, Policy]) -> None:
    folder, policy = released
    release, original = folder / "release.csv", folder / "data.csv"
    evidence = json.loads((folder / "release.evidence.json").read_text(encoding="utf-8"))
    assert audit(release, policy, original).verification.passed
    again = shoal.attack(release, policy, original=original).attacks
    overlap = {each.name for each in again if each.outcome == "classes-overlap"}  # these need each record's class
    assert overlap <= {"undone"}
    forgery, passing, unknowable = folder / "forged.json", [], 0
    for place in places(evidence):
        if may_pass(place, evidence, overlap):
            unknowable += 1
            continue
        forgery.write_text(to_json(forged(evidence, place)), encoding="utf-8")
        if audit(release, policy, original, evidence=forgery).verification.passed:
            passing.append(".".join(map(str, place)))
    assert passing == []
    assert unknowable < 150


def test_levels_and_statements_are_found_without_the_original(released: tuple[Path, Policy]) -> None:
    folder, policy = released
    evidence = json.loads((folder / "release.evidence.json").read_text(encoding="utf-8"))
    assert audit(folder / "release.csv", policy).verification.passed
    forgery, passing = folder / "forged.json", []
    said = [place for place in places(evidence) if place[-1] == "message" or place[0] in {"levels", "models", "seed"}]
    for place in said:
        forgery.write_text(to_json(forged(evidence, place)), encoding="utf-8")
        if audit(folder / "release.csv", policy, evidence=forgery).verification.passed:
            passing.append(".".join(map(str, place)))
    # one level higher may show the same labels, if the column has it
    possible = [each for each in passing if each.startswith("levels.") and not each.endswith("+key")]
    heights = {f"levels.{name}": about.get("height", 0) for name, about in evidence["columns"].items()}
    assert passing == possible
    assert all(evidence["levels"][each.removeprefix("levels.")] < heights[each] for each in possible)
