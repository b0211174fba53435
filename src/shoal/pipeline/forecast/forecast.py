"""`forecast`: what a policy can reach on a table, in the time that a person needs to move a slider."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shoal.pipeline.cached_table import prepare_again
from shoal.pipeline.forecast.judge import Bench, judge_model, worded
from shoal.pipeline.forecast.result import Facts, Forecast, Verdict
from shoal.pipeline.forecast.words import (
    change_sentences,
    fact_sentences,
    missed_sentences,
    model_sentences,
    together_sentences,
)
from shoal.pipeline.run import Loaded, Prepared
from shoal.policy import Policy
from shoal.search.diagnosis.relaxations import Relaxation, always, relaxations
from shoal.search.lattice.greedy_lattice import finds as found_on_the_way
from shoal.search.lattice.nodes import MOST_NODES
from shoal.search.local.range_method import diagnose
from shoal.search.problem import Problem

_SEARCHES = ("optimal", "incognito")
_LOCAL = ("mondrian", "top-down", "greedy-clustering")


def forecast(table: Prepared | Loaded, policy: Policy) -> Forecast:
    """Judge a policy on a table that is read, and best also encoded, already; nothing is searched or written.

    Raises `PolicyError` where the policy does not fit the table.
    """
    return forecast_of(prepare_again(table, policy).resolved.problem, policy.algorithm.name)


def forecast_of(problem: Problem, algorithm: str) -> Forecast:
    """The forecast of a problem that some algorithm is asked to solve."""
    bench = Bench.of(problem)
    facts = facts_of(bench)
    models = [judge_model(bench, place) for place in range(len(problem.models))]
    models = [worded(each, list(model_sentences(each, problem.budget))) for each in models]
    verdict, suppressed = bench.verdict(problem.models), bench.suppressed(problem.models)
    by_algorithm, notes, changes = _by_algorithm(bench, algorithm, verdict)
    sentences = [
        *together_sentences(verdict, models, suppressed, problem.budget, least=bench.decides(problem.models)),
        *notes,
        *(sentence for each in models for sentence in each.sentences),
        *change_sentences(changes),
        *fact_sentences(facts),
    ]
    return Forecast(
        facts=facts,
        verdict=verdict,
        by_algorithm=by_algorithm,
        models=tuple(models),
        suppressed=suppressed,
        relaxations=tuple(changes),
        sentences=tuple(sentences),
    )


def facts_of(bench: Bench) -> Facts:
    """What the table is like, and its lattice."""
    table, problem = bench.problem.table, bench.problem
    return Facts(
        records=table.n_rows,
        tuples=table.n_tuples,
        unique=int(np.count_nonzero(table.counts == 1)),
        lattice=math.prod(problem.shape),
        levels=dict(zip(table.quasi, problem.shape, strict=True)),
        top_classes=bench.top.stats.n_classes,
        smallest_at_top=int(bench.top.stats.sizes.min()),
        may_suppress=problem.budget,
    )


def _by_algorithm(bench: Bench, name: str, verdict: Verdict) -> tuple[Verdict, list[str], Sequence[Relaxation]]:
    """What the policy's own algorithm makes of it: its verdict, what must be said about it, and what would help."""
    problem = bench.problem
    if name == "range":
        found = diagnose(problem, bench.engine)
        if found is None:
            return "reachable", ["The range method makes one release, and the models hold on it."], ()
        failing = "; ".join(blocker.head for blocker in found.blockers)
        return (
            "unreachable",
            [f"The range method makes one release, and the policy does not hold on it: {failing}."],
            found.relaxations,
        )
    by_algorithm, notes = _found_by(bench, name, verdict)
    if verdict == "reachable":
        return by_algorithm, notes, ()
    finds = found_on_the_way if name == "greedy-lattice" else always
    changes, missed = relaxations(problem, bench.top.stats, finds)
    return by_algorithm, [*notes, *missed_sentences(name, missed)], changes


def _found_by(bench: Bench, name: str, verdict: Verdict) -> tuple[Verdict, list[str]]:
    nodes = math.prod(bench.problem.shape)
    if name in _SEARCHES and nodes > MOST_NODES:
        return "unreachable", [f"{name} searches at most {MOST_NODES:,} nodes; this lattice has {nodes:,}."]
    if name in _LOCAL and verdict == "open":
        return "unreachable", [f"{name} starts from the most general release, which fails; optimal may find one."]
    if name == "greedy-lattice" and verdict != "unreachable" and not _walks_to_the_top(bench):
        return "open", ["greedy-lattice walks a single path and may miss what is there; only a run tells."]
    return verdict, []


def _walks_to_the_top(bench: Bench) -> bool:
    """Whether the walk ends at a satisfying top at the latest; models on the whole release see a remainder only."""
    return bench.decides(bench.problem.models) and not any(model.whole_table for model in bench.problem.models)
