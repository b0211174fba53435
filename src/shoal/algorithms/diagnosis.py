"""Infeasible is an answer: what blocks, the best that can be reached, and the smallest change that would do.

Everything is judged at the most general node that the boundaries allow (Campan's maximum allowed microdata): whatever
a merge-closed model cannot reach there it cannot reach anywhere. Every change that is suggested has been tried.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.algorithms.evaluation import evaluate_stats
from shoal.algorithms.lattice import released_nodes
from shoal.algorithms.problem import Problem
from shoal.engines.grouping import Grouping
from shoal.engines.local import LocalEngine
from shoal.errors import InfeasibleError
from shoal.hierarchies.boundaries import capped_levels
from shoal.models.base import Model, Strength
from shoal.models.tolerance import TOLERANCE
from shoal.table.classes import ClassStats, ClassView

_EXAMPLES = 3
_EXHAUSTIVE = "optimal"
"""The algorithm that looks at every node."""


@dataclass(frozen=True)
class Blocker:
    """A model that some classes of the most general release allowed fail."""

    model: str
    sensitive: str | None
    classes: int
    records: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        on = f" on {self.sensitive!r}" if self.sensitive else ""
        classes, records = counted(self.classes, "class", "classes"), counted(self.records, "record", "records")
        return f"{self.model}{on} fails in {classes} ({records}): {'; '.join(self.examples)}"


@dataclass(frozen=True)
class Relaxation:
    """One change to the policy that was tried and makes a release possible."""

    where: str
    value: float | str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Diagnosis:
    """Why no release exists within the policy."""

    records: int
    budget: int
    blockers: tuple[Blocker, ...]
    reachable: Mapping[str, float]
    """For each model's parameter, the strongest value that can be reached if only that model were asked."""
    relaxations: tuple[Relaxation, ...]
    walked: str | None = None
    """The algorithm, where it looked at some nodes only and the others might satisfy."""
    top_satisfies: bool = False
    """Whether the most general node does; then nothing need be relaxed, only searched for."""

    def __str__(self) -> str:
        allowed = f" with at most {self.budget} of {self.records} records suppressed" if self.budget else ""
        if self.walked:
            parts = [f"{self.walked} met no release on its way up that satisfies the policy{allowed}."]
        else:
            nothing = f"No release satisfies the policy{allowed}"
            parts = [f"{nothing}, not even the most general one that the boundaries allow."]
        parts += [f"{blocker}." for blocker in self.blockers]
        if self.reachable:
            reached = ", ".join(f"{name} = {written(value)}" for name, value in self.reachable.items())
            parts.append(f"Reachable at best, each model alone: {reached}.")
        if self.relaxations:
            changes = "; or ".join(str(relaxation) for relaxation in self.relaxations)
            searched = f" with the algorithm {_EXHAUSTIVE}" if self.walked else ""
            parts.append(f"Any one of these changes would do{searched}: {changes}.")
        elif self.walked and self.top_satisfies:
            parts.append(f"The most general release allowed does satisfy it: use the algorithm {_EXHAUSTIVE}.")
        else:
            parts.append("No change was found that would do, of parameters, the suppression or boundaries.")
        return " ".join(parts)


