"""The whole way on the web page, in a real browser: from a file to a release that verifies, and that the command line
makes from the same policy byte for byte.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from support.adult_cases import made_up, write_csv
from support.page import Page, Role, elsewhere
from support.ui_server import Client, Ui, serving
from support.way import cuts_of, make_tree_by_keys, policy_of, run_shown, settled, start_run, take_away, to, tree_row

pytestmark = pytest.mark.browser

HOSPITAL = Path(shoal.__file__).parent / "data" / "hospital.csv"
STEPS = ("data", "hierarchies", "sensitive", "privacy", "runs", "understand", "download")


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    with serving(tmp_path_factory.mktemp("ui")) as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, ui: Ui) -> Iterator[Page]:
    with Page(tmp_path_factory.mktemp("browser")) as opened:
        opened.goto(ui.shown)
        yield opened


def open_example(page: Page) -> None:
    """Open the example, whether or not there is another table."""
    to(page, "data")
    if page.has("summary#load-head"):
        page.click("#load-head")
    page.click("#example")
    page.wait_for(
        "!!document.querySelector('dialog[open]') || document.querySelector('.about').innerText.includes('1,200')"
    )
    if page.has("dialog[open]"):
        page.click("dialog button[value=yes]")
    page.wait_for_text("hospital.csv: 1,200 records")


def give_the_wards_a_tree(page: Page) -> None:
    """One group by keys, one by dragging, and a limit by a click."""
    to(page, "hierarchies", "ward")
    page.select("#kind", "tree")
    make_tree_by_keys(page, "Cold side", ["North", "East"])
    page.click("#tree-new")
    page.write("#ask-name", "Warm side")
    page.press("Enter")
    warm = tree_row(page, "Warm side")
    page.drag('[id="spare-u:=South"]', warm)
    page.wait_for_text("South", within="[role=tree]")
    page.drag('[id="spare-u:=West"]', tree_row(page, "Warm side"))
    page.wait_for_text("none", within="#tree-unplaced-count")
    page.click(tree_row(page, "Cold side"))
    page.click("#tree-limit")
    page.wait_for_text("boundary", within="[role=tree]")
    ward = policy_of(page)["columns"]["ward"]
    assert ward == {
        "role": "quasi",
        "hierarchy": {"tree": {"Cold side": ["North", "East"], "Warm side": ["South", "West"]}},
        "boundary": ["Cold side"],
    }


def cut_the_ages(page: Page) -> None:
    """Cut points by keys and by a click, and back."""
    to(page, "hierarchies", "age")
    page.click("#form-cuts")
    begun = cuts_of(page)
    page.focus("#cut-0")
    page.press("ArrowRight")
    moved = cuts_of(page)
    assert moved[0][1] > begun[0][1]
    page.click("#cut-histogram", across=0.33)
    assert len(cuts_of(page)[0]) == len(moved[0]) + 1
    page.click("#undo")
    page.click("#undo")
    assert cuts_of(page) == begun
    page.click("#form-widths")
    assert "widths" in policy_of(page)["columns"]["age"]["hierarchy"]["intervals"]


def sort_a_condition(page: Page) -> None:
    """A value goes to another category by dragging, and back by keys."""
    to(page, "sensitive")
    page.drag(tree_row(page, "Fracture"), tree_row(page, "Less Secret"))
    page.wait_for_text("5 values", within=tree_row(page, "Less Secret"))
    page.focus(tree_row(page, "Fracture"))
    page.press("Control+x")
    page.focus(tree_row(page, "Non Secret"))
    page.press("Control+v")
    page.wait_for_text("4 values", within=tree_row(page, "Non Secret"))
    assert policy_of(page)["columns"]["condition"]["categories"]["Non Secret"][-1] == "Fracture"


def ask_for_too_much_first(page: Page) -> None:
    """A policy that no release can satisfy, the change that the page suggests, and what was wanted."""
    to(page, "privacy")
    page.write("#model-0-k", "700")
    page.press("Tab")
    page.wait_for_text("These requirements cannot be met", within="#forecast")
    page.click("#change-0")
    page.wait_for_text("These requirements can be met", within="#forecast")
    page.write("#model-0-k", "5")
    page.press("Tab")
    page.wait_for("document.querySelector('#forecast-state')?.innerText === 'Up to date.'")


def name_the_households(page: Page) -> None:
    """Columns for the risk of a survey; those that do not fit the data are problems at once."""
    page.select("#household", "name")
    page.select("#weight", "sex")
    page.wait_for_text("must have numbers above 0", within="#forecast")
    page.select("#weight", "age")
    page.wait_for_text("These requirements can be met", within="#forecast")
    assert {key: policy_of(page)[key] for key in ("household", "weight")} == {"household": "name", "weight": "age"}
    page.select("#weight", "")
    page.wait_for("document.querySelector('#forecast-state')?.innerText === 'Up to date.'")
    assert "weight" not in policy_of(page)


def understand(page: Page, run: str) -> None:
    """Attackers, the reasons for a record, and a node of the lattice that is picked."""
    to(page, "understand", run, "summary")
    page.wait_for_text("What attackers can learn")
    page.click("[id^=remedy-] a[href^='#/privacy/']")
    page.wait_for("document.activeElement.id === `add-${location.hash.slice('#/privacy/'.length)}`")
    to(page, "understand", run, "why")
    page.write("#why-record", "17")
    page.click("#why-ask")
    page.wait_for_text("What prevents more detail, column by column")
    page.click(Role("button", "Undo"))
    to(page, "understand", run, "lattice")
    page.click("#lattice-draw")
    page.wait_for("!!document.querySelector('#lattice-pick')", seconds=60)
    page.click("#lattice-pick")
    page.wait_for("location.hash === '#/runs'")


def test_from_the_hospital_table_to_releases_that_verify(page: Page, ui: Ui, tmp_path: Path) -> None:
    seen = page.watch()
    open_example(page)
    page.select(Role("combobox", "Role of ward"), "quasi")
    assert policy_of(page)["columns"]["ward"]["role"] == "quasi"
    give_the_wards_a_tree(page)
    cut_the_ages(page)
    sort_a_condition(page)
    ask_for_too_much_first(page)
    name_the_households(page)
    first = start_run(page, "one level a column")
    to(page, "privacy")
    page.click("#algorithm-mondrian")
    second = start_run(page, "each class for itself")
    for number in (first, second):
        page.click(f"#run-{number}-tick")
    page.wait_for_text("one level a column", within="#comparison")
    page.wait_for_text("each class for itself", within="#comparison")
    page.wait_for_text("(p⁺, α)-sensitivity p = 2", within="#runs-head ~ *")
    understand(page, first)
    third = start_run(page, "picked")
    for number in (first, third):
        take_away(page, number, tmp_path / number, HOSPITAL)
    assert seen.messages == []
    assert seen.dialogs == []
    assert list(elsewhere(seen, ui.host)) == []


def fill_every_page(ui: Ui, page: Page) -> None:
    """Make sure that there is something on every page: a table, finished runs, a lattice."""
    client = Client.inside(ui)
    if not client.ask("GET", "/api/state").json["runs"]:
        assert client.desk("open_example").status == 200
        for kind in ("release", "release", "lattice"):
            assert client.finished(client.run(kind))["state"] == "done"
        page.reload()


@pytest.mark.parametrize(("width", "colours"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")])
def test_every_page_fits_and_names_its_controls(page: Page, ui: Ui, width: int, colours: str) -> None:
    fill_every_page(ui, page)
    page.resize(width)
    page.colours(colours)
    try:
        for step in STEPS:
            views = (
                ("summary", "records", "columns", "classes", "why/3", "lattice", "all")
                if step == "understand"
                else ("",)
            )
            for view in views:
                to(page, step, *(["001", view] if view else []))
                settled(page)
                page.screenshot(f"{step}{'-' if view else ''}{view.partition('/')[0]}-{width}-{colours}")
                assert page.overflowing() == [], (step, view)
                assert page.nameless() == [], (step, view)
    finally:
        page.resize(1280)
        page.colours("light")


def test_from_an_uploaded_file_to_a_download_with_the_keyboard_alone(page: Page, tmp_path: Path) -> None:
    data = write_csv(tmp_path / "in", made_up(600)) / "adult.csv"
    to(page, "data")
    page.value("document.activeElement.blur()")
    if page.has("summary#load-head"):
        page.tab_to("#load-head")
        page.press("Enter")
    page.tab_to("#file")
    page.choose_by_keys(data)
    page.wait_for(
        "!!document.querySelector('dialog[open]') || document.querySelector('.about').innerText.includes('adult.csv')"
    )
    if page.has("dialog[open]"):
        page.tab_to("dialog button[value=yes]")
        page.press("Enter")
    page.wait_for_text("adult.csv: 600 records")
    page.tab_to("[aria-label='Role of capital-gain']")
    page.press("i", "n", "s")
    page.tab_to("#steps a[href='#/privacy']")
    page.press("Enter")
    page.wait_for_text("Privacy requirements")
    page.tab_to("#model-0-k-less")
    page.press("Enter")
    page.tab_to("#steps a[href='#/runs']")
    page.press("Enter")
    page.tab_to("#run-start")
    page.press("Enter")
    page.wait_for("!!document.querySelector('[id$=-download]')", seconds=60)
    page.tab_to("[id$=-download]")
    page.press("Enter")
    page.wait_for("!!document.querySelector('#download-csv-release')")

    def download() -> None:
        page.tab_to("#download-csv-release")
        page.press("Enter")

    release = page.download(download)
    shutil.copy(release, tmp_path / "in")
    page.tab_to("#download-csv-policy")
    policy = page.download(lambda: page.press("Enter"))
    shutil.copy(policy, tmp_path / "in")
    run_shown(page.text("#check-csv"), tmp_path / "in")
    assert page.seen.messages == []


def test_a_file_that_is_too_large_or_no_table_is_refused_in_words(tmp_path: Path) -> None:
    large, odd = tmp_path / "large.csv", tmp_path / "odd.csv"
    large.write_bytes(b"a,b\n" + b"1,2\n" * 1000)
    odd.write_bytes(b"a,a\n1,2\n")
    with serving(tmp_path / "ui", "--max-upload", "2KB") as ui, Page(tmp_path) as page:
        page.goto(ui.shown)
        page.upload("#file", large)
        page.wait_for_text("large.csv has 4,004 bytes; the limit here is 2,000.")
        page.upload("#file", odd)
        page.wait_for("document.querySelectorAll('.complaint').length === 2")
        assert not any(url.endswith("large.csv") for url in page.seen.requests)
        assert str(ui.workspace) not in page.text()
