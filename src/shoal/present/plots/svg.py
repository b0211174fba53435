"""The parts that plots are drawn with: inline SVG that keeps its text size at every page width.

Lengths across are in percent and lengths down in em, so a plot grows and shrinks with the page while its text does
not.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.present.html.markup import Markup, tag


def bar(class_: str, *, x: float, y: float, width: float, least: str | None = None) -> Markup:
    """A bar; one with ``least`` is drawn that wide in pixels at any rate, for it stands for something."""
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


def svg(ident: str, title: str, description: str, parts: Sequence[Markup], height: float) -> Markup:
    """A plot with a title and a description for those who cannot see it."""
    heads = [tag("title", title, id=f"{ident}-title"), tag("desc", description, id=f"{ident}-desc")]
    labelled = f"{ident}-title {ident}-desc"
    return tag("svg", *heads, *parts, width="100%", height=f"{height:.2f}em", role="img", aria_labelledby=labelled)
