"""The lattice as a drawing: less general nodes below, more general ones above, shape and colour show which satisfy.

A minimal node is a diamond, another that satisfies a disc, one that fails a small ring; the best minimal node has a
ring around it. Every node can be reached by the keyboard, carries its levels in ``data-node`` and ``data-levels`` and
says in its title what it is. Lengths are in em, so the drawing has the size of the text around it; a wide one scrolls
inside its own box.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.formatting import listing, number, pluralize
from shoal.present.html.markup import Markup, paragraph, tag
from shoal.present.html.style import DARK, LATTICE_STYLE, LIGHT
from shoal.present.plots.bars import text

_DOWN = 4.4
"""Between two lines of nodes, in em."""
_LETTER, _NARROWEST = 0.64, 3.4
"""Width of a letter under a node, and the least room that a node has."""
_WIDEST = 62.0
"""Width of the nodes where the lattice is not drawn whole; a height may then have several lines."""
_MARGIN = 6.6
"""Left of the nodes, for the heights."""
_SHAPES = {
    "minimal": "M0,-9 L9,0 L0,9 L-9,0 Z",
    "satisfied": "M-6,0 a6,6 0 1,0 12,0 a6,6 0 1,0 -12,0 Z",
    "fails": "M-4,0 a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0 Z",
}
_WORDS = {"minimal": "minimal", "satisfied": "satisfies", "fails": "fails"}


def lattice_svg(picture: Mapping[str, Any], *, ident: str = "lattice", standalone: bool = False) -> Markup:
    """The drawing of a picture of `shoal.pipeline.forecast.lattice_picture`; ``standalone`` for a file of its own."""
    nodes = list(picture["drawn"])
    room = max(_NARROWEST, 1.0 + _LETTER * max(len(_short(each)) for each in nodes))
    lines = _lines(nodes, None if picture["whole"] else int(_WIDEST // room))
    width = _MARGIN + room * max(3, *(len(line) for line in lines))
    height = _DOWN * len(lines) + 1.0
    places = _places(lines, width, room)
    parts = [
        *_height_labels(lines, picture, places),
        *_edge_lines(picture["edges"], places),
        *(_node(each, places[each["id"]], picture) for each in nodes),
    ]
    heads = [
        tag("title", "The lattice of generalizations", id=f"{ident}-title"),
        tag("desc", _description(picture), id=f"{ident}-desc"),
    ]
    style = [tag("style", Markup(_file_style()))] if standalone else []
    spaces = {"xmlns": "http://www.w3.org/2000/svg"} if standalone else {}
    return tag(
        "svg", *heads, *style, *parts, **spaces, width=f"{width:.2f}em", height=f"{height:.2f}em", class_="drawing",
        role="group", aria_labelledby=f"{ident}-title {ident}-desc",
    )  # fmt: skip


def lattice_figure(picture: Mapping[str, Any], *, ident: str = "lattice") -> Markup:
    """The drawing in a box that scrolls, with its key and what is left out under it."""
    omitted = [paragraph(note, class_="soft")] if (note := _not_drawn(picture)) else []
    box = tag("div", lattice_svg(picture, ident=ident), class_="lattice", tabindex="0", role="region",
              aria_label="The lattice; scrolls sideways")  # fmt: skip
    return tag("figure", tag("figcaption", _key(picture)), box, *omitted)


Line = Sequence[Mapping[str, Any]]


def _lines(nodes: Line, most: int | None) -> list[Line]:
    """The nodes of each height, the most general first, within a height by their levels; at most so many per line."""
    rows: dict[int, list[Mapping[str, Any]]] = {}
    for node in sorted(nodes, key=lambda each: (-each["height"], each["place"])):
        rows.setdefault(node["height"], []).append(node)
    return [
        row[start : start + (most or len(row))]
        for row in rows.values()
        for start in range(0, len(row), most or len(row))
    ]


def _places(lines: Sequence[Line], width: float, room: float) -> dict[str, tuple[float, float]]:
    """Where each node stands, in em; every line is centred."""
    middle, found = _MARGIN + (width - _MARGIN) / 2, {}
    for down, line in enumerate(lines):
        left = middle - room * (len(line) - 1) / 2
        for place, node in enumerate(line):
            found[node["id"]] = (left + room * place, _DOWN * down + 1.6)
    return found


def _height_labels(
    lines: Sequence[Line], picture: Mapping[str, Any], places: Mapping[str, tuple[float, float]]
) -> list[Markup]:
    """At the left the sum of levels, and how many of its nodes are drawn where not all are."""
    counts = {each["height"]: each["nodes"] for each in picture["by_height"]}
    drawn, labels = Counter(node["height"] for line in lines for node in line), []
    labelled: set[int] = set()
    for line in lines:
        height, y = line[0]["height"], places[line[0]["id"]][1]
        if height in labelled:
            continue
        labelled.add(height)
        labels.append(text(f"sum {height}", x="0", y=y + 0.3, class_="axis"))
        if counts[height] != drawn[height]:
            labels.append(text(f"{drawn[height]} of {number(counts[height])}", x="0", y=y + 1.6, class_="axis"))
    return labels


def _short(node: Mapping[str, Any]) -> str:
    """The levels of a node; without spaces where every level has one digit."""
    levels = [str(level) for level in node["levels"].values()]
    return ("" if all(len(level) == 1 for level in levels) else " ").join(levels)


def _edge_lines(edges: Sequence[Sequence[str]], places: Mapping[str, tuple[float, float]]) -> list[Markup]:
    lines = []
    for lower, upper in edges:
        (x1, y1), (x2, y2) = places[lower], places[upper]
        ends = {"x1": f"{x1:.2f}em", "y1": f"{y1:.2f}em", "x2": f"{x2:.2f}em", "y2": f"{y2:.2f}em"}
        lines.append(tag("line", **ends, class_="edge"))
    return lines


def _kind(node: Mapping[str, Any]) -> str:
    return "minimal" if node["minimal"] else "satisfied" if node["satisfied"] else "fails"


def _node(node: Mapping[str, Any], place: tuple[float, float], picture: Mapping[str, Any]) -> Markup:
    kind = _kind(node)
    best = [tag("circle", r="13", class_="ring")] if node["id"] == picture["best"] else []
    title = _node_title(node, picture)
    given = {"data_node": node["id"], "data_levels": json.dumps(node["levels"], ensure_ascii=False), "data_state": kind}
    return tag(
        "svg",
        tag("title", title),
        tag("circle", r="16", class_="focus"),
        *best,
        tag("path", d=_SHAPES[kind]),
        tag("text", _short(node), y="2.1em"),
        x=f"{place[0]:.2f}em", y=f"{place[1]:.2f}em", overflow="visible", class_=f"node {kind}",
        tabindex="0", role="button" if node["minimal"] else "img", aria_label=title, **given,
    )  # fmt: skip


def _node_title(node: Mapping[str, Any], picture: Mapping[str, Any]) -> str:
    """A node in words, one line per fact."""
    heights = picture["heights"]
    levels = ", ".join(f"{name} {level} of {heights[name]}" for name, level in node["levels"].items())
    head, figures = node_lines(node, picture)
    return "\n".join([head, f"Levels: {levels}.", figures])


def node_lines(node: Mapping[str, Any], picture: Mapping[str, Any]) -> tuple[str, str]:
    """What a node is, and its figures."""
    best = " The best of them." if node["id"] == picture["best"] else ""
    how = "not checked: a less general node satisfies" if node["how"] == "implied" else "checked"
    head = f"{_WORDS[_kind(node)].capitalize()} ({how}).{best}"
    if not node["satisfied"]:
        failing, allowed = pluralize(node["failing_records"], "record"), number(picture["may_suppress"])
        return head, f"{failing} would have to be suppressed; {allowed} may be."
    metric = picture["metric"]
    classes, suppressed = pluralize(node["classes"], "class"), pluralize(node["suppressed"], "record")
    return head, f"{metric} {node['measures'][metric]:.4f}; {classes}, {suppressed} suppressed."


def _key(picture: Mapping[str, Any]) -> str:
    order = listing(picture["quasi"])
    return (
        "Diamond: minimal, can be picked. Disc: satisfies, but is more general than necessary. Small dashed ring: "
        f"fails. A ring around a node: the best minimal one by {picture['metric']}. Under each node are the levels of "
        f"{order}; more general nodes are higher up."
    )


def _description(picture: Mapping[str, Any]) -> str:
    minimal = len(picture["minimal"])
    drawn = f"{number(picture['nodes'])} nodes, {len(picture['drawn'])} of them drawn; "
    drawn += f"{pluralize(minimal, 'minimal node')}."
    return f"{drawn} {_key(picture)} {_not_drawn(picture)}".rstrip()


def _not_drawn(picture: Mapping[str, Any]) -> str:
    """Which nodes of a large lattice are missing from its drawing; empty where all are there."""
    omitted = picture["left_out"]
    if not omitted:
        return ""
    text = f"{number(omitted['nodes'])} of {number(picture['nodes'])} nodes are not drawn: a large lattice is shown by "
    text += "its bottom, its top and its minimal nodes"
    if omitted["minimal"]:
        total = len(picture["minimal"])
        text += f", {number(total - omitted['minimal'])} of {number(total)} of them, those with the least "
        text += str(picture["metric"])
    return f"{text}."


def _file_style() -> str:
    """The style of a drawing in a file of its own."""
    return (
        f":root {{ color-scheme: light dark; {LIGHT} background: var(--paper); }}"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}"
        "svg { font: 13px system-ui, sans-serif; } svg text { fill: var(--ink); } svg text.axis { fill: var(--soft); }"
        + LATTICE_STYLE
    )
