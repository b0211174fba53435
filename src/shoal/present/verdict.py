"""The verdict in words: the first line of a result, why, what else to know, and what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.attacks.battery import ATTACKS
from shoal.attacks.verdict.verdict import Advice, Caveat, Decision, Leak, Reason, UnusedAccept, Verdict
from shoal.edits import PolicyEdit
from shoal.formatting import listing, number, percent, pluralize
from shoal.models import model_title
from shoal.policy.yaml_text import flow_yaml
from shoal.present.attacks import not_made_clause

WORDS: Mapping[Decision, str] = {
    "publish": "Publish",
    "publish-with-caveats": "Publish with caveats",
    "do-not-publish": "Do not publish",
}
_MODELS_HOLD = {True: "Models hold.", False: "Models do not hold.", None: "Whether models hold is not known."}
_CERTAIN = {
    "undone": "what was generalized is certain again for {records}.",
    "similarity": "the category is certain for {records}.",
}
"""What is certain, for attacks that do not make the value of a sensitive column certain."""
_WARNINGS = {
    "near-numbers": "a model treats nearly equal numbers of a sensitive column as different values.",
    "formula-cells": "spreadsheet programs may run some released cells as formulas.",
    "several-records-per-person": "the models count records, but people have several: a class may be one person.",
}


def decision_sentence(verdict: Verdict) -> str:
    """The verdict in one line: the decision, whether models hold, and how many attacks leak, with the worst."""
    return f"{WORDS[verdict.decision]}. {found_sentence(verdict)}"


def found_sentence(verdict: Verdict) -> str:
    """Whether models hold, and how many attacks leak, with the worst."""
    return f"{_MODELS_HOLD[verdict.models_hold]} {_attacks(verdict)}"


def _attacks(verdict: Verdict) -> str:
    if not verdict.tried:
        return "No attack was tried."
    if verdict.worst is None:
        return f"None of {pluralize(verdict.tried, 'attack')} leaks."
    worst = verdict.worst
    figures = f"{leak_phrase(worst)}, {percent(worst.records / worst.of if worst.of else 0.0)}"
    still_open = any(each.leak for each in verdict.reasons) or any(each.code == "leak" for each in verdict.caveats)
    which = "worst not accepted" if verdict.accepted and still_open else "worst"
    verb = "leaks" if verdict.leaking == 1 else "leak"
    return f"{number(verdict.leaking)} of {pluralize(verdict.tried, 'attack')} {verb} ({which}: {figures})."


def leak_phrase(leak: Leak) -> str:
    """A leak in a few words: ``ward gives condition``, ``homogeneity on condition``, ``linkage``."""
    if leak.columns and leak.columns != (leak.sensitive,):
        by = listing(leak.columns)
        return f"{by} {_verb(leak)} {leak.sensitive}" if leak.sensitive is not None else f"{leak.attack} by {by}"
    return f"{leak.attack} on {leak.sensitive}" if leak.sensitive is not None else leak.attack


def _head(leak: Leak) -> str:
    """A leak in a few words that tell it from those of other attacks."""
    phrase = leak_phrase(leak)
    return phrase if leak.attack in phrase else f"{phrase} ({leak.attack})"


def _verb(leak: Leak) -> str:
    return "gives" if len(leak.columns) == 1 else "give"


def reason_sentence(reason: Reason) -> str:
    """Why the release should not be published."""
    if reason.leak is None:
        return f"The independent check does not pass: {listing(reason.failed or ())}."
    leak = reason.leak
    certain = f"{number(leak.certain)} of {pluralize(leak.of, 'record')}"
    if reason.code == "certain" and leak.sensitive is None:
        sentence = _CERTAIN.get(leak.attack, "{records} can be linked to a person with certainty.")
        return f"{_head(leak)}: {sentence.format(records=certain)}"
    if reason.code == "certain":
        sentence = _CERTAIN.get(leak.attack, "the value is certain for {records}.")
        return f"{_head(leak)}: {sentence.format(records=certain)}"
    return (
        f"{_head(leak)}: {_exposed(leak)} less protected than the models promise, even against somebody who "
        "knows nothing but quasi-identifiers."
    )


def _exposed(leak: Leak) -> str:
    return f"{number(leak.records)} of {pluralize(leak.of, 'record')} {'is' if leak.records == 1 else 'are'}"


def caveat_sentence(caveat: Caveat) -> str:
    """What whoever publishes should know."""
    leak = caveat.leak
    if leak is not None:
        exposed = f"{_exposed(leak)} exposed"
        if caveat.code == "narrowed":
            exposed = f"up to {number(leak.records)} of {pluralize(leak.of, 'record')}"
            known = " or ".join(leak.columns)
            known = f"This relies on nobody knowing a person's {known}"
            return f"{known}: otherwise, {exposed} are in groups of fewer than k."
        if caveat.code == "accepted":
            return f"Accepted: {_head(leak)}, {exposed}. Reason: {' '.join(map(_sentence, caveat.reasons or ()))}"
        return f"{_head(leak)}: {exposed}, but no sensitive value is certain from the release alone."
    if caveat.code == "models-not-judged":
        return "The policy counts people, so whether the models hold can only be checked with the original."
    if caveat.code == "not-attacked":
        return "The release was not attacked."
    if caveat.code == "not-done":
        return f"Not done: {caveat.what}."
    return f"Warning: {_WARNINGS.get(str(caveat.what), f'see the warnings ({caveat.what}).')}"


def caveat_sentences(verdict: Verdict) -> list[str]:
    """All caveats; attacks that were not tried for the same reason in one sentence."""
    lacking: dict[str, list[str]] = {}
    for each in verdict.caveats:
        if each.code == "not-tried":
            lacking.setdefault(str(each.what), []).append(str(each.attack))
    found = [caveat_sentence(each) for each in verdict.caveats if each.code != "not-tried"]
    return [*found, *(f"Not tried: {listing(names)} ({not_made_clause(what)})." for what, names in lacking.items())]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def unused_sentence(entry: UnusedAccept) -> str:
    """An entry of ``accept`` that nothing matches."""
    on = f" by {entry.column}" if entry.column is not None else ""
    return f"accept: {entry.attack}{on} found nothing to accept. The entry may be outdated."


def advice_sentence(advice: Advice) -> str:
    """A change as an imperative, without the edit."""
    columns = listing(advice.columns)
    if advice.code == "add-model":
        return f"Require {model_title(str(advice.model))} on {columns}"
    if advice.code == "strengthen-model":
        return f"Require a stricter {model_title(str(advice.model))} on {columns}"
    if advice.code == "full-domain":
        return f"Use the algorithm {advice.option}, which releases each column at one level"
    if advice.code == "switch-option":
        return f"Switch on the algorithm's option {advice.option}"
    return {
        "omit-columns": f"Leave out {columns}",
        "make-quasi": f"Make {columns} {'a quasi-identifier' if len(advice.columns) == 1 else 'quasi-identifiers'}",
        "widen-bins": f"Publish {columns} in bins",
        "know-events": "Protect against attackers who know several records of a person",
        "withdraw-earlier": "Withdraw an earlier release, or keep the same classes for the same people",
    }[advice.code]


def edits_text(edits: Sequence[PolicyEdit]) -> str:
    """Edits as somebody would make them in the file: ``columns.ward.role: quasi; remove columns.bed``."""
    return "; ".join(_edit_text(edit) for edit in edits)


def _edit_text(edit: PolicyEdit) -> str:
    path = _path_text(edit.path)
    if edit.value is None:
        return f"remove {path}"
    if isinstance(edit.path[-1], int):
        return f"add to {_path_text(edit.path[:-1])}: {_value_text(edit.value)}"
    on = f" ({edit.sensitive})" if edit.sensitive is not None else ""
    return f"{path}{on}: {_value_text(edit.value)}"


def _path_text(path: Sequence[object]) -> str:
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path).removeprefix(".")


def _value_text(value: Any) -> str:
    return flow_yaml([value])[1:-1]


def advice_title(advice: Advice) -> str:
    """The leak that an advice is about, in words."""
    attack = ATTACKS.get(advice.attack)
    return attack.title if attack is not None else advice.attack


def stopped_leak(advice: Advice) -> Leak:
    """The leak that an advice is about, without its figures."""
    return Leak(advice.attack, advice.sensitive, advice.by, 0, 0, None, 0)


def verdict_lines(verdict: Verdict) -> list[tuple[str, str]]:
    """The verdict, line by line: what kind of line each is, and its text."""
    found = [("", decision_sentence(verdict))]
    found += [("reason", reason_sentence(each)) for each in verdict.reasons]
    found += [("caveat", text) for text in caveat_sentences(verdict)]
    found += [("warning", unused_sentence(each)) for each in verdict.unused_accepts]
    found += [("advice", f"{about}: {text}") for about, text in _advice_by_leak(verdict.advice).items()]
    return found


def _advice_by_leak(advice: Sequence[Advice]) -> dict[str, str]:
    """The changes for each leak, of which each is enough, with their edits; leaks with the same changes together."""
    changes: dict[str, list[str]] = {}
    for each in advice:
        about = _head(stopped_leak(each))
        edits = f" ({edits_text(each.edits)})" if each.edits else ""
        changes.setdefault(about, []).append(f"{advice_sentence(each)}{edits}")
    together: dict[str, list[str]] = {}
    for about, texts in changes.items():
        rest = (f"{text[0].lower()}{text[1:]}" for text in texts[1:])
        together.setdefault("; or ".join([texts[0], *rest]), []).append(about)
    return {listing(leaks): f"{text}." for text, leaks in together.items()}
