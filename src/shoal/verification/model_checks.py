"""Every model of the policy on every sensitive column that it is on, as checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from shoal.verification.canonical_text import Codes, Label
from shoal.verification.classes import SensitiveCounts, group, tally
from shoal.verification.dates import DateLabels
from shoal.verification.labels import Labels, ListedLabels, labels_of, tree_chains
from shoal.verification.model_conditions import Case, conditions
from shoal.verification.result import Check
from shoal.verification.stated_policy import StatedPolicy
from shoal.verification.transport_distances import ValueDistances


def check_models(
    cells: Mapping[str, Any], policy: StatedPolicy, labels: Mapping[str, Labels], counts: Codes
) -> tuple[int, list[Check]]:
    """The number of classes, and a check for each model and column; each row stands for so many records."""
    classes = group(cells, list(labels), counts)
    tallies = {}
    for name in policy.names("sensitive"):
        named = policy.columns[name].publish == "categories"
        tallies[name] = tally(name, cells[name], classes, policy.columns[name].categories, named=named)
    checks = []
    for entry in policy.privacy:
        name = entry["model"]
        if "sensitive" not in entry:
            checks.append(_judge(name, Case(entry, classes)))
            continue
        given = entry["sensitive"]
        for column in list(tallies) if given is None else [given] if isinstance(given, str) else given:
            apart = partial(_value_distances, counted=tallies[column], policy=policy)
            checks.append(_judge(f"{name}[{column}]", Case(entry, classes, tallies[column], apart)))
    return len(classes.sizes), checks


def _judge(name: str, case: Case) -> Check:
    """One model on one column: the extremes when it holds, who fails when it does not.

    A model that nobody can check does not hold.
    """
    model, classes = case.spec["model"], case.classes
    condition = conditions().get(model)
    if condition is None:
        message = f"there is no independent check for {model}; the package that offers it must offer one as well"
        return Check(name, False, message, {"failing_classes": len(classes.sizes)})
    outcome = condition(case)
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
    figures = (f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}" for key, value in facts.items())
    return Check(name, True, f"holds in all {total:,} classes ({', '.join(figures)})", facts)


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
        return _in_groups(present, policy, name)
    if kind == "order":
        return _in_declared_order(present, _as_released(policy, name))
    return _in_natural_order(present) if kind in {None, "intervals", "dates"} else None


def _as_released(policy: StatedPolicy, name: str) -> Labels:
    """The hierarchy of a sensitive column over values as a release writes them: dates are ISO there."""
    kind = labels_of(policy, name)
    return replace(kind, form=None) if isinstance(kind, DateLabels) else kind


def _in_groups(present: set[Label], policy: StatedPolicy, name: str) -> ValueDistances | None:
    """By the groups of the hierarchy above the values that there are; without one, by their categories."""
    column = policy.columns[name]
    if not column.hierarchy and not column.categories:
        return None
    kind = _as_released(policy, name) if column.hierarchy else ListedLabels(tree_chains(column.categories))
    values = _sorted(present, str)
    chains = dict(zip(values, kind.chains(values), strict=True))
    return ValueDistances("hierarchical", values, chains) if all(chains.values()) else None


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
