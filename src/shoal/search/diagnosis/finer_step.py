"""One step less generalization in one column: what it would make of a class, and what stands against it.

In a full-domain recoding the column goes one step down the lattice for all records, and the node is judged afresh. In a
local one only the class changes (`shoal.search.diagnosis.class_split`).
"""

from __future__ import annotations

import numpy as np

from shoal.search.diagnosis.class_split import parted
from shoal.search.diagnosis.failures import FinerPart, Split, judge, lacks
from shoal.search.diagnosis.solution import Rows, Solution
from shoal.search.evaluation import evaluate_stats
from shoal.search.lattice.nodes import Node, summarize


def finer(solution: Solution, rows: Rows, column: int, own: int | None = None) -> tuple[Split, ...]:
    """What one step less would make of the class of these rows; empty where the column is released as it is.

    ``own`` is the row that is asked about, if one is.
    """
    if solution.node is not None:
        return _step_down(solution, solution.node, rows, column, own) if solution.node[column] else ()
    at = int(solution.recoding.row_class[rows[0]])
    if solution.recoding.nodes[at, column] < solution.recoding.hierarchies[column].n_leaves:
        return ()
    return parted(solution, at, rows, column, own)


def _step_down(solution: Solution, node: Node, rows: Rows, column: int, own: int | None) -> tuple[Split, ...]:
    problem, table = solution.problem, solution.problem.table
    lower = (*node[:column], node[column] - 1, *node[column + 1 :])
    grouping = solution.engine.classes(lower)
    stats = solution.engine.stats(grouping, problem.sensitive_columns)
    classes = grouping.tuple_class[table.row_tuple[rows]]
    values = problem.ladders[column].nodes[lower[column]][solution.codes(rows, column)]
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    at = classes[first].tolist()
    mine = None if own is None else int(values[rows == own][0])
    labels = problem.hierarchies[column].labels
    lacking = lacks(problem.models, stats, at)
    parts = [
        FinerPart(labels[value], int(count), int(stats.sizes[index]), lack, value == mine)
        for value, count, index, lack in zip(distinct.tolist(), counts, at, lacking, strict=True)
    ]
    judgement = judge(problem.models, stats, problem.budget)
    measure = None
    if judgement.holds:
        kept = evaluate_stats(problem.models, stats, problem.budget)[1]
        measure = problem.metric.of(summarize(problem, lower, grouping, kept))
    return (Split(tuple(parts), None, judgement, measure),)
