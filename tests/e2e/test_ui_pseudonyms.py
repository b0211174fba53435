"""Pseudonyms and relative dates on the web page: roles and dates are chosen, and the hierarchy shows days."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page import Page
from support.ui_server import serving
from support.way import policy_of, to

pytestmark = pytest.mark.browser


def test_roles_and_dates_are_chosen_on_the_step_of_the_data(tmp_path: Path) -> None:
    data = tmp_path / "visits.csv"
    rows = [f"P{n // 2},{'FM'[n % 2]},2024-01-{1 + n:02d},2024-02-{1 + n:02d},flu" for n in range(20)]
    data.write_text("\n".join(["patient,sex,admitted,discharged,illness", *rows, ""]), encoding="utf-8")
    with serving(tmp_path / "ui") as ui, Page(tmp_path) as page:
        page.goto(ui.shown)
        page.upload("#file", data)
        page.wait_for_text("Columns and their roles")
        page.select("#role-0", "pseudonym")
        page.wait_for("!!document.querySelector('#relative-2 option[value=first]')", seconds=20)
        assert policy_of(page)["columns"]["patient"] == {"role": "pseudonym"}
        assert policy_of(page)["person"]
        page.select("#relative-2", "first")
        page.wait_for("document.querySelector('#relative-2')?.value === 'first'", seconds=20)
        page.select("#relative-3", "admitted")
        page.wait_for("document.querySelector('#relative-3')?.value === 'admitted'", seconds=20)
        columns = policy_of(page)["columns"]
        assert columns["admitted"]["relative"] == "first"
        assert columns["discharged"]["relative"] == "admitted"
        assert columns["admitted"]["hierarchy"] == {"intervals": {"widths": [7, 28, 364]}}
        to(page, "hierarchies", "admitted")
        page.wait_for_text("[0, 7)", seconds=20)
        assert page.seen.messages == []
