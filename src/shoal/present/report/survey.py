"""The risk of households and in the population, before and after."""

from shoal.evidence.evidence import Evidence
from shoal.present.html.markup import Markup, paragraph, table
from shoal.present.risk_text import survey_notes, survey_rows


def survey_section(evidence: Evidence) -> list[Markup]:
    """The figures of a survey whose policy names households or weights; nothing of other tables."""
    found = evidence.survey
    if found is None:
        return []
    head, *rows = survey_rows([found.before, found.after], ["Before", "After"])
    said = (
        "How likely the released records are to be found by their quasi-identifiers, as they were in the data and as "
        "they are released. Suppressed records are counted in neither."
    )
    if evidence.applied is not None:
        said += " These are the new records alone: readers of the earlier release can tell them from the others."
    return [
        paragraph(said),
        table("Risk before and after.", ["Risk", *head[1:]], rows),
        *(paragraph(note) for note in survey_notes(found.after)),
    ]
