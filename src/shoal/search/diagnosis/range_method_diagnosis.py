"""Why the range method makes no release: what holds on its result, what does not, and what would help.

Judged on the classes of the method itself, not at the top of the lattice: the method makes one result and searches
for no other. Every change that is suggested has been tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.base import Model
from shoal.search.diagnosis.diagnosis import Blocker, Diagnosis
from shoal.search.diagnosis.relaxations import Relaxation, counted, written
from shoal.search.evaluation import evaluate_stats
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats

_EXAMPLES = 3


@dataclass(frozen=True)
class RangeDiagnosis(Diagnosis):
    """The diagnosis of the range method; ``reachable`` is what its result reaches."""

    safe: bool = False
    """Whether one shared range a group was asked for."""
    holding: tuple[str, ...] = ()
    """The models that hold."""

    def __str__(self) -> str:
        """Several lines: the verdict, what fails, what holds, what is reached, and what would help."""
        lines = [self._verdict(), "What fails:"]
        for blocker in self.blockers:
            lines += [f"  - {blocker.head}:", *(f"      {example}" for example in blocker.examples)]
        if self.holding:
            lines += ["What holds:", *(f"  - {model}" for model in self.holding)]
        if self.reachable:
            lines += ["Reached:", *(f"  - {name} = {written(value)}" for name, value in self.reachable.items())]
        return "\n".join([*lines, *self._way_out()])

    def _verdict(self) -> str:
        if not self.safe:
            return (
                "The range method as published guarantees no model and suppresses nothing, and the policy does not "
                "hold on its result; nothing is released."
            )
        allowed = f" with at most {self.budget} of {self.records} records suppressed" if self.budget else ""
        return f"The policy does not hold on the groups of the range method{allowed}."

    def _way_out(self) -> list[str]:
        if self.relaxations:
            one = "This change" if len(self.relaxations) == 1 else "Any one of these changes"
            return [f"{one} would do:", *(f"  - {relaxation}" for relaxation in self.relaxations)]
        also = "" if self.safe else "safe: true does not make it hold; with it, "
        return [
            f"No change was found that would do: {also}neither more suppression nor one group column masked further."
        ]

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain data, ready for JSON."""
        return {**super().to_dict(), "holding": list(self.holding)}


def blockers(
    problem: Problem, stats: ClassStats, hierarchies: Sequence[Hierarchy], nodes: NDArray[np.int32]
) -> Iterator[Blocker]:
    """Each model that fails, with the largest classes that fail it."""
    for model in problem.models:
        view = stats.view(model.column)
        failing = ~model.holds(view)
        if failing.any():
            worst = sorted(np.flatnonzero(failing).tolist(), key=lambda i: (-int(stats.sizes[i]), i))[:_EXAMPLES]
            examples = tuple(
                f"{_described(problem, int(stats.sizes[i]), hierarchies, nodes[i])}: {model.lacks(view, i)}"
                for i in worst
            )
            yield Blocker(model.name, model.column, int(failing.sum()), int(stats.sizes[failing].sum()), examples)
        elif not model.table_holds(view):
            example = f"the table as a whole: {model.lacks(view, 0)}"
            yield Blocker(model.name, model.column, stats.n_classes, int(stats.sizes.sum()), (example,))


def holding(problem: Problem, stats: ClassStats) -> Iterator[str]:
    """The models that hold in every class and on the whole."""
    for model in problem.models:
        view = stats.view(model.column)
        if model.holds(view).all() and model.table_holds(view):
            yield _name(model)


def reached(problem: Problem, stats: ClassStats) -> dict[str, float]:
    """What every class reaches of each parameter."""
    found = {}
    for model in problem.models:
        for parameter, value in model.reached(stats.view(model.column)).items():
            if math.isfinite(value):
                found[f"{model.name}{f'({model.column})' if model.column else ''}.{parameter}"] = value
    return found


def enough_suppression(problem: Problem, stats: ClassStats) -> Iterator[Relaxation]:
    """The share of records that would have to be suppressed, where that alone would do."""
    satisfied, kept = evaluate_stats(problem.models, stats, problem.table.n_rows)
    if satisfied:
        needed, records = int(stats.sizes[~kept].sum()), problem.table.n_rows
        share = -(-needed * 10_000 // records) / 10_000
        yield Relaxation("suppression", share, f"suppression: {share:g} ({needed} of {records} records)")


def higher_level(column: str, level: int) -> Relaxation:
    """A group column that would have to be masked further."""
    return Relaxation(f"algorithm.group.{column}", level, f"level {level} for {column!r} under group")


def shared_ranges(also: Relaxation | None = None) -> Relaxation:
    """The safe form, alone or with another change."""
    text = "safe: true under algorithm, one range shared by each group"
    return Relaxation("algorithm.safe", "true", text if also is None else f"safe: true under algorithm and {also}")


def _name(model: Model) -> str:
    return f"{model.name} on {model.column!r}" if model.column else model.name


def _described(problem: Problem, size: int, hierarchies: Sequence[Hierarchy], nodes: NDArray[np.int32]) -> str:
    """A class by what it releases."""
    labels = [hierarchy.labels[node] for hierarchy, node in zip(hierarchies, nodes.tolist(), strict=True)]
    named = zip(problem.table.quasi, labels, strict=True)
    shown = ", ".join(f"{name} = {'missing' if label is None else label}" for name, label in named)
    return f"the class of {counted(size, 'record', 'records')} with {shown}"
