"""The plots of the task: what models score, and how far off count queries are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.present.html.markup import Markup, tag
from shoal.present.plots.svg import bar, svg, text
from shoal.present.report.figures import counted, number

_LEFT, _RIGHT = 0.24, 0.86
"""Where bars begin and where one of 100% would end, out of the width of the plot."""


@dataclass(frozen=True)
class Score:
    """What one model scores, by what it was trained on."""

    title: str
    values: Mapping[str, float]


def score_plot(scores: Sequence[Score], baseline: float | None) -> Markup:
    """Horizontal bars from 0 to 100%, two a model, and a dashed line where guessing alone would end."""
    parts, top = [], 0.0
    for each in scores:
        parts.append(text(each.title, x="0", y=top + 1.0))
        top += 1.5
        for trained, value in each.values.items():
            width = _RIGHT - _LEFT
            parts += [
                text(trained, x="0", y=top + 0.85, class_="axis"),
                bar("track", x=_LEFT, y=top + 0.1, width=width),
                bar("bar", x=_LEFT, y=top + 0.1, width=width * min(max(value, 0.0), 1.0)),
                text(_percent(value), x="100%", y=top + 0.85, anchor="end"),
            ]
            top += 1.4
        top += 0.5
    listed = "; ".join(
        f"{each.title} trained on the {trained} {_percent(value)}"
        for each in scores
        for trained, value in each.values.items()
    )
    if baseline is not None:
        at = f"{(_LEFT + (_RIGHT - _LEFT) * baseline) * 100:.2f}%"
        parts.append(tag("line", x1=at, x2=at, y1="1.4em", y2=f"{top:.2f}em", class_="rule"))
        parts.append(
            text(f"dashed: always the commonest class, {_percent(baseline)}", x="0", y=top + 1.0, class_="axis")
        )
        listed += f"; always guessing the commonest class {_percent(baseline)}"
        top += 1.4
    return svg("score-plot", "Accuracy on held-out records", f"{listed}.", parts, top)


def _percent(value: float) -> str:
    """A score with its tenth always shown: models differ by little."""
    return f"{value * 100:.1f}%"


def error_plot(bins: Sequence[tuple[str, int]]) -> Markup:
    """Horizontal bars: how many queries are off by how much."""
    most = max(queries for _, queries in bins)
    parts = [text("Off by", x="0", y=0.9, class_="axis"), text("Queries", x="38%", y=0.9, class_="axis")]
    for place, (error, queries) in enumerate(bins):
        top = 1.5 * place + 1.5
        width = 0.48 * queries / most if most else 0.0
        parts.append(text(error, x="0", y=top + 0.95))
        if queries:
            parts.append(bar("bar", x=0.38, y=top + 0.1, width=width, least="1"))
        parts.append(text(number(queries), x=f"{(0.38 + width) * 100:.2f}%", y=top + 0.95, dx="0.4em"))
    listed = "; ".join(f"{error}: {counted(queries, 'time')}" for error, queries in bins)
    return svg("error-plot", "Errors of count queries", f"Relative error. {listed}.", parts, 1.5 * len(bins) + 1.8)
