"""How every local recoding ends: refined where that is asked for."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shoal.search.local.boxes import cell_metric
from shoal.search.local.common import Ground, cost_of, finish
from shoal.search.local.refinement.arrangement import PIECE
from shoal.search.local.refinement.refine import refine
from shoal.search.problem import Outcome
from shoal.table.recoding import Recoding


def conclude(
    ground: Ground, recoding: Recoding, facts: Mapping[str, Any], *, rounds: int = 0, piece: int = PIECE
) -> Outcome:
    """A finished recoding after so many rounds of refining, with what refining did among the facts of the search.

    With the option ``refine`` it goes on for so many seconds instead, or until nothing improves. A model on the whole
    release may ask for classes to be merged afterwards; what was there before is kept where that has cost more.
    """
    problem = ground.problem
    seconds = problem.options.get("refine")
    if seconds is None and not rounds:
        return Outcome(recoding, facts)
    problem.progress("refining", 0.0)
    refined = refine(
        ground,
        recoding.row_class,
        rounds=rounds if seconds is None else None,
        piece=piece if seconds is None else PIECE,
        deadline=time.monotonic() + float(seconds) if seconds is not None else None,
        progress=lambda share: problem.progress("refining", share),
    )
    other = finish(ground, refined.row_class)
    metric = cell_metric(problem)
    priced = replace(problem, metric=metric)
    before, after = cost_of(priced, recoding), cost_of(priced, other)
    told = {
        "measure": metric.name,
        "more_is_better": metric.higher_is_better,
        "before": metric.value(before),
        "after": metric.value(min(before, after)),
        "steps": refined.steps,
        "rounds": refined.rounds,
        "ended": "nothing improves" if refined.finished else "rounds" if seconds is None else "time",
    }
    better = other if after < before else recoding
    return Outcome(better, {**facts, "classes": better.n_classes, "refined": told})
