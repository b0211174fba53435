"""The wording of diagnoses, forecasts and explanations, held in a few files under tests/golden/wording.

Where a wording has been improved on purpose, write the files anew with ``UPDATE_GOLDEN=1`` and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import shoal
from shoal.pipeline.forecast import forecast
from shoal.pipeline.prepare import prepare
from support.cli import Cli

GOLDEN = Path(__file__).parent.parent / "golden" / "wording"


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def check(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_why_a_record_is_generalized(cli: Cli, clinic: Path) -> None:
    for algorithm in ("optimal", "mondrian"):
        check(f"why-{algorithm}.txt", cli("why", clinic / "policy.yaml", "--row", 5, "--algorithm", algorithm).out)
    check("why-matches.txt", cli("why", clinic / "policy.yaml", "--where", "zipcode=14248").out)


def test_why_a_record_is_suppressed(cli: Cli, clinic: Path) -> None:
    edit(clinic / "patients.csv", "Lea,35,USA", "Lea,35,Peru")
    policy = edit(clinic / "policy.yaml", "suppression: 0.05", "suppression: 0.1")
    edit(policy, "Asia: [China, Japan, India]", "Asia: [China, Japan, India], South: [Peru]")
    edit(policy, "boundary: [America, Asia]", "boundary: [America, Asia, South]")
    check("why-suppressed.txt", cli("why", policy, "--row", 12).out)


def test_why_there_is_no_release(cli: Cli, clinic: Path) -> None:
    policy = edit(clinic / "policy.yaml", "alpha: 2", "alpha: 3")
    check("diagnosis.txt", cli("anonymize", policy).err)


def test_what_can_be_reached(clinic: Path) -> None:
    policy = shoal.Policy.load(edit(clinic / "policy.yaml", "alpha: 2", "alpha: 3"))
    ready = prepare(clinic / "patients.csv", policy)
    check("forecast.txt", f"{forecast(ready, policy)}\n")
