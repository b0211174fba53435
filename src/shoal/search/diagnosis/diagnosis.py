"""Infeasible is an answer: what blocks, the best that can be reached, and the smallest change that would do.

Everything is judged at the most general node that the boundaries allow (Campan's maximum allowed microdata): whatever
a merge-closed model cannot reach there it cannot reach anywhere. Every change that is suggested has been tried,
with the algorithm itself where it may miss a release. `shoal.present.diagnosis` says it in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from shoal.errors import InfeasibleError
from shoal.hierarchies.hierarchy import Label
from shoal.models.base import Model, Shortfall
from shoal.search.diagnosis.relaxations import Finds, Relaxation, always, reachable_alone, relaxations
from shoal.search.engine import Grouping, LocalEngine
from shoal.search.evaluation import evaluate_stats
from shoal.search.lattice.nodes import Node, released_nodes
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, Mask

_EXAMPLES = 3
EXHAUSTIVE = "optimal"  # the algorithm that looks at every node


@dataclass(frozen=True)
class BlockedClass:
    """A class that fails a model."""

    labels: Mapping[str, Label]
    """What it releases in the columns that still tell something; every other column is fully generalized."""
    records: int
    lacks: tuple[Shortfall, ...]


@dataclass(frozen=True)
class Blocker:
    """A model that some classes fail, or the table as a whole does."""

    model: str
    sensitive: str | None
    classes: int
    records: int
    examples: tuple[BlockedClass, ...] = ()  # the largest classes that fail
    table_lacks: tuple[Shortfall, ...] = ()  # what the table as a whole lacks, where every class of it holds


@dataclass(frozen=True)
class Diagnosis:
    """Why no release exists within the policy, or why an algorithm found none."""

    code: Literal["no-release", "not-found", "range-method", "shared-ranges"]
    """Whether there is none at all, an algorithm met none, or the one result of the range method fails."""
    records: int
    budget: int  # how many records may be suppressed
    blockers: tuple[Blocker, ...]
    reachable: Mapping[str, float]
    """For each model's parameter, the strongest value that can be reached if only that model were asked."""
    relaxations: tuple[Relaxation, ...]
    algorithm: str | None = None  # the algorithm, where it looked at some nodes only and the others might satisfy
    top_satisfies: bool = False  # whether the most general node does; then nothing need be relaxed, only searched for
    reachable_short: Mapping[str, float] = field(default_factory=dict)
    """Those of ``reachable`` that have more than four places, with four: a little weaker, and reached as well."""
    missed: tuple[Relaxation, ...] = ()  # changes with which a release exists that the algorithm misses
    holding: tuple[tuple[str, str | None], ...] = ()
    """The models that hold on the one result of the range method, each with its sensitive column."""
    exhaustive: str = EXHAUSTIVE  # the algorithm that misses nothing

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain data, ready for JSON."""
        return {
            "code": self.code,
            "records": self.records,
            "budget": self.budget,
            "blockers": [asdict(blocker) for blocker in self.blockers],
            "reachable": {name: value if math.isfinite(value) else None for name, value in self.reachable.items()},
            "relaxations": [relaxation.to_dict() for relaxation in self.relaxations],
            "missed": [relaxation.to_dict() for relaxation in self.missed],
            "holding": [{"model": model, "sensitive": column} for model, column in self.holding],
        }


@dataclass(frozen=True, eq=False)
class TopClasses:
    """The classes at the most general node that the boundaries allow: Campan's maximum allowed microdata."""

    problem: Problem
    engine: LocalEngine
    node: Node
    grouping: Grouping
    stats: ClassStats

    @staticmethod
    def of(problem: Problem, engine: LocalEngine) -> TopClasses:
        """Group at the top of the lattice."""
        top = tuple(levels - 1 for levels in problem.shape)
        grouping = engine.classes(top)
        return TopClasses(problem, engine, top, grouping, engine.stats(grouping, problem.sensitive_columns))

    def labels(self, index: int) -> dict[str, Label]:
        """What sets a class apart: its labels in the columns that a boundary keeps from being fully generalized."""
        problem = self.problem
        nodes = released_nodes(problem, self.node, self.grouping.representatives[index : index + 1])[0]
        return {
            name: hierarchy.labels[int(node)]
            for name, hierarchy, node in zip(problem.table.quasi, problem.hierarchies, nodes, strict=True)
            if int(node) != hierarchy.root
        }


def infeasible(
    problem: Problem, engine: LocalEngine, algorithm: str | None = None, finds: Finds = always
) -> InfeasibleError:
    """The error for a problem that no node of the lattice satisfies; or none that an ``algorithm`` looked at.

    It says what fails at the most general node, what is reachable there, and with which changes the algorithm
    ``finds`` a release.
    """
    top = TopClasses.of(problem, engine)
    satisfies, _ = evaluate_stats(problem.models, top.stats, problem.budget)
    reachable = reachable_alone(problem, top.stats)
    found, missed = ((), ()) if satisfies else relaxations(problem, top.stats, finds)
    diagnosis = Diagnosis(
        code="no-release" if algorithm is None else "not-found",
        records=problem.table.n_rows,
        budget=problem.budget,
        blockers=tuple(blockers(problem.models, top.stats, top.labels)),
        reachable={name: best.exact for name, best in reachable.items()},
        relaxations=found,
        algorithm=algorithm,
        top_satisfies=satisfies,
        reachable_short={name: best.short for name, best in reachable.items() if best.short != best.exact},
        missed=missed,
    )
    return InfeasibleError(diagnosis)


def blockers(
    models: Sequence[Model], stats: ClassStats, labels: Callable[[int], Mapping[str, Label]]
) -> Iterator[Blocker]:
    """Each model that fails, with the largest classes that fail it."""
    for model in models:
        view = stats.view(model.column)
        failing: Mask = ~model.holds(view)
        if failing.any():
            examples = tuple(largest_failing(model, stats, failing, labels))
            records = int(stats.sizes[failing].sum())
            yield Blocker(model.name, model.column, int(failing.sum()), records, examples)
        elif not model.table_holds(view):
            lacks = model.shortfalls(view, 0)
            yield Blocker(model.name, model.column, stats.n_classes, int(stats.sizes.sum()), table_lacks=lacks)


def largest_failing(
    model: Model, stats: ClassStats, failing: Mask, labels: Callable[[int], Mapping[str, Label]]
) -> Iterator[BlockedClass]:
    """The largest classes that fail a model."""
    sizes, view = stats.sizes, stats.view(model.column)
    for index in sorted(np.flatnonzero(failing).tolist(), key=lambda index: (-int(sizes[index]), index))[:_EXAMPLES]:
        yield BlockedClass(labels(index), int(sizes[index]), model.shortfalls(view, index))
