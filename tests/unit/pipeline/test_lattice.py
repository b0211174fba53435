"""The picture of the lattice is the lattice: every node judged as the definition judges it, and nothing cut unsaid."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from hypothesis import given, settings

import shoal
from oracles import lattice_oracle as oracle
from shoal.edits import apply_edits
from shoal.errors import PolicyError
from shoal.models import AlpDif, KAnonymity
from shoal.pipeline.lattice import lattice_picture, pick_node, picture_of
from shoal.pipeline.prepare import prepare
from shoal.policy import Policy
from shoal.present.plots.lattice_plot import lattice_figure, lattice_svg
from support.model_cases import COLUMN, VALUES
from support.search_cases import Case, cases, levels_of, problem_of, table_of

TABLE = pa.table({"age <b>": [str(20 + i % 12) for i in range(60)], "zip": [str(100 + 7 * (i % 9)) for i in range(60)]})


def policy_of(k: int = 4, **changes: Any) -> Policy:
    columns = {
        "age <b>": {"role": "quasi", "hierarchy": {"intervals": [2, 4]}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    }
    content = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": k}], "algorithm": {"name": "optimal"}}
    return Policy.model_validate(content | changes)


def drawn(policy: Policy) -> dict[str, Any]:
    return lattice_picture(prepare(TABLE, policy), policy)


@pytest.mark.slow
@settings(max_examples=100)
@given(cases(max_rows=20))
def test_every_node_is_drawn_as_its_definition_judges_it(case: Case) -> None:
    found, table = picture_of(problem_of(case)[0]), table_of(case)
    nodes = oracle.ladder_nodes(table)
    judged = {json.dumps(levels_of(case, node)): oracle.judge(table, node).satisfied for node in nodes}
    assert {json.dumps(each["levels"]): each["satisfied"] for each in found["drawn"]} == judged
    minimal = [levels_of(case, node) for node in oracle.minimal_nodes(table)]
    assert sorted(map(json.dumps, found["minimal"])) == sorted(map(json.dumps, minimal))
    assert [each["levels"] for each in found["drawn"] if each["minimal"]] == found["minimal"]
    assert sum(each["nodes"] for each in found["by_height"]) == len(nodes) == found["nodes"]
    for each in found["by_height"]:
        there = [node for node in found["drawn"] if node["height"] == each["height"]]
        assert len(there) == each["nodes"]
        assert each["satisfied"] in (None, sum(node["satisfied"] for node in there))


def test_a_model_that_is_not_monotone_is_checked_at_every_node() -> None:
    """(alp, dif) holds on three classes and no longer once two of them are merged."""
    first, second, third = VALUES[:3]
    secrets = {"a": [first] * 3 + [second, third], "b": [second] * 2, "c": [first] * 3 + [second]}
    case = Case(
        trees=({"*": {"g": {"a": None, "b": None}, "h": {"c": None}}},),
        rows=tuple((value,) for value, each in secrets.items() for _ in each),
        sensitive={COLUMN: tuple(secret for each in secrets.values() for secret in each)},
        models=(AlpDif({first: {"alp": 0.7, "dif": 0.1}}, sensitive=COLUMN),),
    )
    found = picture_of(problem_of(case)[0])
    assert [each["satisfied"] for each in found["drawn"]] == [True, False, True]
    assert {each["how"] for each in found["drawn"]} == {"checked"}
    assert found["by_height"][1]["satisfied"] is None
    above = found["drawn"][2]
    with pytest.raises(PolicyError, match="is not minimal"):
        pick_node(found, above["levels"])
    monotone = picture_of(problem_of(replace(case, models=(KAnonymity(2),)))[0])
    assert [each["how"] for each in monotone["drawn"]] == ["checked", "implied", "implied"]


def test_edges_lead_one_level_up() -> None:
    found = drawn(policy_of())
    place = {each["id"]: each["place"] for each in found["drawn"]}
    for lower, upper in found["edges"]:
        assert sorted(b - a for a, b in zip(place[lower], place[upper], strict=True)) == [0, 1]
    rows, columns = 4, 4
    assert len(place) == rows * columns
    assert len(found["edges"]) == 2 * rows * columns - rows - columns


def test_a_large_lattice_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = drawn(policy_of())
    monkeypatch.setattr(importlib.import_module(picture_of.__module__), "DRAWN_WHOLE", 3)
    part = drawn(policy_of())
    assert part["left_out"]["nodes"] == whole["nodes"] - len(part["drawn"]) > 0
    assert part["minimal"] == whole["minimal"]
    assert part["by_height"] == whole["by_height"]
    assert part["best"] == whole["best"]
    assert {each["id"] for each in part["drawn"]} >= {"0-0", "3-3"}
    assert f"{part['left_out']['nodes']} of {whole['nodes']} nodes are not drawn" in lattice_figure(part)
    monkeypatch.setattr(importlib.import_module(picture_of.__module__), "MOST_MINIMAL", 1)
    fewer = drawn(policy_of())
    assert len(whole["minimal"]) > 1
    assert fewer["left_out"]["minimal"] == len(whole["minimal"]) - 1
    assert fewer["minimal"] == whole["minimal"]
    assert fewer["best"] == whole["best"]


def test_a_picked_node_is_what_the_policy_then_releases() -> None:
    policy = policy_of()
    found = drawn(policy)
    assert len(found["minimal"]) > 1
    for levels in found["minimal"]:
        edit = pick_node(found, levels)
        assert (edit.path, edit.value["node"]) == (("algorithm",), levels)
        changed = Policy.model_validate(apply_edits(policy.to_dict(), [edit]))
        assert shoal.anonymize(TABLE, changed).evidence["levels"] == levels


def test_a_node_that_is_none_to_pick_is_refused_with_the_reason() -> None:
    found = drawn(policy_of())
    top, bottom = found["drawn"][-1], found["drawn"][0]
    for levels, codes in (
        (top["levels"], ["node-not-minimal"]),
        (bottom["levels"], ["node-fails"]),
        ({"age <b>": -1, "zip": 0}, ["node-fails"]),
        ({"age <b>": 0, "zap": 0}, ["not-a-quasi-identifier", "missing-key"]),
    ):
        with pytest.raises(PolicyError) as raised:
            pick_node(found, levels)
        assert [problem.code for problem in raised.value.problems] == codes
    hopeless = drawn(policy_of(k=61))
    assert hopeless["satisfiable"] is False
    assert hopeless["minimal"] == []
    with pytest.raises(PolicyError) as raised:
        pick_node(hopeless, top["levels"])
    assert [problem.code for problem in raised.value.problems] == ["node-fails"]


def test_the_drawing_has_every_node_for_keyboard_eye_and_ear() -> None:
    found = drawn(policy_of())
    root = ElementTree.fromstring(lattice_svg(found, standalone=True))
    space = "{http://www.w3.org/2000/svg}"
    nodes = [each for each in root.iter(f"{space}svg") if each.get("data-node")]
    assert {each.get("data-node") for each in nodes} == {each["id"] for each in found["drawn"]}
    shapes: dict[str, set[str]] = {}
    for each, told in (
        (each, told) for each in nodes for told in found["drawn"] if told["id"] == each.get("data-node")
    ):
        assert each.get("tabindex") == "0"
        assert json.loads(each.get("data-levels") or "") == told["levels"]
        title = each.findtext(f"{space}title") or ""
        assert "age <b> " in title
        assert "suppressed" in title
        assert not told["satisfied"] or f"{told['measures']['loss']:.4f}" in title
        path = each.find(f"{space}path")
        assert path is not None
        shapes.setdefault(each.get("data-state") or "", set()).add(path.get("d") or "")
    assert set(shapes) == {"minimal", "satisfied", "fails"}
    assert len(set.union(*shapes.values())) == 3, "a state is told by its shape, not by colour alone"
    assert len([each for each in root.iter(f"{space}circle") if each.get("class") == "ring"]) == 1
    assert "<b>" not in lattice_svg(found)
