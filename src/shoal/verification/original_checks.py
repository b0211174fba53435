"""What only the original can tell: whether the release is true, keeps the boundaries, and how much it leaves out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.verification.canonical_text import Chain, Coded, Codes, Label, code
from shoal.verification.intervals import number_in
from shoal.verification.labels import Labels, labels_of
from shoal.verification.matching.label_sets import RangePositions
from shoal.verification.matching.match import Matching, Pairing, match
from shoal.verification.ranges import RangeLabels
from shoal.verification.release_checks import above_boundary, category_column, may_be_missing
from shoal.verification.result import Check, listed, quoted
from shoal.verification.stated_policy import StatedPolicy


def check_truth(
    released: Mapping[str, Any],
    original: Mapping[str, Any],
    policy: StatedPolicy,
    labels: Mapping[str, Labels],
    counts: tuple[Codes, Codes],
) -> list[Check]:
    """Truthfulness and, where there are boundaries, whether they are kept.

    ``counts`` says how many records each released and each original row stands for. Columns that the original lacks are
    not compared, and the message says so.

    The boundaries are kept if the records can be matched without breaking one. That is tried first, since it then
    proves truthfulness as well; the difference to a matching that may break them counts the violations, at the least.
    """
    coded = {name: (code(released[name]), code(original[name])) for name in original}
    plain = [_equal(*coded[name]) for name in coded if name not in labels and policy.columns[name].role != "sensitive"]
    for name in policy.names("sensitive"):
        plain += _sensitive(name, coded[name], released, policy)
    chains = {name: kind.chains(coded[name][1].values) for name, kind in labels.items()}
    bounded = [name for name in labels if policy.columns[name].boundary is not None]

    def matched(allowed: Mapping[str, Sequence[Chain]]) -> Matching:
        pairings = [*plain, *(released_as(*coded[name], labels[name], allowed[name]) for name in labels)]
        return match(pairings, *counts)

    kept = matched({name: _capped(chains[name], policy, name) for name in labels})
    true = matched(chains) if bounded and kept.unmatched else kept
    unplaced = sum(not chain for each in chains.values() for chain in each)
    unseen = [name for name in policy.columns if policy.columns[name].role == "insensitive" and name not in original]
    checks = [_truthfulness(true, released, unplaced, int(counts[0].sum()), unseen)]
    if bounded:
        broken = kept.unmatched - true.unmatched
        message = "no value is released above its boundary"
        if broken:
            shown = f"; for example {_record(released, kept.example)}" if kept.example is not None else ""
            message = f"{broken:,} records or more are released above a boundary of {', '.join(bounded)}{shown}"
        checks.append(Check("boundaries", not broken, message, {"columns": bounded, "violations": broken}))
    return checks


def check_boundaries(
    released: Mapping[str, Any], policy: StatedPolicy, labels: Mapping[str, Labels], counts: Codes
) -> list[Check]:
    """Without the original: labels that stand above the boundaries of all that they can stand for.

    A root that a missing value may become can be right, so it does not fail here; the message says how many there are.
    """
    bounded = [name for name in labels if policy.columns[name].boundary is not None]
    if not bounded:
        return []
    above: dict[str, list[str]] = {}
    cells = {"above": 0, "only_missing": 0}
    for name in bounded:
        coded = code(released[name])
        for label in above_boundary(policy, name, labels[name], coded.values):
            excused = may_be_missing(policy, name, labels[name], label)
            found = int(counts[coded.codes == coded.values.index(label)].sum())
            cells["only_missing" if excused else "above"] += found
            if not excused:
                above.setdefault(name, []).append(quoted(label))
    message = "no label is above every boundary under it"
    if above:
        shown = "; ".join(f"{name}: {', '.join(texts[:5])}" for name, texts in above.items())
        message = f"{cells['above']:,} cells are above every boundary under them ({shown})"
    if cells["only_missing"]:
        message += (
            f"; {cells['only_missing']:,} cells are roots that only missing values may become; the original decides"
        )
    return [Check("boundaries", not above, message, {**cells, "labels": above})]


def check_range_ends(
    released: Mapping[str, Any], original: Mapping[str, Any], labels: Mapping[str, Labels], counts: Codes
) -> list[Check]:
    """Each end of a range is a value that the original has in the column: ends are taken from records, never invented.

    Which records form a class cannot be read off a release, so the column is asked, not the class.
    """
    ranged = {name: kind for name, kind in labels.items() if isinstance(kind, RangeLabels)}
    if not ranged:
        return []
    invented: dict[str, list[str | None]] = {}
    cells = 0
    for name, kind in ranged.items():
        numbers = {number_in(value) for value in code(original[name]).values if value is not None}
        coded = code(released[name])
        ranges = [(place, kind.range_of(label)) for place, label in enumerate(coded.values)]
        wrong = [place for place, each in ranges if each is not None and not {each.low, each.high} <= numbers]
        if wrong:
            invented[name] = [coded.values[place] for place in wrong]
            cells += int(counts[np.isin(coded.codes, wrong)].sum())
    if not invented:
        message = "every end of a range is a value of a record of the original"
        return [Check("range-ends", True, message, {"cells": 0, "labels": {}})]
    shown = "; ".join(f"{name}: {listed(found)}" for name, found in invented.items())
    message = f"{cells:,} cells hold ranges with an end that no record of the original has ({shown})"
    return [Check("range-ends", False, message, {"cells": cells, "labels": invented})]


def check_suppression(policy: StatedPolicy, *, total: int, records: int, stars: int, known: bool) -> Check:
    """At most floor(share x records) are suppressed; in ``star`` mode each is there as a row."""
    suppressed = total - records
    allowed = math.floor(Fraction(repr(policy.suppression)) * total)
    facts = {"original": total if known else None, "suppressed": suppressed, "allowed": allowed, "star_rows": stars}
    if suppressed < 0:
        message = f"{records:,} records are released of {total:,}: {-suppressed:,} more than there are"
        return Check("suppression", False, message, facts)
    if policy.suppressed == "star" and stars != suppressed:
        message = f"{stars:,} rows of * stand for {suppressed:,} suppressed records"
        return Check("suppression", False, message, facts)
    message = f"{suppressed:,} of {total:,} records are suppressed, {allowed:,} allowed"
    return Check("suppression", suppressed <= allowed, message, facts)


def _truthfulness(
    matching: Matching, released: Mapping[str, Any], unplaced: int, rows: int, unseen: Sequence[str]
) -> Check:
    facts: dict[str, Any] = {
        "records": rows,
        "without_original": matching.unmatched,
        "values_outside_hierarchies": unplaced,
        **({"not_compared": list(unseen)} if unseen else {}),
    }
    if not matching.unmatched or matching.example is None:
        message = f"each of {rows:,} records matches an original record of its own"
        message += f", by all columns but {', '.join(unseen)}" if unseen else ""
        return Check("truthfulness", True, message, facts)
    message = f"{matching.unmatched:,} of {rows:,} records have no original of their own"
    return Check("truthfulness", False, f"{message}; for example {_record(released, matching.example)}", facts)


def _record(released: Mapping[str, Any], row: int) -> str:
    """A released record for a message."""
    return ", ".join(f"{name}={quoted(column[row].as_py())}" for name, column in released.items())


def _capped(chains: Sequence[Chain], policy: StatedPolicy, column: str) -> list[Chain]:
    """The chains up to their boundary: the first label of it met from the value upward (Campan Def. 4-6)."""
    boundary = policy.columns[column].boundary
    if boundary is None:
        return list(chains)
    if isinstance(boundary, int):
        return [chain[: boundary + 1] for chain in chains]
    named = set(boundary)
    ends = (next((level for level, label in enumerate(chain) if label in named), len(chain)) for chain in chains)
    return [chain[: end + 1] for chain, end in zip(chains, ends, strict=True)]


def _equal(released: Coded, original: Coded, shown: Mapping[Label, Label] | None = None) -> Pairing:
    """A column that is published as it is, or with each value replaced by the one that it shows as."""
    return pairing_by_chains(
        released, original, [(value if shown is None else shown[value],) for value in original.values]
    )


def _sensitive(
    name: str, coded: tuple[Coded, Coded], released: Mapping[str, Any], policy: StatedPolicy
) -> list[Pairing]:
    """A sensitive column: its values, the categories of its values, or both side by side."""
    published = policy.columns[name].publish
    category_of = {value: category for category, values in policy.columns[name].categories.items() for value in values}
    values = coded[1].values
    shown = dict(zip(values, values, strict=True))
    if policy.columns[name].hierarchy:  # its first level is the value in the hierarchy's own writing
        chains = labels_of(policy, name).chains(values)
        shown = {value: chain[0] if chain else value for value, chain in zip(values, chains, strict=True)}
    categories = {value: category_of.get(text) for value, text in shown.items()}
    if published == "categories":
        return [_equal(*coded, categories)]
    pairings = [_equal(*coded, shown)]
    if published == "both":
        pairings.append(_equal(code(released[category_column(name)]), coded[1], categories))
    return pairings


_LISTED = 100_000
"""How many pairs of a value and a range are listed one by one; more are told by their places on a line."""


def pairing_by_chains(released: Coded, original: Coded, chains: Sequence[Chain]) -> Pairing:
    """A column whose original values lie under the labels of their chains."""
    place = {label: index for index, label in enumerate(released.values)}
    lie = [tuple(sorted({place[label] for label in chain if label in place})) for chain in chains]
    return Pairing(released.codes, original.codes, len(released.values), lie)


def released_as(released: Coded, original: Coded, kind: Labels, chains: Sequence[Chain]) -> Pairing:
    """A quasi-identifier: an original value lies under the labels of its chain, and in ranges where there are any."""
    if not isinstance(kind, RangeLabels):
        return pairing_by_chains(released, original, chains)
    spans = kind.positions(original.values, chains, released.values)
    if spans is None or spans.pairs <= _LISTED:
        return pairing_by_chains(released, original, kind.with_ranges(original.values, chains, released.values))
    order = spans.order()
    labels = Coded([released.values[label] for label in order.tolist()], np.argsort(order)[released.codes])
    return replace(
        pairing_by_chains(labels, original, chains), spans=RangePositions(spans.at, spans.low[order], spans.high[order])
    )
