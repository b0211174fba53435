"""One point of a comparison: anonymized, verified, measured - or the reason why it cannot be; and all points together:
a table, the frontier among them, and both as files.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.errors import InfeasibleError, PolicyError, VerificationError
from shoal.evidence.machine import peak_memory_bytes, reset_peak_memory, versions
from shoal.io.sink import FileSink, MemorySink
from shoal.metrics import METRICS
from shoal.pipeline.compare.comparison_folder import KIND
from shoal.pipeline.compare.grid import GridPoint, Number
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.run import Clock, Job, run
from shoal.policy import Policy
from shoal.present.diagnosis import blocker_text, suggestion, verdict
from shoal.present.people import class_sizes_of
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

    def _row(self, point: Mapping[str, Any]) -> dict[str, Any]:
        sizes, (measures, risk) = class_sizes_of(point), (point.get(key) or {} for key in ("measures", "risk"))
        return {
            "name": point["name"],
            "algorithm": point["algorithm"],
            **{name: point["parameters"][name] for name in self.axes},
            "status": point["status"],
            "frontier": point["name"] in self.frontier,
            "verdict": (point.get("verdict") or {}).get("decision"),
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
_FACTS = ("records", "released", "suppressed", "classes", "levels", "measures", "exposure", "class_sizes", "models",
          "people")  # fmt: skip
"""What a result has of the evidence."""
_VERDICT = ("decision", "tried", "leaking", "worst")
"""What a result has of the verdict."""


def run_point(
    point: GridPoint, path: Path, ready: Prepared, *, release: Path | None, progress: Progress
) -> dict[str, Any]:
    """The result of a point, whose policy lies at a path, as plain data. Its time is without that of the attacks."""
    clock, counted = Clock(), reset_peak_memory()
    try:
        if point.contradiction is not None:
            raise point.contradiction
        sink = MemorySink() if release is None else FileSink(release, force=True)
        job = Job(Policy.load(path).changed(utility=None))
        evidence = run(job, ready, sink, clock=clock, progress=progress).evidence
        assert evidence.verdict is not None
        written = {} if release is None else {"release_sha256": evidence["release_sha256"]}
        found = {
            "status": VERIFIED,
            **{key: evidence[key] for key in _FACTS if key in evidence},
            "risk": risks(evidence),
            "verdict": {key: evidence.verdict[key] for key in _VERDICT},
            **written,
        }
    except InfeasibleError as error:
        blockers, nearest = "; ".join(map(blocker_text, error.diagnosis.blockers)), error.diagnosis.relaxations[:1]
        found = {
            "status": INFEASIBLE,
            "reason": f"{verdict(error.diagnosis)} {blockers}".strip(),
            "nearest_relaxation": suggestion(nearest[0]) if nearest else None,
            "diagnosis": error.diagnosis.to_dict(),
        }
    except PolicyError as error:
        found = {"status": CONTRADICTORY, "reason": "; ".join(str(problem) for problem in error.problems)}
    except VerificationError as error:
        failed = "; ".join(f"{check.name}: {check.message}" for check in error.verification.failures)
        found = {"status": UNVERIFIED, "reason": f"the independent check fails: {failed}"}
    return {
        "name": point.name,
        "algorithm": point.algorithm,
        "parameters": dict(point.parameters),
        "verified": found["status"] == VERIFIED,
        **found,
        "seconds": round(sum(seconds for stage, seconds in clock.stages.items() if stage != "attack"), 6),
        "seconds_by_stage": {name: round(seconds, 6) for name, seconds in clock.stages.items()},
        "peak_memory_bytes": peak_memory_bytes() if counted else None,
        "policy_sha256": point.policy_sha256,
    }


def risks(evidence: Mapping[str, Any]) -> dict[str, float]:
    """The risk that a release leaves, as figures from 0 to 1.

    ``highest`` and ``average`` are the prosecutor's: the chance 1 / (size of the class) that a released record is
    taken for the right one, of the smallest class and on average over the records. ``homogeneity`` and ``similarity``
    are the shares of records whose class has a single sensitive value, or a single category; of several sensitive
    columns the worst counts. Where the models count people, sizes and shares are those of people.
    """
    released, exposure, counted = evidence["released"], evidence["exposure"].values(), "records"
    found = {"average": evidence["classes"] / released, "highest": 1 / evidence["class_sizes"]["smallest"]}
    if people := evidence.get("people"):
        released, counted = people["released"], "people"
        found = {"average": 1 / people["class_sizes"]["mean"], "highest": 1 / people["class_sizes"]["smallest"]}
    for attack in ("homogeneity", "similarity"):
        shares = [each[attack][counted] / released for each in exposure if attack in each]
        if shares:
            found[attack] = max(shares)
    return {name: round(value, 12) for name, value in found.items()}
