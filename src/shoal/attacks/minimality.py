"""Minimality: who knows that an algorithm generalizes only where it must asks why it had to.

R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007. The
attacker has a list of everybody's quasi-identifiers and knows models and algorithm. `optimal` and `incognito` release a
full-domain node only if every less general one fails: if one column were released a level lower, and every group of
people that then look alike still had k records, some group must have failed a model on a secret. Which groups can have
failed is told by the released histogram of their class: of two records in a class with two HIV both may have it, of
five they cannot all. Where a single group of the whole table can have failed, it did: the attacker knows that the
promise of the model does not hold for these people.

**Definition.** For each column that is released above level 0, let P be the released node with that column one level
lower. Nothing is concluded if a record is suppressed, or if a group of P has fewer than k records: k then explains
the level. Otherwise a group of P *can fail* if some choice of as many secrets from those of its class fails a model.
Exposed are the records of a group that alone can fail.

What is concluded is always right. Whether a group can fail is exact for p-sensitivity, (p, α), (p⁺, α), distinct
ℓ-diversity, (α, k) and group leakage; under another model every group is taken to be able to. Not covered: groups of
one class that can only fail together, beliefs that rise without becoming certain, several columns put together, and
the other algorithms, which do not release a least general node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.estimate import Estimate, counted, not_applicable
from shoal.attacks.scene import Codes, Ints, Population, Released
from shoal.search import ALGORITHMS
from shoal.table.encoded import combine_codes

NAME = "minimality"
ATTACKER = "Somebody with a list of everybody's quasi-identifiers who knows the policy and how its algorithm searches."
Mask = NDArray[np.bool_]


def minimality(released: Released, population: Population, algorithm: str) -> Estimate:
    """Records of groups that must have failed a model at a less general node."""
    reason = _no_ground(released, population, algorithm)
    node = None if reason else _released_node(released, population)
    if node is None:
        reason = reason or "the release is not one full-domain node of the original."
        return not_applicable(NAME, ATTACKER, reason)
    exposed = np.zeros(len(population.counts), dtype=np.bool_)
    columns: dict[str, Any] = {}
    for j, name in enumerate(released.quasi):
        if node.steps[j] > 0:
            found = _lower(released, population, node, j)
            columns[name] = {"explained_by_k": found.explained, "groups_that_can_fail": found.suspects}
            if found.sole is not None:
                exposed |= found.sole
                columns[name] |= _truth(released, population, node, found.sole)
    records, of = int(population.counts[exposed].sum()), population.records
    return Estimate(
        name=NAME,
        status="tried",
        attacker=ATTACKER,
        tried="Asked of each column why it was not released one level lower, where every group would still have "
        f"{counted(released.asked_k, 'record')}; a success is a record of a group that alone can have failed a model "
        "then.",
        records=records,
        of=of,
        rate=records / of,
        baseline=0.0,
        baseline_is="groups for which the promise is known not to hold from the release alone",
        leak=bool(records),
        verdict=_verdict(columns, records),
        details={"by_column": columns},
    )


def _no_ground(released: Released, population: Population, algorithm: str) -> str | None:
    """Why nothing could be concluded at all."""
    if not ALGORITHMS[algorithm].least_general:
        return f"{algorithm} does not promise a least general node, so that its choices prove nothing."
    if not any(model.column is not None for model in released.models):
        return "the policy asks for no model on a secret, so that k explains every level."
    if population.records != released.records:
        return "records are suppressed, which explains why less general nodes would not do."
    return None


@dataclass(frozen=True, eq=False)
class _Node:
    """The released node of the lattice."""

    steps: tuple[int, ...]
    """Step of each quasi-identifier on its ladder."""
    owner: Ints
    """Class of each tuple."""


def _released_node(released: Released, population: Population) -> _Node | None:
    """The least general node that releases these labels; None where there is none."""
    steps = []
    for j, ladder in enumerate(population.ladders):
        shown = np.unique(population.nodes[j])
        fitting = (step for step, row in enumerate(ladder.nodes)
                   if np.array_equal(np.unique(row[population.codes[j]]), shown))  # fmt: skip
        step = next(fitting, None)
        if step is None:
            return None
        steps.append(step)
    widths = [len(hierarchy.labels) for hierarchy in population.hierarchies]
    steps_of = zip(population.ladders, steps, population.codes, strict=True)
    tuples = [ladder.nodes[step][codes] for ladder, step, codes in steps_of]
    classes = [nodes[cells] for nodes, cells in zip(population.nodes, released.cells, strict=True)]
    keys, _ = combine_codes([np.concatenate([a, b]) for a, b in zip(classes, tuples, strict=True)], widths)
    n_classes = len(released.sizes)
    order = np.argsort(keys[:n_classes], kind="stable")
    ranked = keys[:n_classes][order]
    at = np.minimum(np.searchsorted(ranked, keys[n_classes:]), n_classes - 1)
    owner = order[at].astype(np.int64)
    sizes = np.bincount(owner, weights=population.counts, minlength=n_classes)
    if not np.array_equal(ranked[at], keys[n_classes:]) or not np.array_equal(sizes, released.sizes):
        return None
    return _Node(tuple(steps), owner)


@dataclass(frozen=True, eq=False)
class _Lower:
    """What the release tells about the node with one column a level lower."""

    explained: bool
    """Whether k alone explains that it was not released."""
    suspects: int | None
    """Groups of it that can have failed a model; None where k explains all."""
    sole: Mask | None
    """The tuples of the only group that can have failed."""


def _lower(released: Released, population: Population, node: _Node, column: int) -> _Lower:
    ladder = population.ladders[column]
    below: Codes = ladder.nodes[node.steps[column] - 1][population.codes[column]]
    width = len(population.hierarchies[column].labels)
    keys, group = np.unique(node.owner * width + below, return_inverse=True)
    sizes = np.bincount(group, weights=population.counts, minlength=len(keys)).astype(np.int64)
    if (sizes < released.asked_k).any():
        return _Lower(True, None, None)
    suspects = np.zeros(len(keys), dtype=np.bool_)
    for model in released.models:
        suspects |= model.part_could_fail(released.stats.view(model.column), keys // width, sizes)
    found = np.flatnonzero(suspects)
    return _Lower(False, len(found), group == found[0] if len(found) == 1 else None)


def _truth(released: Released, population: Population, node: _Node, sole: Mask) -> dict[str, Any]:
    """How the group looks in truth: the largest share of one secret in it and in its class."""
    owner = int(node.owner[sole][0])
    size = int(population.counts[sole].sum())
    shares = {}
    for name, (tuples, values, counts) in population.secrets.items():
        inside = sole[tuples]
        most = int(np.bincount(values[inside], weights=counts[inside]).max())
        histogram = released.stats.histograms[name]
        in_class = int(histogram.counts[histogram.starts[owner] : histogram.starts[owner + 1]].max())
        shares[name] = {
            "largest_share_in_group": round(most / size, 6),
            "largest_share_in_class": round(in_class / int(released.sizes[owner]), 6),
        }
    return {"records": size, "by_sensitive": shares}


def _verdict(columns: dict[str, Any], records: int) -> str:
    if records:
        return (
            f"{counted(records, 'record')} are of a group that must have failed a model at a less general level: the "
            "promise is known not to hold for them."
        )
    if all(found["explained_by_k"] for found in columns.values()):
        return "k explains every level that was released: nothing follows about secrets."
    return "Several groups can have failed at each less general level: it stays open which did."
