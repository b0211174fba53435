"""The columns before and after: for each quasi-identifier, groups of values with bars side by side.

A table whose cells have bars: the figures can be read aloud and printed, the bars only help the eye.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.present.html.markup import Markup, join, name_of, paragraph, tag
from shoal.present.report.figures import counted, entries_of, is_number, number, part_of

_LEAD = (
    "Before is how many of the released records had such a value. After is how many a reader of the release must take "
    "to have it: a full bar where the label says so, an empty bar where a label covers several groups and its records "
    "are spread evenly over them. The flatter the empty bars are beside the full ones, the more was lost."
)
_RULE = (
    "Records that were left out are in neither. Groups in which a label hides fewer than {crowd} records are not shown "
    "by themselves but counted together as others, so that this page tells no rare value that the release hides."
)


def before_after(evidence: Mapping[str, Any]) -> list[Markup]:
    """A small table for each column that has a distribution, those that lost most first."""
    columns = {
        str(name): column
        for name, column in part_of(evidence, "columns").items()
        if isinstance(column, Mapping) and column.get("role") == "quasi"
    }
    drawn = {name: column for name, column in columns.items() if _groups(column)}
    if not drawn:
        return []
    crowd = next(iter(part_of(column, "distribution").get("crowd") for column in drawn.values()))
    rule = _RULE.format(crowd=number(crowd))
    tables = [_table(name, column) for name, column in sorted(drawn.items(), key=lambda item: -_loss(item[1]))]
    untold = [name for name in columns if name not in drawn]
    missing = [
        paragraph("Not shown, for too few records would stand behind it: ", join(*map(name_of, untold), between=", "))
    ]
    return [
        tag("h3", "Each column before and after"),
        paragraph(_LEAD),
        paragraph(rule, class_="soft"),
        tag("div", *tables, class_="columns"),
        *(missing if untold else []),
    ]


def _groups(column: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = entries_of(part_of(column, "distribution"), "groups")
    return [each for each in found if is_number(each.get("before")) and is_number(each.get("after"))]


def _loss(column: Mapping[str, Any]) -> float:
    ncp = column.get("ncp")
    return float(ncp) if is_number(ncp) else 0.0


def _table(name: str, column: Mapping[str, Any]) -> Markup:
    groups = _groups(column)
    most = max([1.0, *(max(each["before"], each["after"]) for each in groups)])
    heads = [tag("th", head, scope="col") for head in ("Value", "Before", "After")]
    rows = [_row(each, most) for each in groups]
    lost = f": {counted(column.get('values'), 'value')}, released as {counted(column.get('labels_released'), 'label')}"
    caption = tag("caption", tag("strong", name_of(name)), lost)
    return tag("table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="pair")


def _row(group: Mapping[str, Any], most: float) -> Markup:
    within = group.get("within")
    sure = min(within if is_number(within) else 0.0, group["after"])
    return tag(
        "tr",
        tag("th", _label(group), scope="row"),
        tag("td", _cell(group["before"], [("bar", group["before"])], most)),
        tag("td", _cell(group["after"], [("bar", sure), ("hollow", group["after"] - sure)], most)),
    )


def _label(group: Mapping[str, Any]) -> Markup:
    if group.get("of") == "others":
        return tag("em", f"others ({counted(group.get('values'), 'value')})")
    return tag("em", "(missing)") if group.get("label") is None else name_of(str(group["label"]))


def _cell(value: float, parts: list[tuple[str, float]], most: float) -> Markup:
    """A figure and its bar, a pixel wide at least where there is anything; ``parts`` follow each other."""
    placed = {"y": "0.1em", "height": "0.7em"}
    drawn, start = [tag("rect", x="0", width="1", **placed, class_="bar")] if value else [], 0.0
    for class_, length in parts:
        width = 100 * length / most
        if width > 0.005:
            drawn.append(tag("rect", x=f"{start:.2f}%", width=f"{width:.2f}%", **placed, class_=class_))
        start += width
    bars = tag("svg", *drawn, width="100%", height="0.9em", aria_hidden="true")
    return tag("div", tag("span", _whole(value)), bars, class_="cell")


def _whole(value: float) -> str:
    """A count; a share of records that is not whole with one place where it is small."""
    if value == round(value) or value >= 10:
        return f"{round(value):,}"
    return "under 0.1" if value < 0.1 else f"{value:.1f}"
