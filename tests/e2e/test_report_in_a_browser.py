"""The report page in a real browser: it loads nothing, says nothing on the console, and fits phone, desk and paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from support.browser import Browser

pytestmark = pytest.mark.browser

WIDER = """[...document.querySelectorAll('body *')]
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.table'))
  .map(each => each.tagName + ' ' + each.className).slice(0, 5)"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the bundled data."""
    folder = tmp_path_factory.mktemp("report")
    data = Path(shoal.__file__).parent / "data"
    shoal.publish(data / "hospital.yaml", data=data / "hospital.csv", out=folder / "release.csv")
    return folder / "release.report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_loads_nothing_and_fits(browser: Browser, page: Path, width: int) -> None:
    seen = browser.open(page, width=width)
    assert [url for url in seen.requests if not url.startswith("data:")] == [page.as_uri()]
    assert seen.messages == []
    assert browser.value("document.querySelectorAll('svg').length") > 8
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value(WIDER) == []
    overflowing = (
        "[...document.querySelectorAll('.table')].filter(each => each.scrollWidth > each.clientWidth + 1).length"
    )
    assert browser.value(overflowing) == 0, "a table has to be scrolled sideways"


def test_bars_are_as_long_as_what_they_stand_for(browser: Browser, page: Path) -> None:
    """Before and after are drawn to one scale, beside each other."""
    browser.open(page, width=1280)
    lengths = """[...document.querySelectorAll('table.pair')].map(table =>
      [...table.querySelectorAll('tbody tr')].map(row => [...row.querySelectorAll('td')].map(cell => [
        Number(cell.querySelector('span').textContent.replace(',', '')),
        Math.max(...[...cell.querySelectorAll('rect')].map(bar => bar.getBoundingClientRect().right))
          - cell.querySelector('svg').getBoundingClientRect().left])))"""
    for table in browser.value(lengths):
        cells = [cell for row in table for cell in row]
        most, longest = max(cells)
        assert longest > 30
        for count, length in cells:
            assert abs(length - max(longest * count / most, 1)) < 2.5


def test_on_paper_everything_is_open_and_nothing_is_cut(browser: Browser, page: Path) -> None:
    browser.open(page, width=1280)
    printed = browser.printed()
    assert printed.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 5 <= pages <= 30
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "none"
        hidden = (
            """[...document.querySelectorAll('details table')].filter(each => !each.getClientRects().length).length"""
        )
        assert browser.value(hidden) == 0
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def test_in_the_dark_the_page_is_dark(browser: Browser, page: Path) -> None:
    browser.open(page, width=1280)
    shade = "getComputedStyle(document.body).backgroundColor"
    light = browser.value(shade)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        assert (light, browser.value(shade)) == ("rgb(255, 255, 255)", "rgb(21, 25, 29)")
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_the_browser_would_be_caught_loading_something(browser: Browser, tmp_path: Path) -> None:
    """A test of the test: what is loaded, said on the console, or too wide is seen."""
    (tmp_path / "bad.html").write_text(
        "<!DOCTYPE html><title>x</title><img src='missing.png'><p style='width: 2000px'>wide</p>"
        "<script>console.error('seen')</script>",
        encoding="utf-8",
    )
    seen = browser.open(tmp_path / "bad.html", width=360)
    assert [url for url in seen.requests if url.endswith("missing.png")]
    assert [message for message in seen.messages if "seen" in message]
    assert browser.value(WIDER) == ["P "]
