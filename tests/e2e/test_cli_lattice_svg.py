"""`shoal lattice --svg`: a drawing of the lattice beside the list, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from support.cli import Cli, snapshot


def test_the_drawing_has_the_minimal_nodes_of_the_list(cli: Cli, clinic: Path) -> None:
    ran = cli("lattice", clinic / "policy.yaml", "--svg", clinic / "lattice.svg", "--json")
    assert ran.code == 0, ran.err
    listed = json.loads(ran.out)
    root = ElementTree.fromstring((clinic / "lattice.svg").read_text(encoding="utf-8"))
    drawn = [
        json.loads(each.get("data-levels") or "")
        for each in root.iter("{http://www.w3.org/2000/svg}svg")
        if each.get("data-state") == "minimal"
    ]
    listing = [each["levels"] for each in listed["minimal_nodes"]]
    assert sorted(map(json.dumps, drawn)) == sorted(map(json.dumps, listing))
    assert listed["svg"] == str(clinic / "lattice.svg")


def test_nothing_is_overwritten_and_a_name_must_say_svg(cli: Cli, clinic: Path) -> None:
    (clinic / "lattice.svg").write_text("mine", encoding="utf-8")
    before = snapshot(clinic)
    there = cli("lattice", clinic / "policy.yaml", "--svg", clinic / "lattice.svg")
    assert there.code == 2
    wrong = cli("lattice", clinic / "policy.yaml", "--svg", clinic / "lattice.png")
    assert (wrong.code, wrong.error) == (2, "drawing-suffix")
    assert snapshot(clinic) == before
    forced = cli("lattice", clinic / "policy.yaml", "--svg", clinic / "lattice.svg", "--force")
    assert forced.code == 0
    assert str(clinic / "lattice.svg") in forced.out
    assert (clinic / "lattice.svg").read_text(encoding="utf-8").startswith("<svg")
