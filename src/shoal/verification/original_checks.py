"""What only the original can tell: whether the release is true, keeps the boundaries, and how much it leaves out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.verification.canonical_text import Chain, Coded, Codes, Label, code
from shoal.verification.declared_labels import labels_of
from shoal.verification.intervals import IntervalLabels, number_in
from shoal.verification.labels import Labels
from shoal.verification.matching.label_sets import RangePositions
from shoal.verification.matching.match import Matching, Pairing, match
from shoal.verification.ranges import RangeLabels, StretchLabels
from shoal.verification.release_checks import above_boundary, category_column
from shoal.verification.result import Check, described, listed, quoted
from shoal.verification.stated_policy import StatedPolicy


def check_truth(
    released: Mapping[str, Any],
    original: Mapping[str, Any],
    policy: StatedPolicy,
    labels: Mapping[str, Labels],
    counts: tuple[Codes, Codes],
    *,
    proven: bool = False,
) -> list[Check]:
    """Truthfulness and, where there are boundaries, whether they are kept.

    ``counts`` says how many records each released and each original row stands for. Columns that the original lacks are
    not compared, and the message says so.

    The boundaries are kept if the records can be matched without breaking one. That is tried first, since it then
    proves truthfulness as well; the difference to a matching that may break them counts the violations, at the least.
    Nothing is matched where it is ``proven`` which original became which released record.
    """
    kept = true = Matching(0, None)
    bounded = [name for name in labels if policy.columns[name].boundary is not None]
    if not proven:
        kept = true = match(pairings(released, original, policy, labels), *counts)
        if bounded and kept.unmatched:
            true = match(pairings(released, original, policy, labels, bounded=False), *counts)
    chains = {name: kind.chains(code(original[name]).values) for name, kind in labels.items()}
    unknown = sum(not chain for each in chains.values() for chain in each)
    unseen = [name for name in [*policy.names("insensitive"), *policy.names("pseudonym")] if name not in original]
    checks = [_truthfulness(true, released, unknown, int(counts[0].sum()), unseen)]
    if bounded:
        broken = kept.unmatched - true.unmatched
        message = passing_message("boundaries", {})
        if broken:
            shown = f"; for example {described(released, kept.example)}" if kept.example is not None else ""
            message = f"{broken:,} records or more are released above a boundary of {', '.join(bounded)}{shown}"
        checks.append(Check("boundaries", not broken, message, {"columns": bounded, "violations": broken}))
    return checks


def pairings(
    released: Mapping[str, Any],
    original: Mapping[str, Any],
    policy: StatedPolicy,
    labels: Mapping[str, Labels],
    *,
    bounded: bool = True,
) -> list[Pairing]:
    """Each column of both tables: which original values may be released as what, up to their boundaries."""
    found = []
    for name, column in original.items():
        cells, values = code(released[name]), code(column)
        if name in labels:
            chains = labels[name].chains(values.values)
            chains = capped(chains, policy, name) if bounded else chains
            found.append(released_as(cells, values, labels[name], chains))
        elif policy.columns[name].role == "sensitive":
            for shown, texts in published_as(name, values.values, policy).items():
                found.append(pairing_by_chains(code(released[shown]), values, [(text,) for text in texts]))
        else:
            found.append(pairing_by_chains(cells, values, [(value,) for value in values.values]))
    return found


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
        coded, (of_missing,) = code(released[name]), capped(labels[name].chains([None]), policy, name)
        for label in above_boundary(policy, name, labels[name], coded.values):
            excused = label in of_missing
            found = int(counts[coded.codes == coded.values.index(label)].sum())
            cells["only_missing" if excused else "above"] += found
            if not excused:
                above.setdefault(name, []).append(quoted(label))
    message = "no label is above every boundary under it"
    if above:
        shown = "; ".join(f"{name}: {', '.join(texts[:5])}" for name, texts in above.items())
        message = f"{cells['above']:,} cells are above every boundary under them ({shown})"
    if cells["only_missing"]:
        roots = f"{cells['only_missing']:,} cells are roots that only missing values may become"
        message += f"; {roots}; the original decides"
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
        ranges = [(index, kind.range_of(label)) for index, label in enumerate(coded.values)]
        wrong = [index for index, each in ranges if each is not None and not {each.low, each.high} <= numbers]
        if wrong:
            invented[name] = [coded.values[index] for index in wrong]
            cells += int(counts[np.isin(coded.codes, wrong)].sum())
    message = passing_message("range-ends", {})
    if invented:
        shown = "; ".join(f"{name}: {listed(found)}" for name, found in invented.items())
        message = f"{cells:,} cells hold ranges with an end that no record of the original has ({shown})"
    return [Check("range-ends", not invented, message, {"cells": cells, "labels": invented})]


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
    message = passing_message("suppression", {**facts, "original": total})
    return Check("suppression", suppressed <= allowed, message, facts)


def passing_message(name: str, facts: Mapping[str, Any]) -> str:
    """What a check that needs the original says if it holds, by its facts."""
    if name == "truthfulness":
        unseen = facts.get("not_compared")
        message = f"each of {facts['records']:,} records matches an original record of its own"
        return f"{message}, by all columns but {', '.join(unseen)}" if unseen else message
    if name == "suppression":
        suppressed, total, allowed = facts["suppressed"], facts["original"], facts["allowed"]
        return f"{suppressed:,} of {total:,} records are suppressed, {allowed:,} allowed"
    return {
        "boundaries": "no value is released above its boundary",
        "range-ends": "every end of a range is a value of a record of the original",
    }[name]


def _truthfulness(
    matching: Matching, released: Mapping[str, Any], unknown: int, rows: int, unseen: Sequence[str]
) -> Check:
    facts: dict[str, Any] = {"records": rows, "without_original": matching.unmatched}
    facts["values_outside_hierarchies"] = unknown
    facts |= {"not_compared": list(unseen)} if unseen else {}
    if not matching.unmatched or matching.example is None:
        return Check("truthfulness", True, passing_message("truthfulness", facts), facts)
    message = f"{matching.unmatched:,} of {rows:,} records have no original of their own"
    return Check("truthfulness", False, f"{message}; for example {described(released, matching.example)}", facts)


def capped(chains: Sequence[Chain], policy: StatedPolicy, column: str) -> list[Chain]:
    """The chains up to their boundary: the first label of it met from the value upward (Campan Def. 4-6)."""
    boundary = policy.columns[column].boundary
    if boundary is None:
        return list(chains)
    if isinstance(boundary, int):
        return [chain[: boundary + 1] for chain in chains]
    named = set(boundary)
    ends = (next((level for level, label in enumerate(chain) if label in named), len(chain)) for chain in chains)
    return [chain[: end + 1] for chain, end in zip(chains, ends, strict=True)]


def published_as(name: str, values: Sequence[Label], policy: StatedPolicy) -> dict[str, list[Label]]:
    """What the release has for sensitive values: themselves, their categories, or both; unknown ones as they are."""
    column = policy.columns[name]
    unknown = column.unknown
    category_of = {value: category for category, values in column.categories.items() for value in values}
    shown = [value if value is None else column.read_as.get(value, value) for value in values]
    if column.hierarchy:  # its first level is the value in the hierarchy's own writing
        chains = labels_of(policy, name).chains(shown)
        written = [chain[0] if chain else value for value, chain in zip(shown, chains, strict=True)]
        shown = [value if value in unknown else text for value, text in zip(shown, written, strict=True)]
    if column.bins is not None:
        labels = IntervalLabels.of_bins(column.bins)
        shown = [value if value in unknown else labels.bin_of(value) for value in shown]
    categories = [None if text in unknown else category_of.get(text) for text in shown]
    if column.publish == "categories":
        instead = zip(shown, categories, strict=True)
        return {name: [text if text in unknown else category for text, category in instead]}
    return {name: shown, category_column(name): categories} if column.publish == "both" else {name: shown}


_LISTED = 100_000  # pairs of a value and a range that are listed; more are given by their positions on a line


def pairing_by_chains(released: Coded, original: Coded, chains: Sequence[Chain]) -> Pairing:
    """A column whose original values lie under the labels of their chains."""
    index_of = {label: index for index, label in enumerate(released.values)}
    lie = [tuple(sorted({index_of[label] for label in chain if label in index_of})) for chain in chains]
    return Pairing(released.codes, original.codes, len(released.values), lie)


def released_as(released: Coded, original: Coded, kind: Labels, chains: Sequence[Chain]) -> Pairing:
    """A quasi-identifier: an original value lies under the labels of its chain, and in ranges where there are any."""
    if not isinstance(kind, StretchLabels):
        return pairing_by_chains(released, original, chains)
    spans = kind.positions(original.values, chains, released.values)
    if spans is None or spans.pairs <= _LISTED:
        return pairing_by_chains(released, original, kind.with_ranges(original.values, chains, released.values))
    order = spans.order()
    labels = Coded([released.values[label] for label in order.tolist()], np.argsort(order)[released.codes])
    return replace(
        pairing_by_chains(labels, original, chains), spans=RangePositions(spans.at, spans.low[order], spans.high[order])
    )
