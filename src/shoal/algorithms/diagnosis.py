"""Infeasible is an answer: what blocks, the best that can be reached, and the smallest change that would do.

Everything is judged at the most general node that the boundaries allow (Campan's maximum allowed microdata): whatever
a merge-closed model cannot reach there it cannot reach anywhere. Every change that is suggested has been tried.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np

from shoal.algorithms.evaluation import evaluate_stats
from shoal.algorithms.lattice import released_nodes
from shoal.algorithms.problem import Problem
from shoal.engines.grouping import Grouping
from shoal.engines.local import LocalEngine
from shoal.errors import InfeasibleError
from shoal.hierarchies.boundaries import capped_levels
from shoal.hierarchies.hierarchy import ROOT_LABEL
from shoal.models.base import Model, Strength
from shoal.models.tolerance import TOLERANCE
from shoal.table.classes import ClassStats, ClassView

_EXAMPLES = 3
_EXHAUSTIVE = "optimal"
"""The algorithm that looks at every node."""
_PLACES = Decimal("0.0001")
"""Suggested numbers have four places after the point, where a number of four places does."""


@dataclass(frozen=True)
class Blocker:
    """A model that some classes of the most general release allowed fail."""

    model: str
    sensitive: str | None
    classes: int
    records: int
    examples: tuple[str, ...]

    @property
    def head(self) -> str:
        """Which model fails, and in how many classes and records."""
        on = f" on {self.sensitive!r}" if self.sensitive else ""
        classes, records = counted(self.classes, "class", "classes"), counted(self.records, "record", "records")
        return f"{self.model}{on} fails in {classes} ({records})"

    def __str__(self) -> str:
        return f"{self.head}: {'; '.join(self.examples)}"

    def to_dict(self) -> dict[str, Any]:
        """The blocker as plain data."""
        return {
            "model": self.model,
            "sensitive": self.sensitive,
            "classes": self.classes,
            "records": self.records,
            "examples": list(self.examples),
        }


@dataclass(frozen=True)
class Relaxation:
    """One change to the policy that was tried and makes a release possible."""

    where: str
    value: float | str
    text: str

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The change as plain data."""
        return {"where": self.where, "value": self.value, "text": self.text}


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

    reachable_short: Mapping[str, float] = field(default_factory=dict)
    """Those of ``reachable`` that have more than four places, with four: a little weaker, and reached as well."""

    def __str__(self) -> str:
        """Several lines: the verdict, what blocks, what is reachable, and what would help."""
        lines = [self._verdict()]
        if self.blockers:
            lines.append("What blocks:")
            for blocker in self.blockers:
                lines += [f"  - {blocker.head}:", *(f"      {example}" for example in blocker.examples)]
        if self.reachable:
            lines.append("Reachable at best, each model alone:")
            reached = {**self.reachable, **self.reachable_short}
            lines += [f"  - {name} = {written(value)}" for name, value in reached.items()]
        return "\n".join([*lines, *self._way_out()])

    def _verdict(self) -> str:
        allowed = f" with at most {self.budget} of {self.records} records suppressed" if self.budget else ""
        if self.walked:
            return f"{self.walked} met no release on its way up that satisfies the policy{allowed}."
        return f"No release satisfies the policy{allowed}, not even the most general one that the boundaries allow."

    def _way_out(self) -> list[str]:
        if self.relaxations:
            searched = f" with the algorithm {_EXHAUSTIVE}" if self.walked else ""
            return [
                f"Any one of these changes would do{searched}:",
                *(f"  - {relaxation}" for relaxation in self.relaxations),
            ]
        if self.walked and self.top_satisfies:
            return [f"The most general release allowed does satisfy it: use the algorithm {_EXHAUSTIVE}."]
        return ["No change was found that would do, of parameters, the suppression or boundaries."]

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain data, ready for JSON."""
        return {
            "records": self.records,
            "budget": self.budget,
            "blockers": [blocker.to_dict() for blocker in self.blockers],
            "reachable": {name: value if math.isfinite(value) else None for name, value in self.reachable.items()},
            "relaxations": [relaxation.to_dict() for relaxation in self.relaxations],
        }


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
    reachable = _reachable(problem, stats)
    diagnosis = Diagnosis(
        records=problem.table.n_rows,
        budget=problem.budget,
        blockers=tuple(_blockers(problem, top, grouping, stats)),
        reachable={name: found.exact for name, found in reachable.items()},
        relaxations=() if satisfies else tuple(_relaxations(problem, stats)),
        walked=walked,
        top_satisfies=satisfies,
        reachable_short={name: found.short for name, found in reachable.items() if found.short != found.exact},
    )
    return InfeasibleError(diagnosis)


def _blockers(problem: Problem, top: tuple[int, ...], grouping: Grouping, stats: ClassStats) -> Iterator[Blocker]:
    for model in problem.models:
        view = stats.view(model.column)
        failing = ~model.holds(view)
        if failing.any():
            worst = sorted(np.flatnonzero(failing), key=lambda i: (-int(stats.sizes[i]), int(i)))[:_EXAMPLES]
            examples = tuple(f"{_describe(problem, top, grouping, int(i))}: {model.lacks(view, int(i))}" for i in worst)
            records = int(stats.sizes[failing].sum())
            yield Blocker(model.name, model.column, int(failing.sum()), records, examples)
        elif not model.table_holds(view):
            example = f"the table as a whole: {model.lacks(view, 0)}"
            yield Blocker(model.name, model.column, stats.n_classes, int(stats.sizes.sum()), (example,))


def _describe(problem: Problem, top: tuple[int, ...], grouping: Grouping, index: int) -> str:
    """A class by the labels that set it apart; columns that are fully generalized are only said to be."""
    nodes = released_nodes(problem, top, grouping.representatives[index : index + 1])[0]
    named, roots = [], []
    for name, hierarchy, node in zip(problem.table.quasi, problem.hierarchies, nodes, strict=True):
        label = hierarchy.labels[int(node)]
        if int(node) == hierarchy.root:
            roots.append(label)
        else:
            named.append(f"{name} = {'missing' if label is None else label}")
    general = "*" if all(label == ROOT_LABEL for label in roots) else "fully generalized"
    if named and roots:
        named.append(f"all other columns are {general}")
    where = f" with {', '.join(named)}" if named else f" (all columns are {general})"
    return f"the class of {counted(int(grouping.sizes[index]), 'record', 'records')}{where}"


@dataclass(frozen=True)
class _Found:
    """The strongest value of a parameter with which models hold, and one of four places that is hardly weaker."""

    exact: float
    short: float


def _reachable(problem: Problem, stats: ClassStats) -> dict[str, _Found]:
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
                yield Relaxation(name, best.short, f"{name} = {written(best.short)}")
    yield from _several_parameters(problem, stats)
    yield from _lifted_boundaries(problem)


def _more_suppression(problem: Problem, stats: ClassStats) -> Iterator[Relaxation]:
    satisfied, kept = evaluate_stats(problem.models, stats, problem.table.n_rows)
    if satisfied:
        needed = int(stats.sizes[~kept].sum())
        share = -(-needed * 10_000 // problem.table.n_rows) / 10_000
        yield Relaxation("suppression", share, f"suppression: {share:g} ({needed} of {problem.table.n_rows} records)")


def _strongest(models: Sequence[Model], place: int, parameter: str, stats: ClassStats, budget: int) -> _Found | None:
    """The strongest value of one parameter with which all models hold at these classes, or None."""
    strength = models[place].strengths(stats.view(models[place].column))[parameter]
    values = np.unique(strength.per_class[np.isfinite(strength.per_class)])
    if strength.at_least:
        values = values[::-1]  # strongest first

    def changed(value: float) -> Model:
        return models[place].relaxed(parameter, value)

    def works(value: float) -> bool:
        return evaluate_stats([*models[:place], changed(value), *models[place + 1 :]], stats, budget)[0]

    legal = [float(value) for value in values if _legal(changed(float(value)), stats)]
    if len(models) == 1 and models[place].whole_table and budget:
        best = next(filter(works, _within_budget(legal, strength, stats, budget)), None)
    else:
        low = bisect_left(legal, True, key=works)
        best = legal[low] if low < len(legal) else None
    if best is None:
        return None
    short = outward(best, at_least=strength.at_least)
    return _Found(best, short if short == best or (_legal(changed(short), stats) and works(short)) else best)


def outward(value: float, *, at_least: bool) -> float:
    """The nearest number of four places that asks no more: below a least value, above a largest one."""
    rounding = ROUND_FLOOR if at_least else ROUND_CEILING
    return float(Decimal(repr(value)).quantize(_PLACES, rounding)) + 0.0  # never a minus before zero


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
    needed: list[dict[str, float]] = []
    short: list[dict[str, float]] = []
    for model in problem.models:
        view = stats.view(model.column)
        reached, strengths = model.reached(view), model.strengths(view)
        needed.append(
            {
                parameter: value
                for parameter, value in reached.items()
                if not _holds(_relaxed(model, reached, except_for=parameter), view)
            }
        )
        short.append(
            {
                parameter: outward(value, at_least=strengths[parameter].at_least) if math.isfinite(value) else value
                for parameter, value in needed[-1].items()
            }
        )
    if sum(map(len, needed)) < 2:
        return
    for values in (short, needed):
        changed = [_relaxed(model, each) for model, each in zip(problem.models, values, strict=True)]
        if all(_legal(model, stats) for model in changed) and evaluate_stats(changed, stats, problem.budget)[0]:
            changes = [
                f"{_name(model, parameter)} = {written(value)}"
                for model, each in zip(problem.models, values, strict=True)
                for parameter, value in each.items()
            ]
            together = " with ".join(changes)
            yield Relaxation("privacy", together, f"{together} together")
            return


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
