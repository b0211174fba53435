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

from typing import Any

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, share, tried
from shoal.attacks.original_people import Original
from shoal.attacks.released_classes import Codes, Ints, Released
from shoal.models import least_size
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
    position = 50
    stopped_by_option = "conceal"
    needs_original = True

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Records of groups that must have failed a model at a less general node."""
        released, original = scene.released, scene.original
        assert original is not None
        if not ALGORITHMS[scene.policy.algorithm.name].least_general:
            return not_applicable("not-least-general")
        if not any(model.column is not None for model in released.models):
            return not_applicable("no-sensitive-model")
        if scene.policy.person_columns:
            return not_applicable("people-counted")
        if original.problem.table.n_rows != released.records:
            return not_applicable("records-suppressed")
        node = _released_node(released, original)
        if node is None:
            return not_applicable("not-one-node")
        steps, owner = node
        exposed = np.zeros(len(original.counts), dtype=np.bool_)
        columns: dict[str, Any] = {}
        for j, name in enumerate(released.quasi):
            if steps[j] > 0:
                suspects, sole = _lower(released, original, j, steps[j] - 1, owner)
                columns[name] = {"explained_by_k": suspects is None, "groups_that_can_fail": suspects}
                if sole is not None:
                    exposed |= sole
                    columns[name] |= _truth(released, original, owner, sole)
        return tried(records=int(original.counts[exposed].sum()), of=original.problem.table.n_rows, by_column=columns)


def _released_node(released: Released, original: Original) -> tuple[list[int], Ints] | None:
    """The least general node that releases these labels, by the step of each quasi-identifier on its ladder, and the
    class of each tuple; None where there is none."""
    steps, tuples = [], []
    for ladder, codes, shown in zip(original.problem.ladders, original.codes, original.nodes, strict=True):
        released_at = (np.array_equal(np.unique(row[codes]), np.unique(shown)) for row in ladder.nodes)
        step = next((step for step, same in enumerate(released_at) if same), None)
        if step is None:
            return None
        steps.append(step)
        tuples.append(ladder.nodes[step][codes])
    widths = [len(hierarchy.labels) for hierarchy in original.hierarchies]
    classes = [nodes[cells] for nodes, cells in zip(original.nodes, released.cells, strict=True)]
    keys, _ = combine_codes([np.concatenate([a, b]) for a, b in zip(classes, tuples, strict=True)], widths)
    n_classes, (distinct, index) = len(released.sizes), np.unique(keys, return_inverse=True)
    class_of = np.full(len(distinct), n_classes, dtype=np.int64)
    class_of[index[:n_classes]] = np.arange(n_classes)
    owner = class_of[index[n_classes:]]
    sizes = np.bincount(owner, weights=original.counts, minlength=n_classes)  # longer where a tuple is in no class
    return (steps, owner) if np.array_equal(sizes, released.sizes) else None


def _lower(
    released: Released, original: Original, column: int, step: int, owner: Ints
) -> tuple[int | None, Mask | None]:
    """Groups that can have failed a model with one column a level lower, and the tuples of the only one that can.

    None where k alone explains that this was not released.
    """
    below: Codes = original.problem.ladders[column].nodes[step][original.codes[column]]
    width = len(original.hierarchies[column].labels)
    keys, group = np.unique(owner * width + below, return_inverse=True)
    sizes = np.bincount(group, weights=original.counts, minlength=len(keys)).astype(np.int64)
    if (sizes < least_size(released.models)).any():
        return None, None
    suspects = np.zeros(len(keys), dtype=np.bool_)
    for model in released.models:
        suspects |= model.part_could_fail(released.stats.view(model.column), keys // width, sizes)
    found = np.flatnonzero(suspects)
    return len(found), group == found[0] if len(found) == 1 else None


def _truth(released: Released, original: Original, class_of: Ints, sole: Mask) -> dict[str, Any]:
    """How the group looks in truth: the largest share of one known secret in it and in its class."""
    owner, size, shares = int(class_of[sole][0]), int(original.counts[sole].sum()), {}
    for name, (tuples, values, counts) in original.secrets.items():
        view = released.stats.view(name)
        inside = sole[tuples] & view.domain.known[values]
        in_group = np.bincount(values[inside], weights=counts[inside], minlength=1)
        in_class = view.histogram.per_class_max(view.histogram.counts)[owner]
        shares[name] = {
            "largest_share_in_group": share(float(in_group.max()), float(in_group.sum())),
            "largest_share_in_class": share(float(in_class), float(view.known[owner])),
        }
    return {"records": size, "by_sensitive": shares}
