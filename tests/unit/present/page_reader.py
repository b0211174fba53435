"""A page as a reader gets it: its elements, its text, and whether every element is closed where it should be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br"}


@dataclass
class Element:
    """An element with its attributes, the elements inside it, and its text."""

    name: str
    attributes: dict[str, str | None]
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def all(self, name: str) -> list[Element]:
        """Every element of a name inside this one."""
        found = [child for child in self.children if child.name == name]
        return [*found, *(deep for child in self.children for deep in child.all(name))]

    def every(self) -> list[Element]:
        """Every element inside this one."""
        return [*self.children, *(deep for child in self.children for deep in child.every())]

    @property
    def text(self) -> str:
        """The text inside, with white space as one space."""
        return re.sub(r"\s+", " ", "".join(self.texts)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("document", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), f"<{tag}> has an attribute twice"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> where <{self.open[-1].name}> is open"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.texts.append(data)


def read_page(page: str) -> Element:
    """The document; fails where an element is not closed or closed out of turn."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].name}> is never closed"
    return reader.open[0]


BLOCKS = {"p", "h1", "h2", "h3", "caption", "figcaption", "li", "pre", "summary", "dt", "dd", "desc", "footer"}


def lines(element: Element) -> Iterator[str]:
    """The text as a reader takes it in: a line for each paragraph, heading, list item or table row."""
    for child in element.children:
        if child.name in BLOCKS:
            yield child.text.replace("\u00a0", " ")
        elif child.name == "tr":
            yield " | ".join(cell.text.replace("\u00a0", " ") for cell in child.children)
        else:
            yield from lines(child)


def section(page: str, anchor: str) -> Element:
    """One of the sections of a page, by its anchor."""
    found = [each for each in read_page(page).all("section") if each.attributes["aria-labelledby"] == anchor]
    assert len(found) == 1
    return found[0]


def rows(page: str, anchor: str) -> list[list[str]]:
    """The text of every cell of every table row of a section."""
    return [[cell.text for cell in row.children] for row in section(page, anchor).all("tr")]
