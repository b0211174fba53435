"""Plots of bars and lines, as inline SVG. Every bar has its figure: nothing must be read off an axis or told by colour.

Lengths across are in percent and lengths down in em, so a plot grows and shrinks with the page while its text does not.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.formatting import number, percent, pluralize
from shoal.present.html.markup import Markup, tag

MOST_BARS = 16  # more sizes than this are put in bins
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


def text(content: str, x: str, y: float, *, full: str | None = None, **style: str) -> Markup:
    """A text; where it is shortened, the full one shows on pointing at it."""
    title = [tag("title", full)] if full is not None and full != content else []
    return tag("text", *title, content, x=x, y=f"{y:.2f}em", **style)


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
        top = 2.8 * index + 1.0
        parts += [text(shortened(column), "0", top, full=column), text(percent(loss), "100%", top, text_anchor="end")]
        parts.append(bar("track", x=0.0, y=top + 0.4, width=1.0))
        if within := min(max(loss, 0.0), 1.0):
            parts.append(bar("bar", x=0.0, y=top + 0.4, width=within, least="1"))
    foot = 2.8 * len(losses) + 1.0
    parts.append(text("0%: released unchanged", "0", foot, class_="axis"))
    parts.append(text("100%: nothing left", "100%", foot, text_anchor="end", class_="axis"))
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
    parts = [text(heads[0], "0", 0.9, class_="axis"), text(heads[1], f"{left:.0%}", 0.9, class_="axis")]
    for index, (label, count) in enumerate(bars):
        top = 1.5 * index + 1.5
        width = longest * count / most if most else 0.0
        parts.append(text(label, "0", top + 0.95))
        if count:
            parts.append(bar("bar", x=left, y=top + 0.1, width=width, least="1"))
        parts.append(text(number(count), f"{(left + width) * 100:.2f}%", top + 0.95, dx="0.4em"))
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
    inside = [{size: count for size, count in classes_by_size.items() if start <= size <= end} for start, end in bins]
    return [
        Bin(start, end, sum(of.values()), sum(size * count for size, count in of.items()))
        for (start, end), of in zip(bins, inside, strict=True)
    ]


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


def score_plot(scores: Sequence[tuple[str, Mapping[str, float]]], baseline: float) -> Markup:
    """Horizontal bars from 0 to 100%, two per model, and a dashed line where guessing alone would end."""
    parts, listed, top, width = [], [], 0.0, _RIGHT - _LEFT
    for title, values in scores:
        parts.append(text(title, "0", top + 1.0))
        top += 1.5
        for trained, value in values.items():
            listed.append(f"{title} trained on the {trained} {tenths(value)}")
            parts += [
                text(trained, "0", top + 0.85, class_="axis"),
                bar("track", x=_LEFT, y=top + 0.1, width=width),
                bar("bar", x=_LEFT, y=top + 0.1, width=width * min(max(value, 0.0), 1.0)),
                text(tenths(value), "100%", top + 0.85, text_anchor="end"),
            ]
            top += 1.4
        top += 0.5
    at = f"{(_LEFT + width * baseline) * 100:.2f}%"
    guessing = f"always guessing the most common class, {tenths(baseline)}"
    parts.append(tag("line", x1=at, x2=at, y1="1.4em", y2=f"{top:.2f}em", class_="rule"))
    parts.append(text(f"dashed: {guessing}", "0", top + 1.0, class_="axis"))
    described = f"{'; '.join(listed)}; {guessing}."
    return svg("score-plot", "Accuracy on held-out records", described, parts, top + 1.4)


def tenths(value: float) -> str:
    """A score with its tenth always shown: models differ by little."""
    return f"{value * 100:.1f}%"


def success_plot(
    ident: str, rate: float, baseline: float, interval: tuple[float, float] | None, description: str
) -> Markup:
    """A line from 0 to 100%, a dot at the success, a stroke at the baseline, the interval thick."""

    def line(start: str, end: str, top: str, bottom: str, class_: str) -> Markup:
        return tag("line", x1=start, x2=end, y1=top, y2=bottom, class_=class_)

    success, known, *ends = (f"{min(max(at, 0.0), 1.0) * 100:.2f}%" for at in (rate, baseline, *(interval or ())))
    parts = [line("0", "100%", "0.7em", "0.7em", "scale")]
    parts += [line(end, end, "0.45em", "0.95em", "scale") for end in ("0", "50%", "100%")]
    if ends:
        parts.append(line(ends[0], ends[1], "0.7em", "0.7em", "interval"))
    parts.append(tag("circle", cx=success, cy="0.7em", r="0.32em", class_="dot"))
    parts.append(line(known, known, "0.1em", "1.3em", "baseline"))
    return tag("div", svg(ident, "Success and baseline", f"{description}.", parts, 1.4), class_="success")