def written(value: float) -> str:
    """A number as short as it can be and still be that number: a limit cut to six digits may no longer hold."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{count} {one if count == 1 else many}"


def infeasible(problem: Problem, engine: LocalEngine, walked: str | None = None) -> InfeasibleError:
    """The error for a problem that no node of the lattice satisfies; or none that an algorithm ``walked`` over."""
    top = tuple(levels - 1 for levels in problem.shape)
    grouping = engine.classes(top)
    stats = engine.stats(grouping, problem.sensitive_columns)
    satisfies, _ = evaluate_stats(problem.models, stats, problem.budget)
    diagnosis = Diagnosis(
        records=problem.table.n_rows,
        budget=problem.budget,
        blockers=tuple(_blockers(problem, top, grouping, stats)),
        reachable=_reachable(problem, stats),
        relaxations=() if satisfies else tuple(_relaxations(problem, stats)),
        walked=walked,
        top_satisfies=satisfies,
    )
    return InfeasibleError(diagnosis)


def _blockers(problem: Problem, top: tuple[int, ...], grouping: Grouping, stats: ClassStats) -> Iterator[Blocker]:
    for model in problem.models:
        view = stats.view(model.column)
        failing = ~model.holds(view)
        if failing.any():
            worst = sorted(np.flatnonzero(failing), key=lambda i: (-int(stats.sizes[i]), int(i)))[:_EXAMPLES]
            examples = tuple(
                f"{_describe(problem, top, grouping, int(i))} has {model.lacks(view, int(i))}" for i in worst
            )
            records = int(stats.sizes[failing].sum())
            yield Blocker(model.name, model.column, int(failing.sum()), records, examples)
        elif not model.table_holds(view):
            example = f"the table as a whole has {model.lacks(view, 0)}"
            yield Blocker(model.name, model.column, stats.n_classes, int(stats.sizes.sum()), (example,))


def _describe(problem: Problem, top: tuple[int, ...], grouping: Grouping, index: int) -> str:
    """A class by the labels that set it apart, leaving out columns that are fully generalized."""
    nodes = released_nodes(problem, top, grouping.representatives[index : index + 1])[0]
    named = [
        f"{name} = {'missing' if label is None else label}"
        for name, hierarchy, node in zip(problem.table.quasi, problem.hierarchies, nodes, strict=True)
        if int(node) != hierarchy.root
        for label in [hierarchy.labels[int(node)]]
    ]
    where = f" with {', '.join(named)}" if named else ""
    return f"the class of {counted(int(grouping.sizes[index]), 'record', 'records')}{where}"


def _reachable(problem: Problem, stats: ClassStats) -> dict[str, float]:
    reached = {}
    for model in problem.models:
        for parameter in model.strengths(stats.view(model.column)):
            best = _strongest([model], 0, parameter, stats, problem.budget)
            if best is not None:
                reached[_name(model, parameter)] = best
    return reached


def _relaxations(problem: Problem, stats: ClassStats) -> Iterator[Relaxation]:
    yield from _more_suppression(problem, stats)
    for place, model in enumerate(problem.models):
        for parameter in model.strengths(stats.view(model.column)):
            best = _strongest(problem.models, place, parameter, stats, problem.budget)
            if best is not None:
                name = _name(model, parameter)
                yield Relaxation(name, best, f"{name} = {written(best)}")
    yield from _several_parameters(problem, stats)
    yield from _lifted_boundaries(problem)


def _more_suppression(problem: Problem, stats: ClassStats) -> Iterator[Relaxation]:
    satisfied, kept = evaluate_stats(problem.models, stats, problem.table.n_rows)
    if satisfied:
        needed = int(stats.sizes[~kept].sum())
        share = -(-needed * 10_000 // problem.table.n_rows) / 10_000
        yield Relaxation("suppression", share, f"suppression: {share:g} ({needed} of {problem.table.n_rows} records)")


def _strongest(models: Sequence[Model], place: int, parameter: str, stats: ClassStats, budget: int) -> float | None:
    """The strongest value of one parameter with which all models hold at these classes, or None."""
    strength = models[place].strengths(stats.view(models[place].column))[parameter]
    values = np.unique(strength.per_class[np.isfinite(strength.per_class)])
    if strength.at_least:
        values = values[::-1]  # strongest first
    changed = {float(value): models[place].relaxed(parameter, float(value)) for value in values}
    legal = [value for value, model in changed.items() if _legal(model, stats)]

    def works(value: float) -> bool:
        return evaluate_stats([*models[:place], changed[value], *models[place + 1 :]], stats, budget)[0]

    if len(models) == 1 and models[place].whole_table and budget:
        return next(filter(works, _within_budget(legal, strength, stats, budget)), None)
    low = bisect_left(legal, True, key=works)
    return legal[low] if low < len(legal) else None


def _within_budget(values: Sequence[float], strength: Strength, stats: ClassStats, budget: int) -> Iterator[float]:
    """The values that do not at once fail for more records than may be suppressed.

    Leaving classes out changes what a model on the whole table compares the rest with, so a strong value may hold
    where a weaker one fails: these few are tried one by one.
    """
    sign = 1 if strength.at_least else -1
    for value in values:
        short = sign * (strength.per_class - value) < -10 * TOLERANCE
        if int(stats.sizes[short].sum()) <= budget:
            yield value


def _several_parameters(problem: Problem, stats: ClassStats) -> Iterator[Relaxation]:
    """The parameters that fail, relaxed together as far as needed, where more than one has to give."""
    changed, changes = [*problem.models], []
    for place, model in enumerate(problem.models):
        view = stats.view(model.column)
        reached = model.reached(view)
        needed = [
            parameter for parameter in reached if not _holds(_relaxed(model, reached, except_for=parameter), view)
        ]
        changed[place] = _relaxed(model, {parameter: reached[parameter] for parameter in needed})
        changes += [f"{_name(model, parameter)} = {written(reached[parameter])}" for parameter in needed]
    legal = all(_legal(model, stats) for model in changed)
    if len(changes) > 1 and legal and evaluate_stats(changed, stats, problem.budget)[0]:
        together = " with ".join(changes)
        yield Relaxation("privacy", together, f"{together} together")


def _relaxed(model: Model, values: Mapping[str, float], except_for: str | None = None) -> Model:
    for parameter, value in values.items():
        if parameter != except_for and math.isfinite(value):
            model = model.relaxed(parameter, value)
    return model


def _holds(model: Model, view: ClassView) -> bool:
    return bool(model.holds(view).all()) and model.table_holds(view)


def _legal(model: Model, stats: ClassStats) -> bool:
    """Whether a policy could ask for this model."""
    if model.parameter_problems():
        return False
    return model.column is None or not model.domain_problems(stats.domains[model.column])


def _lifted_boundaries(problem: Problem) -> Iterator[Relaxation]:
    bounded = [
        j
        for j, (hierarchy, caps) in enumerate(zip(problem.hierarchies, problem.caps, strict=True))
        if (caps != hierarchy.root).any()
    ]
    single = [j for j in bounded if _satisfied_without(problem, [j])]
    for j in single:
        name = problem.table.quasi[j]
        yield Relaxation(f"columns.{name}.boundary", "none", f"no boundary on {name!r}")
    if not single and len(bounded) > 1 and _satisfied_without(problem, bounded):
        names = ", ".join(repr(problem.table.quasi[j]) for j in bounded)
        yield Relaxation("boundaries", "none", f"no boundaries on {names}")


def _satisfied_without(problem: Problem, columns: Sequence[int]) -> bool:
    """Whether the most general node satisfies once some columns have no boundary."""
    ladders = tuple(
        capped_levels(hierarchy, np.full(hierarchy.n_leaves, hierarchy.root, dtype=np.int32)) if j in columns else given
        for j, (hierarchy, given) in enumerate(zip(problem.hierarchies, problem.ladders, strict=True))
    )
    lifted = replace(problem, ladders=ladders)
    engine = LocalEngine(problem.table, ladders, problem.domains)
    grouping = engine.classes(tuple(levels - 1 for levels in lifted.shape))
    stats = engine.stats(grouping, problem.sensitive_columns)
    return evaluate_stats(problem.models, stats, problem.budget)[0]


def _name(model: Model, parameter: str) -> str:
    return f"{model.name}{f'({model.column})' if model.column else ''}.{parameter}"
