"""Plots of points between two axes: the risk-utility plot of a page, and line plots as files of their own.

On a page, positions across are in percent and positions down in em, so that the plot grows with the page while its text
does not; colours come from the page's style. A file says everything in attributes, so that every viewer and printer
shows it. What tells points apart is their shape, and whether their line is dashed; the colour (Okabe & Ito) only helps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from shoal.present.html.markup import Markup, tag
from shoal.present.plots.bars import svg

_TICKS = 5
_NOTHING = 1e-9  # values that differ by less than this are drawn as one
_ROOM = (9.0, 1.1)  # how far numbers must be from each other, in percent across or in em down
_FAR = 90.0  # beyond this share of the width a number stands to the left of its point
_SHAPES = (
    "M-5,0 a5,5 0 1,0 10,0 a5,5 0 1,0 -10,0 Z",  # circle
    "M-4.5,-4.5 H4.5 V4.5 H-4.5 Z",  # square
    "M0,-6 L5.5,4.5 H-5.5 Z",  # triangle
    "M0,-6.5 L6,0 L0,6.5 L-6,0 Z",  # diamond
    "M0,6 L5.5,-4.5 H-5.5 Z",  # triangle on its tip
    "M-2,-6 H2 V-2 H6 V2 H2 V6 H-2 V2 H-6 V-2 H-2 Z",  # cross
    "M-6,0 L-3,-5.5 H3 L6,0 L3,5.5 H-3 Z",  # hexagon
)
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_INK, _SOFT, _GRID = "#1b1f23", "#4d565f", "#d5dade"
_EM = 13.0  # the size of text in a file
_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 64.0, 18.0, 34.0, 48.0, 230.0  # room around a panel of a file; its height
_NEAR = 6.0  # marks of a file that are nearer to each other than this hide each other


@dataclass(frozen=True)
class PlotAxis:
    """An axis: from its first tick to its last, with a margin at both ends."""

    ticks: tuple[float, ...]
    margin: float = 0.0

    @staticmethod
    def of(values: Sequence[float]) -> PlotAxis:
        """Round ticks around the values."""
        low, high = min(values), max(values)
        size = max(abs(low), abs(high))
        nothing = _NOTHING * max(size, 1.0)
        spread = high - low if high - low > nothing else size if size > nothing else 1.0
        rough = spread / _TICKS
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        first, last = math.floor(low / step), math.ceil(high / step)
        last = last if last > first else first + 1
        return PlotAxis(tuple(round(number * step, 12) for number in range(first, last + 1)))

    def share(self, value: float) -> float:
        """Where a value lies between the ends; in the middle where there is one tick only."""
        first, last = self.ticks[0], self.ticks[-1]
        within = (value - first) / (last - first) if last > first else 0.5
        return self.margin + (1 - 2 * self.margin) * within


@dataclass(frozen=True)
class Frame:
    """Two axes, where they lie, and how they are drawn; on a page unless units and styles say otherwise."""

    x: PlotAxis
    y: PlotAxis
    left: float = 13.0
    right: float = 97.0
    top: float = 1.6
    bottom: float = 20.0
    units: tuple[str, str] = ("%", "em")
    em: float = 1.0
    gap: float = 1.5  # between the axis and its numbers
    grid: Mapping[str, str] = field(default_factory=lambda: {"class_": "grid"})
    soft: Mapping[str, str] = field(default_factory=lambda: {"class_": "axis"})

    def position(self, x: float, y: float) -> tuple[float, float]:
        """Where a point lies."""
        across = self.left + (self.right - self.left) * self.x.share(x)
        return across, self.bottom - (self.bottom - self.top) * self.y.share(y)

    def text(self, content: str, x: float, y: float, **style: str) -> Markup:
        """A text at a position."""
        return tag("text", content, x=f"{x:.2f}{self.units[0]}", y=f"{y:.2f}{self.units[1]}", **style)

    def line(self, one: tuple[float, float], other: tuple[float, float], style: Mapping[str, str]) -> Markup:
        """A line between two positions."""
        (x1, y1), (x2, y2), (across, down) = one, other, self.units
        ends = {"x1": f"{x1:.2f}{across}", "x2": f"{x2:.2f}{across}", "y1": f"{y1:.2f}{down}", "y2": f"{y2:.2f}{down}"}
        return tag("line", **ends, **style)

    def axes(self, across: str, up: str) -> list[Markup]:
        """The grid with its numbers, and the names of the axes."""
        left = 0.0 if self.units[0] == "%" else self.left - 4 * self.em
        parts = [self.text(up, left, self.top - 0.7 * self.em, **self.soft)]
        middle, end = ({"text_anchor": anchor, **self.soft} for anchor in ("middle", "end"))
        for tick in self.y.ticks:
            at = self.position(self.x.ticks[0], tick)[1]
            parts.append(self.line((self.left, at), (self.right, at), self.grid))
            parts.append(self.text(f"{tick:,g}", self.left - self.gap, at + 0.35 * self.em, **end))
        for tick in self.x.ticks:
            at = self.position(tick, self.y.ticks[0])[0]
            parts.append(self.line((at, self.top), (at, self.bottom), self.grid))
            parts.append(self.text(f"{tick:g}", at, self.bottom + 1.3 * self.em, **middle))
        return [*parts, self.text(across, self.right, self.bottom + 2.8 * self.em, **end)]


def shape_of(kind: int, size: float = 1.0) -> Markup:
    """The shape of an algorithm, around the origin."""
    index = kind % len(_SHAPES)
    scale = f"scale({size:g})" if size != 1 else None
    return tag("path", d=_SHAPES[index], class_=f"shape s{index}", transform=scale)


@dataclass(frozen=True)
class Dot:
    """One point of the risk-utility plot."""

    name: str
    x: float
    y: float
    kind: int  # which shape it has
    rank: int | None = None  # its rank on the frontier, from 1; None for a point off it
    mark: str = ""  # what stands beside it, instead of its rank on the frontier


def legend(algorithms: Sequence[str]) -> Markup:
    """Which shape stands for which algorithm."""
    drawn = (tag("svg", shape_of(kind), viewBox="-8 -8 16 16", aria_hidden="true") for kind in range(len(algorithms)))
    items = (tag("li", shape, tag("span", name)) for shape, name in zip(drawn, algorithms, strict=True))
    return tag("ul", *items, class_="legend")


def scatter_plot(dots: Sequence[Dot], *, across: str, up: str, description: str) -> Markup:
    """One point per release, the frontier drawn and numbered; ``across`` and ``up`` name the axes."""
    frame = Frame(PlotAxis.of([dot.x for dot in dots]), PlotAxis.of([dot.y for dot in dots]))
    ranked = sorted((dot for dot in dots if dot.rank is not None), key=lambda dot: dot.rank or 0)
    parts = frame.axes(across, up)
    for one, other in pairwise(ranked):  # whatever lies beyond the steps is beaten by a point on them
        corners = [frame.position(one.x, one.y), frame.position(other.x, one.y), frame.position(other.x, other.y)]
        parts += [frame.line(start, end, {"class_": "rule"}) for start, end in pairwise(corners)]
    there: Counter[tuple[float, float]] = Counter()
    for dot in dots:  # of several at one position the later are drawn smaller, so that all are seen
        before = there[dot.x, dot.y]
        there[dot.x, dot.y] += 1
        size = 1.25 - 0.35 * before if dot.rank is not None else 1 - 0.3 * before
        x, y = frame.position(dot.x, dot.y)
        title = tag("title", f"{dot.name}: {dot.x:.4g}, {dot.y:.4g}")
        shape = shape_of(dot.kind, max(size, 0.4))
        parts.append(tag("svg", title, shape, x=f"{x:.2f}%", y=f"{y:.2f}em", overflow="visible"))
    parts += _ranks(frame, ranked, [dot for dot in dots if dot.mark])
    return svg("risk-plot", "Risk against loss", description, parts, frame.bottom + 3.4)


def _ranks(frame: Frame, ranked: Sequence[Dot], marked: Sequence[Dot]) -> list[Markup]:
    """The marks beside their points, else the numbers of the frontier, as far as there is room."""
    groups: dict[tuple[float, float], list[str]] = {}
    for dot in marked or ranked:
        groups.setdefault((dot.x, dot.y), []).append(dot.mark or str(dot.rank))
    texts: list[Markup] = []
    labelled: list[tuple[float, float]] = []
    for (x, y), marks in groups.items():
        share, (across, down) = 100 * frame.x.share(x), frame.position(x, y)
        if any(abs(share - other[0]) < _ROOM[0] and abs(down - other[1]) < _ROOM[1] for other in labelled):
            continue
        labelled.append((share, down))
        words = marks[0] if len(marks) == 1 else ", ".join(marks) if marked else f"{marks[0]}–{marks[-1]}"
        side = {"text_anchor": "end", "dx": "-0.5em"} if share > _FAR else {"dx": "0.45em"}
        texts.append(frame.text(words, across, down - 0.55, **side))
    return texts


@dataclass(frozen=True)
class Line:
    """One line of a line plot: a mark for each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    kind: int  # which shape and colour it has
    dashed: bool = False

    @property
    def stroke(self) -> dict[str, str]:
        """How the line is drawn."""
        dashes = {"stroke_dasharray": "6 4"} if self.dashed else {}
        return {"stroke": _COLOURS[self.kind % len(_COLOURS)], "stroke_width": "2", **dashes}

    def mark(self, x: float, y: float, size: float, *inside: Markup) -> Markup:
        """Its mark at a position; hollow where the line is dashed."""
        colour, shift, shape = self.stroke["stroke"], f"translate({x:.1f} {y:.1f})", shape_of(self.kind, size)
        fill, stroke, width = ("#ffffff", colour, "1.6") if self.dashed else (colour, _INK, "0.8")
        return tag("g", *inside, shape, transform=shift, fill=fill, stroke=stroke, stroke_width=width)


