"""Infeasible is an answer: what blocks, the best that can be reached, and the smallest change that would do.

Everything is judged at the most general node that the boundaries allow (Campan's maximum allowed microdata): whatever
a merge-closed model cannot reach there it cannot reach anywhere. Every change that is suggested has been tried,
with the algorithm itself where it may miss a release.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.errors import InfeasibleError
from shoal.hierarchies.hierarchy import ROOT_LABEL, Label
from shoal.search.diagnosis.relaxations import Finds, Relaxation, always, counted, reachable_alone, relaxations, written
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import evaluate_stats
from shoal.search.lattice.nodes import Node, released_nodes
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats

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
    missed: tuple[Relaxation, ...] = ()
    """Changes with which a release exists that the algorithm which ``walked`` misses."""

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
            return ["Any one of these changes would do:", *(f"  - {relaxation}" for relaxation in self.relaxations)]
        if self.missed:
            return [
                f"Any one of these changes would do, but only with the algorithm {_EXHAUSTIVE}:",
                *(f"  - {relaxation}" for relaxation in self.missed),
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


@dataclass(frozen=True, eq=False)
class TopClasses:
    """The classes at the most general node that the boundaries allow: Campan's maximum allowed microdata."""

    node: Node
    grouping: Grouping
    stats: ClassStats

    @staticmethod
    def of(problem: Problem, engine: LocalEngine) -> TopClasses:
        """Group at the top of the lattice."""
        top = tuple(levels - 1 for levels in problem.shape)
        grouping = engine.classes(top)
        return TopClasses(top, grouping, engine.stats(grouping, problem.sensitive_columns))


def infeasible(
    problem: Problem, engine: LocalEngine, walked: str | None = None, finds: Finds = always
) -> InfeasibleError:
    """The error for a problem that no node of the lattice satisfies; or none that an algorithm ``walked`` over."""
    return InfeasibleError(diagnose(problem, TopClasses.of(problem, engine), walked, finds))


def diagnose(problem: Problem, top: TopClasses, walked: str | None = None, finds: Finds = always) -> Diagnosis:
    """What fails at the most general node, what is reachable there, and with which changes the algorithm ``finds``."""
    satisfies, _ = evaluate_stats(problem.models, top.stats, problem.budget)
    reachable = reachable_alone(problem, top.stats)
    found, missed = ((), ()) if satisfies else relaxations(problem, top.stats, finds)
    return Diagnosis(
        records=problem.table.n_rows,
        budget=problem.budget,
        blockers=tuple(_blockers(problem, top)),
        reachable={name: best.exact for name, best in reachable.items()},
        relaxations=found,
        walked=walked,
        top_satisfies=satisfies,
        reachable_short={name: best.short for name, best in reachable.items() if best.short != best.exact},
        missed=missed,
    )


def _blockers(problem: Problem, top: TopClasses) -> Iterator[Blocker]:
    stats = top.stats
    for model in problem.models:
        view = stats.view(model.column)
        failing = ~model.holds(view)
        if failing.any():
            worst = sorted(np.flatnonzero(failing), key=lambda i: (-int(stats.sizes[i]), int(i)))[:_EXAMPLES]
            examples = tuple(f"{_describe(problem, top, int(i))}: {model.lacks(view, int(i))}" for i in worst)
            records = int(stats.sizes[failing].sum())
            yield Blocker(model.name, model.column, int(failing.sum()), records, examples)
        elif not model.table_holds(view):
            example = f"the table as a whole: {model.lacks(view, 0)}"
            yield Blocker(model.name, model.column, stats.n_classes, int(stats.sizes.sum()), (example,))


def kept_apart(problem: Problem, top: TopClasses, index: int) -> dict[str, Label]:
    """The labels that set a class of the most general release apart: those of columns that a boundary keeps there."""
    nodes = released_nodes(problem, top.node, top.grouping.representatives[index : index + 1])[0]
    return {
        name: hierarchy.labels[int(node)]
        for name, hierarchy, node in zip(problem.table.quasi, problem.hierarchies, nodes, strict=True)
        if int(node) != hierarchy.root
    }


def _describe(problem: Problem, top: TopClasses, index: int) -> str:
    """A class by the labels that set it apart; columns that are fully generalized are only said to be."""
    apart = kept_apart(problem, top, index)
    named = [f"{name} = {'missing' if label is None else label}" for name, label in apart.items()]
    roots = [
        hierarchy.labels[hierarchy.root]
        for name, hierarchy in zip(problem.table.quasi, problem.hierarchies, strict=True)
        if name not in apart
    ]
    general = "*" if all(label == ROOT_LABEL for label in roots) else "fully generalized"
    if named and roots:
        named.append(f"all other columns are {general}")
    where = f" with {', '.join(named)}" if named else f" (all columns are {general})"
    return f"the class of {counted(int(top.grouping.sizes[index]), 'record', 'records')}{where}"
