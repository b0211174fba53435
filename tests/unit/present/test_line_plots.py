"""Plots are files that any viewer shows: every point has its mark, and marks differ by shape, not by colour alone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from shoal.present.plots.point_plots import Line, Panel, line_plot

SVG = "{http://www.w3.org/2000/svg}"
FIRST = Line("first <one>", ((2.0, 1.0), (4.0, 3.0)), 0)
SECOND = Line("second", ((2.0, 1.0), (4.0, 2.0)), 1)
DASHED = Line("third", ((2.0, 0.5), (4.0, 0.0)), 1, dashed=True)


def drawn(*panels: Panel, shared: bool = True) -> ET.Element:
    text = line_plot(panels, title="a & b", across="k", up="seconds", shared=shared)
    assert "var(" not in text
    assert "<style" not in text
    return ET.fromstring(text)


def marks(root: ET.Element) -> dict[str, tuple[float, float, float]]:
    """What each mark says, with its place and size."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is not None:
            place = re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\)", group.attrib["transform"])
            path = group.find(f"{SVG}path")
            assert place is not None
            assert path is not None
            scale = re.search(r"scale\(([\d.]+)\)", path.attrib.get("transform", "scale(1)"))
            assert scale is not None
            found[str(title.text)] = (float(place[1]), float(place[2]), float(scale[1]))
    return found


def test_every_point_has_a_mark_where_it_belongs() -> None:
    found = marks(drawn(Panel("", (FIRST, SECOND, DASHED))))
    assert len(found) == 6
    (x2, y1, _), (x4, y3, _) = found["first <one>: 2, 1"], found["first <one>: 4, 3"]
    assert x2 < x4
    assert y3 < y1
    assert found["third: 4, 0"][1] == max(y for _, y, _ in found.values())


def test_marks_that_lie_on_each_other_are_all_seen() -> None:
    found = marks(drawn(Panel("", (FIRST, SECOND))))
    one, other = found["first <one>: 2, 1"], found["second: 2, 1"]
    assert one[:2] == other[:2]
    assert one[2] > other[2]


def test_lines_differ_by_shape_or_dashes_and_the_legend_names_them() -> None:
    root = drawn(Panel("", (FIRST, SECOND, DASHED)))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"first <one>", "second", "third", "a & b", "k", "seconds"} <= set(texts)
    shapes = {path.attrib["d"] for path in root.iter(f"{SVG}path")}
    assert len(shapes) == 2
    assert any(line.get("stroke-dasharray") for line in root.iter(f"{SVG}line"))


def test_panels_share_their_scale_unless_told_otherwise() -> None:
    low = Panel("low", (Line("a", ((1.0, 1.0), (2.0, 2.0)), 0),))
    high = Panel("high", (Line("a", ((1.0, 1.0), (2.0, 200.0)), 0),))
    shared, own = (marks(drawn(low, high, shared=share))["a: 2, 2"][1] for share in (True, False))
    assert own < shared


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_single_point_is_drawn(value: float) -> None:
    assert list(marks(drawn(Panel("", (Line("a", ((3.0, value),), 0),))))) == [f"a: 3, {value:g}"]


def test_the_plot_is_told_in_words() -> None:
    root = drawn(Panel("k = 4", (SECOND,)))
    description = root.find(f"{SVG}desc")
    assert description is not None
    assert description.text == "seconds against k. k = 4, second: 2: 1, 4: 2."
    assert root.attrib["role"] == "img"
