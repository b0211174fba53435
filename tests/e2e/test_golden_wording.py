"""The wording of diagnoses, forecasts and explanations, held in a few files under tests/golden/wording.

Where a wording was improved on purpose, `pytest --update-golden` writes the files anew: read the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import shoal
from shoal.pipeline.forecast import forecast
from shoal.pipeline.prepare import prepare
from support.cli import Cli
from support.golden_files import check_golden

Check = Callable[[str, str], None]


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.fixture
def check(update_golden: bool) -> Check:
    """Compares a text with its golden file."""
    return lambda name, text: check_golden(f"wording/{name}", text, update=update_golden)


def test_why_a_record_is_generalized(cli: Cli, clinic: Path, check: Check) -> None:
    for algorithm in ("optimal", "mondrian"):
        check(f"why-{algorithm}.txt", cli("why", clinic / "policy.yaml", "--row", 5, "--algorithm", algorithm).out)
    check("why-matches.txt", cli("why", clinic / "policy.yaml", "--where", "zipcode=14248").out)


def test_why_a_record_is_suppressed(cli: Cli, clinic: Path, check: Check) -> None:
    edit(clinic / "patients.csv", "Lea,35,USA", "Lea,35,Peru")
    policy = edit(clinic / "policy.yaml", "suppression: 0.05", "suppression: 0.1")
    edit(policy, "Asia: [China, Japan, India]", "Asia: [China, Japan, India], South: [Peru]")
    edit(policy, "boundary: [America, Asia]", "boundary: [America, Asia, South]")
    check("why-suppressed.txt", cli("why", policy, "--row", 12).out)


def test_why_there_is_no_release(cli: Cli, clinic: Path, check: Check) -> None:
    policy = edit(clinic / "policy.yaml", "alpha: 2", "alpha: 3")
    check("diagnosis.txt", cli("anonymize", policy).err)


def test_what_can_be_reached(clinic: Path, check: Check) -> None:
    policy = shoal.Policy.load(edit(clinic / "policy.yaml", "alpha: 2", "alpha: 3"))
    ready = prepare(clinic / "patients.csv", policy)
    check("forecast.txt", f"{forecast(ready, policy)}\n")
