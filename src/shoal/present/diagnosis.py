"""A diagnosis in words: the verdict, what blocks, what is reachable, and what would help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from shoal.formatting import listing, number, pluralize
from shoal.models import Shortfall

if TYPE_CHECKING:
    from shoal.search.diagnosis.diagnosis import BlockedClass, Blocker, Diagnosis
    from shoal.search.diagnosis.relaxations import ParameterChange, Relaxation

Naming = Callable[[str], str]  # how a model is called, by its name in the policy


def exact(value: float) -> str:
    """A number as short as it can be and still be that number: a limit cut to six digits may no longer hold."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """Several lines: the verdict, what blocks, what is reachable, and what would help."""
    return "\n".join([reasons_text(diagnosis), *_way_out(diagnosis)])


def reasons_text(diagnosis: Diagnosis) -> str:
    """Several lines: the verdict, what blocks, and what is reachable."""
    lines = [verdict(diagnosis)]
    if diagnosis.blockers:
        lines.append("What blocks:")
        for blocker in diagnosis.blockers:
            lines += [f"  - {blocker_head(blocker)}:", *(f"      {example}" for example in _examples(blocker))]
    if diagnosis.holding:
        lines += ["What holds:", *(f"  - {_named(model, column)}" for model, column in diagnosis.holding)]
    if diagnosis.reachable:
        one_result = diagnosis.code in {"range-method", "shared-ranges"}
        lines.append("Reached:" if one_result else "The strongest that each model alone can reach:")
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
    return f"No release satisfies the policy{allowed}, not even the most general one that the boundaries allow."


def blocker_head(blocker: Blocker, naming: Naming = str) -> str:
    """Which model fails, and in how many classes and records."""
    classes, records = pluralize(blocker.classes, "class"), pluralize(blocker.records, "record")
    return f"{_named(blocker.model, blocker.sensitive, naming)} fails in {classes} ({records})"


def blocker_text(blocker: Blocker) -> str:
    """Which model fails, and where, in one line."""
    return f"{blocker_head(blocker)}: {'; '.join(_examples(blocker))}"


def suggestion(relaxation: Relaxation, naming: Naming = str) -> str:
    """A change as an imperative: ``Lower k of k-anonymity to 11``."""
    if relaxation.code == "suppression" and relaxation.share is not None and relaxation.records is not None:
        needed = f"{relaxation.records:,} of {pluralize(relaxation.of_records or 0, 'record')}"
        return f"Allow {100 * relaxation.share:g}% of the records to be suppressed ({needed})"
    if relaxation.code == "parameters":
        changes = [_weaker(change, naming, relaxation.parameters) for change in relaxation.parameters]
        text = listing(changes)
        return text[0].upper() + text[1:]
    if relaxation.code == "boundaries":
        noun = "boundary" if len(relaxation.columns) == 1 else "boundaries"
        return f"Remove the {noun} on {listing([repr(name) for name in relaxation.columns])}"
    if relaxation.code == "group-level":
        return f"Raise the group level of {relaxation.columns[0]!r} to {relaxation.level}"
    also = "" if relaxation.also is None else suggestion(relaxation.also, naming)
    return "Share one range per group (safe: true)" + (f" and {also[0].lower()}{also[1:]}" if also else "")


def suggestions_text(relaxations: Sequence[Relaxation], condition: str = "") -> list[str]:
    """Changes as a list under a head line."""
    one = "This change would help" if len(relaxations) == 1 else "Any one of these changes would help"
    return [f"{one}{condition}:", *(f"  - {suggestion(each)}" for each in relaxations)]


def _way_out(diagnosis: Diagnosis) -> list[str]:
    if diagnosis.relaxations:
        return suggestions_text(diagnosis.relaxations)
    if diagnosis.missed:
        return suggestions_text(diagnosis.missed, f", but only with the algorithm {diagnosis.exhaustive}")
    if diagnosis.code == "not-found" and diagnosis.top_satisfies:
        return [f"The most general release allowed does satisfy it: use the algorithm {diagnosis.exhaustive}."]
    if diagnosis.code == "range-method":
        return ["No change was found that would help, not even safe: true with more suppression or coarser groups."]
    if diagnosis.code == "shared-ranges":
        return ["No change was found that would help: neither more suppression nor one coarser group column."]
    return ["No single change of parameters, suppression or boundaries was found that would help."]


def _weaker(change: ParameterChange, naming: Naming, changes: Sequence[ParameterChange]) -> str:
    alike = sum((each.model, each.sensitive) == (change.model, change.sensitive) for each in changes)
    entry = f" (entry {change.entry + 1})" if alike > 1 and len({each.entry for each in changes}) > 1 else ""
    verb = "lower" if change.at_least else "raise"
    return (
        f"{verb} {change.parameter} of {_named(change.model, change.sensitive, naming)}{entry} to {exact(change.value)}"
    )


def _examples(blocker: Blocker) -> list[str]:
    if blocker.table_lacks:
        return [f"the table as a whole: {shortfalls_text(blocker.table_lacks)}"]
    return [f"{_class(example)}: {shortfalls_text(example.lacks)}" for example in blocker.examples]


def _class(example: BlockedClass) -> str:
    records = pluralize(example.records, "record")
    if not example.labels:
        return f"the class of {records}, with every column fully generalized"
    labels = (f"{name} = {'missing' if label is None else label}" for name, label in example.labels.items())
    return f"the class of {records} with {', '.join(labels)}"


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
        singular = re.sub("s$", "", re.sub("ies$", "y", short.quantity))
        found = f"{reached} {singular if short.reached == 1 else short.quantity}{of}"
    else:
        found = f"{short.quantity or short.parameter.partition('[')[0]} {reached}{of}"
    where = "" if short.of_class else " in the whole release"
    limit = f"{required} required" if short.code == "below-minimum" else f"at most {required} allowed"
    return f"{found}{where}, {limit}"