@dataclass(frozen=True)
class Panel:
    """One pair of axes of a line plot."""

    title: str
    lines: tuple[Line, ...]


def line_plot(panels: Sequence[Panel], *, title: str, across: str, up: str, shared: bool = True) -> str:
    """A file with one panel or several; ``across`` and ``up`` name the axes.

    The scale upwards begins at 0, and is the same in all panels where it is ``shared``.
    """
    columns = min(len(panels), 2)
    width = 620.0 if columns == 1 else 380.0
    values = [[y for line in panel.lines for _, y in line.points] for panel in panels]
    parts: list[Markup] = []
    spoken = [f"{up} against {across}."]  # the plot in words, for those who cannot see it
    for index, panel in enumerate(panels):
        left = _LEFT + (index % columns) * (width + _LEFT + _RIGHT)
        top = 30 + _TOP + (index // columns) * (_HEIGHT + _TOP + _BOTTOM)
        x = PlotAxis(tuple(sorted({x for line in panel.lines for x, _ in line.points})), 0.04)
        y = PlotAxis.of([0.0, *(chain.from_iterable(values) if shared else values[index])])
        sides = (left, left + width, top, top + _HEIGHT)
        frame = Frame(x, y, *sides, ("", ""), _EM, 7.0, {"stroke": _GRID}, {"fill": _SOFT})
        head = frame.text(panel.title, frame.right, top - 12, text_anchor="end", font_weight="600")
        parts += [*frame.axes(across, up), head, *_lines(frame, panel)]
        for line in panel.lines:
            points = ", ".join(f"{x:g}: {y:.4g}" for x, y in line.points)
            spoken.append(f"{panel.title + ', ' if panel.title else ''}{line.name}: {points}.")
    total, below = columns * (width + _LEFT + _RIGHT), 30 + -(-len(panels) // columns) * (_HEIGHT + _TOP + _BOTTOM)
    names, height = _names(frame, panels, below + 14, total)
    heads = [tag("title", title, id="title"), tag("desc", " ".join(spoken), id="desc")]
    ground = tag("rect", width=f"{total:.0f}", height=f"{height:.0f}", fill="#ffffff")
    above = frame.text(title, 12, 20, font_size="15", font_weight="600")
    drawn = tag(
        "svg", *heads, ground, above, *parts, *names, xmlns="http://www.w3.org/2000/svg", width=f"{total:.0f}",
        height=f"{height:.0f}", viewBox=f"0 0 {total:.0f} {height:.0f}", role="img", aria_labelledby="title desc",
        font_size=f"{_EM:g}", fill=_INK, font_family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif",
    )  # fmt: skip
    return f"{drawn}\n"


def _lines(frame: Frame, panel: Panel) -> list[Markup]:
    """Strokes, then marks; where marks lie on each other the later are drawn smaller, so that all are seen."""
    strokes, marks = [], []
    there: list[tuple[float, float]] = []
    for line in panel.lines:
        positions = [frame.position(x, y) for x, y in line.points]
        strokes += [frame.line(one, other, line.stroke) for one, other in pairwise(positions)]
        for (x, y), position in zip(line.points, positions, strict=True):
            before = sum(math.dist(position, other) < _NEAR for other in there)
            there.append(position)
            label = tag("title", f"{line.name}: {x:g}, {y:.6g}")
            marks.append(line.mark(*position, max(1.3 - 0.35 * before, 0.45), label))
    return [*strokes, *marks]


def _names(frame: Frame, panels: Sequence[Panel], top: float, width: float) -> tuple[list[Markup], float]:
    """The names of the lines in rows, and where the file ends below them."""
    parts, x, y = [], 20.0, top
    for line in {line.name: line for panel in panels for line in panel.lines}.values():
        room = 50 + 0.52 * _EM * len(line.name)
        if x > 20 and x + room > width:
            x, y = 20.0, y + 22
        parts += [frame.line((x - 6, y - 4), (x + 26, y - 4), line.stroke), line.mark(x + 10, y - 4, 1.1)]
        parts.append(frame.text(line.name, x + 34, y))
        x += room + 14
    return parts, y + 12
