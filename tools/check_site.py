"""Check a built documentation site: internal links and anchors lead somewhere, and nothing is loaded from elsewhere.

Run ``python tools/check_site.py site`` after a build; it prints each problem and exits 1 if there is one. Links to
other hosts are counted and not fetched: the check needs no network. Assets (scripts, styles, fonts, images, frames)
must lie in the site itself, so that reading the documentation tells nobody that it is read, and works offline.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ASSETS = {
    ("audio", "src"), ("embed", "src"), ("iframe", "src"), ("image", "href"), ("img", "src"), ("img", "srcset"),
    ("input", "src"), ("object", "data"), ("script", "src"), ("source", "src"), ("source", "srcset"), ("track", "src"),
    ("use", "href"), ("video", "poster"), ("video", "src"),
}  # fmt: skip
"""Attributes by which a browser fetches something without being asked."""
FETCHED_LINKS = {
    "dns-prefetch", "icon", "manifest", "modulepreload", "preconnect", "prefetch", "preload", "prerender", "stylesheet",
}  # fmt: skip
"""Relations of ``<link>`` that make a browser fetch, or connect, at once."""
_CSS_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


@dataclass
class Page(HTMLParser):
    """What one page offers to link to, and what it refers to."""

    path: Path
    anchors: set[str] = field(default_factory=lambda: {"", "top"})
    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    _in_style: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note anchors, links and assets of an element."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        self.styles += [given["style"]] if "style" in given else []
        self._in_style = tag == "style"
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and FETCHED_LINKS & set(given.get("rel", "").lower().split()):
            self.assets.append(given.get("href", ""))
        self.assets += [value for name, value in given.items() if (tag, name.removeprefix("xlink:")) in ASSETS]

    def handle_endtag(self, tag: str) -> None:
        """Leave a style sheet."""
        self._in_style = self._in_style and tag != "style"

    def handle_data(self, data: str) -> None:
        """Keep the text of a style sheet."""
        if self._in_style:
            self.styles.append(data)


def is_external(target: str) -> bool:
    """Whether a target names a scheme or a host of its own (``data:`` holds its content and does not count)."""
    parts = urlsplit(target)
    return bool(parts.netloc) or (bool(parts.scheme) and parts.scheme != "data")


def css_targets(text: str) -> Iterator[str]:
    """What a style sheet refers to."""
    for url, imported in _CSS_URL.findall(text):
        yield url or imported


@dataclass(frozen=True)
class Site:
    """A folder of built pages."""

    root: Path

    @cached_property
    def pages(self) -> dict[Path, Page]:
        """Every page by its resolved path."""
        pages = {}
        for path in sorted(self.root.rglob("*.html")):
            pages[path.resolve()] = page = Page(path)
            page.feed(path.read_text(encoding="utf-8"))
        return pages

    @property
    def external_links(self) -> int:
        """How many links lead to other hosts; they are not followed."""
        return sum(is_external(link) for page in self.pages.values() for link in page.links)

    def problems(self) -> Iterator[str]:
        """Each dead link and each asset that is missing or loaded from elsewhere, in words."""
        for page in self.pages.values():
            for link in page.links:
                if not is_external(link):
                    yield from self._dead(page.path, link)
            loaded = [*page.assets, *(target for style in page.styles for target in css_targets(style))]
            yield from self._foreign(page.path, loaded)
        for path in sorted(self.root.rglob("*.css")):
            yield from self._foreign(path, list(css_targets(path.read_text(encoding="utf-8"))))

    def _foreign(self, source: Path, targets: list[str]) -> Iterator[str]:
        for target in targets:
            if is_external(target):
                yield f"{self._name(source)}: loads {target} from another host"
            elif not target.startswith(("data:", "#")):
                yield from self._dead(source, target)

    def _dead(self, source: Path, target: str) -> Iterator[str]:
        parts = urlsplit(target)
        base = self.root if parts.path.startswith("/") else source.parent
        found = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else source.resolve()
        found = found / "index.html" if found.is_dir() else found
        if not found.is_relative_to(self.root.resolve()) or not found.is_file():
            yield f"{self._name(source)}: {target} leads nowhere"
        elif found in self.pages and unquote(parts.fragment) not in self.pages[found].anchors:
            yield f"{self._name(source)}: {target} names an anchor that is not there"

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def main(arguments: list[str]) -> int:
    """Check the site named on the command line."""
    if len(arguments) != 1:
        print("usage: python tools/check_site.py FOLDER", file=sys.stderr)
        return 2
    site = Site(Path(arguments[0]))
    if not site.pages:
        print(f"{site.root} has no pages: build the site first.", file=sys.stderr)
        return 2
    problems = list(dict.fromkeys(site.problems()))
    for problem in problems:
        print(problem, file=sys.stderr)
    links = sum(len(page.links) for page in site.pages.values())
    print(
        f"{len(site.pages)} pages, {links} links ({site.external_links} to other hosts, not followed): "
        f"{len(problems)} problem{'' if len(problems) == 1 else 's'}."
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
