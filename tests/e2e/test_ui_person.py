"""Who a record is about, on the web page: drafted, taken back and chosen again, and results in people, in a browser."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.page import Page
from support.ui_server import serving
from support.way import policy_of, start_run, to

pytestmark = pytest.mark.browser


def test_the_person_is_chosen_beside_the_roles_and_results_are_in_people(tmp_path: Path) -> None:
    random.seed(5)
    people = [(f"P{number}", 20 + number % 50, "FM"[number % 2]) for number in range(60)]
    visits = [
        (*person, random.choice(["Flu", "Cold", "HIV"])) for person in people for _ in range(1 + random.randrange(3))
    ]
    data = tmp_path / "visits.csv"
    lines = [
        "patient_id,clinic_no,age,sex,diagnosis",
        *(f"{p},C{age % 7},{age},{sex},{ill}" for p, age, sex, ill in visits),
    ]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with serving(tmp_path / "ui") as ui, Page(tmp_path) as page:
        page.goto(ui.shown)
        page.upload("#file", data)
        page.wait_for_text("People with several records")
        assert policy_of(page)["person"] == {"column": "patient_id"}
        page.wait_for_text("The models count people, told apart by patient_id.")
        page.click("#person-0")
        page.wait_for_text("The models count records")
        assert "person" not in policy_of(page)
        to(page, "privacy")
        page.wait_for_text("add this line to the policy: person: patient_id", within="#forecast")
        to(page, "data")
        page.click("#person-0")
        page.wait_for_text("told apart by patient_id.")
        page.screenshot("person")
        page.select("#events", "2")
        assert policy_of(page)["person"] == {"column": "patient_id", "events": 2}
        page.select("#events", "1")
        assert policy_of(page)["person"] == {"column": "patient_id"}
        to(page, "runs")
        number = start_run(page, "people")
        to(page, "understand", number, "classes")
        page.wait_for_text("The smallest class has")
        assert "People" in page.value("[...document.querySelectorAll('th')].map((each) => each.textContent).join(' ')")
        assert "people" in page.value("document.querySelector('#page').textContent")
        assert page.seen.messages == []
        page.screenshot("people-in-classes")
