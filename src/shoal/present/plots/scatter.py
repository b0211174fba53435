"""The risk-utility plot: one point per release, one shape and colour per algorithm, the frontier drawn and numbered.

Positions across are in percent and positions down in em, so that the plot grows with the page while its text does not.
Algorithms differ by shape; the colour (Okabe & Ito) only helps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from shoal.present.html.markup import Markup, tag
from shoal.present.plots.bars import svg, text

_LEFT, _RIGHT = 13.0, 97.0
"""Where the plot begins and ends, in percent of the width."""
_TOP, _BOTTOM = 1.6, 20.0
"""Where it begins and ends, in em."""
_TICKS = 5
_NOTHING = 1e-9
"""Values that differ by less than this are drawn as one."""
_ROOM = (9.0, 1.1)
"""How far numbers must be from each other, in percent across or in em down."""
_FAR = 90.0
"""Beyond this share of the width a number stands to the left of its point."""
_SHAPES = (
    "M-5,0 a5,5 0 1,0 10,0 a5,5 0 1,0 -10,0 Z",  # circle
    "M-4.5,-4.5 H4.5 V4.5 H-4.5 Z",  # square
    "M0,-6 L5.5,4.5 H-5.5 Z",  # triangle
    "M0,-6.5 L6,0 L0,6.5 L-6,0 Z",  # diamond
    "M0,6 L5.5,-4.5 H-5.5 Z",  # triangle on its tip
    "M-2,-6 H2 V-2 H6 V2 H2 V6 H-2 V2 H-6 V-2 H-2 Z",  # cross
    "M-6,0 L-3,-5.5 H3 L6,0 L3,5.5 H-3 Z",  # hexagon
)


@dataclass(frozen=True)
class Dot:
    """One point of the plot."""

    name: str
    x: float
    y: float
    kind: int
    """Which shape it has."""
    rank: int | None = None
    """Its rank on the frontier, from 1; None for a point off it."""
    mark: str = ""
    """What stands beside it, instead of its rank on the frontier."""


@dataclass(frozen=True)
class PlotAxis:
    """An axis: from its first tick to its last."""

    ticks: tuple[float, ...]

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
        return PlotAxis(tuple(round(place * step, 12) for place in range(first, last + 1)))

    def share(self, value: float) -> float:
        """Where a value lies between the first and the last tick."""
        return (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])


def shape_of(kind: int, size: float = 1.0) -> Markup:
    """The shape of an algorithm, around the origin."""
    place = kind % len(_SHAPES)
    scale = f"scale({size:g})" if size != 1 else None
    return tag("path", d=_SHAPES[place], class_=f"shape s{place}", transform=scale)


def legend(algorithms: Sequence[str]) -> Markup:
    """Which shape stands for which algorithm."""
    items = [
        tag("li", tag("svg", shape_of(kind), viewBox="-8 -8 16 16", aria_hidden="true"), tag("span", name))
        for kind, name in enumerate(algorithms)
    ]
    return tag("ul", *items, class_="legend")


def scatter_plot(dots: Sequence[Dot], *, across: str, up: str, description: str) -> Markup:
    """The plot; ``across`` and ``up`` name its axes."""
    x, y = PlotAxis.of([dot.x for dot in dots]), PlotAxis.of([dot.y for dot in dots])
    ranked = sorted((dot for dot in dots if dot.rank is not None), key=lambda dot: dot.rank or 0)
    parts = [*_axes(x, y, across, up), *_steps(ranked, x, y), *_dots(dots, x, y), *_marks(ranked, dots, x, y)]
    return svg("risk-plot", "Risk against loss", description, parts, _BOTTOM + 3.4)


def _across(scale: PlotAxis, value: float) -> str:
    return f"{_LEFT + (_RIGHT - _LEFT) * scale.share(value):.2f}%"


def _down(scale: PlotAxis, value: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * scale.share(value)


def _axes(x: PlotAxis, y: PlotAxis, across: str, up: str) -> list[Markup]:
    left, right, top, bottom = f"{_LEFT}%", f"{_RIGHT}%", f"{_TOP}em", f"{_BOTTOM}em"
    parts = [text(up, x="0", y=0.9, class_="axis")]
    for tick in y.ticks:
        at = _down(y, tick)
        parts.append(tag("line", x1=left, x2=right, y1=f"{at:.2f}em", y2=f"{at:.2f}em", class_="grid"))
        parts.append(text(f"{tick:g}", x=f"{_LEFT - 1.5}%", y=at + 0.35, anchor="end", class_="axis"))
    for tick in x.ticks:
        at_x = _across(x, tick)
        parts.append(tag("line", x1=at_x, x2=at_x, y1=top, y2=bottom, class_="grid"))
        parts.append(text(f"{tick:g}", x=at_x, y=_BOTTOM + 1.3, anchor="middle", class_="axis"))
    parts.append(text(across, x=right, y=_BOTTOM + 2.8, anchor="end", class_="axis"))
    return parts


def _steps(ranked: Sequence[Dot], x: PlotAxis, y: PlotAxis) -> list[Markup]:
    """The frontier as steps: whatever lies on the far side of them is beaten by a point on them."""
    lines = []
    for one, other in pairwise(ranked):
        left, right = _across(x, one.x), _across(x, other.x)
        high, low = f"{_down(y, one.y):.2f}em", f"{_down(y, other.y):.2f}em"
        lines.append(tag("line", x1=left, x2=right, y1=high, y2=high, class_="rule"))
        lines.append(tag("line", x1=right, x2=right, y1=high, y2=low, class_="rule"))
    return lines


def _dots(dots: Sequence[Dot], x: PlotAxis, y: PlotAxis) -> list[Markup]:
    """The points; of several at one position the later are drawn smaller, so that all are seen."""
    there: dict[tuple[float, float], int] = {}
    drawn = []
    for dot in dots:
        before = there.get((dot.x, dot.y), 0)
        there[dot.x, dot.y] = before + 1
        shape = shape_of(
            dot.kind, max(1.25 - 0.35 * before, 0.4) if dot.rank is not None else max(1 - 0.3 * before, 0.4)
        )
        place = {"x": _across(x, dot.x), "y": f"{_down(y, dot.y):.2f}em"}
        drawn.append(
            tag("svg", tag("title", f"{dot.name}: {dot.x:.4g}, {dot.y:.4g}"), shape, **place, overflow="visible")
        )
    return drawn


def _marks(ranked: Sequence[Dot], dots: Sequence[Dot], x: PlotAxis, y: PlotAxis) -> list[Markup]:
    """The marks beside their points, else the numbers of the frontier, as far as there is room: a number over another
    tells nothing.
    """
    marked = [dot for dot in dots if dot.mark]
    groups: dict[tuple[float, float], list[str]] = {}
    for dot in marked or ranked:
        groups.setdefault((dot.x, dot.y), []).append(dot.mark or str(dot.rank))
    texts: list[Markup] = []
    placed: list[tuple[float, float]] = []
    for (at_x, at_y), marks in groups.items():
        across, down = 100 * x.share(at_x), _down(y, at_y)
        if any(abs(across - other[0]) < _ROOM[0] and abs(down - other[1]) < _ROOM[1] for other in placed):
            continue
        placed.append((across, down))
        words = marks[0] if len(marks) == 1 else ", ".join(marks) if marked else f"{marks[0]}–{marks[-1]}"
        side = {"anchor": "end", "dx": "-0.5em"} if across > _FAR else {"dx": "0.45em"}
        texts.append(text(words, x=_across(x, at_x), y=down - 0.55, **side))
    return texts
