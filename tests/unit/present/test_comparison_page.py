"""The page of a comparison: every point in the table, every release in the plot, the frontier in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_reader import read_page, rows, section

from shoal.present.comparison import write_comparison
from shoal.present.plots.point_plots import Dot, PlotAxis, scatter_plot

HOSTILE = """<script>alert("x")</script>'"&amp; </style>"""


def point(name: str, algorithm: str, loss: float, risk: float) -> dict[str, Any]:
    return {
        "name": name, "algorithm": algorithm, "parameters": {"k": 2}, "status": "verified", "verified": True,
        "measures": {"ncp": loss, "precision": 1 - loss}, "risk": {"average": risk, "highest": 0.5, "homogeneity": 0.0},
        "exposure": {name: {"homogeneity": {"classes": 1, "records": count}} for name, count in (("s", 7), ("t", 9))},
        "class_sizes": {"smallest": 2}, "suppressed": 1, "classes": 40, "seconds": 0.25, "peak_memory_bytes": 2**27,
        "verdict": {"decision": "publish-with-caveats", "tried": 9, "leaking": 2, "worst": None},
    }  # fmt: skip


def content() -> dict[str, Any]:
    lost = {"name": "optimal-k9", "algorithm": "optimal", "parameters": {"k": 9}, "status": "infeasible",
            "verified": False, "reason": HOSTILE, "nearest_relaxation": "suppression: 0.1", "seconds": 0.1}  # fmt: skip
    return {
        "algorithms": ["optimal", "mondrian"],
        "axes": {"k": [2, 5, 9]},
        "metric": "ncp",
        "higher_is_better": False,
        "risk": "average",
        "frontier": ["mondrian-k2", "mondrian-k5"],
        "points": [
            point("optimal-k2", "optimal", 0.4, 0.3), point("mondrian-k2", "mondrian", 0.1, 0.3),
            point("mondrian-k5", "mondrian", 0.2, 0.1), lost,
        ],
        "policy_sha256": "abc",
        "inputs_sha256": {"data": "def", f"columns.{HOSTILE}.hierarchy": "0"},
        "versions": {"shoal": "1"},
    }  # fmt: skip


def test_every_point_is_a_row_with_its_policy_and_its_figures() -> None:
    cells, verdict = rows(write_comparison(content()), "points"), ["2 of 9", "publish with caveats"]
    assert cells[2] == ["mondrian-k2", "1", "0.1000", "30%", "50%", "9", "1", "40", "2", *verdict, "0.250 s", "134 MB"]
    assert cells[1][1] == "", "not on the frontier"
    links = [link.attributes["href"] for link in section(write_comparison(content()), "points").all("a")]
    assert links == [f"points/{name}.yaml" for name in ("optimal-k2", "mondrian-k2", "mondrian-k5", "optimal-k9")]


def test_a_point_without_a_release_has_its_reason_across_the_row() -> None:
    found = section(write_comparison(content()), "points")
    last = found.all("tr")[-1]
    assert last.children[1].attributes["colspan"] == "12"
    assert last.children[1].text == f"No release: {HOSTILE} suppression: 0.1."


def test_every_release_is_a_shape_and_the_frontier_is_steps_and_numbers() -> None:
    found = section(write_comparison(content()), "plot")
    plot = next(each for each in found.all("svg") if each.attributes.get("role") == "img")
    assert [shape.attributes["class"] for shape in plot.all("path")] == ["shape s0", "shape s1", "shape s1"]
    assert len([line for line in plot.all("line") if line.attributes["class"] == "rule"]) == 2
    assert {"1", "2"} <= {text.text for text in plot.all("text")}
    assert "On the frontier: mondrian-k2 0.1, 0.3; mondrian-k5 0.2, 0.1." in plot.all("desc")[0].text
    assert "left is less loss" in found.text


def test_the_frontier_is_told_in_words_from_least_loss_on() -> None:
    found = section(write_comparison(content()), "frontier")
    assert "2 of 4 points are on the frontier" in found.text
    items = [item.text for item in found.all("li")]
    assert items[0].startswith("mondrian-k2: ncp 0.1, average risk 30%; smallest class 2, 1 record suppressed")


def test_of_a_measure_where_more_is_better_the_page_says_so() -> None:
    page = write_comparison({**content(), "metric": "precision", "higher_is_better": True})
    assert "right is less loss" in section(page, "plot").text
    assert "Precision, more is better" in section(page, "plot").text


def test_without_a_release_there_is_a_table_and_no_plot() -> None:
    lost = [each for each in content()["points"] if each["status"] != "verified"]
    page = write_comparison({**content(), "points": lost, "frontier": []})
    assert "nothing to draw" in section(page, "plot").text
    assert "no frontier" in section(page, "frontier").text


def test_the_page_runs_nothing_and_loads_nothing() -> None:
    document = read_page(write_comparison(content()))
    assert not document.all("script")
    assert not document.all("img")
    for element in document.every():
        assert "src" not in element.attributes
        assert str(element.attributes.get("href", "#")).startswith(("#", "data:,", "points/"))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_the_ticks_of_an_axis_hold_every_value(values: list[float]) -> None:
    scale = PlotAxis.of(values)
    assert 2 <= len(scale.ticks) <= 8
    assert all(-1e-6 <= scale.share(value) <= 1 + 1e-6 for value in values)


def test_points_at_one_place_are_all_seen() -> None:
    dots = [Dot("a", 0.1, 0.2, 0, 1), Dot("b", 0.1, 0.2, 1, 2), Dot("c", 0.1, 0.2, 2, 3)]
    plot = read_page(scatter_plot(dots, across="x", up="y", description="d"))
    sizes = [path.attributes["transform"] for path in plot.all("path")]
    assert len(set(sizes)) == 3
    assert "1–3" in {text.text for text in plot.all("text")}


@pytest.mark.parametrize("kinds", [7, 9])
def test_up_to_seven_algorithms_have_shapes_of_their_own(kinds: int) -> None:
    dots = [Dot(str(kind), kind / 10, 0.5, kind) for kind in range(kinds)]
    plot = read_page(scatter_plot(dots, across="x", up="y", description="d"))
    assert len({path.attributes["d"] for path in plot.all("path")}) == min(kinds, 7)
