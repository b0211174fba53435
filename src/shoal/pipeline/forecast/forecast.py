"""`forecast`: what a policy can reach on a table, in the time that a person needs to move a slider.

Every model is judged at the most general node that the boundaries allow. What a merge-closed model cannot reach there
it reaches nowhere while nothing is suppressed, and a superset-closed one nowhere at all (Campan et al. 2010,
Properties 5 and 6). Other models may hold at a less general node, or with parts of a class suppressed: where neither
the top nor the models' own bounds decide, the verdict is ``open``. `shoal.present.forecast` says it in words.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shoal.draft.several_records import person_candidates, several_records
from shoal.evidence.evidence import Warnings
from shoal.io.source import TableSource
from shoal.models.base import Model, Shortfall
from shoal.models.near_numbers import warnings_of
from shoal.pipeline.prepare import Prepared, prepare
from shoal.policy import Policy
from shoal.present.forecast import forecast_text
from shoal.search import ALGORITHMS
from shoal.search.diagnosis.diagnosis import EXHAUSTIVE
from shoal.search.diagnosis.failures import BlockedClass, Blocker, TopClasses, largest_failing
from shoal.search.diagnosis.relaxations import Relaxation, relaxations, strongest
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import Evaluator, class_holds, evaluate_stats, prunable_models
from shoal.search.lattice.nodes import MOST_NODES
from shoal.search.problem import Problem
from shoal.table.classes import Mask
from shoal.table.encoded import distinct_codes

Verdict = Literal["reachable", "unreachable", "open"]
"""Whether a release exists; ``open`` where only a run can tell."""


@dataclass(frozen=True)
class ParameterReach:
    """How strong one parameter of a model can be."""

    parameter: str
    required: float | None
    alone: float | None
    """The strongest value reached at the most general node if only this model were asked; None where no value is."""
    together: float | None  # the same with all other models as the policy asks for them
    at_least: bool  # whether a larger value is the stronger one
    proven: bool  # whether no release at all reaches more; else a less general one may


@dataclass(frozen=True)
class ModelForecast:
    """One model of the policy: what of it can be reached, and what blocks."""

    entry: int
    """The entry under ``privacy`` that asks for it."""
    model: str
    sensitive: str | None
    alone: Verdict
    reaches: tuple[ParameterReach, ...]
    failing_classes: int
    failing_records: int
    suppressed: int | None
    """Records suppressed at the most general node for this model alone; None where suppression does not help."""
    examples: tuple[BlockedClass, ...]
    table_lacks: tuple[Shortfall, ...]  # what the most general release as a whole lacks where every class of it holds


@dataclass(frozen=True)
class ForecastFacts:
    """What the table is like before anything is done."""

    records: int
    distinct_rows: int  # different combinations of quasi-identifiers
    unique: int  # records that are the only ones with their combination
    lattice: int  # nodes of the lattice of full-domain recodings, boundaries counted
    levels: Mapping[str, int]  # levels of each quasi-identifier in it
    top_classes: int
    smallest_at_top: int  # records of the smallest class when everything is generalized as far as the boundaries allow
    may_suppress: int
    people: int | None = None  # different people, where the models count these
    fewest_people_at_top: int | None = None  # people of the smallest class then, which is the one with fewest people


@dataclass(frozen=True)
class AlgorithmNote:
    """Something that must be said about the policy's algorithm."""

    code: Literal["one-result-holds", "one-result-fails", "too-many-nodes", "starts-at-top", "may-miss", "missed"]
    algorithm: str
    exhaustive: str  # the algorithm that misses nothing
    blockers: tuple[Blocker, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    nodes: int | None = None
    most_nodes: int | None = None


@dataclass(frozen=True)
class Forecast:
    """What a policy can reach on a table, before it runs."""

    facts: ForecastFacts
    verdict: Verdict  # whether a release satisfies all models together, whichever algorithm looks for it
    by_algorithm: Verdict  # whether the policy's own algorithm finds one
    models: tuple[ModelForecast, ...]
    suppressed: int | None
    """Records suppressed at the most general node for all models together; None where suppression does not help."""
    least_suppressed: bool  # whether no release suppresses fewer records than that
    notes: tuple[AlgorithmNote, ...]
    relaxations: tuple[Relaxation, ...]
    """Single changes that were tried and make a release possible; empty where nothing need change."""
    warnings: Warnings  # what is no error and should be known

    def __str__(self) -> str:
        return forecast_text(self)


def forecast(table: Prepared | TableSource, policy: Policy) -> Forecast:
    """Judge a policy on a table that is read, and best also encoded, already; nothing is searched or written.

    Raises `PolicyError` where the policy does not fit the table.
    """
    ready = prepare(table, policy)
    found = forecast_of(ready.resolved.problem, policy.algorithm.name)
    columns = person_candidates(policy)
    more = several_records(columns, ready.identifiers(policy, columns)) if columns else ()
    return replace(found, warnings=(*found.warnings, *more))


def forecast_of(problem: Problem, algorithm: str) -> Forecast:
    """The forecast of a problem that some algorithm is asked to solve."""
    top = TopClasses.of(problem, LocalEngine(problem.table, problem.ladders, problem.domains))
    verdict, table, smallest = _verdict(top, problem.models), problem.table, int(np.argmin(top.stats.sizes))
    by_algorithm, notes, changes = _by_algorithm(top, algorithm, verdict)
    return Forecast(
        facts=ForecastFacts(
            records=table.n_rows,
            distinct_rows=table.n_tuples,
            unique=int(np.count_nonzero(table.counts == 1)),
            lattice=math.prod(problem.shape),
            levels=dict(zip(table.quasi, problem.shape, strict=True)),
            top_classes=top.stats.n_classes,
            smallest_at_top=int(top.stats.records[smallest]),
            people=None if table.person is None else len(distinct_codes(table.person)),
            fewest_people_at_top=None if table.person is None else int(top.stats.sizes[smallest]),
            may_suppress=problem.budget,
        ),
        verdict=verdict,
        by_algorithm=by_algorithm,
        models=tuple(_judge_model(top, index) for index in range(len(problem.models))),
        suppressed=_suppressed(top, problem.models),
        least_suppressed=_decides(top, problem.models),
        notes=tuple(notes),
        relaxations=tuple(changes),
        warnings=warnings_of(problem.models, top.stats),
    )


def _verdict(top: TopClasses, models: Sequence[Model]) -> Verdict:
    """Whether a release satisfies these models together."""
    found = Evaluator(top.problem, top.engine, models).evaluate(top.grouping, top.stats)
    if found.satisfied:
        return "reachable"
    return "open" if found.may_satisfy_below else "unreachable"


def _suppressed(top: TopClasses, models: Sequence[Model]) -> int | None:
    """Records in classes that the models leave out at the top; None where they do not hold on the rest either."""
    satisfied, kept = evaluate_stats(models, top.stats, top.problem.table.n_rows)
    return int(top.stats.records[~kept].sum()) if satisfied else None


def _decides(top: TopClasses, models: Sequence[Model]) -> bool:
    """Whether failing at the top proves failing everywhere."""
    return len(prunable_models(top.problem, models)) == len(models)


def _by_algorithm(
    top: TopClasses, name: str, verdict: Verdict
) -> tuple[Verdict, list[AlgorithmNote], Sequence[Relaxation]]:
    """What the policy's own algorithm makes of it: its verdict, what must be said about it, and what would help."""
    problem, nodes = top.problem, math.prod(top.problem.shape)
    asked = ALGORITHMS[name].for_options(problem.options, problem.demands)
    algorithm = asked.planned(problem)[0]
    if algorithm.judge is not None:
        found = algorithm.judge(problem, top.engine)
        if found is None:
            return "reachable", [AlgorithmNote("one-result-holds", name, EXHAUSTIVE)], ()
        note = AlgorithmNote("one-result-fails", name, EXHAUSTIVE, blockers=found.blockers)
        return "unreachable", [note], found.relaxations
    by_algorithm, notes = verdict, list[AlgorithmNote]()
    # a path ends at a satisfying top, unless models on the whole see a remainder only
    ends_at_top = _decides(top, problem.models) and not any(model.whole_table for model in problem.models)
    if algorithm.search in {"best-node", "minimal-nodes"} and nodes > MOST_NODES:
        by_algorithm = "unreachable"
        notes = [AlgorithmNote("too-many-nodes", name, EXHAUSTIVE, nodes=nodes, most_nodes=MOST_NODES)]
    elif algorithm.search == "classes" and verdict == "open" and asked.last_resort(problem) is None:
        by_algorithm, notes = "unreachable", [AlgorithmNote("starts-at-top", name, EXHAUSTIVE)]
    elif algorithm.search == "one-path" and verdict != "unreachable" and not ends_at_top:
        by_algorithm, notes = "open", [AlgorithmNote("may-miss", name, EXHAUSTIVE)]
    if verdict == "reachable":
        return by_algorithm, notes, ()
    changes, missed = relaxations(problem, top.stats, algorithm.finds)
    if missed:
        notes.append(AlgorithmNote("missed", name, EXHAUSTIVE, relaxations=missed))
    return by_algorithm, notes, changes


def _judge_model(top: TopClasses, index: int) -> ModelForecast:
    """What one of the problem's models reaches, and what blocks it."""
    model, stats = top.problem.models[index], top.stats
    view = stats.view(model.column)
    failing: Mask = ~class_holds([model], stats)
    return ModelForecast(
        entry=top.problem.entry_of(index),
        model=model.name,
        sensitive=model.column,
        alone=_verdict(top, [model]),
        reaches=tuple(_reaches(top, index)),
        failing_classes=int(failing.sum()),
        failing_records=int(stats.records[failing].sum()),
        suppressed=_suppressed(top, [model]),
        examples=tuple(largest_failing(model, stats, failing, top.labels)),
        table_lacks=() if failing.any() or model.table_holds(view) else model.shortfalls(view, 0),
    )


def _reaches(top: TopClasses, index: int) -> Iterator[ParameterReach]:
    models, stats, budget = top.problem.models, top.stats, top.problem.budget
    model = models[index]
    required = {name: limit.value for name, limit in model.single_limits().items()}
    for parameter, strength in model.strengths(stats.view(model.column)).items():
        alone = strongest([model], 0, parameter, stats, budget)
        together = alone if len(models) == 1 else strongest(models, index, parameter, stats, budget)
        yield ParameterReach(
            parameter=parameter,
            required=required.get(parameter),
            alone=None if alone is None else alone.short,
            together=None if together is None else together.short,
            at_least=strength.at_least,
            proven=_decides(top, [model]),
        )
