"""Judges each model at the most general node that the boundaries allow, with the parts of the diagnosis.

What a merge-closed model cannot reach there it reaches nowhere while nothing is suppressed, and a superset-closed one
nowhere at all (Campan et al. 2010, Properties 5 and 6). Other models may hold at a less general node, or with parts of
a class suppressed: where neither the top nor the models' own bounds decide, the verdict is ``open``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.evidence.describe import asked_limits
from shoal.models.base import Model
from shoal.pipeline.forecast.result import BlockedClass, BlockedColumn, ModelForecast, Reach, Verdict
from shoal.search.diagnosis.diagnosis import TopClasses, kept_apart
from shoal.search.diagnosis.relaxations import strongest
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import Evaluator, evaluate_stats, prunable_models
from shoal.search.lattice.nodes import released_nodes
from shoal.search.problem import Problem
from shoal.table.classes import Mask

_EXAMPLES = 3
_VALUES = 10
"""Classes and values that are listed; how many more there are is told."""


@dataclass(frozen=True, eq=False)
class Bench:
    """A problem with the classes at its most general node, made once for every question."""

    problem: Problem
    engine: LocalEngine
    top: TopClasses

    @staticmethod
    def of(problem: Problem) -> Bench:
        """Group at the top of the lattice."""
        engine = LocalEngine(problem.table, problem.ladders, problem.domains)
        return Bench(problem, engine, TopClasses.of(problem, engine))

    def verdict(self, models: Sequence[Model]) -> Verdict:
        """Whether a release satisfies these models together."""
        evaluator = Evaluator(self.problem, self.engine, models)
        found = evaluator.evaluate(self.top.grouping, self.top.stats)
        if found.satisfied:
            return "reachable"
        return "open" if found.may_satisfy_below else "unreachable"

    def suppressed(self, models: Sequence[Model]) -> int | None:
        """Records in classes that the models leave out at the top; None where they do not hold on the rest either."""
        satisfied, kept = evaluate_stats(models, self.top.stats, self.problem.table.n_rows)
        return int(self.top.stats.sizes[~kept].sum()) if satisfied else None

    def decides(self, models: Sequence[Model]) -> bool:
        """Whether failing at the top proves failing everywhere."""
        return len(prunable_models(models, self.problem.budget)) == len(models)


def judge_model(bench: Bench, place: int) -> ModelForecast:
    """What one of the problem's models reaches, and what blocks it; the sentences are left to be written."""
    model = bench.problem.models[place]
    view = bench.top.stats.view(model.column)
    failing: Mask = ~model.holds(view)
    return ModelForecast(
        model=model.name,
        sensitive=model.column,
        alone=bench.verdict([model]),
        reaches=tuple(_reaches(bench, place)),
        failing_classes=int(failing.sum()),
        failing_records=int(bench.top.stats.sizes[failing].sum()),
        suppressed=bench.suppressed([model]),
        examples=tuple(_examples(bench, model, failing)),
        columns=tuple(_columns(bench, failing)),
        table_lacks=None if failing.any() or model.table_holds(view) else model.lacks(view, 0),
    )


def _reaches(bench: Bench, place: int) -> Iterator[Reach]:
    models, stats, budget = bench.problem.models, bench.top.stats, bench.problem.budget
    model = models[place]
    asked = dict(asked_limits(model))
    for parameter, strength in model.strengths(stats.view(model.column)).items():
        alone = strongest([model], 0, parameter, stats, budget)
        together = alone if len(models) == 1 else strongest(models, place, parameter, stats, budget)
        yield Reach(
            parameter=parameter,
            asked=asked.get(parameter),
            alone=None if alone is None else alone.short,
            together=None if together is None else together.short,
            at_least=strength.at_least,
            proven=bench.decides([model]),
        )


def _examples(bench: Bench, model: Model, failing: Mask) -> Iterator[BlockedClass]:
    """The largest classes that fail."""
    sizes, view = bench.top.stats.sizes, bench.top.stats.view(model.column)
    for i in sorted(np.flatnonzero(failing).tolist(), key=lambda i: (-int(sizes[i]), i))[:_EXAMPLES]:
        yield BlockedClass(kept_apart(bench.problem, bench.top, i), int(sizes[i]), model.lacks(view, i))


def _columns(bench: Bench, failing: Mask) -> Iterator[BlockedColumn]:
    """For each column that a boundary keeps from its root, the values under which records fail."""
    if not failing.any():
        return
    problem, top = bench.problem, bench.top
    nodes = released_nodes(problem, top.node, top.grouping.representatives[failing])
    for j, (name, hierarchy) in enumerate(zip(problem.table.quasi, problem.hierarchies, strict=True)):
        records = np.bincount(nodes[:, j], weights=top.stats.sizes[failing], minlength=len(hierarchy.labels))
        records[hierarchy.root] = 0
        found = sorted(np.flatnonzero(records).tolist(), key=lambda node: (-records[node], node))
        if found:
            listed = tuple((hierarchy.labels[node], int(records[node])) for node in found[:_VALUES])
            rest = found[_VALUES:]
            yield BlockedColumn(name, listed, len(rest), int(records[rest].sum()))


def worded(forecast: ModelForecast, sentences: Sequence[str]) -> ModelForecast:
    """The same with its sentences."""
    return replace(forecast, sentences=tuple(sentences))
