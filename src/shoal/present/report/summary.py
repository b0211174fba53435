"""The summary: the verdict, the figures that everybody asks for, and the requirements, on one screen."""

from shoal.evidence.evidence import Evidence, ModelFacts
from shoal.evidence.people import ClassSizes
from shoal.formatting import number, percent, pluralize
from shoal.present.attacks import by_severity
from shoal.present.bound import bound_phrase
from shoal.present.html.markup import Markup, bullets, join, mark, tag
from shoal.present.people import people_sentences
from shoal.present.report.attackers import titled
from shoal.present.report.requirements import model_head, numeric_parameters, parameter_name, reached_text
from shoal.present.report.verdict import verdict_box


def summary_section(evidence: Evidence) -> list[Markup]:
    """The verdict, a few figures, the requirements."""
    box = verdict_box(evidence, _counts(evidence))
    known = evidence.bound
    bound = None if known is None else bound_phrase(known.gap, estimated=known.estimated)
    lost = f": {percent(evidence.measures['ncp'])} (NCP){f', {bound}' if bound else ''}."
    detail = join(tag("strong", "Detail lost"), lost)
    lines = [*map(_requirement, evidence.models), *_attackers(evidence), detail]
    return [box, _facts(evidence), bullets(lines, class_="short")]


def _requirement(model: ModelFacts) -> Markup:
    """A requirement with its numbers and whether it holds."""
    figures = [
        join(parameter_name(parameter), f"\u00a0=\u00a0{number(required)} (reached {reached_text(model, reached)})")
        for parameter, required, reached in numeric_parameters(model)
    ]
    head = join(tag("strong", model_head(model)), ": " if figures else " ")
    return join(head, join(*figures, between=", "), " ", mark(model.holds, "holds", "does not hold"))


def _attackers(evidence: Evidence) -> list[Markup]:
    """Who learns something."""
    tried = by_severity(evidence.attacks)
    if not tried:
        return []
    leaks = list({(each.name, each.sensitive): titled(each) for each in tried if each.leak}.values())
    attempts = {(each.name, each.sensitive) for each in tried}  # an attack may have a result for each other column
    head, attacks = tag("strong", "Attackers"), pluralize(len(attempts), "attack")
    if not leaks:
        return [join(head, f": {attacks} made, and none learns more than could be known without the release.")]
    verb = "learns" if len(leaks) == 1 else "learn"
    said = f": {number(len(leaks))} of {attacks} {verb} something – "
    return [join(head, said, join(*leaks, between="; "), ".")]


def _counts(evidence: Evidence) -> list[str]:
    """Records in, released and suppressed, and classes, in one sentence; then the people, where these are counted."""
    return [_records(evidence), *([" ".join(people_sentences(evidence.people))] if evidence.people is not None else [])]


def _records(evidence: Evidence) -> str:
    released, suppressed = evidence.released, evidence.suppressed
    said = (
        f"{number(released)} of {pluralize(evidence.records, 'record')} {'is' if released == 1 else 'are'} released in "
        f"{pluralize(evidence.classes, 'class')}"
    )
    if not suppressed:
        return f"{said}; none is suppressed."
    share = f" ({percent(suppressed / evidence.records)})" if evidence.records else ""
    verb = "is" if suppressed == 1 else "are"
    shown = " and shown only as rows of *" if evidence.policy.get("suppressed") == "star" else ""
    return f"{said}; {number(suppressed)}{share} {verb} suppressed{shown}."


def _facts(evidence: Evidence) -> Markup:
    people, boxes = evidence.people, []
    sizes = evidence.class_sizes if people is None else people.class_sizes
    smallest, note = sizes.smallest if isinstance(sizes, ClassSizes) else 0, "" if people is None else "people"
    for head, value, whole in (
        ("Records", evidence.records, None),
        ("Released", evidence.released, evidence.records),
        ("Suppressed", evidence.suppressed, evidence.records),
        *([("People released", people.released, people.people)] if people is not None else []),
        ("Classes", evidence.classes, None),
        ("Smallest class", smallest, None),
    ):
        counted = "people" if head == "People released" else "records"
        notes = [tag("small", f"{percent(value / whole)} of {counted}")] if whole else []
        if head == "Smallest class" and note:
            notes = [tag("small", note)]
        boxes.append(tag("div", tag("dt", head), tag("dd", number(value), *notes)))
    return tag("dl", *boxes, class_="facts")
