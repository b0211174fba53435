"""Stepping back: where the search conceals, a partition that a model on the whole release fails loses its last rounds.

Otherwise `finish` merges the classes that leak most, which tells who is in them. Here rounds are taken back, all
classes alike, until the whole holds. Some that would hold are taken back as well (`shoal.search.conceal`), so that the
number of rounds proves nothing either. At the latest every block is one class, which `prepare` has found to satisfy.
"""

from collections.abc import Sequence

from shoal.search.conceal import as_marks
from shoal.search.local.blocks import Blocks
from shoal.search.local.finish import holds_as_whole
from shoal.search.local.partition import RecordSpace, Tally
from shoal.search.problem import Problem


def steps_back(problem: Problem) -> bool:
    """Whether a partition may have to lose rounds."""
    return problem.concealing is not None and not all(model.judges_classes for model in problem.models)


def without_last_rounds(
    space: RecordSpace, blocks: Blocks, final: Sequence[Tally], active: Sequence[Tally], way: int
) -> list[Tally]:
    """The classes after as many rounds as the models on the whole release allow.

    ``final``: those that each round made final. ``active``: those that each round started with.
    """
    veto = blocks.problem.concealing
    if veto is None or not steps_back(blocks.problem):
        return list(final)
    for rounds in range(len(final), 0, -1):
        classes = [*final[:rounds], *active[rounds : rounds + 1]]
        refused = veto.refuses("whole", blocks.problem.table_mark, as_marks([rounds]), as_marks([way]))
        if not refused.any() and holds_as_whole(*space.row_classes(classes)):
            return classes
    return list(active[:1])
