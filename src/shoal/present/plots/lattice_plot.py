"""The lattice as a drawing: less general nodes below, more general ones above, shape and colour show which satisfy.

A minimal node is a diamond, another that satisfies a disc, one that fails a small ring; the best minimal node has a
ring around it. Every node can be reached by the keyboard, carries its levels in ``data-node`` and ``data-levels`` and
says in its title what it is. Lengths are in em, so the drawing has the size of the text around it; a wide one scrolls
inside its own box.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from shoal.formatting import listing, number, pluralize
from shoal.present.html.markup import Markup, paragraph, tag
from shoal.present.html.style import DARK, LATTICE_STYLE, LIGHT
from shoal.present.plots.bars import text

_DOWN = 4.4  # between two lines of nodes, in em
_LETTER, _NARROWEST = 0.64, 3.4  # width of a letter under a node, and the least room that a node has
_WIDEST = 62.0  # width of the nodes where the lattice is not drawn whole; a height may then have several lines
_MARGIN = 6.6  # left of the nodes, for the heights
_SHAPES = {
    "minimal": "M0,-9 L9,0 L0,9 L-9,0 Z",
    "satisfied": "M-6,0 a6,6 0 1,0 12,0 a6,6 0 1,0 -12,0 Z",
    "fails": "M-4,0 a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0 Z",
}
_WORDS = {"minimal": "minimal", "satisfied": "satisfies", "fails": "fails"}
_FILE_STYLE = (
    f":root {{ color-scheme: light dark; {LIGHT} background: var(--paper); }}"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}"
    "svg { font: 13px system-ui, sans-serif; } svg text { fill: var(--ink); } svg text.axis { fill: var(--soft); }"
    + LATTICE_STYLE
)  # of a drawing in a file of its own


Position = tuple[float, float]  # in em
Nodes = Sequence[Mapping[str, Any]]


def lattice_svg(picture: Mapping[str, Any], *, standalone: bool = False) -> Markup:
    """The drawing of a picture of `shoal.pipeline.lattice.lattice_picture`; ``standalone`` for a file of its own."""
    nodes = list(picture["drawn"])
    room = max(_NARROWEST, 1.0 + _LETTER * max(len(_short(each)) for each in nodes))
    lines = _lines(nodes, len(nodes) if picture["whole"] else int(_WIDEST // room))
    width = _MARGIN + room * max(3, *(len(line) for line in lines))
    positions: dict[str, Position] = {}
    for down, line in enumerate(lines):  # every line is centred
        left = _MARGIN + (width - _MARGIN) / 2 - room * (len(line) - 1) / 2
        positions |= {node["id"]: (left + room * index, _DOWN * down + 1.6) for index, node in enumerate(line)}
    parts = _height_labels(lines, picture, positions)
    for lower, upper in picture["edges"]:
        (x1, y1), (x2, y2) = positions[lower], positions[upper]
        ends = {"x1": f"{x1:.2f}em", "y1": f"{y1:.2f}em", "x2": f"{x2:.2f}em", "y2": f"{y2:.2f}em"}
        parts.append(tag("line", **ends, class_="edge"))
    parts += [_node(each, positions[each["id"]], picture) for each in nodes]
    counted = f"{number(picture['nodes'])} nodes, {len(nodes)} of them drawn; "
    counted += f"{pluralize(len(picture['minimal']), 'minimal node')}."
    heads = [
        tag("title", "The lattice of generalizations", id="lattice-title"),
        tag("desc", f"{counted} {_key(picture)} {_not_drawn(picture)}".rstrip(), id="lattice-desc"),
    ]
    style = [tag("style", Markup(_FILE_STYLE))] if standalone else []
    spaces = {"xmlns": "http://www.w3.org/2000/svg"} if standalone else {}
    return tag(
        "svg", *heads, *style, *parts, **spaces, width=f"{width:.2f}em", height=f"{_DOWN * len(lines) + 1:.2f}em",
        class_="drawing", role="group", aria_labelledby="lattice-title lattice-desc",
    )  # fmt: skip


def lattice_figure(picture: Mapping[str, Any]) -> Markup:
    """The drawing in a box that scrolls, with its key and what is left out under it."""
    omitted = [paragraph(note, class_="soft")] if (note := _not_drawn(picture)) else []
    box = tag("div", lattice_svg(picture), class_="lattice", tabindex="0", role="region",
              aria_label="The lattice; scrolls sideways")  # fmt: skip
    return tag("figure", tag("figcaption", _key(picture)), box, *omitted)


def _lines(nodes: Nodes, most: int) -> list[Nodes]:
    """The nodes of each height, the most general first, within a height by their levels; at most so many per line."""
    ordered = sorted(nodes, key=lambda each: (-each["height"], each["place"]))
    rows = [list(row) for _, row in groupby(ordered, key=lambda each: each["height"])]
    return [row[start : start + most] for row in rows for start in range(0, len(row), most)]


def _height_labels(
    lines: Sequence[Nodes], picture: Mapping[str, Any], positions: Mapping[str, Position]
) -> list[Markup]:
    """At the left the sum of levels, and how many of its nodes are drawn where not all are."""
    counts = {each["height"]: each["nodes"] for each in picture["by_height"]}
    drawn, labels = Counter(node["height"] for line in lines for node in line), []
    first = {line[0]["height"]: line[0]["id"] for line in reversed(lines)}
    for height, node in sorted(first.items(), reverse=True):
        y = positions[node][1]
        labels.append(text(f"sum {height}", "0", y + 0.3, class_="axis"))
        if counts[height] != drawn[height]:
            labels.append(text(f"{drawn[height]} of {number(counts[height])}", "0", y + 1.6, class_="axis"))
    return labels


def _short(node: Mapping[str, Any]) -> str:
    """The levels of a node; without spaces where every level has one digit."""
    levels = [str(level) for level in node["levels"].values()]
    return ("" if all(len(level) == 1 for level in levels) else " ").join(levels)


def _kind(node: Mapping[str, Any]) -> str:
    return "minimal" if node["minimal"] else "satisfied" if node["satisfied"] else "fails"


def _node(node: Mapping[str, Any], position: Position, picture: Mapping[str, Any]) -> Markup:
    kind = _kind(node)
    best = [tag("circle", r="13", class_="ring")] if node["id"] == picture["best"] else []
    levels = ", ".join(f"{name} {level} of {picture['heights'][name]}" for name, level in node["levels"].items())
    head, figures = node_lines(node, picture)
    title = f"{head}\nLevels: {levels}.\n{figures}"
    given = {"data_node": node["id"], "data_levels": json.dumps(node["levels"], ensure_ascii=False), "data_state": kind}
    return tag(
        "svg",
        tag("title", title),
        tag("circle", r="16", class_="focus"),
        *best,
        tag("path", d=_SHAPES[kind]),
        tag("text", _short(node), y="2.1em"),
        x=f"{position[0]:.2f}em", y=f"{position[1]:.2f}em", overflow="visible", class_=f"node {kind}",
        tabindex="0", role="button" if node["minimal"] else "img", aria_label=title, **given,
    )  # fmt: skip


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
    return (
        "Diamond: minimal, can be picked. Disc: satisfies, but is more general than necessary. Small dashed ring: "
        f"fails. A ring around a node: the best minimal one by {picture['metric']}. Under each node are the levels of "
        f"{listing(picture['quasi'])}; more general nodes are higher up."
    )


def _not_drawn(picture: Mapping[str, Any]) -> str:
    """Which nodes of a large lattice are missing from its drawing; empty where all are there."""
    omitted, total = picture["left_out"], len(picture["minimal"])
    if not omitted:
        return ""
    shown = number(total - omitted["minimal"])
    least = (
        f", {shown} of {number(total)} of them, those with the least {picture['metric']}" if omitted["minimal"] else ""
    )
    return (
        f"{number(omitted['nodes'])} of {number(picture['nodes'])} nodes are not drawn: a large lattice is shown by "
        f"its bottom, its top and its minimal nodes{least}."
    )
