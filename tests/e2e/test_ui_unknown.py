"""Unknown values on the web page: drafted, listed, taken off the list and counted, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page import Page
from support.ui_server import serving
from support.way import policy_of, to

pytestmark = pytest.mark.browser

ROWS = ["HIV", "HIV", "unknown", "", "Flu", "Flu", "<b>n/k</b>", "Asthma"]


def test_unknown_values_are_listed_and_counted_on_the_step_of_sensitive_values(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("age,diagnosis\n" + "".join(f"{20 + n},{value}\n" for n, value in enumerate(ROWS)))
    with serving(tmp_path / "ui") as ui, Page(tmp_path) as page:
        page.goto(ui.shown)
        page.upload("#file", data)
        page.wait_for_text("Columns and their roles")
        assert policy_of(page)["columns"]["diagnosis"]["unknown"] == ["unknown"]
        to(page, "sensitive")
        page.wait_for_text("Unknown values")
        page.write("#unknown-value", "<b>n/k</b>")
        page.click("#add-unknown")
        page.wait_for("document.querySelector('#known-1') !== null")
        assert policy_of(page)["columns"]["diagnosis"]["unknown"] == ["unknown", "<b>n/k</b>"]
        page.click("#known-0")
        page.wait_for("!document.querySelector('#known-1')")
        assert policy_of(page)["columns"]["diagnosis"]["unknown"] == ["<b>n/k</b>"]
        page.click("#unknown-counts")
        page.wait_for("document.querySelector('#unknown-counts').checked")
        assert policy_of(page)["columns"]["diagnosis"]["unknown_counts"] is True
        page.click("#unknown-counts")
        page.wait_for("!document.querySelector('#unknown-counts').checked")
        assert "unknown_counts" not in policy_of(page)["columns"]["diagnosis"]
        assert page.seen.messages == []
        page.screenshot("unknown")
