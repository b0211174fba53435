"""The plots of bars. Every bar carries its figure: nothing has to be read from an axis or told by colour."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.present.html.markup import Markup
from shoal.present.plots.svg import bar, svg, text
from shoal.present.report.figures import counted, number, percent

MOST_BARS = 16
"""More sizes than this are put in bins."""


@dataclass(frozen=True)
class Bin:
    """Classes of the sizes from ``low`` to ``high``, both included."""

    low: int
    high: int
    classes: int
    records: int

    @property
    def label(self) -> str:
        """The sizes in words."""
        return number(self.low) if self.low == self.high else f"{number(self.low)}–{number(self.high)}"


def loss_plot(losses: Sequence[tuple[str, float]]) -> Markup:
    """Horizontal bars: for each column the share of its detail that was lost, from 0 to 100%."""
    parts = []
    for place, (column, loss) in enumerate(losses):
        top = 2.8 * place
        within = min(max(loss, 0.0), 1.0)
        parts += [
            text(shortened(column), x="0", y=top + 1.0, full=column),
            text(percent(loss), x="100%", y=top + 1.0, anchor="end"),
            bar("track", x=0.0, y=top + 1.4, width=1.0),
            *([bar("bar", x=0.0, y=top + 1.4, width=within, least="1")] if within else []),
        ]
    foot = 2.8 * len(losses) + 1.0
    parts += [
        text("0%: released as it was", x="0", y=foot, class_="axis"),
        text("100%: nothing left", x="100%", y=foot, anchor="end", class_="axis"),
    ]
    listed = "; ".join(f"{column} {percent(loss)}" for column, loss in losses)
    return svg("loss-plot", "Detail lost by column", f"Share of detail lost (NCP): {listed}.", parts, foot + 0.6)


def size_plot(bins: Sequence[Bin]) -> Markup:
    """Horizontal bars: for each class size, or bin of sizes, how many classes have it."""
    most = max(each.classes for each in bins)
    parts = [text("Class size", x="0", y=0.9, class_="axis"), text("Classes", x="30%", y=0.9, class_="axis")]
    for place, each in enumerate(bins):
        top = 1.5 * place + 1.5
        width = 0.52 * each.classes / most if most else 0.0
        parts.append(text(each.label, x="0", y=top + 0.95))
        if each.classes:
            parts.append(bar("bar", x=0.3, y=top + 0.1, width=width, least="1"))
        end = f"{(0.3 + width) * 100:.2f}%"
        parts.append(text(number(each.classes), x=end, y=top + 0.95, dx="0.4em"))
    listed = "; ".join(f"size {each.label}: {counted(each.classes, 'class')}" for each in bins)
    return svg(
        "size-plot", "Classes by size", f"Number of classes of each size. {listed}.", parts, 1.5 * len(bins) + 1.8
    )


def bin_sizes(classes_by_size: Mapping[int, int]) -> list[Bin]:
    """Bins that cover every size from the smallest to the largest: one a size when there are few, else of equal width,
    else - when sizes spread over more than a factor of ten - growing as 1, 2, 5, 10, 20, 50, …
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
    for place, letter in enumerate(text):
        used += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if used > width:
            return text[:place] + "…"
    return text


def _growing(steps: tuple[int, ...], up_to: int) -> list[int]:
    """1, 2, 5, 10, 20, … with the given steps a decade; none above ``up_to``."""
    found, decade = [], 1
    while decade <= up_to:
        found += [step * decade for step in steps if step * decade <= up_to]
        decade *= 10
    return found


def _filled(classes_by_size: Mapping[int, int], low: int, high: int) -> Bin:
    inside = {size: classes for size, classes in classes_by_size.items() if low <= size <= high}
    return Bin(low, high, sum(inside.values()), sum(size * classes for size, classes in inside.items()))
