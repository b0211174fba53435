"""Infeasible is an answer: what blocks, the best that can be reached, and the smallest change that would do.

Everything is judged at the most general node that the boundaries allow (Campan's maximum allowed microdata): whatever
a merge-closed model cannot reach there it cannot reach anywhere. Of other models (with suppression, in people, or about
the whole release) a failure there proves nothing, and only what was looked at is spoken of. Every change that is
suggested has been tried, with the algorithm itself where it may miss a release. `shoal.present.diagnosis` says it in
words.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from shoal.errors import InfeasibleError
from shoal.search.diagnosis.failures import Blocker, TopClasses, blockers
from shoal.search.diagnosis.relaxations import Finds, Relaxation, always, parameter_name, relaxations, strongest
from shoal.search.engine import LocalEngine
from shoal.search.evaluation import evaluate_stats, prunable_models
from shoal.search.problem import Problem

EXHAUSTIVE = "optimal"  # the algorithm that looks at every node


@dataclass(frozen=True)
class Diagnosis:
    """Why no release exists within the policy, or why an algorithm found none."""

    code: Literal["no-release", "no-node", "starts-at-top", "not-found", "range-method", "shared-ranges"]
    """Whether there is none at all, none among full-domain recodings, the most general one fails that an algorithm
    starts from, an algorithm met none, or the one result of the range method fails."""
    records: int
    budget: int  # how many records may be suppressed
    blockers: tuple[Blocker, ...]
    reachable: Mapping[str, float]  # the strongest value of each parameter if only its model were asked
    relaxations: tuple[Relaxation, ...]
    algorithm: str | None = None  # the algorithm, where it looked at some nodes only and the others might satisfy
    top_satisfies: bool = False  # whether the most general node does; then nothing need be relaxed, only searched for
    reachable_short: Mapping[str, float] = field(default_factory=dict)  # a little weaker ones where those are long
    missed: tuple[Relaxation, ...] = ()  # changes with which a release exists that the algorithm misses
    holding: tuple[tuple[str, str | None], ...] = ()  # (model, column) that hold on the one result of the range method
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


def infeasible(
    problem: Problem,
    engine: LocalEngine,
    algorithm: str | None = None,
    finds: Finds = always,
    *,
    otherwise: Literal["no-node", "starts-at-top"] = "no-node",
) -> InfeasibleError:
    """The error for a problem that no node of the lattice satisfies; or none that an ``algorithm`` looked at.

    ``otherwise`` says what is known where a failure at the most general node proves nothing about others.
    """
    proven = len(prunable_models(problem, problem.models)) == len(problem.models)
    top = TopClasses.of(problem, engine)
    satisfies, _ = evaluate_stats(problem.models, top.stats, problem.budget)
    reachable = {
        parameter_name(problem, index, parameter): best
        for index, model in enumerate(problem.models)
        for parameter in model.strengths(top.stats.view(model.column))
        if (best := strongest([model], 0, parameter, top.stats, problem.budget)) is not None
    }
    found, missed = ((), ()) if satisfies else relaxations(problem, top.stats, finds)
    return InfeasibleError(
        Diagnosis(
            code="not-found" if algorithm is not None else "no-release" if proven else otherwise,
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
    )
