"""The report: the evidence as one HTML page, for a reader who does not program."""

from collections.abc import Callable, Mapping
from typing import Any

from shoal.evidence.evidence import Evidence
from shoal.present.html.markup import Markup, paragraph, tag, whole_page
from shoal.present.report.advice import advice_section
from shoal.present.report.attackers import attackers_section
from shoal.present.report.class_sizes import class_sizes_section
from shoal.present.report.limitations import limitations_section
from shoal.present.report.losses import losses_section
from shoal.present.report.provenance import provenance_section
from shoal.present.report.requirements import requirements_section
from shoal.present.report.summary import summary_section
from shoal.present.report.survey import survey_section
from shoal.present.report.task import task_section

SECTIONS: tuple[tuple[str, str, Callable[[Evidence], list[Markup]]], ...] = (
    ("summary", "Summary", summary_section),
    ("requirements", "Privacy requirements", requirements_section),
    ("attackers", "What attackers can learn", attackers_section),
    ("survey", "Households and sampling weights", survey_section),
    ("losses", "What was lost", losses_section),
    ("task", "Utility for the task", task_section),
    ("class-sizes", "Class sizes", class_sizes_section),
    ("advice", "What to tighten or relax", advice_section),
    ("limitations", "What is not protected", limitations_section),
    ("provenance", "How the release was made", provenance_section),
)
"""The parts of the page in order: anchor, heading, and what writes the part from the evidence."""


def write_report(evidence: Mapping[str, Any]) -> str:
    """The report of a release as the text of one self-contained HTML file.

    ``evidence`` is the content of ``*.evidence.json``. The same evidence gives the same text.
    """
    facts = Evidence.read(evidence)
    digest = facts.release_sha256
    under = [paragraph("Release file with SHA-256 ", tag("code", digest), class_="soft")] if digest else []
    written = [(anchor, heading, write(facts)) for anchor, heading, write in SECTIONS]
    return whole_page(
        "Release report",
        under,
        [section for section in written if section[2]],
        "Written by Shoal from the evidence file that accompanies the release.",
    )
