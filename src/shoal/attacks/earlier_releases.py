"""Earlier releases beside this one: what they have in common, and who is in both.

A quasi-identifier counts where it is known of the people: with the original where that has the column, else where both
releases show it. Others tell nothing, and a class is then as wide as what is left of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.attacks.composition import ATTACKER, NAME, People, View, allowed_keys, bound, compose
from shoal.attacks.estimate import Estimate, not_applicable
from shoal.attacks.fits import Cover, covers_of
from shoal.attacks.label_overlap import overlap_cover
from shoal.attacks.linkage import VICTIMS, sampled_people
from shoal.attacks.people import label_nodes
from shoal.attacks.scene import Codes, Ints, Population, Released
from shoal.attacks.scene_setup import as_written, released_scene, rows_of_release
from shoal.errors import PolicyError
from shoal.hierarchies import HierarchyError
from shoal.hierarchies.hierarchy import Label
from shoal.policy import Policy
from shoal.policy.hierarchy_source import hierarchy_source
from shoal.table.distinct_rows import DistinctColumn, DistinctRows
from shoal.table.encoded import combine_codes
from shoal.verification.ranges import quasi_labels
from shoal.verification.stated_policy import stated


@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier release and its policy."""

    released: Released
    policy: Policy


def read_earlier(release: Any, policy: Policy | str | Path) -> Earlier:
    """Read an earlier release."""
    asked = policy if isinstance(policy, Policy) else Policy.load(policy)
    return Earlier(released_scene(rows_of_release(release, asked), asked), asked)


def composed(
    this: Earlier,
    population: Population | None,
    table: DistinctRows | None,
    row_tuple: Codes | None,
    earlier: Sequence[Earlier],
    seed: int,
) -> list[Estimate]:
    """The composition attack on each sensitive column of this release."""
    estimates = []
    for column in this.released.stats.domains:
        sharing = [each for each in earlier if column in each.released.stats.domains]
        if not sharing:
            reason = f"no earlier release publishes {column}."
            estimates.append(not_applicable(NAME, ATTACKER, reason, column))
        elif population is None or table is None or row_tuple is None:
            estimates.append(_bounded(this, sharing, column, seed))
        else:
            estimates.append(_tried(this, population, table, row_tuple, sharing, column, seed))
    return estimates


def _tried(
    this: Earlier,
    population: Population,
    table: DistinctRows,
    row_tuple: Codes,
    earlier: Sequence[Earlier],
    column: str,
    seed: int,
) -> Estimate:
    """With the original: everybody, or a sample of the people."""
    known = [_known(each, table) for each in earlier]
    if not any(known):
        reason = "the original has none of the quasi-identifiers of the earlier releases."
        return not_applicable(NAME, ATTACKER, reason, column)
    secret = table.columns[column]
    texts = as_written(this.policy, column, secret.labels)
    number = _numbering(column, [this, *earlier], texts)
    codes = {name: pair for each in known for name, pair in each.items()}
    parts = [row_tuple, np.array([number[text] for text in texts], dtype=np.int32)[secret.codes]]
    parts += [of_row.codes for of_row in codes.values()]
    widths = [len(population.counts), len(number), *(len(of_row.labels) for of_row in codes.values())]
    _, first, person = np.unique(combine_codes(parts, widths)[0], return_index=True, return_inverse=True)
    weights = np.bincount(person, weights=table.counts, minlength=len(first)).astype(np.int64)
    chosen = np.arange(len(first))
    if len(first) > VICTIMS:
        chosen, weights = sampled_people(weights, VICTIMS, seed)
    rows = first[chosen]
    views = [
        View(
            people=population.codes[:, row_tuple[rows]],
            classes=this.released.cells,
            covers=covers_of(this.released, population),
            allowed=_allowed(this, column, number),
            promised=_promised(this.policy, column),
        )
    ]
    for each, columns in zip(earlier, known, strict=True):
        if columns:
            views.append(_earlier_view(each, columns, rows, column, number, table.counts))
    people = People(weights, table.n_records, sampled=len(chosen) < len(first))
    return compose(column, views, parts[1][rows].astype(np.int64), len(number), people)


def _known(earlier: Earlier, table: DistinctRows) -> dict[str, DistinctColumn]:
    """The quasi-identifiers of an earlier release that the original has."""
    return {name: table.columns[name] for name in earlier.released.quasi if name in table.columns}


