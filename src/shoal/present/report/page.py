"""The evidence as one HTML page: no network, no script, nothing outside the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.present.html.markup import Markup, join, paragraph, tag
from shoal.present.html.shell import whole_page
from shoal.present.report.advice import advice_section
from shoal.present.report.attackers import attackers_section
from shoal.present.report.limitations import told_section
from shoal.present.report.losses import lost_section
from shoal.present.report.provenance import made_section
from shoal.present.report.requirements import asked_section
from shoal.present.report.sizes import sizes_section
from shoal.present.report.task import task_section
from shoal.present.report.verdict import verdict_section

SECTIONS = (
    ("verdict", "Summary", verdict_section),
    ("asked", "What was asked and what is reached", asked_section),
    ("attackers", "What each attacker gets", attackers_section),
    ("lost", "What was lost where", lost_section),
    ("task", "Utility for the task", task_section),
    ("sizes", "Class sizes", sizes_section),
    ("advice", "What to tighten or relax", advice_section),
    ("told", "What stays open", told_section),
    ("made", "How it was made", made_section),
)
"""The parts of the page in order: anchor, heading, and what writes the part from the evidence."""

OPTIONAL = {"task": "utility"}
"""Parts that are there only where the evidence has their key."""


def write_report(evidence: Mapping[str, Any]) -> str:
    """The report of a release as the text of one self-contained HTML file.

    ``evidence`` is the content of ``*.evidence.json``. What it does not say is left out or called not stated; keys
    that the page does not know are shown as they are. The same evidence gives the same text.
    """
    shown = [section for section in SECTIONS if section[0] not in OPTIONAL or evidence.get(OPTIONAL[section[0]])]
    return whole_page(
        "Release report",
        _subtitle(evidence),
        [(anchor, heading, write(evidence)) for anchor, heading, write in shown],
        "Written by Shoal from the evidence that is stored beside the release.",
    )


def _subtitle(evidence: Mapping[str, Any]) -> list[Markup]:
    """Which release this is about, by the hash of its file."""
    digest = evidence.get("release_sha256")
    if not digest:
        return []
    named = join("Release file with SHA-256 ", tag("code", str(digest)))
    return [paragraph(named, class_="soft")]
