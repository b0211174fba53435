"""Refinement: what the search for a release tells about the values behind its labels, with nothing but the release.

S. Chhillar, M. K. Righi, R. E. Sutter, E. M. Kornaropoulos, "Exposing privacy risks in anonymizing clinical data:
combinatorial refinement attacks on k-anonymity without auxiliary information", 2025 (arXiv 2509.03350), turn the
choices of a local recoding into linear constraints on how many records of a class have each finer value. Theirs are
those of ARX; only their idea was at hand here, and the constraints below are derived from Shoal's own algorithms. The
attacker has the release, the policy and the code, and no list of people (compare `downcoding.py`).

**Definition.** A class of n records shows a label with m finer labels (its children in the hierarchy). For each child
the attacker asks how many of the n records are under it, over all originals that give this release.

- *Tight labels* (local recodings): at least two children occur, so none has more than n - 1; both ends of a range do,
  and so does a value in the base interval at each end of a run.
- *Children set apart* (specialization from the top, models on sizes alone): a class of 2k records or more has no child
  of k, or it would have been specialized. If a child has a class of its own and all other labels are the same, the more
  general class has no records under it; unless it is so small that it may have borrowed some to reach k. Then at least
  one of its records is under a child that is not set apart: it was there before.
- *Values set apart* (strict cuts): the same for a child that is a value, under all models that judge classes one by
  one, if no other column can have separated the two classes: a label is shared by two parts of a cut in its own column
  only if it has three children.
- *Least general node* (full-domain algorithms that promise one, or that walk one path and raised one column only;
  models on sizes alone, nothing may be suppressed): with the column one level lower, some class has a part of fewer
  than k records. If only one class can be divided, it is that one.

So a child is ruled out or has at most ``most`` records, and the others must make up the rest: at least
n - (m - 1)·most of them are under each child that is left. A cell is *narrowed* if a child of its label is ruled out
for its class, and *placed* if it is one of those records of which the finer label is certain although not whose they
are. The bounds are exact for these constraints, and every conclusion is right for every original with the declared
values. What several columns or several classes tell together is not solved for, nor what a measure to be minimized
tells: more may follow, and does (`benchmarks/refinement.py` compares with all originals of small tables). Where classes
are improved afterwards (`refine`, or always in clustering), only tight labels are certain. Where choices are concealed,
a class may be left undivided for no reason; what is left are tight labels and values set apart.

The baseline is what is certain from tight labels: that is what they are documented to say. How much it helps to guess
is told apart: in a class for which the most frequent child of its label in the release is ruled out, who guesses by
labels and frequencies is always wrong, and who guesses the most frequent of those left is right for 1/m of them or
more, on average over records drawn independently.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.attacks.attack import Attack, AttackResult, Scene, not_applicable, not_tried, share, tried
from shoal.attacks.finer_labels import LabelSurroundings, surroundings
from shoal.attacks.released_classes import Ints, Released
from shoal.hierarchies.hierarchy import Label
from shoal.models import least_size
from shoal.policy import Policy
from shoal.search.local.cuts import largest_after_borrowing
from shoal.table.classes import Mask
from shoal.table.encoded import combine_codes


class Refinement(Attack):
    """Asks of every generalized cell what the search would have done with other values."""

    name = "refinement"
    title = "Working back from the algorithm's choices"
    attacker = "Somebody who has only the release, the policy and the code of the algorithm."
    attempt = (
        "Asks which more precise values the records of a class can have, given that the algorithm released this label "
        "and none that is more precise. A success is a cell for which a more precise value is ruled out, or that is in "
        "a class where some records must have a certain one."
    )
    baseline = "cells of which the label alone says as much"
    position = 65
    grave_if_certain = False
    stopped_by_full_domain = True
    stopped_by_option = "conceal"

    @staticmethod
    def run(scene: Scene, column: str) -> AttackResult:  # noqa: ARG004 - it is on no column
        """Cells that are narrowed down or placed."""
        policy, released = scene.policy, scene.released
        algorithm = policy.search_algorithm
        if not scene.searched:
            return not_applicable("labels-chosen-earlier")
        if algorithm.search == "one-result":
            return not_applicable("nothing-chosen")
        if policy.person_columns:
            return not_tried("people-counted")
        if algorithm.scope == "local" and not algorithm.tight_labels:
            return not_tried("choices-not-declared")
        if policy.engine.name != "local" and scene.recoding is None:
            return not_tried("maybe-coarsened")
        columns = finer_counts(released, policy)
        generalized = np.array([each.generalized for each in columns])
        if not generalized.any():
            return not_applicable("nothing-generalized")
        cells = int((generalized * released.sizes).sum())
        known = np.array([each.certain(released.sizes) for each in columns])
        by_labels = np.array([each.placed_by_labels for each in columns])
        more = np.where(known > by_labels, known, 0).max(axis=0)
        return tried(
            records=int(more.sum()),
            of=int(released.sizes[generalized.any(axis=0)].sum()),
            classes=int(np.count_nonzero(more)),
            rate=share(int(known.sum()), cells),
            baseline=share(int(by_labels.sum()), cells),
            certain=int(more.sum()),
            cells=cells,
            concluded_from=_premises(policy, released),
            by_column={each.name: each.figures(released.sizes) for each in columns if each.generalized.any()},
            guesses=_guesses(columns, released.sizes),
        )


@dataclass(frozen=True, eq=False)
class FinerCounts:
    """What is certain of one column: for each class, how many of its records can be under each finer label."""

    name: str
    labels: list[LabelSurroundings]  # those of the column
    cells: Ints  # the label of each class
    most: Ints  # records that each class has at most under a finer label that is not ruled out
    ruled_out: list[frozenset[Label]]  # the finer labels that each class has no records of
    occurs: list[Label]  # a finer label that a class has a record of, told by those set apart; its own where none is
    placed: Ints  # records of each class of which the finer label is certain, not whose they are
    placed_by_labels: Ints  # the same from what the label is documented to say
    likely: list[Label]  # for each label its most frequent finer one in the release; itself where none is

    @property
    def generalized(self) -> Mask:
        """Which classes show a label that stands for several values."""
        return ~np.array([each.is_value for each in self.labels])[self.cells]

    @property
    def narrowed(self) -> Mask:
        """Which classes have a finer label ruled out."""
        return np.array([bool(each) for each in self.ruled_out])

    def bounds(self, index: int, size: int, finer: Label) -> tuple[int, int]:
        """Records of a class that are under a finer label of its own, at least and at most."""
        listed = self.labels[self.cells[index]].finer
        if finer in self.ruled_out[index]:
            return 0, 0
        most = int(self.most[index])
        others = None if listed is None else len(listed) - len(self.ruled_out[index]) - 1
        least = 0 if others is None else max(0, size - others * most)
        return max(least, int(finer == self.occurs[index])), most

    def certain(self, sizes: Ints) -> Ints:
        """Cells of each class that are narrowed down or placed."""
        return np.where(self.narrowed, sizes, self.placed)

    @property
    def misleading(self) -> Mask:
        """Which classes have no record of the finer label that is most frequent elsewhere."""
        return np.array([self.likely[cell] in out for cell, out in zip(self.cells, self.ruled_out, strict=True)])

    def figures(self, sizes: Ints) -> dict[str, int]:
        """Cells by what is known of them."""
        return {
            "cells": int(sizes[self.generalized].sum()),
            "narrowed": int(sizes[self.narrowed].sum()),
            "placed": int(self.placed.sum()),
            "placed_by_labels": int(self.placed_by_labels.sum()),
        }


@dataclass(frozen=True)
class _Premises:
    """What the algorithm and the models let an attacker conclude from."""

    tight: bool  # labels are as low as their classes allow
    values: bool  # values are set apart whole
    children: bool  # children are set apart, as far as models on sizes ask
    least_general: bool  # every less general node has a class of fewer than k records
    one_path: bool  # the node before the released one has
    k: int


def premises(policy: Policy, released: Released) -> _Premises:
    """What can be concluded from under a policy."""
    algorithm, models = policy.search_algorithm, released.models
    settled, concealed = policy.algorithm.refine is None, getattr(policy.algorithm, "conceal", False)
    on_sizes = all(model.only_counts and model.counts == "records" for model in models) and settled and not concealed
    nothing_left_out = on_sizes and policy.suppression == 0
    return _Premises(
        tight=algorithm.tight_labels,
        values=settled and algorithm.sets_apart == "values" and not any(model.whole_table for model in models),
        children=on_sizes and algorithm.sets_apart == "children",
        least_general=nothing_left_out and algorithm.least_general,
        one_path=nothing_left_out and algorithm.search == "one-path",
        k=least_size(models),
    )


def _premises(policy: Policy, released: Released) -> list[str]:
    """The names of what was concluded from."""
    given = premises(policy, released)
    names = {
        "tight-labels": given.tight,
        "values-set-apart": given.values,
        "children-set-apart": given.children,
        "least-general": given.least_general or given.one_path,
    }
    return [name for name, holds in names.items() if holds]


def finer_counts(released: Released, policy: Policy) -> list[FinerCounts]:
    """What is certain of the finer labels of each class, by quasi-identifier."""
    given = premises(policy, released)
    every = [surroundings(policy, name, labels) for name, labels in zip(released.quasi, released.labels, strict=True)]
    values = [np.array([each.is_value for each in labels]) for labels in every]
    raised = [j for j, is_value in enumerate(values) if not is_value[released.cells[j]].all()]
    return [_column(released, every, j, given, raised) for j in range(len(every))]


def _column(
    released: Released, every: list[list[LabelSurroundings]], j: int, given: _Premises, raised: list[int]
) -> FinerCounts:
    """The same for one column."""
    labels, cells, sizes = every[j], released.cells[j], released.sizes
    listed = np.array([0 if each.finer is None else len(each.finer) for each in labels], dtype=np.int64)[cells]
    ranged = np.array([each.is_range for each in labels])[cells]
    by_label = np.where(given.tight, np.maximum(sizes - 1, 1), sizes)
    by_labels = np.where(ranged & given.tight, np.minimum(sizes, 2), _placed(sizes, listed, by_label))
    most = by_label.copy()
    if given.children:
        most = np.where((sizes >= 2 * given.k) & ~ranged, np.minimum(most, max(given.k - 1, 1)), most)
    if given.least_general or (given.one_path and raised == [j]):
        divided = np.flatnonzero(~np.array([each.is_value for each in labels])[cells] & (listed != 1))
        most[divided] -= len(divided) == 1
    apart, can_tell = _set_apart(released, every, j, given), _can_tell(released, every, j, given)
    left = listed - np.where(can_tell, [len(each) for each in apart], 0)
    unexplained = (listed > 0) & (left * most < sizes)  # no original with the declared values gives such a class
    can_tell &= ~unexplained
    most, left = np.where(unexplained, by_label, most), np.where(unexplained, listed, left)
    occurs = [
        _only_one_left(labels[cell], out) if given.children and not told else labels[cell].path[0]
        for cell, out, told in zip(cells, apart, can_tell, strict=True)
    ]
    shown = np.array([label != labels[cell].path[0] for label, cell in zip(occurs, cells, strict=True)])
    placed = np.where(ranged, by_labels, np.maximum(_placed(sizes, left, most), shown))
    likely = _likely(labels, np.bincount(cells, sizes, len(labels)))
    ruled_out = [out if told else frozenset[Label]() for out, told in zip(apart, can_tell, strict=True)]
    return FinerCounts(released.quasi[j], labels, cells, most, ruled_out, occurs, placed, by_labels, likely)


def _placed(sizes: Ints, listed: Ints, most: Ints) -> Ints:
    """Records of each class whose finer label is certain: so many of each, if no finer label has more than ``most``."""
    return np.where(listed > 0, listed * np.maximum(sizes - (listed - 1) * most, 0), 0)


def _can_tell(released: Released, every: list[list[LabelSurroundings]], j: int, given: _Premises) -> Mask:
    """Which classes have no records under finer labels of column ``j`` that are set apart."""
    if given.children:
        return released.sizes > largest_after_borrowing(given.k)
    told = np.full(len(released.sizes), given.values)
    for i in range(len(every)):  # a cut in another column leaves two parts with one label only if it has three children
        if i != j:
            told &= np.array([each.at_most_two or each.is_range for each in every[i]])[released.cells[i]]
    return told


def _set_apart(
    released: Released, every: list[list[LabelSurroundings]], j: int, given: _Premises
) -> list[frozenset[Label]]:
    """For each class the finer labels of column ``j`` that are set apart in classes with the same other labels."""
    found: list[frozenset[Label]] = [frozenset()] * len(released.sizes)
    if not (given.values or given.children):
        return found
    labels, cells = every[j], released.cells[j].tolist()
    for classes in _groups(released, [i for i in range(len(every)) if i != j]):
        shown = {cells[index] for index in classes}
        apart = _shown_below([labels[cell] for cell in shown], only_values=given.values)
        for index in classes:
            found[index] = frozenset(apart.get(labels[cells[index]].path[0], ()))
    return found


def _groups(released: Released, others: list[int]) -> list[list[int]]:
    """The classes that have the same labels in some columns, several each."""
    if not others:
        return [list(range(len(released.sizes)))]
    keys, _ = combine_codes([released.cells[i] for i in others], [len(released.labels[i]) for i in others])
    order = np.argsort(keys, kind="stable")
    bounds = [0, *(np.flatnonzero(np.diff(keys[order])) + 1).tolist(), len(order)]
    several = [(start, end) for start, end in pairwise(bounds) if end - start > 1]
    return [order[start:end].tolist() for start, end in several]


def _only_one_left(own: LabelSurroundings, apart: frozenset[Label]) -> Label:
    """The only finer label of a label that is not set apart; the label itself if there are others."""
    left = [each for each in own.finer or () if each not in apart]
    return left[0] if apart and len(left) == 1 else own.path[0]


def _shown_below(shown: list[LabelSurroundings], *, only_values: bool) -> dict[Label, set[Label]]:
    """For each label the finer ones that are among some labels, or have one of them below."""
    found: dict[Label, set[Label]] = {}
    for each in shown:
        steps = pairwise(each.path[:2] if only_values else each.path)
        for below, label in steps if each.is_value or not only_values else ():
            found.setdefault(label, set()).add(below)
    return found


def _likely(labels: list[LabelSurroundings], records: Any) -> list[Label]:
    """For each label the finer one that most released records show, or show something below; itself without one."""
    under: dict[Label, dict[Label, int]] = {}
    for each, count in zip(labels, records.astype(np.int64).tolist(), strict=True):
        for below, label in pairwise(each.path):
            counts = under.setdefault(label, {})
            counts[below] = counts.get(below, 0) + count
    likely: list[Label] = []
    for each in labels:
        counts = under.get(each.path[0], {})
        most = max(counts.values(), default=0)
        best = [label for label, count in counts.items() if count == most]
        likely.append(best[0] if len(best) == 1 else each.path[0])
    return likely


def _guesses(columns: list[FinerCounts], sizes: Ints) -> dict[str, Any]:
    """The cells for which guessing by labels and frequencies is always wrong, and how much better one can do there:
    at least, on average over independent records, and at most."""
    cells = low = high = 0.0
    for column in columns:
        for index in np.flatnonzero(column.misleading).tolist():
            finer = column.labels[column.cells[index]].finer
            left = 0 if finer is None else len(finer) - len(column.ruled_out[index])
            cells += int(sizes[index])
            low += share(int(sizes[index]), left)
            high += int(column.most[index])
    return {"cells": int(cells), "right_at_least": share(low, cells), "right_at_most": share(high, cells)}
