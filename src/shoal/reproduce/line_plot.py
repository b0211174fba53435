"""Line plots as files of their own: SVG with everything said in attributes, so that every viewer and printer shows it.

What tells lines apart is the shape of their marks and whether they are dashed; the colour (Okabe & Ito) only helps.
Where marks lie on each other the later are drawn smaller, so that all are seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from shoal.present.html.markup import Markup, tag
from shoal.present.plots.scatter import PlotAxis, shape_of

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_INK, _SOFT, _GRID = "#1b1f23", "#4d565f", "#d5dade"
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 18.0, 34.0, 48.0
"""Room around a panel for its ticks, titles and axes."""
_HEIGHT = 230.0
_NEAR = 6.0
"""Marks that are nearer to each other than this hide each other."""
_LETTER = 6.8
"""About how wide a letter is at the size of the legend."""


@dataclass(frozen=True)
class Line:
    """One line: a mark for each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    kind: int
    """Which shape and colour it has."""
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class _Frame:
    """Where a panel lies and how its values become places."""

    x: PlotAxis
    ticks: tuple[float, ...]
    y: PlotAxis
    left: float
    top: float
    width: float

    def across(self, value: float) -> float:
        return self.left + self.width * (0.04 + 0.92 * self.x.share(value))

    def down(self, value: float) -> float:
        return self.top + _HEIGHT * (1 - self.y.share(value))


