"""The drawing of the lattice in a real browser: it fits a phone, holds together and answers to keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from shoal.pipeline.lattice import lattice_picture
from shoal.pipeline.prepare import prepare
from shoal.present.html.markup import whole_page
from shoal.present.html.style import LATTICE_STYLE
from shoal.present.plots.lattice_plot import lattice_figure
from support.browser import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lattice of three columns of the bundled data."""
    policy = shoal.Policy.load(Path(shoal.__file__).parent / "data" / "hospital.yaml")
    kept = {
        name: each for name, each in policy.to_dict()["columns"].items() if name not in {"zipcode", "admission_date"}
    }
    policy = policy.changed(columns=kept)
    figure = lattice_figure(lattice_picture(prepare(None, policy), policy))
    target = tmp_path_factory.mktemp("lattice") / "lattice.html"
    target.write_text(
        whole_page("Lattice", [], [("lattice", "Lattice", [figure])], "", LATTICE_STYLE), encoding="utf-8"
    )
    return target


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.mark.parametrize("width", [360, 1280])
def test_the_drawing_scrolls_in_its_own_box(browser: Browser, page: Path, width: int) -> None:
    seen = browser.open(page, width=width)
    assert seen.messages == []
    assert browser.value("document.documentElement.scrollWidth") <= width
    wider = "document.querySelector('.lattice').scrollWidth > document.querySelector('.lattice').clientWidth"
    assert browser.value(wider) is (width == 360)


def test_edges_end_at_nodes_and_labels_do_not_overlap(browser: Browser, page: Path) -> None:
    browser.open(page, width=1280)
    ends = """(() => {
      const places = [...document.querySelectorAll('svg.node path')].map(each => each.getBoundingClientRect())
        .map(box => [box.left + box.width / 2, box.top + box.height / 2]);
      const box = document.querySelector('svg.drawing').getBoundingClientRect();
      return [...document.querySelectorAll('line.edge')].flatMap(line => [1, 2].map(end => Math.min(...places.map(
        ([x, y]) => Math.hypot(
          x - box.left - line['x' + end].baseVal.value, y - box.top - line['y' + end].baseVal.value)
      )))); })()"""
    distances = browser.value(ends)
    assert len(distances) > 50
    assert max(distances) < 2
    overlaps = """(() => { const boxes = [...document.querySelectorAll('svg.node text')]
        .map(each => each.getBoundingClientRect());
      return boxes.filter((a, i) => boxes.some((b, j) => i < j && a.left < b.right && b.left < a.right
        && a.top < b.bottom && b.top < a.bottom)).length; })()"""
    assert browser.value(overlaps) == 0


def test_a_node_takes_the_focus(browser: Browser, page: Path) -> None:
    browser.open(page, width=1280)
    browser.value("document.querySelector('[data-state=minimal]').focus()")
    assert browser.value("document.activeElement.dataset.state") == "minimal"
    assert browser.value("document.activeElement.getAttribute('aria-label')").startswith("Minimal")
