"""The verdict: verified or not, and the few figures that everybody asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.report.figures import counted, entries_of, is_number, number, part_of, share
from shoal.report.markup import Markup, join, listing, name_of, paragraph, tag


def verdict_section(evidence: Mapping[str, Any]) -> list[Markup]:
    """One word, one sentence, a few figures."""
    reasons = failures(evidence)
    good = evidence.get("verified") is True and not reasons
    if good:
        word, sentence = "Verified", "The independent check passed: all that was asked for holds."
    elif evidence.get("verified") is True:
        word, sentence = "In doubt: do not publish", "The evidence says verified, and also that the following fails:"
    elif evidence.get("verified") is False:
        word, sentence = "Not verified: do not publish", "The independent check did not pass."
    else:
        word, sentence = "Not verified: do not publish", "The evidence does not say that the release was checked."
    parts = [
        paragraph(tag("span", word, class_="mark good" if good else "mark"), class_="word"),
        paragraph(sentence),
        *([listing(reasons)] if reasons else []),
        *_counts(evidence),
    ]
    return [tag("div", *parts, class_="verdict good" if good else "verdict"), _facts(evidence)]


def failures(evidence: Mapping[str, Any]) -> list[Markup]:
    """Models and checks that the evidence itself says do not hold."""
    found = []
    for model in entries_of(evidence, "models"):
        if model.get("holds") is False:
            found.append(join("the model ", name_of(str(model.get("model"))), " does not hold"))
    for check in entries_of(evidence, "checks"):
        if check.get("passed") is False:
            found.append(join("the check ", name_of(str(check.get("name"))), " failed"))
    return found


def _counts(evidence: Mapping[str, Any]) -> list[Markup]:
    """Records in, released and suppressed, and classes, in one sentence."""
    records, released = evidence.get("records"), evidence.get("released")
    if not is_number(records) or not is_number(released):
        return []
    classes, suppressed = evidence.get("classes"), evidence.get("suppressed")
    text = f"{number(released)} of {counted(records, 'record')} {'is' if released == 1 else 'are'} released"
    if is_number(classes):
        text += f" in {counted(classes, 'class')}"
    if suppressed == 0:
        text += "; none was left out"
    elif is_number(suppressed):
        of_all = share(suppressed, records)
        text += f"; {number(suppressed)}{f' ({of_all})' if of_all else ''} {_fate(evidence, suppressed)}"
    return [paragraph(f"{text}.")]


def _fate(evidence: Mapping[str, Any], suppressed: object) -> str:
    """What became of the suppressed records."""
    one = suppressed == 1
    if part_of(evidence, "policy").get("suppressed") == "star":
        return "stands as a row of * only" if one else "stand as rows of * only"
    return "was left out" if one else "were left out"


def _facts(evidence: Mapping[str, Any]) -> Markup:
    records = evidence.get("records")
    facts = [
        ("Records in", records, None),
        ("Released", evidence.get("released"), share(evidence.get("released"), records)),
        ("Suppressed", evidence.get("suppressed"), share(evidence.get("suppressed"), records)),
        ("Classes", evidence.get("classes"), None),
        ("Smallest class", part_of(evidence, "class_sizes").get("smallest"), None),
    ]
    boxes = []
    for head, value, note in facts:
        notes = [tag("small", f"{note} of records")] if note else []
        boxes.append(tag("div", tag("dt", head), tag("dd", number(value), *notes)))
    return tag("dl", *boxes, class_="facts")
