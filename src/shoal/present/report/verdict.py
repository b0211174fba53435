"""The banner of the report: the verdict with its colour, why, what to know, and what to change."""

from shoal.attacks.verdict.verdict import Advice, Decision, Verdict
from shoal.evidence.evidence import Evidence
from shoal.formatting import listing
from shoal.present.html.markup import Markup, bullets, join, name_of, names_of, paragraph, tag
from shoal.present.verdict import (
    WORDS,
    advice_sentence,
    advice_title,
    caveat_sentences,
    edits_text,
    found_sentence,
    leak_phrase,
    reason_sentence,
    stopped_leak,
    unused_sentence,
)

_CLASSES: dict[Decision, str] = {"publish": "good", "publish-with-caveats": "caution", "do-not-publish": ""}


def verdict_box(evidence: Evidence, counts: list[str]) -> Markup:
    """The banner: green to publish, amber with caveats, red otherwise."""
    verdict, wrong = evidence.verdict, _failures(evidence)
    if verdict is None or (wrong and verdict.decision != "do-not-publish"):
        return _without_verdict(wrong, counts)
    kind = _CLASSES[verdict.decision]
    word = tag("span", WORDS[verdict.decision], class_=f"mark {kind}".strip())
    parts = [paragraph(word, class_="word"), paragraph(found_sentence(verdict)), *map(paragraph, counts)]
    for head, items in (
        ("Why not", [reason_sentence(each) for each in verdict.reasons]),
        ("Caveats", [*caveat_sentences(verdict), *map(unused_sentence, verdict.unused_accepts)]),
        ("What to do", _actions(verdict)),
    ):
        if items:
            parts += [paragraph(tag("strong", head)), bullets(items)]
    return tag("div", *parts, class_=f"verdict {kind}".strip())


_Stopped = tuple[str, str | None, tuple[str, ...]]  # the leak that an advice is about


def _stopped(advice: Advice) -> _Stopped:
    return advice.attack, advice.sensitive, advice.by


def _actions(verdict: Verdict) -> list[Markup]:
    """What to do about grave leaks: the first change for each, or accepting it."""
    leaks = [each.leak for each in verdict.reasons if each.leak is not None]
    grave = {(each.attack, each.sensitive, each.columns) for each in leaks}
    first: dict[_Stopped, Advice] = {}
    for each in verdict.advice:
        if _stopped(each) in grave:
            first.setdefault(_stopped(each), each)
    if not grave:
        return []
    stops: dict[Markup, list[str]] = {}
    for each in first.values():
        stops.setdefault(advice_item(each), []).append(leak_phrase(stopped_leak(each)))
    actions = [join(change, f" Against: {listing(list(dict.fromkeys(leaks)))}.") for change, leaks in stops.items()]
    link = tag("a", "What to tighten or relax", href="#advice")
    accept = "If you can justify a leak, list it under accept in the policy, with the reason."
    return [*actions, join("Other changes that help are under ", link, f". {accept}")]


def remedies(verdict: Verdict | None) -> list[Markup]:
    """For each leak the changes that would stop it, each with its edit."""
    by_leak: dict[_Stopped, list[Advice]] = {}
    for each in () if verdict is None else verdict.advice:
        by_leak.setdefault(_stopped(each), []).append(each)
    return [
        join(tag("strong", _about(some[0]), "."), " ", join(*map(advice_item, some), between=" Or: "))
        for some in by_leak.values()
    ]


def _about(advice: Advice) -> Markup:
    on = () if advice.sensitive is None else (" (", name_of(advice.sensitive), ")")
    by = (" – ", names_of(advice.by)) if advice.by else ()
    return join(advice_title(advice), *on, *by)


def advice_item(advice: Advice) -> Markup:
    """A change with its edit."""
    edit = (": ", tag("code", edits_text(advice.edits))) if advice.edits else ()
    return join(advice_sentence(advice), *edit, ".")


def _failures(evidence: Evidence) -> list[Markup]:
    """Models and checks that the evidence itself says do not hold."""
    return [
        *([] if evidence.verified else [join("the independent check did not pass")]),
        *(join("the model ", name_of(each.model), " does not hold") for each in evidence.models if not each.holds),
        *(join("the check ", name_of(each.name), " failed") for each in evidence.checks if not each.passed),
    ]


def _without_verdict(wrong: list[Markup], counts: list[str]) -> Markup:
    """The banner where there is no verdict, or one that the rest of the evidence contradicts."""
    word, sentence = "No verdict", "The release is verified, but its evidence was written without a verdict."
    if wrong:
        word, sentence = "In doubt: do not publish", "According to the evidence, the following fails:"
    head = paragraph(tag("span", word, class_="mark" if wrong else "mark caution"), class_="word")
    because = [bullets(wrong)] if wrong else []
    shown = "verdict" if wrong else "verdict caution"
    return tag("div", head, paragraph(sentence), *because, *map(paragraph, counts), class_=shown)
