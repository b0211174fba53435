"""Plots of bars and lines, as inline SVG. Every bar has its figure: nothing must be read off an axis or told by colour.

Lengths across are in percent and lengths down in em, so a plot grows and shrinks with the page while its text does not.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.formatting import number, percent, pluralize
from shoal.present.html.markup import Markup, tag

MOST_BARS = 16
"""More sizes than this are put in bins."""
_LEFT, _RIGHT = 0.24, 0.86
"""Where the bars of scores begin and where one of 100% would end, out of the width of the plot."""


def svg(ident: str, title: str, description: str, parts: Sequence[Markup], height: float) -> Markup:
    """A plot with a title and a description for those who cannot see it."""
    heads = [tag("title", title, id=f"{ident}-title"), tag("desc", description, id=f"{ident}-desc")]
    labelled = f"{ident}-title {ident}-desc"
    return tag("svg", *heads, *parts, width="100%", height=f"{height:.2f}em", role="img", aria_labelledby=labelled)


def bar(class_: str, *, x: float, y: float, width: float, least: str | None = None) -> Markup:
    """A bar; one with ``least`` is at least that many pixels wide, so that it is seen."""
    given = {"x": f"{x * 100:.2f}%", "y": f"{y:.2f}em", "height": "0.9em"}
    drawn = tag("rect", **given, width=f"{width * 100:.2f}%", class_=class_)
    return drawn if least is None else Markup(tag("rect", **given, width=least, class_=class_) + drawn)


def text(
    content: str,
    *,
    x: str,
    y: float,
    anchor: str | None = None,
    dx: str | None = None,
    full: str | None = None,
    class_: str | None = None,
) -> Markup:
    """A text; where it is shortened, the full one shows on pointing at it."""
    title = [tag("title", full)] if full is not None and full != content else []
    return tag("text", *title, content, x=x, y=f"{y:.2f}em", dx=dx, text_anchor=anchor, class_=class_)


@dataclass(frozen=True)
class Bin:
    """Classes of the sizes from ``low`` to ``high``, both included."""

    low: int
    high: int
    classes: int
    records: int

    @property
    def label(self) -> str:
        """The sizes as text."""
        return number(self.low) if self.low == self.high else f"{number(self.low)}–{number(self.high)}"


def loss_plot(losses: Sequence[tuple[str, float]]) -> Markup:
    """Horizontal bars: for each column the share of its detail that was lost, from 0 to 100%."""
    parts = []
    for index, (column, loss) in enumerate(losses):
        top = 2.8 * index
        within = min(max(loss, 0.0), 1.0)
        parts += [
            text(shortened(column), x="0", y=top + 1.0, full=column),
            text(percent(loss), x="100%", y=top + 1.0, anchor="end"),
            bar("track", x=0.0, y=top + 1.4, width=1.0),
            *([bar("bar", x=0.0, y=top + 1.4, width=within, least="1")] if within else []),
        ]
    foot = 2.8 * len(losses) + 1.0
    parts += [
        text("0%: released unchanged", x="0", y=foot, class_="axis"),
        text("100%: nothing left", x="100%", y=foot, anchor="end", class_="axis"),
    ]
    listed = "; ".join(f"{column} {percent(loss)}" for column, loss in losses)
    return svg("loss-plot", "Detail lost by column", f"Share of detail lost (NCP): {listed}.", parts, foot + 0.6)


def size_plot(bins: Sequence[Bin]) -> Markup:
    """Horizontal bars: for each class size, or bin of sizes, how many classes have it."""
    listed = "; ".join(f"size {each.label}: {pluralize(each.classes, 'class')}" for each in bins)
    parts = _count_bars(("Class size", "Classes"), [(each.label, each.classes) for each in bins], 0.3, 0.52)
    description = f"Number of classes of each size. {listed}."
    return svg("size-plot", "Classes by size", description, parts, 1.5 * len(bins) + 1.8)


def error_plot(bins: Sequence[tuple[str, int]]) -> Markup:
    """Horizontal bars: how many queries are off by how much."""
    listed = "; ".join(f"{error}: {pluralize(queries, 'time')}" for error, queries in bins)
    parts = _count_bars(("Off by", "Queries"), bins, 0.38, 0.48)
    return svg("error-plot", "Errors of count queries", f"Relative error. {listed}.", parts, 1.5 * len(bins) + 1.8)


def _count_bars(heads: tuple[str, str], bars: Sequence[tuple[str, int]], left: float, longest: float) -> list[Markup]:
    """A label, a bar and its count on each line; bars begin at ``left`` and the longest has that share of the width."""
    most = max(count for _, count in bars)
    parts = [text(heads[0], x="0", y=0.9, class_="axis"), text(heads[1], x=f"{left:.0%}", y=0.9, class_="axis")]
    for index, (label, count) in enumerate(bars):
        top = 1.5 * index + 1.5
        width = longest * count / most if most else 0.0
        parts.append(text(label, x="0", y=top + 0.95))
        if count:
            parts.append(bar("bar", x=left, y=top + 0.1, width=width, least="1"))
        parts.append(text(number(count), x=f"{(left + width) * 100:.2f}%", y=top + 0.95, dx="0.4em"))
    return parts


def bin_sizes(classes_by_size: Mapping[int, int]) -> list[Bin]:
    """Bins that cover every size from the smallest to the largest.

    One per size when there are few, else of equal width, else - when sizes spread over more than a factor of ten -
    growing as 1, 2, 5, 10, 20, 50, …
    """
    low, high = min(classes_by_size), max(classes_by_size)
    if high - low < MOST_BARS:
        starts = list(range(low, high + 1))
    elif high <= 10 * max(low, 1):
        width = next(step for step in _growing((1, 2, 5), high) if (high // step) - (low // step) < MOST_BARS)
        starts = list(range(low // width * width, high + 1, width))
    else:
        fine = _growing((1, 2, 5), high)
        starts = fine if sum(step > low for step in fine) < MOST_BARS else _growing((1,), high)
    ends = [*(start - 1 for start in starts[1:]), high]
    bins = [(max(start, low), min(end, high)) for start, end in zip(starts, ends, strict=True) if end >= low]
    if bins[0][0] > low:  # sizes below the first start
        bins.insert(0, (low, bins[0][0] - 1))
    return [_filled(classes_by_size, *each) for each in bins]


def shortened(text: str, width: int = 34) -> str:
    """Text cut to about so many letters of Latin width; East Asian letters count two."""
    used = 0
    for index, letter in enumerate(text):
        used += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if used > width:
            return text[:index] + "…"
    return text


def _growing(steps: tuple[int, ...], up_to: int) -> list[int]:
    """1, 2, 5, 10, 20, … with the given steps per decade; none above ``up_to``."""
    found, decade = [], 1
    while decade <= up_to:
        found += [step * decade for step in steps if step * decade <= up_to]
        decade *= 10
    return found


def _filled(classes_by_size: Mapping[int, int], low: int, high: int) -> Bin:
    inside = {size: classes for size, classes in classes_by_size.items() if low <= size <= high}
    return Bin(low, high, sum(inside.values()), sum(size * classes for size, classes in inside.items()))


def score_plot(scores: Sequence[tuple[str, Mapping[str, float]]], baseline: float) -> Markup:
    """Horizontal bars from 0 to 100%, two per model, and a dashed line where guessing alone would end."""
    parts, top = [], 0.0
    for title, values in scores:
        parts.append(text(title, x="0", y=top + 1.0))
        top += 1.5
        for trained, value in values.items():
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
        f"{title} trained on the {trained} {_percent(value)}"
        for title, values in scores
        for trained, value in values.items()
    )
    at = f"{(_LEFT + (_RIGHT - _LEFT) * baseline) * 100:.2f}%"
    guessing = f"always guessing the most common class, {_percent(baseline)}"
    parts.append(tag("line", x1=at, x2=at, y1="1.4em", y2=f"{top:.2f}em", class_="rule"))
    parts.append(text(f"dashed: {guessing}", x="0", y=top + 1.0, class_="axis"))
    return svg("score-plot", "Accuracy on held-out records", f"{listed}; {guessing}.", parts, top + 1.4)


def _percent(value: float) -> str:
    """A score with its tenth always shown: models differ by little."""
    return f"{value * 100:.1f}%"


def success_plot(
    ident: str, rate: float, baseline: float, interval: tuple[float, float] | None, description: str
) -> Markup:
    """A line from 0 to 100%, a dot at the success, a stroke at the baseline, the interval thick."""
    parts = [tag("line", x1="0", x2="100%", y1="0.7em", y2="0.7em", class_="scale")]
    parts += [tag("line", x1=end, x2=end, y1="0.45em", y2="0.95em", class_="scale") for end in ("0", "50%", "100%")]
    if interval is not None:
        parts.append(tag("line", x1=_at(interval[0]), x2=_at(interval[1]), y1="0.7em", y2="0.7em", class_="interval"))
    parts.append(tag("circle", cx=_at(rate), cy="0.7em", r="0.32em", class_="dot"))
    parts.append(tag("line", x1=_at(baseline), x2=_at(baseline), y1="0.1em", y2="1.3em", class_="baseline"))
    return tag("div", svg(ident, "Success and baseline", f"{description}.", parts, 1.4), class_="success")


def _at(value: float) -> str:
    return f"{min(max(value, 0.0), 1.0) * 100:.2f}%"
