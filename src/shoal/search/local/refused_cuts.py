"""The cuts that a local recoding must have refused: a class is final when no cut of it holds.

Which cuts are tried depends on quasi-identifiers alone, so whether a class would have been cut with other secrets is
answered by the cutting itself. That a released class was one class of the search needs a proof, since classes that
show the same are made one in the end:

- `mondrian` never puts two classes that show the same on different sides of a cut at children: one side lies under one
  child. Nor does a cut into combinations of values: one that is set apart shows nothing but values, and all records
  that have them. Between two values it may, and then both sides of that cut, within the released class, show the same
  as the whole.
- `top-down` may lend records to a rest that later leads to the same labels. Only a class that is all of its block is
  certain not to have been cut.

A search that conceals also leaves classes whole by chance, and `top-down` then tries the cuts of `mondrian`, too: a
class that is whole was left so in one of both ways. That such a search takes cuts back whose parts would release the
same labels as another class is not considered.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.ranges import ancestors
from shoal.models import least_needed, least_size
from shoal.search.conceal import uncut_chance
from shoal.search.engine import LocalEngine
from shoal.search.local import mondrian, top_down
from shoal.search.local.blocks import Blocks
from shoal.search.local.partition import RecordKinds, RecordSpace, Tally
from shoal.search.local.range_method import shared_groups
from shoal.search.problem import Problem, no_progress
from shoal.search.refusals import Codes, DealtClasses, Ints, Refusals, failed_by_chance, failed_groups, judged_alone
from shoal.table.classes import Mask


def mondrian_refusals(problem: Problem, engine: LocalEngine, shown: Codes) -> Refusals | None:
    """The blocks that were left out, and the cuts of classes that cannot have been made of several."""
    found = _of_blocks(problem, engine, shown)
    if found is None:
        return None
    refusals, blocks = found
    return replace(
        refusals,
        uncut=partial(_uncut, blocks, [mondrian.uncut]),
        uncut_classes=lambda *cells: not _may_be_several(problem, *cells),
        uncut_by_chance=_uncut_by_chance(problem, ways=1),
    )


def top_down_refusals(problem: Problem, engine: LocalEngine, shown: Codes) -> Refusals | None:
    """The blocks that were left out, and the cuts of classes that are all of their block."""
    found = _of_blocks(problem, engine, shown)
    if found is None:
        return None
    refusals, blocks = found
    top = engine.classes(tuple(levels - 1 for levels in problem.shape)).tuple_class
    sizes = np.bincount(top, weights=problem.table.counts)

    def whole(tuples: Ints, counts: Ints) -> bool:
        return bool((top[tuples] == top[tuples[0]]).all()) and counts.sum() == sizes[top[tuples[0]]]

    ways = [top_down.uncut] if problem.concealing is None else [top_down.uncut, mondrian.uncut]
    return replace(
        refusals,
        uncut=partial(_uncut, blocks, ways),
        uncut_classes=whole,
        uncut_by_chance=_uncut_by_chance(problem, ways=len(ways)),
    )


def range_refusals(problem: Problem, engine: LocalEngine, shown: Codes) -> Refusals | None:  # noqa: ARG001
    """The groups that were left out; nothing else depends on secrets."""
    return _of_groups(problem, shared_groups(problem), shown) if judged_alone(problem) else None


def _of_groups(problem: Problem, group: NDArray[np.integer], shown: Codes) -> Refusals:
    """The groups that were left out."""
    return Refusals(
        failed_groups(problem, group, shown),
        failed_by_chance=failed_by_chance(problem, group),
        concealed=problem.concealing is not None,
    )


def _uncut_by_chance(problem: Problem, *, ways: int) -> Callable[[int], float] | None:
    """How probably a class of so many records is whole in one of some ways to cut it, although all could cut it."""
    if problem.concealing is None:
        return None
    needed, smallest = least_needed(problem.models), least_size(problem.models)
    return lambda records: min(1.0, ways * uncut_chance(records, needed=needed, smallest=smallest))


def _of_blocks(problem: Problem, engine: LocalEngine, shown: Codes) -> tuple[Refusals, Blocks] | None:
    """What follows from the blocks; None where classes change again after they were cut."""
    if not judged_alone(problem) or problem.options.get("refine") is not None or problem.options.get("ranges"):
        return None
    top = engine.classes(tuple(levels - 1 for levels in problem.shape)).tuple_class
    inside = np.where(shown[0] >= 0, 0, -1).astype(np.int32)
    blocks = Blocks(replace(problem, progress=no_progress), inside, 1)
    return _of_groups(problem, top, shown), blocks


def _uncut(blocks: Blocks, ways: Sequence[Callable[[RecordSpace, Tally], Tally]], dealt: DealtClasses) -> Mask:
    """Which of some classes are left as they are in one of some ways to cut each once; every entry is a kind of its
    own."""
    kinds = RecordKinds(
        codes=np.ascontiguousarray(blocks.problem.table.codes[:, dealt.tuples]),
        counts=dealt.count,
        block=np.zeros(len(dealt.count), dtype=np.int64),
        secret=dealt.secret,
        secret_values=dealt.values,
        secret_person=None,
        n_secrets=dealt.n_secrets,
        row_kind=np.zeros(0, dtype=np.int64),
    )
    active = Tally(dealt.owner, np.arange(len(dealt.count)), dealt.count, dealt.n)
    result = np.zeros(dealt.n, dtype=np.bool_)
    for cut in ways:
        result[dealt.owner[cut(RecordSpace(blocks, kinds), active).item]] = True
    return result


def _may_be_several(problem: Problem, tuples: Ints, counts: Ints) -> bool:
    """Whether a cut in two by the codes of a column leaves two sides that show the same as the whole class."""
    codes, least, trees = problem.table.codes[:, tuples], least_size(problem.models), problem.hierarchies
    if counts.sum() < 2 * least:
        return False
    whole = [
        ancestors(tree, row.min(keepdims=True), row.max(keepdims=True))[0]
        for tree, row in zip(trees, codes, strict=True)
    ]
    for column in codes:
        order = np.argsort(column, kind="stable")
        ends = np.flatnonzero(np.diff(column[order]))  # the last of each code but the largest
        left = np.cumsum(counts[order])[ends]
        same = (left >= least) & (counts.sum() - left >= least)
        for tree, row, node in zip(trees, codes, whole, strict=True):
            if not same.any():
                break
            mine, back = row[order], row[order][::-1]
            low, high = np.minimum.accumulate(mine)[ends], np.maximum.accumulate(mine)[ends]
            same &= ancestors(tree, low, high) == node
            low, high = np.minimum.accumulate(back)[::-1][ends + 1], np.maximum.accumulate(back)[::-1][ends + 1]
            same &= ancestors(tree, low, high) == node
        if same.any():
            return True
    return False
