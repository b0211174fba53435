"""A diagnosis in words: the verdict, what blocks, what is reachable, and what would help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from shoal.formatting import listing, number, pluralize
from shoal.models import Shortfall

if TYPE_CHECKING:
    from shoal.edits import PolicyEdit
    from shoal.search.diagnosis.diagnosis import Diagnosis
    from shoal.search.diagnosis.failures import Blocker
    from shoal.search.diagnosis.relaxations import ParameterChange, Relaxation

_NO_WAY_OUT = {
    "range-method": "No change was found that would help, not even safe: true with more suppression or coarser groups.",
    "shared-ranges": "No change was found that would help: neither more suppression nor one coarser group column.",
}
_AT_TOP = "The strongest that each model alone reaches at the most general release:"
_REACHED = {"range-method": "Reached:", "shared-ranges": "Reached:", "no-node": _AT_TOP, "starts-at-top": _AT_TOP}
_NO_CHANGE = "No single change of parameters, suppression or boundaries was found that would help."
Naming = Callable[[str], str]  # how a model is called, by its name in the policy


def exact(value: float) -> str:
    """A number as short as it can be and still be that number: a limit cut to six digits may no longer hold."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """Several lines: the verdict, what blocks, what is reachable, and what would help."""
    changes, condition = diagnosis.relaxations, ""
    if not changes and diagnosis.missed:
        changes, condition = diagnosis.missed, f", but only with the algorithm {diagnosis.exhaustive}"
    if changes:
        way_out = [f"{would_help(changes)}{condition}:", *(f"  - {suggestion(each)}" for each in changes)]
    elif diagnosis.code == "not-found" and diagnosis.top_satisfies:
        way_out = [f"The most general release allowed does satisfy it: use the algorithm {diagnosis.exhaustive}."]
    else:
        way_out = [_NO_WAY_OUT.get(diagnosis.code, _NO_CHANGE)]
    return "\n".join([reasons_text(diagnosis), *way_out])


def would_help(changes: Sequence[Relaxation]) -> str:
    """What a list of changes begins with."""
    return "This change would help" if len(changes) == 1 else "Any one of these changes would help"


def reasons_text(diagnosis: Diagnosis) -> str:
    """Several lines: the verdict, what blocks, and what is reachable."""
    lines = [verdict(diagnosis), *(["What blocks:"] if diagnosis.blockers else [])]
    for blocker in diagnosis.blockers:
        lines += [f"  - {blocker_head(blocker)}:", *(f"      {example}" for example in _examples(blocker))]
    if diagnosis.holding:
        lines += ["What holds:", *(f"  - {_named(model, column)}" for model, column in diagnosis.holding)]
    if diagnosis.reachable:
        lines.append(_REACHED.get(diagnosis.code, "The strongest that each model alone can reach:"))
        reached = {**diagnosis.reachable, **diagnosis.reachable_short}
        lines += [f"  - {name} = {exact(value)}" for name, value in reached.items()]
    return "\n".join(lines)


def verdict(diagnosis: Diagnosis) -> str:
    """The answer in a sentence."""
    budget, records = f"{diagnosis.budget:,}", pluralize(diagnosis.records, "record")
    allowed = f" with at most {budget} of {records} suppressed" if diagnosis.budget else ""
    if diagnosis.code == "not-found":
        return f"{diagnosis.algorithm} found no release that satisfies the policy{allowed}."
    if diagnosis.code == "range-method":
        return (
            "The range method as published guarantees no model and suppresses nothing. The policy does not hold on its "
            "result, so nothing is released."
        )
    if diagnosis.code == "shared-ranges":
        return f"The policy does not hold on the groups of the range method{allowed}."
    if diagnosis.code == "no-node":
        return f"No full-domain release satisfies the policy{allowed}. Every level that the boundaries allow was tried."
    if diagnosis.code == "starts-at-top":
        return (
            f"The most general release that the boundaries allow does not satisfy the policy{allowed}, and the "
            f"algorithm starts from it. A less general one may: the algorithm {diagnosis.exhaustive} looks for it."
        )
    return f"No release satisfies the policy{allowed}, not even the most general one that the boundaries allow."


def blocker_head(blocker: Blocker, naming: Naming = str) -> str:
    """Which model fails, and in how many classes and records."""
    classes, records = pluralize(blocker.classes, "class"), pluralize(blocker.records, "record")
    return f"{_named(blocker.model, blocker.sensitive, naming)} fails in {classes} ({records})"


def blocker_text(blocker: Blocker) -> str:
    """Which model fails, and where, in one line."""
    return f"{blocker_head(blocker)}: {'; '.join(_examples(blocker))}"


def edit_label(edit: PolicyEdit) -> str:
    """An edit that a problem offers, as an imperative."""
    labels = {"same": "Merge the spellings", "different": "Keep them as different values"}
    return labels[str(edit.path[-1])]


def suggestion(relaxation: Relaxation, naming: Naming = str) -> str:
    """A change as an imperative: ``Lower k of k-anonymity to 11``."""
    if relaxation.code == "suppression" and relaxation.share is not None and relaxation.records is not None:
        needed = f"{relaxation.records:,} of {pluralize(relaxation.of_records or 0, 'record')}"
        return f"Allow {100 * relaxation.share:g}% of the records to be suppressed ({needed})"
    if relaxation.code == "parameters":
        text = listing([_weaker(change, naming, relaxation.parameters) for change in relaxation.parameters])
        return text[0].upper() + text[1:]
    if relaxation.code == "boundaries":
        noun = "boundary" if len(relaxation.columns) == 1 else "boundaries"
        return f"Remove the {noun} on {listing([repr(name) for name in relaxation.columns])}"
    if relaxation.code == "group-level":
        return f"Raise the group level of {relaxation.columns[0]!r} to {relaxation.level}"
    also = "" if relaxation.also is None else suggestion(relaxation.also, naming)
    return "Share one range per group (safe: true)" + (f" and {also[0].lower()}{also[1:]}" if also else "")


def _weaker(change: ParameterChange, naming: Naming, changes: Sequence[ParameterChange]) -> str:
    alike = sum((each.model, each.sensitive) == (change.model, change.sensitive) for each in changes)
    entry = f" (entry {change.entry + 1})" if alike > 1 and len({each.entry for each in changes}) > 1 else ""
    verb, model = "lower" if change.at_least else "raise", _named(change.model, change.sensitive, naming)
    return f"{verb} {change.parameter} of {model}{entry} to {exact(change.value)}"


def _examples(blocker: Blocker) -> list[str]:
    if blocker.table_lacks:
        return [f"the table as a whole: {shortfalls_text(blocker.table_lacks)}"]
    found = []
    for each in blocker.examples:
        labels = (f"{name} = {'missing' if label is None else label}" for name, label in each.labels.items())
        where = f" with {', '.join(labels)}" if each.labels else ", with every column fully generalized"
        found.append(f"the class of {pluralize(each.records, 'record')}{where}: {shortfalls_text(each.lacks)}")
    return found


def _named(model: str, sensitive: str | None, naming: Naming = str) -> str:
    return f"{naming(model)} on {sensitive!r}" if sensitive else naming(model)


def shortfalls_text(shortfalls: Iterable[Shortfall]) -> str:
    """Several shortfalls as one phrase: ``2 distinct values of condition, 3 required``."""
    return "; ".join(map(_shortfall_text, shortfalls))


def _shortfall_text(short: Shortfall) -> str:
    of = f" of {short.key} in {short.column}" if short.key else f" of {short.column}" if short.column else ""
    reached, required = number(short.reached), number(short.required)
    if reached == required:  # a figure that misses its limit by little must not look equal to it
        reached, required = f"{short.reached:.9g}", f"{short.required:.9g}"
    if short.counted and short.quantity:
        singular = re.sub("s$", "", re.sub("ies$", "y", short.quantity.replace("people", "person")))
        found = f"{reached} {singular if short.reached == 1 else short.quantity}{of}"
    else:
        found = f"{short.quantity or short.parameter.partition('[')[0]} {reached}{of}"
    where = "" if short.of_class else " in the whole release"
    limit = f"{required} required" if short.code == "below-minimum" else f"at most {required} allowed"
    return f"{found}{where}, {limit}"
