"""The people of a new release as each release sees them: which of its classes they fit, and what those hold.

People are told apart by what an attacker may know of them: the quasi-identifiers of all releases, and their secret, to
compare with. An earlier quasi-identifier that the new data does not have tells nothing, and the classes there are then
as wide as what is left of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.attacks.composition import View
from shoal.attacks.fits import Cover
from shoal.attacks.registry.entry import Entry
from shoal.attacks.registry.reading import UnreadableError, labels_cover, reads_as_now
from shoal.attacks.registry.secrets import Secrets, UnknownCategoryError, categories_read_as_now
from shoal.attacks.registry.signature import Signature
from shoal.attacks.scene import Codes, Ints
from shoal.hierarchies.hierarchy import Label
from shoal.policy import Policy
from shoal.search.problem import Problem
from shoal.table.classes import Histogram
from shoal.table.distinct_rows import DistinctRows
from shoal.table.encoded import combine_codes
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class NewRelease:
    """A release that was just made, with what it was made from."""

    policy: Policy
    rows: DistinctRows
    """The columns of the data that the policy names; a row for each row of the recoding."""
    problem: Problem
    recoding: Recoding
    shown: Signature | None = None
    """What readers see of it where that is more than the recoding: records that were published before it."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Everybody in the new release, and how the releases see them."""

    secrets: Secrets
    counts: Ints
    """Records that each distinct person stands for."""
    truth: Ints
    """Everybody's own secret, as numbered."""
    this: View
    views: tuple[View, ...]
    """The earlier releases."""
    earlier: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    """Why earlier releases cannot be held against this one."""


Known = Mapping[str, tuple[tuple[Label, ...], Codes]]
"""For each column that an earlier release shows and the new data has: its texts, and the code of each row."""


def scene_of(new: NewRelease, column: str, earlier: Sequence[Entry]) -> Scene:
    """Set the scene for one sensitive column."""
    known = _known(new, earlier)
    usable = [entry for entry in earlier if any(each.name in known for each in entry.signature.quasi)]
    released = [secret for entry in usable if (secret := entry.signature.secret(column)) is not None]
    if new.shown is not None and (own := new.shown.secret(column)) is not None:
        released.append(own)
    models, unreadable = new.problem.models, list[str]()
    try:
        secrets = Secrets.of(new.policy, column, new.problem.domains[column], released, models)
    except UnknownCategoryError as error:
        unreadable.append(str(error))
        released, usable = released[len(usable) :], []
        secrets = Secrets.of(new.policy, column, new.problem.domains[column], released, models)
    rows, counts = _distinct(new, column, known)
    covers: dict[int, dict[str, Cover]] = {}
    for place, entry in enumerate(usable):
        try:
            covers[place] = _covers(new.policy, entry.signature, known)
        except UnreadableError as error:
            unreadable.append(f"{entry.name}: {error}")
    views = [] if unreadable else [
        _view_of(entry.signature, column, secrets.groups[place], covers[place], known, rows)
        for place, entry in enumerate(usable)
    ]  # fmt: skip
    return Scene(
        secrets=secrets,
        counts=counts,
        truth=secrets.own[new.problem.table.row_sensitive[column][rows]],
        this=_own_view(new, column, secrets, known, rows),
        views=tuple(views),
        earlier=tuple(usable),
        notes=tuple(_notes(new.policy, column, usable, known)),
        unreadable=tuple(unreadable),
    )


def _known(new: NewRelease, earlier: Sequence[Entry]) -> Known:
    """What the new data tells of the quasi-identifiers of earlier releases, as the new policy writes it."""
    found = {}
    table = new.problem.table
    for name in dict.fromkeys([*table.quasi, *(each.name for entry in earlier for each in entry.signature.quasi)]):
        if name in table.quasi:
            place = table.quasi.index(name)
            hierarchy = new.problem.hierarchies[place]
            found[name] = (hierarchy.labels[: hierarchy.n_leaves], table.codes[place][table.row_tuple])
        elif name in new.rows.columns:
            found[name] = (new.rows.columns[name].labels, new.rows.columns[name].codes)
    return found


