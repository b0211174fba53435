"""What a release must look like: its columns, its cells as far as the policy tells, and its suppressed rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.verification.canonical_text import ROOT, Codes, Mask, code
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


def check_columns(given: ReadRelease, policy: StatedPolicy) -> Check:
    """Exactly the expected columns, each once."""
    expected = expected_columns(policy)
    missing = [name for name in expected if name not in given.names]
    identifiers = [name for name in given.names if name in policy.names("identifier")]
    unnamed = [name for name in given.names if name not in expected and name not in identifiers]
    twice = [name for name, count in Counter(given.names).items() if count > 1]
    problems = [
        f"{words}: {listed(list(names))}"
        for words, names in (
            ("missing", missing),
            ("identifiers left in", identifiers),
            ("not in the policy", unnamed),
            ("more than once", twice),
        )
        if names
    ]
    facts = {"expected": expected, "missing": missing, "forbidden": [*identifiers, *unnamed], "repeated": twice}
    message = "; ".join(problems) or f"the {len(expected)} columns of the policy and no other"
    return Check("columns", not problems, message, facts)


def check_baggage(given: ReadRelease) -> Check:
    """No metadata, and no list of values that no record holds."""
    message = "; ".join(given.baggage) or "nothing besides the cells"
    return Check("baggage", not given.baggage, message, {"found": list(given.baggage)})


def check_order(given: ReadRelease) -> Check:
    """The rows stand in the order of their cells: by text from left to right, by code point, missing cells last.

    A release in any other order may be in that of the original, and then its first record is the original's first.
    """
    if given.order is not None:
        return _order(given.order.wrong, given.rows, given.order.first)
    later = np.zeros(max(len(given.counts) - 1, 0), dtype=np.bool_)
    tied = ~later
    for column in given.columns.values():
        codes = code(column).codes
        later |= tied & (codes[:-1] > codes[1:])
        tied &= codes[:-1] == codes[1:]
    places = np.flatnonzero(later)
    return _order(len(places), given.rows, int(given.counts[: places[0] + 1].sum()) if len(places) else 0)


def _order(wrong: int, rows: int, row: int) -> Check:
    if not wrong:
        return Check("order", True, "the rows are sorted by their cells", {"out_of_order": 0})
    message = (
        f"{wrong:,} of {rows:,} rows come before one that sorts ahead of them, the first in row "
        f"{row:,}; sort the rows by the text of their cells from left to right, missing cells last: "
        "their order may be that of the input"
    )
    return Check("order", False, message, {"out_of_order": wrong})


def check_hash(given: ReadRelease) -> list[Check]:
    """The evidence beside a release file speaks of these very bytes; nothing where there is no such claim."""
    if given.path is None:
        return []
    evidence = evidence_beside(given.path)
    if evidence is None:
        return []
    try:
        claimed = json.loads(evidence.read_bytes()).get("release_sha256")
    except (ValueError, AttributeError, OSError) as error:
        return [Check("hash", False, f"{evidence.name} cannot be read: {error}")]
    if claimed is None:
        return []
    same = claimed == given.sha256
    message = f"{evidence.name} {'has' if same else 'has another'} sha256 {'of' if same else 'than'} the release"
    return [Check("hash", same, message, {"claimed": claimed, "found": given.sha256})]


def star_rows(
    columns: Mapping[str, Any],
    policy: StatedPolicy,
    labels: Mapping[str, Labels],
    counts: Codes | None = None,
    blank: Mask | None = None,
) -> Any:
    """Which rows are suppressed records kept as ``*``: all quasi-identifiers ``*`` and every other cell missing.

    Where there is no other column, a row of ``*`` may also be a record that was generalized to the roots, and says the
    same either way. Such rows are read as a class of records if they can be one: if they are at least as many as every
    k asked for and no boundary forbids a root. Otherwise they can only be suppressed. With ``counts``, each row stands
    for so many; ``blank`` says which rows have nothing in any column that is not among these.
    """
    stars = [pc.fill_null(pc.equal(columns[name], ROOT), fill_value=False) for name in labels]
    others = [pc.is_null(column) for name, column in columns.items() if name not in labels]
    others += [] if blank is None else [blank]
    mask = np.logical_and.reduce([np.asarray(each, dtype=np.bool_) for each in (*stars, *others)])
    if policy.suppressed != "star":
        return np.zeros_like(mask)
    if not others:
        largest = max((model.get("k", 1) for model in policy.privacy), default=1)
        forbidden = any(above_boundary(policy, name, labels[name], [ROOT]) for name in labels)
        if int(mask.sum() if counts is None else counts[mask].sum()) >= largest and not forbidden:
            return np.zeros_like(mask)
    return mask


def check_labels(columns: Mapping[str, Any], labels: Mapping[str, Labels], counts: Codes) -> Check:
    """Every released label is one that the declared hierarchy can produce."""
    strange: dict[str, list[str | None]] = {}
    records = 0
    for name, kind in labels.items():
        coded = code(columns[name])
        unknown = [place for place, label in enumerate(coded.values) if label is not None and not kind.knows(label)]
        if unknown:
            strange[name] = [coded.values[place] for place in unknown]
            records += int(counts[np.isin(coded.codes, unknown)].sum())
    message = "; ".join(f"{name}: {listed(found)}" for name, found in strange.items())
    message = f"{records:,} cells hold labels that the hierarchy cannot give: {message}" if strange else (
        f"every label of {len(labels)} quasi-identifiers is one of its hierarchy"
    )  # fmt: skip
    return Check("labels", not strange, message, {"unknown": strange, "cells": records})


def check_sensitive(columns: Mapping[str, Any], policy: StatedPolicy, counts: Codes) -> list[Check]:
    """Sensitive cells lie in the declared categories, and a published category is that of its value."""
    problems, judged = [], 0
    for name in policy.names("sensitive"):
        categories = policy.columns[name].categories
        if not categories:
            continue
        judged += 1
        published = policy.columns[name].publish
        category_of = {value: category for category, values in categories.items() for value in values}
        known: Collection[str | None] = set(categories) if published == "categories" else set(category_of)
        coded = code(columns[name])
        if strange := [value for value in coded.values if value not in known]:
            problems.append(f"{name}: {listed(strange)} in no category")
        if published == "both":
            texts = [category_of.get(value) for value in coded.values]
            right = pa.array(texts, pa.string()).take(pa.array(coded.codes))
            given = code(columns[category_column(name)])
            named = pa.array(given.values, pa.string()).take(pa.array(given.codes))
            same = pc.fill_null(pc.equal(right, named), fill_value=False)
            wrong = int(counts[~np.asarray(same, dtype=np.bool_)].sum())
            if wrong:
                problems.append(f"{category_column(name)}: {wrong:,} records with a category that is not their value's")
    if not judged:
        return []
    message = "; ".join(problems) or "every sensitive cell lies in its declared category"
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


def may_be_missing(policy: StatedPolicy, column: str, labels: Labels, label: str | None) -> bool:
    """Whether a missing value may become the label within the boundary: a root, unless the policy caps it."""
    boundary = policy.columns[column].boundary
    chain = labels.chains([None])[0]
    if label not in chain:
        return False
    if boundary is None or isinstance(boundary, int):
        return boundary is None or label in chain[: boundary + 1]
    return not any(below in boundary for below in chain[: chain.index(label)])
