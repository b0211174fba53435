"""One point of a comparison: anonymized, verified, measured - or the reason why it cannot be; and all points together:
a table, the frontier among them, and both as files.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.errors import InfeasibleError, PolicyError, VerificationError
from shoal.evidence.evidence import to_json
from shoal.evidence.machine import peak_memory_bytes, reset_peak_memory, versions
from shoal.io.sink import FileSink, MemorySink
from shoal.metrics import METRICS
from shoal.pipeline.compare.axes import Number
from shoal.pipeline.compare.folder import KIND
from shoal.pipeline.compare.grid import GridPoint
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.run import Clock, Job, run
from shoal.policy import Policy
from shoal.present.comparison import write_comparison
from shoal.present.diagnosis import blocker_text, suggestion, verdict
from shoal.search.problem import Progress

RISKS = ("average", "highest", "homogeneity", "similarity")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The points of a grid with what each loses and what risk it leaves."""

    folder: Path
    algorithms: tuple[str, ...]
    axes: Mapping[str, tuple[Number, ...]]
    metric: str
    risk: str
    points: tuple[Mapping[str, Any], ...]
    """The result of each point, as in its ``*.result.json``."""
    policy_sha256: str
    inputs_sha256: Mapping[str, str]

    def __repr__(self) -> str:
        """The counts in one line."""
        count = f"{len(self.points)} point{'' if len(self.points) == 1 else 's'}"
        return f"<Comparison: {count}, {len(self.verified)} verified, {len(self.frontier)} on the frontier>"

    @cached_property
    def verified(self) -> tuple[Mapping[str, Any], ...]:
        """The points that have a verified release."""
        return tuple(point for point in self.points if point["status"] == VERIFIED)

    @cached_property
    def frontier(self) -> tuple[str, ...]:
        """The names of the points that no other beats in both loss and risk, least loss first."""
        metric = METRICS[self.metric]
        names = [str(point["name"]) for point in self.verified]
        costs = [metric.cost(point["measures"][self.metric]) for point in self.verified]
        risks = [float(point["risk"][self.risk]) for point in self.verified]
        return tuple(names[index] for index in frontier(list(zip(costs, risks, strict=True))))

    def to_dict(self) -> dict[str, Any]:
        """The content of ``comparison.json``."""
        return {
            "kind": KIND,
            "algorithms": list(self.algorithms),
            "axes": {name: list(values) for name, values in self.axes.items()},
            "metric": self.metric,
            "higher_is_better": METRICS[self.metric].higher_is_better,
            "risk": self.risk,
            "frontier": list(self.frontier),
            "points": [dict(point) for point in self.points],
            "policy_sha256": self.policy_sha256,
            "inputs_sha256": dict(self.inputs_sha256),
            "versions": versions(),
        }

    def to_csv(self) -> str:
        """The content of ``comparison.csv``: a row per point."""
        out = io.StringIO()
        rows = [self._row(point) for point in self.points]
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def texts(self) -> dict[str, str]:
        """The files of the comparison by their kind."""
        content = self.to_dict()
        return {"json": to_json(content), "csv": self.to_csv(), "html": write_comparison(content)}

    def _row(self, point: Mapping[str, Any]) -> dict[str, Any]:
        sizes, measures, risk = (point.get(key) or {} for key in ("class_sizes", "measures", "risk"))
        return {
            "name": point["name"],
            "algorithm": point["algorithm"],
            **{name: point["parameters"][name] for name in self.axes},
            "status": point["status"],
            "frontier": point["name"] in self.frontier,
            **{name: measures.get(name) for name in METRICS},
            **{f"risk_{name}": risk.get(name) for name in RISKS},
            **{key: point.get(key) for key in ("records", "released", "classes")},
            **{f"class_size_{key}": sizes.get(key) for key in ("smallest", "mean", "largest")},
            **{key: point.get(key) for key in ("seconds", "peak_memory_bytes", "reason", "nearest_relaxation")},
        }


