"""The page as a whole: one file, well formed, readable by machines that read aloud, the same every time."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_reader import read_page
from pydantic import ValidationError
from report_evidence import attack, group, hospital

from shoal.present.html.markup import escape
from shoal.present.html.style import STYLE
from shoal.present.report.page import write_report

HOSTILE = """<script>alert("x")</script>'"&amp; <img src=x onerror=alert(1)> </style></title>"""


def renamed(text: str) -> dict[str, Any]:
    """The evidence with a text in every place that data or policy can write in."""
    evidence = hospital()
    columns = evidence["columns"]
    columns[text] = columns.pop("age")
    columns[f"{text} kept"] = {"role": "insensitive"}
    columns[f"{text} secret"] = {"role": "sensitive", "published": "values"}
    columns["zipcode"]["distribution"] = {
        "level": 0, "least_hidden": 5, "groups": [group(text, 5, 5, 5.0), group("b", 5, 0, 5.0)],
    }  # fmt: skip
    evidence["levels"][text] = 2
    evidence["not_released"] = evidence["not_named"] = [text]
    evidence["models"][1] |= {"sensitive": text, "asked": {"alpha": {text: 1}}, "reached": {f"alpha[{text}]": 1}}
    evidence["models"][2] |= {"model": text, "holds": False}
    evidence["models"][0]["weakest"]["k"]["labels"] = {text: text}
    evidence["search"] = {"refined": hospital()["search"]["refined"] | {"measure": text}}
    evidence["attacks"] = [
        attack(text, text, leak=True),
        attack("similarity", text, leak=True, records=1, classes=1, details={"by_category": {text: 1}}),
        attack("linkage", status="not tried", outcome="needs-original"),
    ]
    evidence["checks"] = [{"name": text, "passed": False, "message": text, "facts": {}}]
    evidence["search"] |= {text: text, "metric": text, "other": [text[:8]]}
    evidence["measures"] |= {text: 0.5}
    evidence["seconds_by_stage"] = {text: 1.0}
    evidence["versions"] = {text: text}
    evidence["policy"] = {text: [text, {text: text}]}
    evidence["algorithm"] = text
    evidence["not_done"] = evidence["engine"] = {text: text}
    return evidence


def shape(page: str) -> list[tuple[str, list[str]]]:
    return [(element.name, sorted(element.attributes)) for element in read_page(page).every()]


def test_text_from_data_or_policy_never_becomes_markup() -> None:
    page = write_report(renamed(HOSTILE))
    document = read_page(page)
    assert not document.all("script")
    assert not document.all("img")
    assert shape(page) == shape(write_report(renamed("plain but as long a text, with more than 34 letters in it")))
    assert document.all("main")[0].text.count(HOSTILE.replace("  ", " ")) > 20


@settings(max_examples=60)
@given(st.text(min_size=35, max_size=60).filter(lambda text: not any(len(word) > 16 for word in text.split())))
def test_no_text_changes_the_elements_of_the_page(text: str) -> None:
    page = write_report(renamed(text))
    expected = shape(write_report(renamed("a plain text of more than 34 letters to go by")))
    assert [name for name, _ in shape(page)] == [name for name, _ in expected]
    page.encode("utf-8")


def test_characters_that_hide_or_turn_text_are_written_out() -> None:
    assert escape("a\x00b\u202ec\ud800") == "a\\u0000b\\u202ec\\ud800"
    assert escape("Zürich 東京 αβγ\n") == "Zürich 東京 αβγ\n"


def test_the_page_needs_nothing_outside_itself() -> None:
    document = read_page(write_report(hospital()))
    assert not document.all("script")
    for element in document.every():
        assert "src" not in element.attributes
        assert not [name for name in element.attributes if name.startswith("on")]
        assert element.attributes.get("href", "#").startswith(("#", "data:,"))
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_the_browser_is_told_to_load_nothing() -> None:
    metas = read_page(write_report(hospital())).all("meta")
    guards = [each.attributes["content"] for each in metas if "http-equiv" in each.attributes]
    assert guards == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_every_table_has_a_caption_and_scoped_heads() -> None:
    tables = read_page(write_report(hospital())).all("table")
    assert len(tables) >= 7
    for table in tables:
        assert table.children[0].name == "caption"
        assert table.children[0].text
        assert all(head.attributes["scope"] in {"row", "col"} for head in table.all("th"))
        width = len(table.all("thead")[0].all("th"))
        for row in table.all("tr"):
            assert sum(int(cell.attributes.get("colspan") or 1) for cell in row.children) == width


def test_every_plot_has_a_title_and_a_description_that_name_it() -> None:
    drawn = read_page(write_report(hospital())).all("svg")
    plots = [each for each in drawn if "aria-hidden" not in each.attributes]
    assert len(plots) == 2 + 4
    for plot in plots:
        title, description = plot.children[:2]
        assert (title.name, description.name) == ("title", "desc")
        assert plot.attributes["role"] == "img"
        assert plot.attributes["aria-labelledby"] == f"{title.attributes['id']} {description.attributes['id']}"
        assert title.text
        assert description.text


def test_a_bar_that_is_not_read_aloud_stands_beside_its_figure() -> None:
    cells = [each for each in read_page(write_report(hospital())).all("td") if each.all("svg") and each.all("span")]
    assert len(cells) == 2 * 4
    for cell in cells:
        (bars,) = cell.all("svg")
        assert bars.attributes["aria-hidden"] == "true"
        assert cell.text == cell.all("span")[0].text != ""


def test_headings_form_an_outline_and_anchors_lead_to_them() -> None:
    document = read_page(write_report(hospital()))
    assert document.all("html")[0].attributes["lang"] == "en"
    assert [len(document.all(name)) for name in ("title", "h1", "h2")] == [1 + 6, 1, 8]  # the plots have titles too
    idents = [element.attributes["id"] for element in document.every() if "id" in element.attributes]
    assert len(idents) == len(set(idents))
    assert {str(link.attributes["href"])[1:] for link in document.all("a")} <= set(idents)


def test_the_same_evidence_gives_the_same_page() -> None:
    assert write_report(hospital()) == write_report(hospital())


def test_evidence_read_back_from_json_gives_the_same_page() -> None:
    assert write_report(json.loads(json.dumps(hospital()))) == write_report(hospital())


def test_what_is_not_evidence_makes_no_page() -> None:
    for key in ("verified", "models", "checks"):
        without = hospital()
        del without[key]
        with pytest.raises(ValidationError, match=key):
            write_report(without)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def palettes() -> list[dict[str, str]]:
    names = re.findall(r"--(\w+): (#[0-9a-f]{6});", STYLE)
    return [dict(names[start : start + 10]) for start in range(0, len(names), 10)]


def test_text_and_bars_stand_out_from_the_page_in_light_dark_and_print() -> None:
    light, dark, printed = palettes()
    assert printed == light
    for colours in (light, dark):
        for ground in (colours["paper"], colours["panel"]):
            assert contrast(colours["ink"], ground) >= 7
            assert contrast(colours["soft"], ground) >= 4.5
            assert min(contrast(colours[name], ground) for name in ("bar", "good", "bad", "caution")) >= 3


def test_colours_that_mean_something_are_safe_for_the_colour_blind() -> None:
    okabe_ito = {"#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
    for colours in palettes():
        assert {colours["bar"], colours["good"], colours["bad"]} <= okabe_ito