def _distinct(new: NewRelease, column: str, known: Known) -> tuple[Ints, Ints]:
    """A row for each distinct person who is in the new release, and the records they stand for."""
    rows = np.flatnonzero(new.recoding.row_class >= 0)
    table = new.problem.table
    others = [(codes, len(texts)) for name, (texts, codes) in known.items() if name not in table.quasi]
    parts = [(table.row_tuple, table.n_tuples), (table.row_sensitive[column], len(new.problem.domains[column].values))]
    columns = [*parts, *others]
    keys, _ = combine_codes([codes[rows] for codes, _ in columns], [max(width, 1) for _, width in columns])
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    weights = None if table.weights is None else table.weights[rows]
    counts = np.bincount(place, weights=weights, minlength=len(first))
    return rows[first], counts.astype(np.int64)


def _own_view(new: NewRelease, column: str, secrets: Secrets, known: Known, rows: Ints) -> View:
    """The new release itself."""
    if new.shown is not None:
        return _view_of(new.shown, column, secrets.groups[-1], _covers(new.policy, new.shown, known), known, rows)
    recoding, table = new.recoding, new.problem.table
    cells, covers = [], []
    for place, hierarchy in enumerate(recoding.hierarchies):
        nodes, codes = np.unique(recoding.nodes[:, place], return_inverse=True)
        cells.append(codes)
        first, last = hierarchy.first[nodes], hierarchy.last[nodes]
        covers.append(Cover.of_stretches(first, last, np.arange(len(nodes)), hierarchy.n_leaves))
    kept = np.flatnonzero(recoding.row_class >= 0)
    owner = recoding.row_class[kept].astype(np.int64)
    values = table.row_sensitive[column][kept]
    held = Histogram.of(owner, values, recoding.n_classes, len(new.problem.domains[column].values))
    allowed = Cover.of((held.class_of, secrets.own[held.values]), recoding.n_classes)
    people = table.codes[:, table.row_tuple[rows]]
    return View(people, np.array(cells, dtype=np.int32), covers, allowed)


def _covers(policy: Policy, signature: Signature, known: Known) -> dict[str, Cover]:
    """For each column of a release that counts, which of its labels each value of the new data fits."""
    return {
        each.name: labels_cover(each, known[each.name][0], policy) for each in signature.quasi if each.name in known
    }


def _view_of(
    signature: Signature, column: str, groups: Sequence[Ints], covers: Mapping[str, Cover], known: Known, rows: Ints
) -> View:
    """A release, by its signature, as the people of the new one see it."""
    places = [place for place, each in enumerate(signature.quasi) if each.name in covers]
    names = [signature.quasi[place].name for place in places]
    held = signature.histograms[column]
    lengths = np.array([len(group) for group in groups], dtype=np.int64)
    every = Cover(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.concatenate(groups))
    place, repeats = every.places(held.values.astype(np.int64))
    return View(
        people=np.array([known[name][1][rows] for name in names], dtype=np.int32),
        classes=signature.cells[places],
        covers=[covers[name] for name in names],
        allowed=Cover.of((np.repeat(held.class_of, repeats), every.others[place]), len(signature.sizes)),
    )


def _notes(policy: Policy, column: str, earlier: Sequence[Entry], known: Known) -> list[str]:
    """What the reader should know: columns that tell nothing, and labels that are read by another declaration."""
    notes = []
    for entry in earlier:
        for each in entry.signature.quasi:
            if each.name not in known:
                notes.append(f"{entry.name}: the data has no {each.name}, so that its labels there tell nothing.")
            elif each.name in policy.names("quasi") and reads_as_now(each, policy):
                notes.append(f"{entry.name}: the {each.kind} of {each.name} has changed; labels are read as it is now.")
        secret = entry.signature.secret(column)
        if secret is not None and categories_read_as_now(policy, secret):
            notes.append(f"{entry.name}: the categories of {column} have changed; they are read as they are now.")
    return notes
