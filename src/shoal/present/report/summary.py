"""The summary: verified or not, the figures that everybody asks for, and the requirements, on one screen."""

from __future__ import annotations

from shoal.evidence.evidence import ClassSizes, Evidence, ModelFacts
from shoal.formatting import number, percent, pluralize
from shoal.present.attacks import by_severity
from shoal.present.html.markup import Markup, bullets, join, name_of, paragraph, tag
from shoal.present.report.attackers import titled
from shoal.present.report.losses import bound_phrase
from shoal.present.report.requirements import model_head, numeric_parameters, parameter_name, reached_text


def summary_section(evidence: Evidence) -> list[Markup]:
    """One word, one sentence, a few figures."""
    reasons = _failures(evidence)
    good = evidence.verified and not reasons
    if good:
        word, sentence = "Verified", "The independent check passed: every privacy requirement holds."
    elif evidence.verified:
        word, sentence = "In doubt: do not publish", "The evidence says verified, but also that the following fails:"
    else:
        word, sentence = "Not verified: do not publish", "The independent check did not pass."
    box = tag(
        "div",
        paragraph(tag("span", word, class_="mark good" if good else "mark"), class_="word"),
        paragraph(sentence),
        *([bullets(reasons)] if reasons else []),
        paragraph(_counts(evidence)),
        class_="verdict good" if good else "verdict",
    )
    lines = [*map(_requirement, evidence.models), *_attackers(evidence), _loss(evidence)]
    return [box, _facts(evidence), bullets(lines, class_="short")]


def _requirement(model: ModelFacts) -> Markup:
    """A requirement with its numbers and whether it holds."""
    figures = [
        join(parameter_name(parameter), f"\u00a0=\u00a0{number(required)} (reached {reached_text(model, reached)})")
        for parameter, required, reached in numeric_parameters(model)
    ]
    mark = tag("span", "holds" if model.holds else "does not hold", class_="mark good" if model.holds else "mark")
    return join(tag("strong", model_head(model)), ": " if figures else " ", join(*figures, between=", "), " ", mark)


def _attackers(evidence: Evidence) -> list[Markup]:
    """Who learns something."""
    tried = by_severity(evidence.attacks)
    if not tried:
        return []
    leaks = [titled(each) for each in tried if each.leak]
    head, attacks = tag("strong", "Attackers"), pluralize(len(tried), "attack")
    if not leaks:
        return [join(head, f": {attacks} made, and none learns more than could be known without the release.")]
    verb = "learns" if len(leaks) == 1 else "learn"
    found = join(*leaks, between="; ")
    return [join(head, f": {number(len(leaks))} of {attacks} {verb} something – ", found, ".")]


def _loss(evidence: Evidence) -> Markup:
    """The loss over all columns, and how far it is from the least."""
    words = bound_phrase(evidence.bound)
    lost = f": {percent(evidence.measures['ncp'])} (NCP){f', {words}' if words else ''}."
    return join(tag("strong", "Detail lost"), lost)


def _failures(evidence: Evidence) -> list[Markup]:
    """Models and checks that the evidence itself says do not hold."""
    return [
        *(join("the model ", name_of(each.model), " does not hold") for each in evidence.models if not each.holds),
        *(join("the check ", name_of(each.name), " failed") for each in evidence.checks if not each.passed),
    ]


def _counts(evidence: Evidence) -> str:
    """Records in, released and suppressed, and classes, in one sentence."""
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
    sizes = evidence.class_sizes
    facts = [
        ("Records", evidence.records, None),
        ("Released", evidence.released, evidence.records),
        ("Suppressed", evidence.suppressed, evidence.records),
        ("Classes", evidence.classes, None),
        ("Smallest class", sizes.smallest if isinstance(sizes, ClassSizes) else 0, None),
    ]
    boxes = []
    for head, value, whole in facts:
        notes = [tag("small", f"{percent(value / whole)} of records")] if whole else []
        boxes.append(tag("div", tag("dt", head), tag("dd", number(value), *notes)))
    return tag("dl", *boxes, class_="facts")
