"""What every page has around its content: one file, no network, no script, nothing outside the file."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.present.html.markup import Markup, listing, tag
from shoal.present.html.style import STYLE

_GUARD = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the browser may load, should anything ever slip into the page: nothing."""

Section = tuple[str, str, Sequence[Markup]]
"""A part of a page: anchor, heading, content."""


def whole_page(title: str, under: Sequence[Markup], sections: Sequence[Section], footer: str, style: str = "") -> str:
    """The text of one self-contained HTML file; ``style`` is added to the common style sheet."""
    parts = [
        tag("section", tag("h2", heading, id=anchor), *content, aria_labelledby=anchor)
        for anchor, heading, content in sections
    ]
    contents = listing([tag("a", heading, href=f"#{anchor}") for anchor, heading, _ in sections])
    body = tag(
        "body",
        tag("header", tag("h1", title), *under),
        tag("nav", contents, aria_label="Contents"),
        tag("main", *parts),
        tag("footer", footer),
    )
    page = tag("html", _head(title, style), body, lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _head(title: str, style: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_GUARD),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"{title} – Shoal"),
        tag("style", Markup(STYLE + style)),
    )
