"""The steps of the web page as a person takes them, for tests that go the whole way."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from support.page import Page

TIMED = {"seconds", "seconds_by_stage", "peak_memory_bytes"}
"""Facts of the evidence that are about the run and not about the release."""


def to(page: Page, step: str, *rest: str) -> None:
    """Go to a step by its address."""
    page.goto(f"{page.value('location.origin')}/#/{'/'.join([step, *rest])}")
    page.wait_for(f"document.querySelector('#steps [aria-current]')?.hash === '#/{step}'")


def policy_of(page: Page) -> dict[str, Any]:
    """The policy as the server has it, once every change has arrived."""
    page.value("import('/static/core.js').then((core) => core.saved())")
    found: dict[str, Any] = page.value("fetch('/api/state').then((answer) => answer.json())")["policy"]
    return found


def cuts_of(page: Page) -> list[list[float]]:
    """The cut points of age, a list for each level."""
    cuts: list[list[float]] = policy_of(page)["columns"]["age"]["hierarchy"]["intervals"]["cuts"]
    return cuts


def make_tree_by_keys(page: Page, name: str, values: list[str]) -> None:
    """Select values that have no place yet and put them into a new group, without the mouse."""
    for value in values:
        page.focus(f'[id="spare-u:={value}"]')
        page.press("Space")
        page.wait_for(f"""document.querySelector('[id="spare-u:={value}"]')?.ariaPressed === 'true'""")
    page.focus("#tree-group")
    page.press("Enter")
    page.write("#ask-name", name)
    page.press("Enter")
    page.wait_for_text(name, within="[role=tree]")


def tree_row(page: Page, label: str) -> str:
    """The selector of a row of the tree."""
    script = f"""[...document.querySelectorAll('[role=treeitem]')]
      .find((row) => row.querySelector('.row-label').textContent === {json.dumps(label)})?.id ?? ''"""
    return f"#{page.wait_for(script)}"


def start_run(page: Page, name: str) -> str:
    """Run the policy as it stands, and wait until it is done; the number of the run."""
    to(page, "runs")
    page.write("#run-name", name)
    page.click("#run-start")
    page.wait_for_text(name, within="table.runs")
    rows = "[...document.querySelectorAll('table.runs tbody tr')]"
    find = f"{rows}.find((row) => row.innerText.includes({json.dumps(name)}))"
    page.wait_for(f"/done|failed|cancelled/.test({find}?.innerText)", seconds=60)
    assert "done" in page.value(f"{find}.innerText"), page.text("#page")
    return str(page.value(f"{find}.querySelector('[id$=-tick]').id")).split("-")[1]


def take_away(page: Page, number: str, folder: Path, data: Path) -> None:
    """Download everything of a run; what is downloaded verifies, and the command line makes it again."""
    to(page, "download", number)
    page.wait_for("!!document.querySelector('#download-csv-release')")
    for form in ("csv", "parquet"):
        place, again = folder / form, folder / f"{form}-again"
        for each in (place, again):
            each.mkdir(parents=True)
            shutil.copy(data, each)
        for what in ("release", "policy", "evidence", "report"):
            got = page.download(partial(page.click, f"#download-{form}-{what}"))
            assert page.text(f"#sha-{form}-{what}") == _sha256(got)
            shutil.copy(got, place)
        make, check = page.text(f"#make-{form}"), page.text(f"#check-{form}")
        release = next(each for each in place.iterdir() if each.suffix == f".{form}" and each.name != data.name)
        run_shown(check, place)
        shutil.copy(place / "policy.yaml", again)
        run_shown(make, again)
        assert (again / release.name).read_bytes() == release.read_bytes(), f"{form}: not the same bytes"
        evidence = [
            json.loads((each / f"{release.stem}.evidence.json").read_text(encoding="utf-8")) for each in (place, again)
        ]
        assert _timeless(evidence[0]) == _timeless(evidence[1])


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run_shown(command: str, folder: Path) -> str:
    """Run a command that the page shows."""
    program, *arguments = shlex.split(command)
    assert program == "shoal"
    done = subprocess.run(
        [sys.executable, "-m", "shoal", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(each) for key, each in value.items() if key not in TIMED}
    return [_timeless(each) for each in value] if isinstance(value, list) else value


def settled(page: Page) -> None:
    """Wait until a page has drawn what it asked for."""
    page.wait_for("!/Loading …|Reading .* …/.test(document.querySelector('#page').innerText)")
    page.wait_for("performance.getEntriesByType('resource').every((each) => each.responseEnd > 0)")
    page.value("new Promise((resolve) => setTimeout(resolve, 150))")
