"""Every model of the policy on every sensitive column that it is on, as checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from shoal.verification.canonical_text import Codes, Label
from shoal.verification.classes import Classes, SensitiveCounts, group, tally
from shoal.verification.dates import DateLabels
from shoal.verification.labels import Labels, ListedLabels, labels_of, tree_chains
from shoal.verification.model_conditions import Case, Judged, conditions
from shoal.verification.result import Check
from shoal.verification.stated_policy import StatedPolicy
from shoal.verification.transport_distances import ValueDistances


def check_models(
    cells: Mapping[str, Any], policy: StatedPolicy, labels: Mapping[str, Labels], counts: Codes
) -> tuple[int, list[Check]]:
    """The number of classes, and a check for each model and column; each row stands for so many records."""
    classes = group(cells, list(labels), counts)
    tallies = {name: _tally(name, cells, classes, policy) for name in policy.names("sensitive")}
    checks = []
    for entry in policy.privacy:
        name = entry["model"]
        if "sensitive" not in entry:
            checks.append(_judge(name, Case(entry, classes)))
            continue
        named = entry["sensitive"]
        for column in list(tallies) if named is None else [named] if isinstance(named, str) else named:
            counted = tallies[column]
            apart = partial(_value_distances, counted=counted, policy=policy)
            checks.append(_judge(name, Case(entry, classes, counted, apart), f"{name}[{column}]"))
    return len(classes.sizes), checks


def _judge(model: str, case: Case, name: str | None = None) -> Check:
    """One model on one column; a model that nobody can check does not hold."""
    condition = conditions().get(model)
    if condition is None:
        message = f"there is no independent check for {model}; the package that offers it must offer one as well"
        return Check(name or model, False, message, {"failing_classes": len(case.classes.sizes)})
    return _check(name or model, condition(case), case.classes)


def _tally(name: str, cells: Mapping[str, Any], classes: Classes, policy: StatedPolicy) -> SensitiveCounts:
    named = policy.columns[name].publish == "categories"
    return tally(name, cells[name], classes, policy.columns[name].categories, named=named)


def _check(name: str, outcome: Judged, classes: Classes) -> Check:
    """An outcome as a check: the extremes when it holds, who fails when it does not."""
    facts = dict(outcome.facts)
    failing = ~outcome.holds
    count, total = int(failing.sum()), len(failing)
    problems = list(outcome.whole)
    if count:
        records = int(classes.sizes[failing].sum())
        worst = classes.first(failing)
        facts |= {"failing_classes": count, "failing_records": records, "example": classes.describe(worst)}
        shown = f"for example ({classes.describe(worst)}): {outcome.detail(worst)}"
        problems.append(f"{count:,} of {total:,} classes with {records:,} records fail; {shown}")
    if problems:
        return Check(name, False, "; ".join(problems), facts)
    reached = ", ".join(f"{key} {_shown(value)}" for key, value in facts.items())
    return Check(name, True, f"holds in all {total:,} classes ({reached})", facts)


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _value_distances(distance: str, counted: SensitiveCounts, policy: StatedPolicy) -> ValueDistances | None:
    """How far the published values lie apart; None where the policy does not say.

    Places and heights count the values that the release has: its reader knows no others.
    """
    name = counted.column
    present = {counted.values[entry] for entry in np.unique(counted.entries)}
    if policy.columns[name].publish == "categories":
        listed: Sequence[Label] = [*counted.categories, *sorted(map(str, present - set(counted.categories)))]
        return None if distance == "hierarchical" else ValueDistances(distance, tuple(listed), {})  # type: ignore[arg-type]
    kind = next(iter(policy.columns[name].hierarchy), None)
    if kind is not None:  # its first level is the value in the hierarchy's own writing
        texts = _sorted(present, str)
        written = zip(texts, _as_released(policy, name).chains(texts), strict=True)
        if any(chain and chain[0] != text for text, chain in written):
            return None  # not as a release writes values of such a column: nothing can be said of their distances
    if distance == "equal":
        return ValueDistances("equal", _sorted(present, str), {})
    if distance == "hierarchical":
        return _in_groups(present, _sensitive_labels(policy, name))
    if kind == "order":
        return _in_declared_order(present, _as_released(policy, name))
    return _in_natural_order(present) if kind in {None, "intervals", "dates"} else None


def _as_released(policy: StatedPolicy, name: str) -> Labels:
    """The hierarchy of a sensitive column over values as a release writes them: dates are ISO there."""
    kind = labels_of(policy, name)
    return replace(kind, form=None) if isinstance(kind, DateLabels) else kind


def _sensitive_labels(policy: StatedPolicy, name: str) -> Labels | None:
    """The hierarchy of a sensitive column; without one, its categories are the groups of its values."""
    column = policy.columns[name]
    if not column.hierarchy and column.categories:
        return ListedLabels(tree_chains(column.categories))
    return None if not column.hierarchy else _as_released(policy, name)


def _in_groups(present: set[Label], kind: Labels | None) -> ValueDistances | None:
    """By the groups of the hierarchy above the values that there are."""
    if kind is None:
        return None
    values = list(_sorted(present, str))
    chains = dict(zip(values, kind.chains(values), strict=True))
    return ValueDistances("hierarchical", tuple(values), chains) if all(chains.values()) else None


def _in_declared_order(present: set[Label], kind: Labels) -> ValueDistances | None:
    """The order that the policy declares; a missing value that it does not place is last."""
    declared = list(kind.declared) if isinstance(kind, ListedLabels) else []
    if not present - {None} <= set(declared):
        return None
    missing = [None] if None in present and None not in declared else []
    return ValueDistances("ordered", (*declared, *missing), {})


def _in_natural_order(present: set[Label]) -> ValueDistances | None:
    """The order of numbers or of ISO dates; the missing value is last."""
    for key in (Fraction, np.datetime64):
        try:
            return ValueDistances("ordered", _sorted(present, key), {})
        except ValueError:
            continue
    return None


def _sorted(present: set[Label], key: Callable[[str], Any]) -> tuple[Label, ...]:
    """Values in order, the missing one last."""
    texts = [value for value in present if value is not None]
    texts.sort(key=lambda text: (key(text), text))
    return (*texts, None) if None in present else tuple(texts)