def _earlier_view(
    earlier: Earlier,
    columns: Mapping[str, DistinctColumn],
    rows: Ints,
    column: str,
    number: Mapping[Label, int],
    counts: Ints,
) -> View:
    """An earlier release as some people of the original see it; a label that fits nobody of them fits nobody."""
    people, covers = [], []
    for name, each in columns.items():
        place = earlier.released.quasi.index(name)
        where = f"columns.{name}.hierarchy"
        try:
            source = hierarchy_source(earlier.policy.columns[name].hierarchy, earlier.policy.path("."), where)
            often = np.bincount(each.codes, weights=counts, minlength=len(each.labels)).astype(np.int64)
            built = source.build(each.labels, often.tolist(), where)
        except HierarchyError as error:
            raise PolicyError(error.problems, earlier.policy.source) from None
        hierarchy, nodes = label_nodes(built.hierarchy, earlier.released.labels[place], name, earlier.policy)
        people.append(built.codes[each.codes[rows]])
        known = np.flatnonzero(nodes >= 0)
        first, last = hierarchy.first[nodes[known]], hierarchy.last[nodes[known]]
        covers.append(Cover.of_stretches(first, last, known, hierarchy.n_leaves))
    places = [earlier.released.quasi.index(name) for name in columns]
    return View(
        people=np.array(people, dtype=np.int32),
        classes=earlier.released.cells[places],
        covers=covers,
        allowed=_allowed(earlier, column, number),
        promised=_promised(earlier.policy, column),
    )


def _bounded(this: Earlier, earlier: Sequence[Earlier], column: str, seed: int) -> Estimate:
    """Without the original: the classes of this release, or those of a sample of its records."""
    number = _numbering(column, [this, *earlier], ())
    released = this.released
    chosen, members = np.arange(len(released.sizes)), released.sizes
    if len(chosen) > VICTIMS:
        chosen, members = sampled_people(members, VICTIMS, seed)
    own = allowed_keys(np.arange(len(chosen)), chosen, _allowed(this, column, number), len(number))
    views = []
    for each in earlier:
        shared = [name for name in released.quasi if name in each.released.quasi]
        if shared:
            views.append(_overlapping(this, each, shared, chosen, column, number))
    if not views:
        reason = "the releases have no quasi-identifier in common."
        return not_applicable(NAME, ATTACKER, reason, column)
    people = People(members, released.records, sampled=len(chosen) < len(released.sizes))
    return bound(column, own, views, len(number), people)


def _overlapping(
    this: Earlier, earlier: Earlier, shared: Sequence[str], chosen: Ints, column: str, number: Mapping[Label, int]
) -> View:
    """An earlier release as the classes of this one see it: which of its classes can hold the same people."""
    ours, theirs = quasi_labels(stated(this.policy)), quasi_labels(stated(earlier.policy))
    here = [this.released.quasi.index(name) for name in shared]
    there = [earlier.released.quasi.index(name) for name in shared]
    covers = [
        overlap_cover(ours[name], this.released.labels[i], theirs[name], earlier.released.labels[j])
        for name, i, j in zip(shared, here, there, strict=True)
    ]
    return View(
        people=this.released.cells[here][:, chosen],
        classes=earlier.released.cells[there],
        covers=covers,
        allowed=_allowed(earlier, column, number),
        promised=_promised(earlier.policy, column),
    )


def _values_of(release: Earlier, column: str) -> list[list[Label]]:
    """For each published value of a column the secrets that it stands for: itself, or those of its category."""
    values = release.released.stats.domains[column].values
    if release.policy.published(column) != "categories":
        return [[value] for value in values]
    declared = release.policy.columns[column].category_values
    return [as_written(release.policy, column, list(declared[value or ""])) for value in values]


def _numbering(column: str, releases: Sequence[Earlier], texts: Sequence[Label]) -> dict[Label, int]:
    """One numbering of the secrets of several releases and of the original, in the order of their texts."""
    held = {value for release in releases for group in _values_of(release, column) for value in group} | set(texts)
    return {value: place for place, value in enumerate(sorted(held, key=lambda text: (text is None, text or "")))}


def _allowed(release: Earlier, column: str, number: Mapping[Label, int]) -> Cover:
    """The secrets that each class of a release allows."""
    histogram = release.released.stats.histograms[column]
    groups = [[number[value] for value in group] for group in _values_of(release, column)]
    lengths = np.array([len(group) for group in groups], dtype=np.int64)
    flat = np.array([place for group in groups for place in group], dtype=np.int64)
    each = Cover(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), flat)
    place, repeats = each.places(histogram.values.astype(np.int64))
    return Cover.of((np.repeat(histogram.class_of, repeats), flat[place]), len(release.released.sizes))


def _promised(policy: Policy, column: str) -> int:
    """Distinct values of a column that the models of a policy promise in each class."""
    models = [model for model in policy.models() if model.column == column]
    return max([1, *(max(model.least_values, model.least_categories) for model in models)])
