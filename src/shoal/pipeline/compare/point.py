"""One point of a comparison: anonymized, verified, measured - or the reason why it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InfeasibleError, PolicyError, VerificationError
from shoal.evidence.machine import peak_memory_bytes, reset_peak_memory
from shoal.io.sink import FileSink, MemorySink
from shoal.pipeline.compare.folder import policy_hash
from shoal.pipeline.compare.grid import GridPoint
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.run import Clock, Job, run
from shoal.policy import Policy
from shoal.present.diagnosis import blocker_text, suggestion, verdict
from shoal.search.problem import Progress

VERIFIED, INFEASIBLE, CONTRADICTORY, UNVERIFIED = "verified", "infeasible", "contradictory", "unverified"
"""What became of a point."""
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
        "policy_sha256": policy_hash(point),
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
