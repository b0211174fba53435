"""The people of a release as it and earlier releases see them: which classes they fit, and what those hold.

People are told apart by what an attacker may know of them: the quasi-identifiers of all releases, and their sensitive
value, to compare with. An earlier quasi-identifier that the data does not have tells nothing, and the classes there are
then as wide as what is left of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.attacks.fitting import CodePairs
from shoal.attacks.intersection import View
from shoal.attacks.registry.secrets import Secrets, categories_read_as_now
from shoal.attacks.registry.signature import Signature, signature_of
from shoal.attacks.released_classes import Codes, Ints, as_written, rows_of_release
from shoal.attacks.released_labels import UnreadableError, reads_as_now, values_of_labels
from shoal.hierarchies.hierarchy import Label
from shoal.policy import Policy
from shoal.search.problem import Problem
from shoal.table.classes import Histogram
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import combine_codes
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class EarlierRelease:
    """An earlier release, by its classes."""

    name: str
    signature: Signature
    policy: Policy | None = None  # the policy it was made by; None where only fingerprints of it are left

    @staticmethod
    def read(name: str, release: Any, policy: Policy | str | Path) -> EarlierRelease:
        """Read a release from a path or a table."""
        own = policy if isinstance(policy, Policy) else Policy.load(policy)
        return EarlierRelease(name, signature_of(own, rows_of_release(release, own)), own)


@dataclass(frozen=True, eq=False)
class NewRelease:
    """A release with what it was made from."""

    policy: Policy
    rows: DistinctRows  # the columns of the data that the releases name, one row per row of the recoding
    problem: Problem
    recoding: Recoding | None = None  # none where all that is known of the release is what it shows
    shown: Signature | None = None
    """What readers see of it where that is more than the recoding: records that were published before it."""


@dataclass(frozen=True, eq=False)
class People:
    """Everybody in the new release, and how the releases see them."""

    secrets: Secrets
    counts: Ints  # records that each distinct person stands for
    truth: Ints  # everybody's own sensitive value, as numbered
    this: View
    views: tuple[View, ...]  # the earlier releases
    earlier: tuple[EarlierRelease, ...]
    notes: tuple[Mapping[str, str], ...] = ()
    """What the reader should know about how labels were read: a ``code`` and its facts."""
    unreadable: tuple[Mapping[str, Any], ...] = ()
    """Why earlier releases cannot be compared with this one: a ``code`` and its facts."""


Known = Mapping[str, tuple[tuple[Label, ...], Codes]]
"""For each column that an earlier release shows and the data has: its texts, and the code of each row."""


def people_of(new: NewRelease, column: str, earlier: Sequence[EarlierRelease], *, as_values: bool = False) -> People:
    """Everybody by one sensitive column.

    ``as_values``: by the values of the data as they are, even where categories are published; the policies that earlier
    releases were made by are then at hand.
    """
    known = _known(new, earlier, as_values=as_values)
    usable = [each for each in earlier if any(quasi.name in known for quasi in each.signature.quasi)]
    released = [(secret, each.policy or new.policy) for each in usable if (secret := each.signature.secret(column))]
    if new.shown is not None and (own := new.shown.secret(column)) is not None:
        released.append((own, new.policy))
    unreadable = list[Mapping[str, Any]]()
    values, codes = _values(new, column, as_values=as_values)
    numbering = (new.policy, column, values, new.problem.models)
    try:
        secrets = Secrets.of(*numbering, released, as_values=as_values)
    except UnreadableError as error:
        unreadable.append(error.facts)
        released, usable = released[len(usable) :], []
        secrets = Secrets.of(*numbering, released, as_values=as_values)
    rows, counts = _distinct(new, (codes, len(values)), known)
    covers: dict[int, dict[str, CodePairs]] = {}
    for index, each in enumerate(usable):
        try:
            covers[index] = _covers(each.policy or new.policy, each.signature, known, own=each.policy is not None)
        except UnreadableError as error:
            unreadable.append({**error.facts, "release": each.name})
    views = [] if unreadable else [
        _view_of(each.signature, column, secrets.groups[index], covers[index], known, rows)
        for index, each in enumerate(usable)
    ]  # fmt: skip
    return People(
        secrets=secrets,
        counts=counts,
        truth=secrets.own[codes[rows]],
        this=_own_view(new, column, secrets, known, rows, as_values=as_values),
        views=tuple(views),
        earlier=tuple(usable),
        notes=tuple(_notes(new.policy, column, usable, known)),
        unreadable=tuple(unreadable),
    )


def _known(new: NewRelease, earlier: Sequence[EarlierRelease], *, as_values: bool) -> Known:
    """What the data tells of the quasi-identifiers of the releases, as the new policy writes it or as it is."""
    found = {}
    table = new.problem.table
    for name in dict.fromkeys([*table.quasi, *(each.name for one in earlier for each in one.signature.quasi)]):
        if name in table.quasi and not as_values:
            index = table.quasi.index(name)
            hierarchy = new.problem.hierarchies[index]
            found[name] = (hierarchy.labels[: hierarchy.n_leaves], table.codes[index][table.row_tuple])
        elif name in new.rows.columns:
            found[name] = (new.rows.columns[name].labels, new.rows.columns[name].codes)
    return found


def _values(new: NewRelease, column: str, *, as_values: bool) -> tuple[Sequence[Label], Codes]:
    """The values of a sensitive column as published, or as they are, and the code of each row."""
    if not as_values:
        return new.problem.domains[column].values, new.problem.table.row_sensitive[column]
    values = new.rows.columns[column]
    return as_written(new.policy, column, values.labels), values.codes


def _distinct(new: NewRelease, values: tuple[Codes, int], known: Known) -> tuple[Ints, Ints]:
    """A row for each distinct person who is (or may be) in the new release, and the records they stand for."""
    table = new.problem.table
    rows = np.arange(len(table.row_tuple)) if new.recoding is None else np.flatnonzero(new.recoding.row_class >= 0)
    others = [(codes, len(texts)) for name, (texts, codes) in known.items() if name not in table.quasi]
    columns = [(table.row_tuple, table.n_tuples), values, *others]
    keys, _ = combine_codes([codes[rows] for codes, _ in columns], [max(width, 1) for _, width in columns])
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    weights = None if table.weights is None else table.weights[rows]
    counts = np.bincount(index, weights=weights, minlength=len(first))
    return rows[first], counts.astype(np.int64)


def _own_view(new: NewRelease, column: str, secrets: Secrets, known: Known, rows: Ints, *, as_values: bool) -> View:
    """The new release itself."""
    if new.shown is not None:
        covers = _covers(new.policy, new.shown, known, own=as_values)
        return _view_of(new.shown, column, secrets.groups[-1], covers, known, rows)
    recoding, table = new.recoding, new.problem.table
    assert recoding is not None
    cells, pairs = [], []
    for index, hierarchy in enumerate(recoding.hierarchies):
        nodes, codes = np.unique(recoding.nodes[:, index], return_inverse=True)
        cells.append(codes)
        first, last = hierarchy.first[nodes], hierarchy.last[nodes]
        pairs.append(CodePairs.of_stretches(first, last, np.arange(len(nodes)), hierarchy.n_leaves))
    kept = np.flatnonzero(recoding.row_class >= 0)
    owner = recoding.row_class[kept].astype(np.int64)
    values = table.row_sensitive[column][kept]
    held = Histogram.of(owner, values, recoding.n_classes, len(new.problem.domains[column].values))
    allowed = CodePairs.of((held.class_of, secrets.own[held.values]), recoding.n_classes)
    people = table.codes[:, table.row_tuple[rows]]
    return View(people, np.array(cells, dtype=np.int32), pairs, allowed)


def _covers(policy: Policy, signature: Signature, known: Known, *, own: bool = False) -> dict[str, CodePairs]:
    """For each column of a release that counts, which of its labels each value of the data fits."""
    return {
        each.name: values_of_labels(each, known[each.name][0], policy, own=own)
        for each in signature.quasi
        if each.name in known
    }


def _view_of(
    signature: Signature, column: str, groups: Sequence[Ints], covers: Mapping[str, CodePairs], known: Known, rows: Ints
) -> View:
    """A release, by its signature, as the people see it."""
    names = [each.name for each in signature.quasi if each.name in covers]
    return View(
        people=np.array([known[name][1][rows] for name in names], dtype=np.int32),
        classes=signature.cells[[index for index, each in enumerate(signature.quasi) if each.name in covers]],
        covers=[covers[name] for name in names],
        allowed=allowed_values(signature, column, groups),
    )


def allowed_values(signature: Signature, column: str, groups: Sequence[Ints]) -> CodePairs:
    """The values that each class of a release allows; ``groups`` are the values that each published one stands for."""
    held = signature.histograms[column]
    lengths = np.array([len(group) for group in groups], dtype=np.int64)
    every = CodePairs(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.concatenate(groups))
    index, repeats = every.indices(held.values.astype(np.int64))
    return CodePairs.of((np.repeat(held.class_of, repeats), every.others[index]), len(signature.sizes))


def _notes(policy: Policy, column: str, earlier: Sequence[EarlierRelease], known: Known) -> list[Mapping[str, str]]:
    """What the reader should know: columns that tell nothing, and labels that are read by another declaration."""
    notes = list[Mapping[str, str]]()
    for one in earlier:
        for each in one.signature.quasi:
            if each.name not in known:
                notes.append({"code": "column-not-in-data", "release": one.name, "column": each.name})
            elif each.name in policy.names("quasi") and reads_as_now(each, policy):
                fact = {"release": one.name, "column": each.name, "kind": each.kind}
                notes.append({"code": "hierarchy-changed", **fact})
        secret = one.signature.secret(column)
        if secret is not None and categories_read_as_now(policy, secret):
            notes.append({"code": "categories-changed", "release": one.name, "column": column})
    return notes
