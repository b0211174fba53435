"""The people of a release as it and earlier releases see them: which classes they fit, and what those hold.

People are told apart by what an attacker may know of them: the quasi-identifiers of all releases, and their sensitive
value, to compare with. An earlier quasi-identifier that the data does not have tells nothing, and the classes there are
then as wide as what is left of them.

Releases may publish a sensitive column in different ways; what a person may have in it is numbered once for all of
them, as finely as the new release publishes the column: where that shows categories, a value of an earlier release
counts as its category; where it shows values, a category of an earlier release stands for all its values. What the
categories hold is read from the new policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.attacks.class_fit import CodePairs, View
from shoal.attacks.registry.signature import ReleasedSecret, Signature, categories_fingerprint, signature_of
from shoal.attacks.released_classes import Codes, Ints, as_written, by_text, rows_of_release
from shoal.attacks.released_labels import UnreadableError, reads_as_now, values_of_labels
from shoal.hierarchies.bins import overlapping
from shoal.hierarchies.hierarchy import Label
from shoal.models import Model
from shoal.policy import Policy
from shoal.search.problem import Problem
from shoal.table.classes import Histogram
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import combine_codes
from shoal.table.recoding import Recoding

Key = tuple[str, Label]  # a category or a value, and its text: a category may be called like a value
_CATEGORY, _VALUE = "category", "value"
Known = Mapping[str, tuple[Sequence[Label], Codes]]  # what the data tells of a column: its texts, and each row's code


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
    shown: Signature | None = None  # what readers see where that is more than the recoding: records published before


@dataclass(frozen=True, eq=False)
class Secrets:
    """One numbering of what a person may have in a sensitive column, and how many different secrets are promised."""

    own: Ints  # the number of each value of the new release's domain
    category_of: Ints  # the category of each number, counted from 0; a value in none has one of its own
    required: Ints  # distinct values required, two at least, and distinct categories, 0 where no model counts them
    groups: Sequence[CodePairs]  # for each earlier release the numbers that each of its values stands for

    @staticmethod
    def of(
        policy: Policy,
        column: str,
        own_values: Sequence[Label],
        models: Sequence[Model],
        earlier: Sequence[tuple[ReleasedSecret, Policy]],
        *,
        as_values: bool = False,
    ) -> Secrets:
        """Number the values of a column; `UnreadableError` where an earlier release cannot be read.

        Each earlier release comes with the policy that its categories are read by. ``as_values`` numbers values even
        where categories are published, which then stand for all their values.
        """
        as_categories = policy.published(column) == "categories" and not as_values
        own: list[Key] = [(_CATEGORY if as_categories else _VALUE, value) for value in own_values]
        in_bins = policy.published(column) == "bins"
        stands = [
            [[(_VALUE, value) for value in values] for values in overlapping(each.values, own_values)]
            if in_bins or each.published == "bins"
            else _stands_for(its_policy, each, as_categories)
            for each, its_policy in earlier
        ]
        every = sorted({*own, *(key for groups in stands for keys in groups for key in keys)}, key=_order)
        number = {key: index for index, key in enumerate(every)}
        known = _category_of(policy, column)
        categories = [(_CATEGORY, known[text]) if kind == _VALUE and text in known else (kind, text)
                      for kind, text in every]  # fmt: skip
        rank = {key: index for index, key in enumerate(sorted(set(categories), key=_order))}
        least = promised(models, column)
        return Secrets(
            own=np.array([number[key] for key in own], dtype=np.int64),
            category_of=np.array([rank[key] for key in categories], dtype=np.int64),
            required=np.array([max(2, *least), 0] if as_categories else [max(2, least[0]), least[1]]),
            groups=[
                CodePairs.of_set({(value, number[key]) for value, keys in enumerate(each) for key in keys}, len(each))
                for each in stands
            ],
        )


def promised(models: Sequence[Model], column: str) -> tuple[int, int]:
    """Distinct values and distinct categories that the models on a column promise in each class."""
    on_column = [model for model in models if model.column == column]
    values = max((model.least_values for model in on_column), default=1)
    return values, max((model.least_categories for model in on_column), default=0)


def _stands_for(policy: Policy, released: ReleasedSecret, as_categories: bool) -> list[list[Key]]:
    """What each value of an earlier release stands for; an unknown one for nothing."""
    category_of, unknown = _category_of(policy, released.name), policy.columns[released.name].unknown_values
    declared = policy.columns[released.name].category_values
    gone = [value for value in released.values if value not in declared and value not in unknown]
    if released.published == "categories" and gone:
        raise UnreadableError("categories-gone", released.name, labels=gone)

    def keys(value: Label) -> list[Key]:
        if value in unknown:
            return []
        if released.published != "categories":
            return [(_CATEGORY, category_of[value]) if as_categories and value in category_of else (_VALUE, value)]
        if as_categories:
            return [(_CATEGORY, value)]
        return [(_VALUE, each) for each, of in category_of.items() if of == value]

    return [keys(value) for value in released.values]


def _category_of(policy: Policy, column: str) -> dict[Label, str]:
    """The category of each value as a release writes it: a hierarchy writes values in its own way."""
    declared, unknown = policy.columns[column].category_values.items(), policy.columns[column].unknown_values
    found = {value: category for category, values in declared for value in as_written(policy, column, values)}
    return {value: category for value, category in found.items() if value not in unknown}


def _order(key: Key) -> tuple[str, bool, str]:
    return key[0], *by_text(key[1])


@dataclass(frozen=True, eq=False)
class People:
    """Everybody in the new release, and how the releases see them."""

    secrets: Secrets
    counts: Ints  # records that each distinct person stands for
    truth: Ints  # everybody's own sensitive value, as numbered
    this: View
    views: Sequence[View]  # the earlier releases
    earlier: Sequence[EarlierRelease]
    notes: Sequence[Mapping[str, str]]  # how labels were read, as far as it matters: a ``code`` and its facts
    unreadable: Sequence[Mapping[str, Any]]  # why earlier releases cannot be compared: a ``code`` and its facts


def people_of(new: NewRelease, column: str, earlier: Sequence[EarlierRelease], *, as_values: bool = False) -> People:
    """Everybody whose value of a sensitive column is known: who has no known secret has none to lose.

    ``as_values``: by the values of the data as they are, even where categories are published, and two candidates are
    all that is promised; the policies that earlier releases were made by are then at hand.
    """
    known = _known(new, earlier, as_values=as_values)
    usable = [each for each in earlier if any(quasi.name in known for quasi in each.signature.quasi)]
    released = [(secret, each.policy or new.policy) for each in usable if (secret := each.signature.secret(column))]
    if new.shown is not None and (own := new.shown.secret(column)) is not None:
        released.append((own, new.policy))
    values: Sequence[Label] = new.problem.domains[column].values
    codes, models = new.problem.table.row_sensitive[column], new.problem.models
    if as_values:
        values = as_written(new.policy, column, new.rows.columns[column].labels)
        codes, models = new.rows.columns[column].codes, ()
    unreadable = list[Mapping[str, Any]]()
    try:
        secrets = Secrets.of(new.policy, column, values, models, released, as_values=as_values)
    except UnreadableError as error:
        unreadable.append(error.facts)
        released, usable = released[len(usable) :], []
        secrets = Secrets.of(new.policy, column, values, models, released, as_values=as_values)
    rows, counts = _distinct(new, (codes, len(values)), known)
    of_value = np.array([value not in new.policy.columns[column].unknown_values for value in values], dtype=np.bool_)
    rows, counts = rows[of_value[codes[rows]]], counts[of_value[codes[rows]]]
    views = []
    for each, groups in zip(usable, secrets.groups, strict=False):
        try:
            policy, has_own = each.policy or new.policy, each.policy is not None
            views.append(_view(each.signature, policy, column, groups, known, rows, own=has_own))
        except UnreadableError as error:
            unreadable.append({**error.facts, "release": each.name})
    if new.shown is None:
        this = _own_view(new, column, secrets, rows)
    else:
        this = _view(new.shown, new.policy, column, secrets.groups[-1], known, rows, own=as_values)
    notes = _notes(new.policy, column, usable, known)
    return People(secrets, counts, secrets.own[codes[rows]], this, views, usable, notes, unreadable)


def _known(new: NewRelease, earlier: Sequence[EarlierRelease], *, as_values: bool) -> Known:
    """What the data tells of the quasi-identifiers of the releases, as the new policy writes it or as it is."""
    found: dict[str, tuple[Sequence[Label], Codes]] = {}
    table = new.problem.table
    for name in dict.fromkeys([*table.quasi, *(each.name for one in earlier for each in one.signature.quasi)]):
        if name in table.quasi and not as_values:
            index = table.quasi.index(name)
            hierarchy = new.problem.hierarchies[index]
            found[name] = (hierarchy.labels[: hierarchy.n_leaves], table.codes[index][table.row_tuple])
        elif name in new.rows.columns:
            found[name] = (new.rows.columns[name].labels, new.rows.columns[name].codes)
    return found


def _distinct(new: NewRelease, values: tuple[Codes, int], known: Known) -> tuple[Ints, Ints]:
    """A row for each distinct person who is (or may be) in the new release, and the records they stand for."""
    table = new.problem.table
    rows = np.arange(len(table.row_tuple)) if new.recoding is None else np.flatnonzero(new.recoding.row_class >= 0)
    others = [(codes, len(texts)) for name, (texts, codes) in known.items() if name not in table.quasi]
    columns = [(table.row_tuple, table.n_tuples), values, *others]
    keys, _ = combine_codes([codes[rows] for codes, _ in columns], [max(width, 1) for _, width in columns])
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    weights = None if table.weights is None else table.weights[rows]
    return rows[first], np.bincount(index, weights=weights, minlength=len(first)).astype(np.int64)


def _own_view(new: NewRelease, column: str, secrets: Secrets, rows: Ints) -> View:
    """The new release by its recoding."""
    recoding, table = new.recoding, new.problem.table
    assert recoding is not None
    cells, pairs = [], []
    for index, hierarchy in enumerate(recoding.hierarchies):
        nodes, codes = np.unique(recoding.nodes[:, index], return_inverse=True)
        cells.append(codes)
        first, last = hierarchy.first[nodes], hierarchy.last[nodes]
        pairs.append(CodePairs.of_stretches(first, last, np.arange(len(nodes)), hierarchy.n_leaves))
    kept = np.flatnonzero(recoding.row_class >= 0)
    owner, values = recoding.row_class[kept].astype(np.int64), table.row_sensitive[column][kept]
    domain = new.problem.domains[column]
    held = Histogram.of(owner, values, recoding.n_classes, len(domain.values)).of_values(domain.known)
    allowed = CodePairs.of((held.class_of, secrets.own[held.values]), recoding.n_classes)
    return View(table.codes[:, table.row_tuple[rows]], np.array(cells, dtype=np.int32), pairs, allowed)


def _view(
    signature: Signature, policy: Policy, column: str, groups: CodePairs, known: Known, rows: Ints, *, own: bool
) -> View:
    """A release, by its signature, as the people see it; its labels are read by a policy, which may be its own."""
    shared = {index: each for index, each in enumerate(signature.quasi) if each.name in known}
    return View(
        people=np.array([known[each.name][1][rows] for each in shared.values()], dtype=np.int32),
        classes=signature.cells[list(shared)],
        covers=[values_of_labels(each, known[each.name][0], policy, own=own) for each in shared.values()],
        allowed=signature.allowed_values(column, groups),
    )


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
        declared = categories_fingerprint(policy, column)
        if secret and secret.published == "categories" and declared != secret.categories:
            notes.append({"code": "categories-changed", "release": one.name, "column": column})
    return notes
