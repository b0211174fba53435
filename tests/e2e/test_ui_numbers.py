"""Sensitive numbers on the web page, in a real browser: the warning, bins against it, and what a run reveals."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.page import Page
from support.ui_server import serving
from support.way import policy_of, start_run, to

pytestmark = pytest.mark.browser

WARNING = "salary has 40 different numbers"


def staff(folder: Path) -> Path:
    """Six people of one age whose salaries are nearly the same, and others whose salaries are not."""
    draw = random.Random(2)
    lines = [f"20,{3000 + 10 * place}" for place in range(6)]
    lines += [f"{30 + 10 * (place % 3)},{draw.randrange(3100, 9000, 100) + place}" for place in range(34)]
    path = folder / "staff.csv"
    path.write_text("age,salary\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_near_numbers_are_warned_of_until_they_are_published_in_bins(tmp_path: Path) -> None:
    with serving(tmp_path / "ui") as ui, Page(tmp_path) as page:
        page.goto(ui.shown)
        page.upload("#file", staff(tmp_path))
        page.wait_for_text("Columns and their roles")
        assert policy_of(page)["columns"]["salary"]["role"] == "sensitive"
        to(page, "privacy")
        page.wait_for_text(WARNING, within="#forecast")
        number = start_run(page, "as numbers")
        to(page, "understand", number, "summary")
        page.wait_for_text("A class nearly reveals a number")
        page.wait_for_text("it goes from 3000 to 3050")
        to(page, "sensitive")
        page.write("#bins", "1000")
        page.press("Enter")
        page.wait_for_text("published in bins", within="body")
        assert policy_of(page)["columns"]["salary"]["bins"] == 1000
        to(page, "privacy")
        page.wait_for(f"!document.querySelector('#forecast').innerText.includes({WARNING!r})", seconds=20)
        page.wait_for_text("can be met", within="#forecast")
        assert page.seen.messages == []
        page.screenshot("numbers")
