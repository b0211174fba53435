"""The original as attackers see it: everybody's values, and which released labels they lie under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.released_classes import Codes, Ints, Released, Rows, by_text
from shoal.encode.resolve import Resolved
from shoal.errors import DataError
from shoal.formatting import listing
from shoal.hierarchies.boundaries import Ladder
from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.hierarchies.labels import range_ends
from shoal.hierarchies.problems import quoted
from shoal.hierarchies.ranges import with_ranges
from shoal.policy import Policy
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import EncodedTable, combine_codes
from shoal.table.recoding import Recoding

_LISTED = 6


@dataclass(frozen=True, eq=False)
class Original:
    """The records of the original: the quasi-identifiers that an attacker may know, as distinct rows."""

    codes: Codes
    """``codes[j, t]``: leaf of quasi-identifier ``j`` in tuple ``t``; tuples ascend."""
    counts: Ints
    hierarchies: tuple[Hierarchy, ...]  # with the released ranges as nodes where there are any
    nodes: tuple[Codes, ...]
    """The node of each released label of each quasi-identifier; -1 for one that nobody of the original lies under."""
    ladders: tuple[Ladder, ...] = ()
    secrets: Mapping[str, tuple[Ints, Ints, Ints]] = field(default_factory=dict)
    """For each sensitive column (tuple, value, records): value as in the release, -1 for one that it does not show."""
    extras: tuple[Codes, Ints, Ints] | None = None
    """(codes, tuple, records): the insensitive columns of each distinct combination, coded as in the release."""

    @cached_property
    def records(self) -> int:
        """Records of the original."""
        return int(self.counts.sum())


def original_scene(
    released: Released, rows: Rows, policy: Policy, table: DistinctRows, resolved: Resolved, recoding: Recoding | None
) -> tuple[Released, Original]:
    """The original, and the release with its insensitive columns numbered as in the original."""
    encoded = resolved.problem.table
    given = resolved.problem.hierarchies if recoding is None else recoding.hierarchies
    hierarchies, nodes = [], []
    for name, hierarchy, labels in zip(released.quasi, given, released.labels, strict=True):
        extended, of_label = label_nodes(hierarchy, labels, name, policy)
        _check_found(name, [labels[index] for index in np.flatnonzero(of_label < 0)], policy)
        hierarchies.append(extended)
        nodes.append(of_label)
    secrets = {}
    for name, secret in resolved.sensitive.items():
        place = {value: code for code, value in enumerate(released.stats.domains[name].values)}
        number = np.array([place.get(value, -1) for value in secret.domain.values], dtype=np.int64)
        pairs = encoded.pairs[name]
        secrets[name] = (pairs.tuples.astype(np.int64), number[pairs.values], pairs.counts)
    original = Original(
        codes=encoded.codes,
        counts=encoded.counts,
        hierarchies=tuple(hierarchies),
        nodes=tuple(nodes),
        ladders=resolved.problem.ladders,
        secrets=secrets,
    )
    if released.extras is None:
        return released, original
    return _with_extras(released, rows, original, table, encoded)


def _check_found(name: str, lost: Sequence[Label], policy: Policy) -> None:
    """Refuse labels that the hierarchy over the original does not have, or ranges between values that it lacks."""
    if not lost:
        return
    ranges = [label for label in lost if name in policy.algorithm.ranges and range_ends(label)]
    what = "ranges of {!r} with an end that no record of the original has" if ranges else (
        "labels of {!r} that no record of the original lies under"
    )  # fmt: skip
    raise DataError(
        f"The release has {what.format(name)}: {listing([quoted(each) for each in ranges or lost], _LISTED)}. Use the "
        "original that it was made from.",
        code="release-not-of-original",
    )


def _with_extras(
    released: Released, rows: Rows, original: Original, table: DistinctRows, encoded: EncodedTable
) -> tuple[Released, Original]:
    """Insensitive columns of both sides in one numbering, that of all texts in order."""
    assert released.extras is not None
    row_tuple = encoded.row_tuple
    columns, ours, widths = [row_tuple], [], [len(original.counts)]
    for place, (name, (values, _)) in enumerate(rows.insensitive.items()):
        texts, codes = table.columns[name].labels, table.columns[name].codes
        everything = sorted({*texts, *values}, key=by_text)
        rank = {text: number for number, text in enumerate(everything)}
        columns.append(np.array([rank[text] for text in texts], dtype=np.int32)[codes])
        ours.append(np.array([rank[value] for value in values], dtype=np.int32)[released.extras.codes[place]])
        widths.append(len(everything))
    _, first, of_row = np.unique(combine_codes(columns, widths)[0], return_index=True, return_inverse=True)
    counts = np.bincount(of_row, weights=encoded.weights, minlength=len(first))
    theirs = np.array([column[first] for column in columns[1:]], dtype=np.int32)
    extras = (theirs, row_tuple[first].astype(np.int64), counts.astype(np.int64))
    return replace(released, extras=replace(released.extras, codes=np.array(ours))), replace(original, extras=extras)


def label_nodes(
    hierarchy: Hierarchy, labels: Sequence[Label], name: str, policy: Policy
) -> tuple[Hierarchy, NDArray[np.int32]]:
    """The node of each released label, ranges added where the policy asks for them; -1 for a label not found."""
    nodes = np.array([hierarchy.by_label.get(label, -1) for label in labels], dtype=np.int32)
    if name not in policy.algorithm.ranges:
        return hierarchy, nodes
    ends = {place: _range_ends(hierarchy, labels[place]) for place in np.flatnonzero(nodes < 0).tolist()}
    known = {place: pair for place, pair in ends.items() if pair is not None}
    if not known:
        return hierarchy, nodes
    pairs = np.array(list(known.values()), dtype=np.int32)
    extended, of_pair = with_ranges(hierarchy, pairs, f"columns.{name}.hierarchy")
    nodes[list(known)] = of_pair
    return extended, nodes


def _range_ends(hierarchy: Hierarchy, label: Label) -> tuple[int, int] | None:
    """The leaves at the ends of a range; None for what is no range of leaves."""
    first, last = (hierarchy.by_label.get(end, -1) for end in range_ends(label) or ("", ""))
    return (first, last) if 0 <= first < last < hierarchy.n_leaves else None
