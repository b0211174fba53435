"""The evidence as one HTML page: no network, no script, nothing outside the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.report.asked import asked_section
from shoal.report.lost import lost_section
from shoal.report.made import made_section
from shoal.report.markup import Markup, join, listing, paragraph, tag
from shoal.report.sizes import sizes_section
from shoal.report.style import STYLE
from shoal.report.told import told_section
from shoal.report.verdict import verdict_section

SECTIONS = (
    ("verdict", "Verdict", verdict_section),
    ("asked", "What was asked and what is reached", asked_section),
    ("lost", "What was lost", lost_section),
    ("sizes", "Class sizes", sizes_section),
    ("told", "What the release still tells", told_section),
    ("made", "How it was made", made_section),
)
"""The parts of the page in order: anchor, heading, and what writes the part from the evidence."""

_GUARD = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the browser may load, should anything ever slip into the page: nothing."""


def write_report(evidence: Mapping[str, Any]) -> str:
    """The report of a release as the text of one self-contained HTML file.

    ``evidence`` is the content of ``*.evidence.json``. What it does not say is left out or called not stated; keys
    that the page does not know are shown as they are. The same evidence gives the same text.
    """
    sections = [
        tag("section", tag("h2", heading, id=anchor), *write(evidence), aria_labelledby=anchor)
        for anchor, heading, write in SECTIONS
    ]
    contents = listing([tag("a", heading, href=f"#{anchor}") for anchor, heading, _ in SECTIONS])
    body = tag(
        "body",
        tag("header", tag("h1", "Release report"), *_subtitle(evidence)),
        tag("nav", contents, aria_label="Contents"),
        tag("main", *sections),
        tag("footer", "Written by Shoal from the evidence that is stored beside the release."),
    )
    page = tag("html", _head(), body, lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _head() -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_GUARD),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", "Release report – Shoal"),
        tag("style", Markup(STYLE)),
    )


def _subtitle(evidence: Mapping[str, Any]) -> list[Markup]:
    """Which release this is about, by the hash of its file."""
    digest = evidence.get("release_sha256")
    if not digest:
        return []
    named = join("Release file with SHA-256 ", tag("code", str(digest)))
    return [paragraph(named, class_="soft")]
