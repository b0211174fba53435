"""The summary: verified or not, the few figures that everybody asks for, and what was asked, in one screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.models import model_title
from shoal.present.html.markup import Markup, join, listing, name_of, paragraph, tag
from shoal.present.report.attackers import by_gravity, title_of
from shoal.present.report.distance import ratio_words
from shoal.present.report.figures import UNSTATED, counted, entries_of, is_number, number, part_of, percent, share
from shoal.present.report.requirements import flat_parameters, parameter_name


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
    box = tag("div", *parts, class_="verdict good" if good else "verdict")
    return [box, _facts(evidence), *_in_short(evidence)]


def _in_short(evidence: Mapping[str, Any]) -> list[Markup]:
    """Asked and reached, what attackers get, what was lost: a line each."""
    lines = [_asked(model) for model in entries_of(evidence, "models")]
    lines += [*_attackers(evidence), *_loss(evidence)]
    return [listing(lines, class_="short")] if lines else []


def _asked(model: Mapping[str, Any]) -> Markup:
    """A model that was asked for, with its numbers and whether it holds."""
    name, column, reached = str(model.get("model")), model.get("sensitive"), part_of(model, "reached")
    title = model_title(name)
    figures = [
        join(parameter_name(parameter), f"\u00a0=\u00a0{number(value)} ({number(reached[parameter])} reached)")
        for parameter, value in flat_parameters(model.get("asked"))
        if is_number(value) and parameter in reached
    ]
    holds = model.get("holds")
    said = "holds" if holds is True else "does not hold" if holds is False else UNSTATED
    on = join(" on ", name_of(str(column))) if column is not None else join()
    between = ": " if figures else " "
    mark = tag("span", said, class_="mark good" if holds is True else "mark")
    return join(tag("strong", title), on, between, join(*figures, between=", "), " ", mark)


def _attackers(evidence: Mapping[str, Any]) -> list[Markup]:
    """How many attackers get something, and who."""
    tried = by_gravity(entries_of(evidence, "attacks"))
    if not tried:
        return []
    leaks = [title_of(each) for each in tried if each.get("leak") is True]
    if not leaks:
        none = f"of {counted(len(tried), 'attack')} not one gets more than could be known without the release."
        return [join(tag("strong", "Attackers"), ": ", none)]
    some = (
        f": {number(len(leaks))} of {counted(len(tried), 'attack')} {'gets' if len(leaks) == 1 else 'get'} something – "
    )
    return [join(tag("strong", "Attackers"), some, join(*leaks, between="; "), ".")]


def _loss(evidence: Mapping[str, Any]) -> list[Markup]:
    """The loss over all columns, and how far it is from the least."""
    ncp = part_of(evidence, "measures").get("ncp")
    if not is_number(ncp):
        return []
    words = ratio_words(part_of(evidence, "bound"))
    return [join(tag("strong", "Detail lost"), f": {percent(ncp)} (NCP){f', {words}' if words else ''}.")]


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
        ("Left out (suppressed)", evidence.get("suppressed"), share(evidence.get("suppressed"), records)),
        ("Classes", evidence.get("classes"), None),
        ("Smallest class", part_of(evidence, "class_sizes").get("smallest"), None),
    ]
    boxes = []
    for head, value, note in facts:
        notes = [tag("small", f"{note} of records")] if note else []
        boxes.append(tag("div", tag("dt", head), tag("dd", number(value), *notes)))
    return tag("dl", *boxes, class_="facts")
