"""HTML in which escaping cannot be forgotten: plain text is escaped, only `Markup` is not.

Column names, labels and messages come from data and policies. They reach the page as plain strings, and the one
function that makes elements escapes those. Characters that a reader cannot see and that change what is seen around
them (controls, direction overrides) are written out.
"""

import html
import re
from collections.abc import Iterable, Sequence

from shoal.present.html.style import STYLE

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
LONG_WORD = 16  # words of more letters than this may be broken at any letter
_VOID = frozenset({"meta", "link", "br"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(text: str) -> Markup:
    """Text as HTML, fit for an element or a quoted attribute."""
    return Markup(html.escape(_UNSEEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text), quote=True))


def join(*parts: str, between: str = "") -> Markup:
    """Parts one after the other; those that are plain text are escaped."""
    return Markup(between.join(part if isinstance(part, Markup) else escape(part) for part in parts))


def tag(name: str, *children: str, **attributes: str | None) -> Markup:
    """An element. ``class_`` stands for class, ``aria_label`` for aria-label; an attribute that is None is left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(*children)}</{name}>")


def names_of(names: Sequence[str]) -> Markup:
    """Several names or values from data or policy."""
    return join(*map(name_of, names), between=", ")


def name_of(text: str) -> Markup:
    """A name or value from data or policy: kept apart from the direction of the text around it.

    Only a long word may break anywhere; otherwise narrow tables would cut short names in two.
    """
    long = any(len(word) > LONG_WORD for word in text.split())
    return tag("bdi", text if text else "(empty)", class_="name long" if long else "name")


def bullets(items: Sequence[str], class_: str | None = None) -> Markup:
    """A bullet list."""
    return tag("ul", *(tag("li", item) for item in items), class_=class_)


def paragraph(*parts: str, class_: str | None = None) -> Markup:
    """A paragraph."""
    return tag("p", *parts, class_=class_)


def row(head: str, *cells: str) -> Markup:
    """A table row whose first cell names it."""
    return tag("tr", tag("th", head, scope="row"), *(tag("td", cell) for cell in cells))


def mark(good: bool, yes: str, no: str) -> Markup:
    """A word that is set apart, in one of two colours."""
    return tag("span", yes if good else no, class_="mark good" if good else "mark")


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """A table with a caption; a row is its cells, or its markup."""
    body = tag("tbody", *(each if isinstance(each, Markup) else row(*each) for each in rows))
    return _table(caption, heads, [body], None)


def paired_table(caption: str, heads: Sequence[str], pairs: Iterable[tuple[Sequence[str], str]]) -> Markup:
    """A table whose rows each have a line of explanation under them, across all columns."""
    bodies = []
    for cells, why in pairs:
        below = [tag("tr", tag("td", why, colspan=str(len(heads))), class_="why")] if why else []
        bodies.append(tag("tbody", row(*cells), *below))
    return _table(caption, heads, bodies, "paired")


def _table(caption: str, heads: Sequence[str], bodies: Sequence[Markup], class_: str | None) -> Markup:
    top = tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads)))
    return tag("div", tag("table", tag("caption", caption), top, *bodies, class_=class_), class_="table")


def more(summary: str, *content: str) -> Markup:
    """Something that opens on demand."""
    return tag("details", tag("summary", summary), *content)


_GUARD = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the browser may load, should anything ever slip into the page: nothing."""

Section = tuple[str, str, Sequence[Markup]]  # a part of a page: anchor, heading, content


def whole_page(title: str, under: Sequence[Markup], sections: Sequence[Section], footer: str, style: str = "") -> str:
    """The text of one self-contained HTML file: no network, no script; ``style`` is added to the style sheet."""
    parts = [
        tag("section", tag("h2", heading, id=anchor), *content, aria_labelledby=anchor)
        for anchor, heading, content in sections
    ]
    contents = bullets([tag("a", heading, href=f"#{anchor}") for anchor, heading, _ in sections])
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_GUARD),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"{title} – Shoal"),
        tag("style", Markup(STYLE + style)),
    )
    body = tag(
        "body",
        tag("header", tag("h1", title), *under),
        tag("nav", contents, aria_label="Contents"),
        tag("main", *parts),
        tag("footer", footer),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"
