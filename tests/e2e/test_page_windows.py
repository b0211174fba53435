"""Two windows of one session, names that mean something in JavaScript, and typing that meets another change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.page import Page
from support.ui_server import Client, Ui, serving, wait_until
from support.way import policy_of, to

pytestmark = pytest.mark.browser

NAMES = ("__proto__", "constructor", "toString")


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    with serving(tmp_path_factory.mktemp("ui")) as running:
        yield running


@pytest.fixture
def page(ui: Ui, tmp_path: Path) -> Iterator[Page]:
    table = tmp_path / f"{tmp_path.name}.csv"
    rows = "".join(f"{NAMES[n % 3]},{n % 4},{NAMES[n % 2]},{20 + n % 9}\n" for n in range(60))
    table.write_text(f"{','.join(NAMES)},age\n{rows}", encoding="utf-8")
    with Page(tmp_path) as opened:
        opened.goto(ui.shown)
        opened.wait_for("!!document.querySelector('#file')")
        opened.upload("#file", table)
        opened.wait_for("document.querySelector('.about').innerText.startsWith('TABLE')".replace("TABLE", table.name))
        opened.wait_for_text("Columns and their roles")
        yield opened


def second_window(page: Page, address: str) -> tuple[str | None, str | None]:
    """Open another window of the same browser; what tells the two apart."""
    first, page._session = page._session, None
    target = page.call("Target.createTarget", url="about:blank")["targetId"]
    page._session = page.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for part in ("Page", "Runtime", "DOM"):
        page.call(f"{part}.enable")
    page.goto(address)
    return first, page._session


@pytest.mark.parametrize("place", range(3))
def test_a_column_keeps_its_role_whatever_it_is_called(page: Page, place: int) -> None:
    for role in ("", "quasi", "sensitive", "", "insensitive"):
        page.select(f"#role-{place}", role)
        told = policy_of(page)["columns"].get(NAMES[place], {}).get("role", "")
        assert (told, page.value(f"document.querySelector('#role-{place}').value")) == (role, role)


def test_what_one_window_changes_the_other_takes_over_and_says_so(page: Page) -> None:
    first, second = second_window(page, f"{page.value('location.origin')}/")
    page.wait_for_text("Columns and their roles")
    page._session = first
    page.select("#role-3", "insensitive")
    policy_of(page)
    page._session = second
    page.wait_for_text("changed in another window")
    assert page.value("document.querySelector('#role-3').value") == "insensitive"
    page._on("#role-0", "(each) => { each.value = ''; each.dispatchEvent(new Event('change')); }")
    columns = policy_of(page)["columns"]
    assert columns["age"] == {"role": "insensitive"}
    assert NAMES[0] not in columns


def test_a_change_made_on_an_old_policy_is_told_and_not_written(page: Page, ui: Ui) -> None:
    """Another browser was quicker, so no window of this one could tell."""
    other = Client.inside(ui)
    policy = policy_of(page)
    newer = {**policy, "suppression": 0.25}
    assert other.ask("PUT", "/api/policy", {"policy": newer, "revision": "an old one"}).status == 409
    assert other.ask("PUT", "/api/policy", {"policy": newer}).status == 200
    page.select("#role-3", "insensitive")
    page.wait_for_text("changed in another window")
    assert policy_of(page) == newer
    page.click("#undo")
    assert wait_until(lambda: policy_of(page)["columns"]["age"]["role"] == "insensitive", "what was asked here")


def test_typed_text_is_kept_and_asks_before_it_replaces_a_newer_policy(page: Page) -> None:
    page.click("#policy-head")
    before = str(page.value("document.querySelector('#yaml').value"))
    page.write("#yaml", before.replace("k: 5", "k: 7"))
    page.select("#role-3", "insensitive")
    wait_until(lambda: policy_of(page)["columns"]["age"]["role"] == "insensitive", "the new role")
    assert "k: 7" in page.value("document.querySelector('#yaml').value")
    page.click("#yaml-write")
    page.wait_for_text("has changed since you started typing", within="dialog")
    page.click("dialog button.strong")
    wait_until(lambda: policy_of(page)["privacy"][0] == {"model": "k-anonymity", "k": 7}, "the typed policy")
    page.click("#undo")
    assert wait_until(lambda: policy_of(page)["columns"]["age"]["role"] == "insensitive", "what stood there before")


def test_undo_by_keys_works_where_a_list_has_the_focus(page: Page) -> None:
    before = policy_of(page)
    page.select("#role-3", "insensitive")
    assert policy_of(page) != before
    page.focus("#role-3")
    page.press("Control+z")
    assert wait_until(lambda: policy_of(page) == before, "the policy as it was")
    assert page.value("document.querySelector('#policy-head').innerText").startswith("Policy file ")


def test_undo_of_a_role_leaves_no_editor_of_a_column_that_has_none(page: Page) -> None:
    page.select("#role-1", "insensitive")
    page.select("#role-1", "quasi")
    to(page, "hierarchies", NAMES[1])
    page.wait_for(f"document.querySelector('#column-head')?.innerText === '{NAMES[1]}'")
    page.click("#undo")
    page.wait_for(f"document.querySelector('#column-head')?.innerText !== '{NAMES[1]}'")
    assert policy_of(page)["columns"][NAMES[1]] == {"role": "insensitive"}
