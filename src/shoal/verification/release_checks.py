"""What a release must look like: its columns, and its cells as far as the policy tells."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.verification.canonical_text import Codes, code
from shoal.verification.intervals import IntervalLabels
from shoal.verification.labels import Labels
from shoal.verification.read import ReadRelease, evidence_beside
from shoal.verification.result import Check, listed
from shoal.verification.stated_policy import StatedPolicy


def category_column(name: str) -> str:
    """The column that holds the categories where values and categories are both published."""
    return f"{name}_category"


def expected_columns(policy: StatedPolicy) -> list[str]:
    """The columns of a release: everything but identifiers and what the policy does not name."""
    names = [name for name, column in policy.columns.items() if column.role != "identifier"]
    both = [category_column(name) for name in policy.names("sensitive") if policy.columns[name].publish == "both"]
    return [*names, *both]


def check_columns(release: ReadRelease, policy: StatedPolicy) -> Check:
    """Exactly the expected columns, each once."""
    expected = expected_columns(policy)
    missing = [name for name in expected if name not in release.names]
    identifiers = [name for name in release.names if name in policy.names("identifier")]
    unnamed = [name for name in release.names if name not in expected and name not in identifiers]
    twice = [name for name, count in Counter(release.names).items() if count > 1]
    found = {
        "missing": missing,
        "identifiers left in": identifiers,
        "not in the policy": unnamed,
        "more than once": twice,
    }
    problems = [f"{words}: {listed(list(names))}" for words, names in found.items() if names]
    facts = {"expected": expected, "missing": missing, "forbidden": [*identifiers, *unnamed], "repeated": twice}
    message = "; ".join(problems) or f"the {len(expected)} columns of the policy and no other"
    return Check("columns", not problems, message, facts)


def check_baggage(release: ReadRelease) -> Check:
    """No metadata, and no list of values that no record holds."""
    message = "; ".join(release.baggage) or "nothing besides the cells"
    return Check("baggage", not release.baggage, message, {"found": list(release.baggage)})


def check_order(release: ReadRelease) -> Check:
    """The rows stand in the order of their cells: by text from left to right, by code point, missing cells last.

    A release in any other order may be in that of the original, and then its first record is the original's first.
    """
    if not (wrong := release.order.wrong):
        return Check("order", True, "the rows are sorted by their cells", {"out_of_order": 0})
    message = (
        f"{wrong:,} of {release.rows:,} rows come before one that sorts ahead of them, the first in row "
        f"{release.order.first:,}; sort the rows by the text of their cells from left to right, missing cells last: "
        "their order may be that of the input"
    )
    return Check("order", False, message, {"out_of_order": wrong})


def check_hash(release: ReadRelease) -> list[Check]:
    """The evidence beside a release file speaks of these very bytes; nothing where there is no such claim."""
    evidence = None if release.path is None else evidence_beside(release.path)
    return [] if evidence is None else claimed_hash(evidence, release.sha256)


def claimed_hash(evidence: Path, found: str | None) -> list[Check]:
    """The evidence claims the hash that was found; nothing where it claims none."""
    try:
        claimed = json.loads(evidence.read_bytes()).get("release_sha256")
    except (ValueError, AttributeError, OSError) as error:
        return [Check("hash", False, f"{evidence.name} cannot be read: {error}")]
    if claimed is None:
        return []
    same = claimed == found
    message = f"{evidence.name} has the SHA-256 of {'the release' if same else 'another file'}"
    return [Check("hash", same, message, {"claimed": claimed, "found": found})]


def check_labels(columns: Mapping[str, Any], labels: Mapping[str, Labels], counts: Codes) -> Check:
    """Every released label is one that the declared hierarchy can produce."""
    strange: dict[str, list[str | None]] = {}
    records = 0
    for name, kind in labels.items():
        coded = code(columns[name])
        unknown = [index for index, label in enumerate(coded.values) if label is not None and not kind.knows(label)]
        if unknown:
            strange[name] = [coded.values[index] for index in unknown]
            records += int(counts[np.isin(coded.codes, unknown)].sum())
    message = f"every label of {len(labels)} quasi-identifiers is one of its hierarchy"
    if strange:
        unknown_labels = "; ".join(f"{name}: {listed(found)}" for name, found in strange.items())
        message = f"{records:,} cells hold labels that the hierarchy cannot give: {unknown_labels}"
    return Check("labels", not strange, message, {"unknown": strange, "cells": records})


def check_sensitive(columns: Mapping[str, Any], policy: StatedPolicy, counts: Codes) -> list[Check]:
    """Sensitive cells lie in the declared categories or bins or are unknown; a published category is its value's."""
    problems, judged = [], 0
    for name in policy.names("sensitive"):
        bins = policy.columns[name].bins
        if bins is not None:
            judged += 1
            labels, shown = IntervalLabels.of_bins(bins), code(columns[name]).values
            outside: list[str | None] = [
                value
                for value in shown
                if not (value is None or value in policy.columns[name].unknown or labels.is_bin(value))
            ]
            if outside:
                problems.append(f"{name}: {listed(outside)} in no bin")
        categories = policy.columns[name].categories
        if not categories:
            continue
        judged += 1
        published, unknown = policy.columns[name].publish, policy.columns[name].unknown
        category_of = {value: category for category, values in categories.items() for value in values}
        known: Collection[str | None] = set(categories) if published == "categories" else set(category_of)
        coded = code(columns[name])
        if strange := [value for value in coded.values if value not in known and value not in unknown]:
            problems.append(f"{name}: {listed(strange)} in no category")
        if published == "both":
            texts = [None if value in unknown else category_of.get(value) for value in coded.values]
            shown, right = columns[category_column(name)], pa.array(texts, pa.string()).take(pa.array(coded.codes))
            without = np.array([value in unknown for value in coded.values])[coded.codes]
            same = np.where(without, pc.is_null(shown), pc.fill_null(pc.equal(shown, right), fill_value=False))
            wrong = int(counts[~same.astype(np.bool_)].sum())
            if wrong:
                problems.append(f"{category_column(name)}: {wrong:,} records with a category that is not their value's")
    if not judged:
        return []
    binned = any(policy.columns[name].bins is not None for name in policy.names("sensitive"))
    message = "; ".join(problems) or f"every sensitive cell lies in its declared {'bin or ' if binned else ''}category"
    return [Check("categories", not problems, message, {"problems": problems})]


def above_boundary(
    policy: StatedPolicy, column: str, labels: Labels, released: Sequence[str | None]
) -> list[str | None]:
    """The labels that stand above the boundary of every value that they can stand for, missing values left aside."""
    boundary = policy.columns[column].boundary
    if boundary is None:
        return []
    if isinstance(boundary, int):
        return [label for label in released if labels.level(label, released) > boundary]
    return [label for label in released if labels.covered(label, boundary)]
