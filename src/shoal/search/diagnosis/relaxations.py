"""What can be reached, and the smallest change to a policy that would do: each found by trying it.

Judged on given classes, as a rule those at the most general node that the boundaries allow.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from shoal.edits import PolicyEdit
from shoal.hierarchies.boundaries import capped_levels
from shoal.models.base import Model
from shoal.models.comparison import TOLERANCE
from shoal.search.diagnosis.failures import TopClasses
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import evaluate_stats
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats

Finds = Callable[[Problem], bool]  # whether an algorithm finds a release of a problem whose most general node satisfies
_STEP = Decimal("0.0001")  # suggested numbers have four decimal places, where such a number does


@dataclass(frozen=True)
class ParameterChange:
    """A parameter of a model that would have to be weaker."""

    entry: int  # the entry under ``privacy``
    model: str
    sensitive: str | None
    parameter: str
    value: float
    at_least: bool  # whether the classes must reach at least the value: then it is lowered, else raised


@dataclass(frozen=True)
class Relaxation:
    """One change to the policy that was tried and makes a release possible."""

    code: Literal["suppression", "parameters", "boundaries", "shared-ranges", "group-level"]
    edits: tuple[PolicyEdit, ...]  # what changes in the policy, all of it together
    parameters: tuple[ParameterChange, ...] = ()
    columns: tuple[str, ...] = ()  # the columns whose boundary is removed, or whose groups are masked further
    level: int | None = None
    share: float | None = None  # the share of the records that may be suppressed then
    records: int | None = None  # the records that have to be
    of_records: int | None = None
    also: Relaxation | None = None  # A further change that is needed beside this one

    def to_dict(self) -> dict[str, Any]:
        """The change as plain data."""
        return {
            "code": self.code,
            "edits": [edit.to_dict() for edit in self.edits],
            "parameters": [asdict(each) for each in self.parameters],
            "columns": list(self.columns),
            "level": self.level,
            "share": self.share,
            "records": self.records,
        }


@dataclass(frozen=True)
class ReachableValue:
    """The strongest value with which models hold, and one of four decimal places that is hardly weaker."""

    exact: float
    short: float


def always(_: Problem) -> bool:
    """For algorithms that look at the most general node, or start from it."""
    return True


def relaxations(
    problem: Problem, stats: ClassStats, finds: Finds = always
) -> tuple[tuple[Relaxation, ...], tuple[Relaxation, ...]]:
    """Every single change that makes these classes, or those without a boundary, satisfy all models.

    First those with which the algorithm finds a release, then those with which it misses the one that there is.
    """
    changes = [(change, finds(changed)) for change, changed in _changes(problem, stats)]
    found = tuple(change for change, works in changes if works)
    return found, tuple(change for change, works in changes if not works)


_Change = tuple[Relaxation, Problem]  # A change, and the problem with it


def _changes(problem: Problem, stats: ClassStats) -> Iterator[_Change]:
    more = more_suppression(problem, stats)
    if more is not None and more.share is not None:
        yield more, replace(problem, budget=int(Fraction(str(more.share)) * problem.table.n_rows))
    for index, model in enumerate(problem.models):
        for parameter in model.strengths(stats.view(model.column)):
            best = strongest(problem.models, index, parameter, stats, problem.budget)
            if best is not None:
                weaker = model.relaxed(parameter, best.short)
                changed = replace(problem, models=(*problem.models[:index], weaker, *problem.models[index + 1 :]))
                yield _weaker_parameters(problem, [(index, parameter, best.short)]), changed
    yield from _several_parameters(problem, stats)
    yield from _lifted_boundaries(problem)


def more_suppression(problem: Problem, stats: ClassStats) -> Relaxation | None:
    """The share of the records that would have to be suppressed, where that alone would do."""
    records = problem.table.n_rows
    satisfied, kept = evaluate_stats(problem.models, stats, records)
    if not satisfied:
        return None
    needed = int(stats.records[~kept].sum())
    share = -(-needed * 10_000 // records) / 10_000
    edits = (PolicyEdit(("suppression",), share),)
    return Relaxation("suppression", edits, share=share, records=needed, of_records=records)


def _weaker_parameters(problem: Problem, values: Sequence[tuple[int, str, float]]) -> Relaxation:
    """Parameters of models (by their index) that are set to weaker values, all of them together."""
    edits, parameters = [], []
    for index, parameter, value in values:
        model, entry = problem.models[index], problem.entry_of(index)
        limit = model.single_limits()[parameter]
        plain = int(value) if float(value).is_integer() else value
        edits.append(PolicyEdit(model.policy_path(entry, limit), plain, model.column))
        at_least = bool(limit.parameter.at_least)
        parameters.append(ParameterChange(entry, model.name, model.column, parameter, plain, at_least))
    return Relaxation("parameters", tuple(edits), tuple(parameters))


def strongest(
    models: Sequence[Model], index: int, parameter: str, stats: ClassStats, budget: int
) -> ReachableValue | None:
    """The strongest value of one parameter with which all models hold at these classes, or None."""
    shown = stats.showing(models[index].column)
    strength = models[index].strengths(shown.view(models[index].column))[parameter]
    figures, sign = strength.per_class, 1 if strength.at_least else -1
    values = np.unique(figures[np.isfinite(figures)])[::-sign]  # strongest first

    def changed(value: float) -> Model:
        return models[index].relaxed(parameter, value)

    def works(value: float) -> bool:
        return evaluate_stats([*models[:index], changed(value), *models[index + 1 :]], stats, budget)[0]

    legal = [float(value) for value in values if _legal(changed(float(value)), stats)]
    if len(models) == 1 and models[index].whole_table and budget:
        # Leaving classes out changes what the rest is compared with, so a strong value may hold where a weaker one
        # fails: all are tried that do not at once fail for more records than may be suppressed.
        failing = (shown.records[sign * (figures - value) < -10 * TOLERANCE].sum() for value in legal)
        tried = (value for value, records in zip(legal, failing, strict=True) if records <= budget)
        best = next(filter(works, tried), None)
    else:
        low = bisect_left(legal, True, key=works)
        best = legal[low] if low < len(legal) else None
    if best is None:
        return None
    short = outward(best, at_least=strength.at_least)
    return ReachableValue(best, short if short == best or (_legal(changed(short), stats) and works(short)) else best)


def outward(value: float, *, at_least: bool) -> float:
    """The nearest number of four decimal places that asks no more: below a least value, above a largest one."""
    rounding = ROUND_FLOOR if at_least else ROUND_CEILING
    return float(Decimal(repr(value)).quantize(_STEP, rounding)) + 0.0  # never a minus before zero


def _several_parameters(problem: Problem, stats: ClassStats) -> Iterator[_Change]:
    """The parameters that fail, relaxed together as far as needed, where more than one has to give."""
    needed, short = [], []
    for index, model in enumerate(problem.models):
        view, limits = stats.showing(model.column).view(model.column), model.single_limits()
        reached = {name: value for name, value in model.reached(view).items() if math.isfinite(value)}
        for parameter, value in model.reached(view).items():
            without = model
            for other, figure in reached.items():
                without = without if other == parameter else without.relaxed(other, figure)
            if not (without.holds(view).all() and without.table_holds(view)):
                at_least = bool(limits[parameter].parameter.at_least)
                needed.append((index, parameter, value))
                short.append((index, parameter, outward(value, at_least=at_least) if parameter in reached else value))
    if len(needed) < 2:
        return
    for values in (short, needed):
        changed = list(problem.models)
        for index, parameter, value in values:
            if math.isfinite(value):
                changed[index] = changed[index].relaxed(parameter, value)
        if all(_legal(model, stats) for model in changed) and evaluate_stats(changed, stats, problem.budget)[0]:
            yield _weaker_parameters(problem, values), replace(problem, models=tuple(changed))
            return


def _legal(model: Model, stats: ClassStats) -> bool:
    """Whether a policy could ask for this model."""
    if model.parameter_problems():
        return False
    return model.column is None or not model.domain_problems(stats.domains[model.column])


def _lifted_boundaries(problem: Problem) -> Iterator[_Change]:
    """The boundary of a single column removed or, where that never helps, those of all columns together."""
    columns = enumerate(zip(problem.hierarchies, problem.caps, strict=True))
    bounded = [j for j, (hierarchy, caps) in columns if (caps != hierarchy.root).any()]
    single = [found for j in bounded for found in _without_boundaries(problem, [j])]
    yield from single or (_without_boundaries(problem, bounded) if len(bounded) > 1 else ())


def _without_boundaries(problem: Problem, columns: Sequence[int]) -> Iterator[_Change]:
    """No boundary on some columns, where the most general node satisfies then."""
    caps, ladders = list(problem.caps), list(problem.ladders)
    for j in columns:
        hierarchy = problem.hierarchies[j]
        caps[j] = np.full(hierarchy.n_leaves, hierarchy.root, dtype=np.int32)
        ladders[j] = capped_levels(hierarchy, caps[j])
    lifted = replace(problem, caps=tuple(caps), ladders=tuple(ladders))
    top = TopClasses.of(lifted, LocalEngine(lifted.table, lifted.ladders, lifted.domains))
    if evaluate_stats(lifted.models, top.stats, lifted.budget)[0]:
        names = tuple(problem.table.quasi[j] for j in columns)
        edits = tuple(PolicyEdit(("columns", name, "boundary")) for name in names)
        yield Relaxation("boundaries", edits, columns=names), lifted


def parameter_name(problem: Problem, index: int, parameter: str) -> str:
    """A parameter: ``p-sensitive(condition).p``; ``privacy[1].p-sensitive(condition).p`` where two entries ask it."""
    model = problem.models[index]
    alike = sum((other.name, other.column) == (model.name, model.column) for other in problem.models)
    entry = f"privacy[{problem.entry_of(index)}]." if alike > 1 else ""
    return f"{entry}{model.name}{f'({model.column})' if model.column else ''}.{parameter}"
