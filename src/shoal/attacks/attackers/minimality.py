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

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, tried
from shoal.attacks.original import Original
from shoal.attacks.released_classes import Codes, Ints, Released
from shoal.search import ALGORITHMS
from shoal.table.classes import Mask
from shoal.table.encoded import combine_codes


class Minimality(Attack):
    """Asks of each column why it was not released one level lower."""

    name = "minimality"
    title = "Knowing how the search works"
    attacker = (
        "Somebody with a list of everybody's quasi-identifiers who knows the policy and how its algorithm searches."
    )
    attempt = (
        "Asks for each column why it was not released one level lower, where every group would still have k records. A "
        "success is a record of a group that alone can have failed a model then."
    )
    baseline = "groups for which the release alone shows that the promise does not hold"
    remedy = "Choose a local algorithm, or allow some suppression: both leave open why a value was generalized."
    position = 50
    needs_original = True

    @staticmethod
    def run(scene: Scene, column: str | None) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Records of groups that must have failed a model at a less general node."""
        released, original = scene.released, scene.original
        assert original is not None
        reason = _no_conclusion(released, original, scene.policy.algorithm.name)
        node = None if reason else _released_node(released, original)
        if node is None:
            return not_applicable(reason or "not-one-node")
        exposed = np.zeros(len(original.counts), dtype=np.bool_)
        columns: dict[str, Any] = {}
        for j, name in enumerate(released.quasi):
            if node.steps[j] > 0:
                suspects, sole = _lower(released, original, node, j)
                columns[name] = {"explained_by_k": suspects is None, "groups_that_can_fail": suspects}
                if sole is not None:
                    exposed |= sole
                    columns[name] |= _truth(released, original, node, sole)
        records, of = int(original.counts[exposed].sum()), original.records
        return tried(records=records, of=of, rate=records / of, baseline=0.0, leak=bool(records), by_column=columns)


def _no_conclusion(released: Released, original: Original, algorithm: str) -> str | None:
    """Why nothing can be concluded at all."""
    if not ALGORITHMS[algorithm].least_general:
        return "not-least-general"
    if not any(model.column is not None for model in released.models):
        return "no-sensitive-model"
    return "records-suppressed" if original.records != released.records else None


class _Node(NamedTuple):
    """The released node of the lattice."""

    steps: Sequence[int]  # step of each quasi-identifier on its ladder
    owner: Ints  # class of each tuple


def _released_node(released: Released, original: Original) -> _Node | None:
    """The least general node that releases these labels; None where there is none."""
    steps = []
    for j, ladder in enumerate(original.ladders):
        shown = np.unique(original.nodes[j])
        fitting = (step for step, row in enumerate(ladder.nodes)
                   if np.array_equal(np.unique(row[original.codes[j]]), shown))  # fmt: skip
        step = next(fitting, None)
        if step is None:
            return None
        steps.append(step)
    widths = [len(hierarchy.labels) for hierarchy in original.hierarchies]
    steps_of = zip(original.ladders, steps, original.codes, strict=True)
    tuples = [ladder.nodes[step][codes] for ladder, step, codes in steps_of]
    classes = [nodes[cells] for nodes, cells in zip(original.nodes, released.cells, strict=True)]
    keys, _ = combine_codes([np.concatenate([a, b]) for a, b in zip(classes, tuples, strict=True)], widths)
    n_classes = len(released.sizes)
    order = np.argsort(keys[:n_classes], kind="stable")
    ranked = keys[:n_classes][order]
    at = np.minimum(np.searchsorted(ranked, keys[n_classes:]), n_classes - 1)
    owner = order[at].astype(np.int64)
    sizes = np.bincount(owner, weights=original.counts, minlength=n_classes)
    if not np.array_equal(ranked[at], keys[n_classes:]) or not np.array_equal(sizes, released.sizes):
        return None
    return _Node(steps, owner)


def _lower(released: Released, original: Original, node: _Node, column: int) -> tuple[int | None, Mask | None]:
    """Groups that can have failed a model with one column a level lower, and the tuples of the only one that can.

    None where k alone explains that this was not released.
    """
    ladder = original.ladders[column]
    below: Codes = ladder.nodes[node.steps[column] - 1][original.codes[column]]
    width = len(original.hierarchies[column].labels)
    keys, group = np.unique(node.owner * width + below, return_inverse=True)
    sizes = np.bincount(group, weights=original.counts, minlength=len(keys)).astype(np.int64)
    if (sizes < released.asked_k).any():
        return None, None
    suspects = np.zeros(len(keys), dtype=np.bool_)
    for model in released.models:
        suspects |= model.part_could_fail(released.stats.view(model.column), keys // width, sizes)
    found = np.flatnonzero(suspects)
    return len(found), group == found[0] if len(found) == 1 else None


def _truth(released: Released, original: Original, node: _Node, sole: Mask) -> dict[str, Any]:
    """How the group looks in truth: the largest share of one secret in it and in its class."""
    owner = int(node.owner[sole][0])
    size = int(original.counts[sole].sum())
    shares = {}
    for name, (tuples, values, counts) in original.secrets.items():
        inside = sole[tuples]
        most = int(np.bincount(values[inside], weights=counts[inside]).max())
        histogram = released.stats.histograms[name]
        in_class = int(histogram.counts[histogram.starts[owner] : histogram.starts[owner + 1]].max())
        shares[name] = {
            "largest_share_in_group": most / size,
            "largest_share_in_class": in_class / int(released.sizes[owner]),
        }
    return {"records": size, "by_sensitive": shares}