def line_plot(panels: Sequence[Panel], *, title: str, across: str, up: str, shared: bool = True) -> str:
    """A plot of one panel or several; ``across`` and ``up`` name the axes.

    The scale upwards begins at 0, and is the same in all panels where it is ``shared``.
    """
    columns = min(len(panels), 2)
    width = 620.0 if columns == 1 else 380.0
    rows = -(-len(panels) // columns)
    values = {panel: [y for line in panel.lines for _, y in line.points] for panel in panels}
    every = [y for of in values.values() for y in of]
    parts = [_text(title, 12, 20, size=15, weight="600")]
    for place, panel in enumerate(panels):
        left = _LEFT + (place % columns) * (width + _LEFT + _RIGHT)
        top = 30 + _TOP + (place // columns) * (_HEIGHT + _TOP + _BOTTOM)
        frame = _frame(panel, PlotAxis.of([0.0, *(every if shared else values[panel])]), left, top, width)
        parts += [*_axes(frame, panel.title, across, up), *_strokes(frame, panel), *_marks(frame, panel)]
    total = columns * (width + _LEFT + _RIGHT)
    below = 30 + rows * (_HEIGHT + _TOP + _BOTTOM)
    drawn, height = _legend(panels, below + 14, total)
    return _file(title, _spoken(panels, across, up), [*parts, *drawn], total, height + 12)


def _frame(panel: Panel, y: PlotAxis, left: float, top: float, width: float) -> _Frame:
    ticks = tuple(sorted({x for line in panel.lines for x, _ in line.points}))
    ends = ticks if len(ticks) > 1 else (ticks[0] - 1, ticks[0] + 1)
    return _Frame(PlotAxis((ends[0], ends[-1])), ticks, y, left, top, width)


def _axes(frame: _Frame, title: str, across: str, up: str) -> list[Markup]:
    right, bottom = frame.left + frame.width, frame.top + _HEIGHT
    parts = [_text(up, frame.left - 52, frame.top - 12, fill=_SOFT)]
    if title:
        parts.append(_text(title, right, frame.top - 12, anchor="end", weight="600"))
    for tick in frame.y.ticks:
        at = frame.down(tick)
        parts.append(_line(frame.left, at, right, at, _GRID))
        parts.append(_text(f"{tick:,g}", frame.left - 7, at + 4, anchor="end", fill=_SOFT))
    parts.append(_line(frame.left, bottom, right, bottom, _SOFT))
    for tick in frame.ticks:
        at = frame.across(tick)
        parts.append(_line(at, bottom, at, bottom + 4, _SOFT))
        parts.append(_text(f"{tick:g}", at, bottom + 20, anchor="middle", fill=_SOFT))
    parts.append(_text(across, right, bottom + 38, anchor="end", fill=_SOFT))
    return parts


def _strokes(frame: _Frame, panel: Panel) -> list[Markup]:
    return [
        _line(frame.across(one[0]), frame.down(one[1]), frame.across(other[0]), frame.down(other[1]),
              _colour(line.kind), width="2", dashes="6 4" if line.dashed else None)
        for line in panel.lines
        for one, other in pairwise(line.points)
    ]  # fmt: skip


def _marks(frame: _Frame, panel: Panel) -> list[Markup]:
    there: list[tuple[float, float]] = []
    drawn = []
    for line in panel.lines:
        for x, y in line.points:
            across, down = frame.across(x), frame.down(y)
            before = sum(abs(across - one) < _NEAR and abs(down - other) < _NEAR for one, other in there)
            there.append((across, down))
            told = tag("title", f"{line.name}: {x:g}, {y:.6g}")
            drawn.append(_mark(line, across, down, max(1.3 - 0.35 * before, 0.45), told))
    return drawn


def _mark(line: Line, x: float, y: float, size: float, *inside: Markup) -> Markup:
    fill = "#ffffff" if line.dashed else _colour(line.kind)
    return tag(
        "g", *inside, shape_of(line.kind, size), transform=f"translate({x:.1f} {y:.1f})", fill=fill,
        stroke=_colour(line.kind) if line.dashed else _INK, stroke_width="1.6" if line.dashed else "0.8",
    )  # fmt: skip


def _legend(panels: Sequence[Panel], top: float, width: float) -> tuple[list[Markup], float]:
    """The names of the lines in rows, and where they end."""
    named = {line.name: line for panel in panels for line in panel.lines}
    parts, x, y = [], 20.0, top
    for name, line in named.items():
        room = 50 + _LETTER * len(name)
        if x > 20 and x + room > width:
            x, y = 20.0, y + 22
        parts.append(
            _line(x - 6, y - 4, x + 26, y - 4, _colour(line.kind), width="2", dashes="6 4" if line.dashed else None)
        )
        parts += [_mark(line, x + 10, y - 4, 1.1), _text(name, x + 34, y)]
        x += room + 14
    return parts, y


def _colour(kind: int) -> str:
    return _COLOURS[kind % len(_COLOURS)]


def _line(
    x1: float, y1: float, x2: float, y2: float, stroke: str, *, width: str = "1", dashes: str | None = None
) -> Markup:
    places = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return tag("line", **places, stroke=stroke, stroke_width=width, stroke_dasharray=dashes)


def _text(
    content: str,
    x: float,
    y: float,
    *,
    anchor: str | None = None,
    fill: str = _INK,
    size: int = 13,
    weight: str = "400",
) -> Markup:
    places = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    return tag("text", content, **places, text_anchor=anchor, fill=fill, font_size=str(size), font_weight=weight)


def _spoken(panels: Sequence[Panel], across: str, up: str) -> str:
    """The plot in words, for those who cannot see it."""
    told = [f"{up} against {across}."]
    for panel in panels:
        for line in panel.lines:
            points = ", ".join(f"{x:g}: {y:.4g}" for x, y in line.points)
            told.append(f"{panel.title + ', ' if panel.title else ''}{line.name}: {points}.")
    return " ".join(told)


def _file(title: str, description: str, parts: Sequence[Markup], width: float, height: float) -> str:
    ground = tag("rect", width=f"{width:.0f}", height=f"{height:.0f}", fill="#ffffff")
    heads = [tag("title", title, id="title"), tag("desc", description, id="desc")]
    drawn = tag(
        "svg", *heads, ground, *parts, xmlns="http://www.w3.org/2000/svg", width=f"{width:.0f}",
        height=f"{height:.0f}", viewBox=f"0 0 {width:.0f} {height:.0f}", role="img", aria_labelledby="title desc",
        font_family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif",
    )  # fmt: skip
    return f"{drawn}\n"
