"""Groups that are suppressed although they hold, so that being left out proves nothing: decoys.

Which groups may be decoys, and with which probability, depends on their quasi-identifiers and sizes alone
(`shoal.search.conceal`). Groups that are too small are always left out and need no company. Decoys leave first, and the
models are tested on what remains: then any set of groups within the budget may be left out whatever their secrets are,
also where models compare classes with the whole release.
"""

import numpy as np

from shoal.search.conceal import Veto, decoy_chances, summed_marks
from shoal.search.engine import Grouping
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Mask


def drawn_decoys(
    problem: Problem, veto: Veto, grouping: Grouping, stats: ClassStats, able: Mask, budget: int
) -> list[Mask]:
    """The groups that are drawn, as many as the budget has room for, in an order that is drawn too.

    Each is given as its classes: a class, or where records are linked all classes of a linked class. ``able``: the
    classes that are large enough; the others take their share of the budget.
    """
    table = problem.table
    owner = np.arange(stats.n_classes) if stats.linked is None else stats.linked.owner
    n_groups = int(owner.max(initial=-1)) + 1
    marks = summed_marks(problem.tuple_marks, table.counts, owner[grouping.tuple_class].astype(np.int64), n_groups)
    records = np.bincount(owner, weights=stats.records, minlength=n_groups).astype(np.int64)
    possible = np.ones(n_groups, dtype=np.bool_)
    possible[owner[~able]] = False
    groups = np.flatnonzero(possible)
    drawn = groups[veto.refuses("group", marks[groups], chance=decoy_chances(records[groups]))]
    drawn = drawn[np.argsort(veto.draws("order", marks[drawn]), kind="stable")]
    room = budget - int(records[~possible].sum())
    return [owner == group for group in drawn[np.cumsum(records[drawn]) <= room]]
