"""Every model of the policy on every sensitive column that it is on, as checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.policy import Policy
from shoal.verification.classes import Classes, Tally, group, tally
from shoal.verification.conditions import CONDITIONS, Case, Outcome, k_anonymity
from shoal.verification.dates import DateLabels
from shoal.verification.declared import tree_chains
from shoal.verification.distances import Ground
from shoal.verification.labels import Labels, ListedLabels, labels_of
from shoal.verification.result import Check
from shoal.verification.text import Codes, Label


def check_models(
    cells: Mapping[str, Any], policy: Policy, labels: Mapping[str, Labels], counts: Codes
) -> tuple[int, list[Check]]:
    """The number of classes, and a check for each model and column; each row stands for so many records."""
    classes = group(cells, list(labels), counts)
    tallies = {name: _tally(name, cells, classes, policy) for name in policy.names("sensitive")}
    checks = []
    for spec in policy.privacy:
        if spec.model == "k-anonymity":
            checks.append(_check(spec.model, k_anonymity(spec, classes), classes))
            continue
        named = spec.sensitive
        columns = list(tallies) if named is None else [named] if isinstance(named, str) else named
        for column in columns:
            ground = None
            if spec.model == "t-closeness":
                ground = _ground(spec.distance, tallies[column], policy)
            outcome = CONDITIONS[spec.model](Case(spec, classes, tallies[column], ground))
            checks.append(_check(f"{spec.model}[{column}]", outcome, classes))
    return len(classes.sizes), checks


def _tally(name: str, cells: Mapping[str, Any], classes: Classes, policy: Policy) -> Tally:
    named = policy.published(name) == "categories"
    return tally(name, cells[name], classes, policy.columns[name].category_values, named=named)


def _check(name: str, outcome: Outcome, classes: Classes) -> Check:
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


def _ground(distance: str, counted: Tally, policy: Policy) -> Ground | None:
    """How far the published values lie apart; None where the policy does not say.

    Places and heights count the values that the release has: its reader knows no others.
    """
    name = counted.column
    present = {counted.values[entry] for entry in np.unique(counted.entries)}
    if policy.published(name) == "categories":
        listed: Sequence[Label] = [*counted.categories, *sorted(map(str, present - set(counted.categories)))]
        return None if distance == "hierarchical" else Ground(distance, tuple(listed), {})  # type: ignore[arg-type]
    spec = policy.columns[name].hierarchy
    if spec is not None:  # its first level is the value in the hierarchy's own writing
        texts = _sorted(present, str)
        written = zip(texts, _as_released(policy, name).chains(texts), strict=True)
        if any(chain and chain[0] != text for text, chain in written):
            return None  # not as a release writes values of such a column: nothing can be said of their distances
    if distance == "equal":
        return Ground("equal", _sorted(present, str), {})
    if distance == "hierarchical":
        return _in_groups(present, _sensitive_labels(policy, name))
    if spec is not None and spec.order is not None:
        return _in_declared_order(present, _as_released(policy, name))
    natural = spec is None or spec.intervals is not None or spec.dates is not None
    return _in_natural_order(present) if natural else None


def _as_released(policy: Policy, name: str) -> Labels:
    """The hierarchy of a sensitive column over values as a release writes them: dates are ISO there."""
    kind = labels_of(policy, name)
    return replace(kind, form=None) if isinstance(kind, DateLabels) else kind


def _sensitive_labels(policy: Policy, name: str) -> Labels | None:
    """The hierarchy of a sensitive column; without one, its categories are the groups of its values."""
    column = policy.columns[name]
    if column.hierarchy is None and column.category_values:
        return ListedLabels(tree_chains(column.category_values, policy))
    return None if column.hierarchy is None else _as_released(policy, name)


def _in_groups(present: set[Label], kind: Labels | None) -> Ground | None:
    """By the groups of the hierarchy above the values that there are."""
    if kind is None:
        return None
    values = list(_sorted(present, str))
    chains = dict(zip(values, kind.chains(values), strict=True))
    return Ground("hierarchical", tuple(values), chains) if all(chains.values()) else None


def _in_declared_order(present: set[Label], kind: Labels) -> Ground | None:
    """The order that the policy declares; a missing value that it does not place is last."""
    declared = list(kind.declared) if isinstance(kind, ListedLabels) else []
    if not present - {None} <= set(declared):
        return None
    missing = [None] if None in present and None not in declared else []
    return Ground("ordered", (*declared, *missing), {})


def _in_natural_order(present: set[Label]) -> Ground | None:
    """The order of numbers or of ISO dates; the missing value is last."""
    for key in (Fraction, np.datetime64):
        try:
            return Ground("ordered", _sorted(present, key), {})
        except ValueError:
            continue
    return None


def _sorted(present: set[Label], key: Callable[[str], Any]) -> tuple[Label, ...]:
    """Values in order, the missing one last."""
    texts = [value for value in present if value is not None]
    texts.sort(key=lambda text: (key(text), text))
    return (*texts, None) if None in present else tuple(texts)
