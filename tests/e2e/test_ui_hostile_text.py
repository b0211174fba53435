"""Markup in column names, values, groups, categories and names of runs is text on every page, and does nothing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.page import Page, elsewhere
from support.ui_server import Client, Ui, serving
from support.way import settled

pytestmark = pytest.mark.browser

IMAGE = "<img src=x onerror=window.hurt=1>"
SCRIPT = "'\"><script>window.hurt=2</script>"
DRAWING = "<svg onload=window.hurt=3><foreignObject/></svg>"
LINK = "javascript:window.hurt=4"
HOSTILE = (IMAGE, SCRIPT, DRAWING, LINK, "]]><x/>", "${window.hurt=5}", "%3Cscript%3E", "&lt;b&gt;", "\u202ehidden")
HARM = """[window.hurt ?? 0,
  document.querySelectorAll('img[src="x"], foreignObject, [onerror], [onload], iframe, object').length,
  [...document.querySelectorAll('script')].filter((each) => !each.src.endsWith('/static/app.js')).length,
  [...document.querySelectorAll('a')].filter((each) => each.protocol === 'javascript:').length]"""


def table() -> bytes:
    """Hostile headers over hostile values, each of them in enough records to be released."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([IMAGE, SCRIPT, DRAWING, LINK])
    for place in range(160):
        city, illness = HOSTILE[place % 4], HOSTILE[(place // 4) % len(HOSTILE)]
        writer.writerow([city, illness, 20 + place % 50, HOSTILE[place % 3]])
    return text.getvalue().encode()


def policy() -> dict[str, Any]:
    half = len(HOSTILE) // 2
    tree = {f"A{SCRIPT}": list(HOSTILE[:2]), f"B{IMAGE}": list(HOSTILE[2:4])}
    categories = {f"C{IMAGE}": list(HOSTILE[:half]), f"D{SCRIPT}": list(HOSTILE[half:])}
    return {
        "data": {"path": "x.csv"},
        "columns": {
            IMAGE: {"role": "quasi", "hierarchy": {"tree": tree}},
            SCRIPT: {"role": "sensitive", "categories": categories},
            DRAWING: {"role": "quasi", "hierarchy": {"intervals": {"widths": [10, 20]}}},
            LINK: {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity", "l": 2, "sensitive": SCRIPT}],
        "algorithm": {"name": "optimal"},
    }


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ui, Client]]:
    """A server with the hostile table, two finished runs, a failed one and a lattice."""
    with serving(tmp_path_factory.mktemp("ui")) as ui:
        client = Client.inside(ui)
        opened = client.upload(f"{IMAGE}.csv", table())
        assert opened.status == 200, opened
        document = {**policy(), "data": {"path": opened.json["table"]["name"]}}
        assert client.saved_problems(document) == []
        for kind, name in (("release", IMAGE), ("release", SCRIPT), ("lattice", "")):
            ended = client.finished(client.run(kind, name))
            assert ended["state"] == "done", ended
        client.ask("PUT", "/api/policy", {"policy": {**document, "privacy": [{"model": "k-anonymity", "k": 161}]}})
        assert client.finished(client.run(name=DRAWING))["state"] == "failed"
        client.ask("PUT", "/api/policy", {"policy": document})
        yield ui, client


@pytest.fixture(scope="module")
def page(prepared: tuple[Ui, Client], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with Page(tmp_path_factory.mktemp("browser")) as opened:
        opened.goto(prepared[0].shown)
        yield opened


PLACES = [
    ("data", IMAGE), ("hierarchies", IMAGE), (f"hierarchies/{SCRIPT}", SCRIPT), (f"hierarchies/{DRAWING}", DRAWING),
    ("sensitive", f"C{IMAGE}"), ("privacy", SCRIPT), ("runs", IMAGE), ("understand/001/summary", SCRIPT),
    ("understand/001/records", IMAGE), ("understand/001/columns", IMAGE), ("understand/001/classes", IMAGE),
    ("understand/001/why/3", IMAGE), ("understand/001/lattice", IMAGE), ("understand/001/all", IMAGE),
    ("download/001", IMAGE), (f"understand/{IMAGE}", IMAGE), (f"{IMAGE}/x", IMAGE), ("%", IMAGE),
]  # fmt: skip


@pytest.mark.parametrize(("place", "shown"), PLACES, ids=[each for each, _ in PLACES])
def test_hostile_text_is_shown_as_text_and_does_nothing(
    page: Page, prepared: tuple[Ui, Client], place: str, shown: str
) -> None:
    seen = page.watch()
    step, _, rest = place.partition("/")
    page.value(f"location.hash = {json.dumps('#/' + step + '/' + rest)}")
    settled(page)
    page.wait_for_text(shown)
    assert page.value(HARM) == [0, 0, 0, 0]
    assert seen.messages == []
    assert seen.dialogs == []
    assert list(elsewhere(seen, prepared[0].host)) == []
    assert not [url for url in seen.requests if url.endswith("/x")]


def test_the_report_runs_nothing_either(page: Page, prepared: tuple[Ui, Client]) -> None:
    seen = page.watch()
    ui = prepared[0]
    page.goto(f"http://{ui.host}/api/runs/001/files/csv/report?look")
    page.wait_for_text(IMAGE)
    assert page.value(HARM)[:2] == [0, 0]
    assert page.value("document.scripts.length") == 0
    assert seen.messages == []
    assert seen.dialogs == []
    assert list(elsewhere(seen, ui.host)) == []
    page.goto(f"http://{ui.host}/")


def test_a_password_opens_the_page_in_a_browser(tmp_path: Path) -> None:
    """A form is sent by the browser itself: what it says of its origin is up to it and to our headers."""
    secret = tmp_path / "password"
    secret.write_text("correct horse battery\n", encoding="utf-8")
    secret.chmod(0o600)
    with serving(tmp_path / "ui", "--host", "127.0.0.2", "--password-file", secret) as ui, Page(tmp_path) as page:
        page.goto(ui.shown)
        page.write("#password", "wrong")
        page.press("Enter")
        page.wait_for_text("Wrong password")
        page.write("#password", "correct horse battery")
        page.press("Enter")
        page.wait_for_text("Load a table")
        page.click("#end")
        page.click("dialog button[value=yes]")
        page.wait_for_text("The session has ended")
        assert [each for each in ui.files() if each != ".lock"] == []
        assert not [each for each in page.seen.messages if "Content Security Policy" in each]
