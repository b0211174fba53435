"""Spellings of one value on the web page: drafted, separated, and merged again with one click, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page import Page, Role
from support.ui_server import serving
from support.way import policy_of, to

pytestmark = pytest.mark.browser

ROWS = ["HIV", "HIV", "hiv", "HIV ", "Flu", "Flu", "Asthma", "__proto__", "__Proto__"]
SAME = {"HIV": ["HIV ", "hiv"], "__Proto__": ["__proto__"]}


def test_spellings_are_merged_and_separated_on_the_step_of_sensitive_values(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text(
        "age,diagnosis\n" + "".join(f"{20 + n},{value}\n" for n, value in enumerate(ROWS)), encoding="utf-8"
    )
    with serving(tmp_path / "ui") as ui, Page(tmp_path) as page:
        page.goto(ui.shown)
        page.upload("#file", data)
        page.wait_for_text("Columns and their roles")
        assert policy_of(page)["columns"]["diagnosis"]["same"] == SAME
        to(page, "sensitive")
        page.wait_for_text("Spellings")
        page.click("#separate-0")
        page.wait_for_text("spelled in several ways")
        assert policy_of(page)["columns"]["diagnosis"]["same"] == {"__Proto__": ["__proto__"]}
        page.click(Role("button", "Keep them as different values"))
        page.wait_for("!document.querySelector('#page .problems')")
        assert policy_of(page)["columns"]["diagnosis"]["different"] == [["HIV", "HIV ", "hiv"]]
        page.click("#undo")
        page.wait_for_text("spelled in several ways")
        page.click(Role("button", "Merge the spellings"))
        page.wait_for("!document.querySelector('#page .problems')")
        assert policy_of(page)["columns"]["diagnosis"]["same"] == SAME
        assert page.seen.messages == []
        page.screenshot("spellings")