def frontier(points: Sequence[tuple[float, float]]) -> list[int]:
    """The indexes of the points that no other beats in both figures (Pareto), by the first, then the second.

    Less is better in both. A point is beaten by one that is no worse in both and better in one.
    """
    found: list[int] = []
    for index in sorted(range(len(points)), key=lambda index: (points[index], index)):
        last = points[found[-1]] if found else (math.inf, math.inf)
        if points[index][1] < last[1] or points[index] == last:
            found.append(index)
    return found


VERIFIED, INFEASIBLE, CONTRADICTORY, UNVERIFIED = "verified", "infeasible", "contradictory", "unverified"
_FACTS = ("records", "released", "suppressed", "classes", "levels", "measures", "exposure", "class_sizes", "models")
"""What a result has of the evidence."""


def run_point(
    point: GridPoint, policy: Policy | None, ready: Prepared, *, release: Path | None, progress: Progress
) -> dict[str, Any]:
    """The result of a point as plain data; ``policy`` is None where the point contradicts itself."""
    clock, counted = Clock(), reset_peak_memory()
    if policy is None:
        found: dict[str, Any] = {"status": CONTRADICTORY, "reason": point.contradiction}
    else:
        try:
            found = _released(policy.changed(utility=None), ready, clock, release, progress)
        except InfeasibleError as error:
            found = _infeasible(error)
        except PolicyError as error:
            found = {"status": CONTRADICTORY, "reason": "; ".join(str(problem) for problem in error.problems)}
        except VerificationError as error:
            failed = [f"{check.name}: {check.message}" for check in error.verification.checks if not check.passed]
            found = {"status": UNVERIFIED, "reason": f"the independent check fails: {'; '.join(failed)}"}
    return {
        "name": point.name,
        "algorithm": point.algorithm,
        "parameters": dict(point.parameters),
        "verified": found["status"] == VERIFIED,
        **found,
        "seconds": round(sum(clock.stages.values()), 6),
        "seconds_by_stage": {name: round(seconds, 6) for name, seconds in clock.stages.items()},
        "peak_memory_bytes": peak_memory_bytes() if counted else None,
        "policy_sha256": point.policy_sha256,
    }


def _released(policy: Policy, ready: Prepared, clock: Clock, target: Path | None, progress: Progress) -> dict[str, Any]:
    """Run the point; only evidence that is written has attacks."""
    sink = MemorySink() if target is None else FileSink(target, force=True)
    job = Job(policy, with_attacks=target is not None)
    evidence = run(job, ready, sink, clock=clock, progress=progress).evidence
    written = {} if target is None else {"release_sha256": evidence["release_sha256"]}
    return {"status": VERIFIED, **{key: evidence[key] for key in _FACTS}, "risk": risks(evidence), **written}


def _infeasible(error: InfeasibleError) -> dict[str, Any]:
    diagnosis = error.diagnosis
    blockers = "; ".join(map(blocker_text, diagnosis.blockers))
    nearest = suggestion(diagnosis.relaxations[0]) if diagnosis.relaxations else None
    return {
        "status": INFEASIBLE,
        "reason": f"{verdict(diagnosis)} {blockers}".strip(),
        "nearest_relaxation": nearest,
        "diagnosis": diagnosis.to_dict(),
    }


def risks(evidence: Mapping[str, Any]) -> dict[str, float]:
    """The risk that a release leaves, as figures from 0 to 1.

    ``highest`` and ``average`` are the prosecutor's: the chance 1 / (size of the class) that a released record is
    taken for the right one, of the smallest class and on average over the records. ``homogeneity`` and ``similarity``
    are the shares of records whose class has a single sensitive value, or a single category; of several sensitive
    columns the worst counts.
    """
    released, exposure = evidence["released"], evidence["exposure"].values()
    found = {"average": evidence["classes"] / released, "highest": 1 / evidence["class_sizes"]["smallest"]}
    for attack in ("homogeneity", "similarity"):
        shares = [each[attack]["records"] / released for each in exposure if attack in each]
        if shares:
            found[attack] = max(shares)
    return {name: round(value, 12) for name, value in found.items()}
