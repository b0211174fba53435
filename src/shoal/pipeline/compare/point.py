"""One point of a comparison: anonymized, verified, measured - or the reason why it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.encode.resolve import resolve_again
from shoal.errors import InfeasibleError, PolicyError
from shoal.evidence import peak_memory_bytes, reset_peak_memory
from shoal.pipeline.compare.folder import file_hash, policy_hash
from shoal.pipeline.compare.grid import Point
from shoal.pipeline.make_evidence import make_evidence
from shoal.pipeline.release import Release
from shoal.pipeline.run import Clock, Prepared, attack_made, make_release
from shoal.pipeline.verify import verify
from shoal.pipeline.write import write_release
from shoal.policy import Policy
from shoal.search.problem import Progress

VERIFIED, INFEASIBLE, CONTRADICTORY, UNVERIFIED = "verified", "infeasible", "contradictory", "unverified"
"""What became of a point."""
_FACTS = ("records", "released", "suppressed", "classes", "levels", "measures", "exposure", "class_sizes", "models")
"""What a result has of the evidence."""


def run_point(
    point: Point, policy: Policy | None, ready: Prepared, *, release: Path | None, progress: Progress
) -> dict[str, Any]:
    """The result of a point as plain data; ``policy`` is None where the point contradicts itself."""
    clock, counted = Clock(), reset_peak_memory()
    if policy is None:
        found: dict[str, Any] = {"status": CONTRADICTORY, "reason": point.contradiction}
    else:
        try:
            found = _released(policy, ready, clock, release, progress)
        except InfeasibleError as error:
            found = _infeasible(error)
        except PolicyError as error:
            reason = "; ".join(str(problem) for problem in error.problems)
            found = {"status": CONTRADICTORY, "reason": reason}
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
    task_free = policy.changed(utility=None)
    again = Prepared(ready.loaded, resolve_again(task_free, ready.resolved), task_free)
    made = make_release(again, task_free, clock, progress)
    progress("verifying", 1.0)
    with clock.stage("verify"):
        verification = verify(made.table, policy, original=made.loaded.table)
    attacks = attack_made(made, clock, progress) if target is not None else None  # only written evidence has them
    evidence = make_evidence(made, verification, clock, attacks=attacks)
    found = {
        "status": VERIFIED if verification.passed else UNVERIFIED,
        **{key: evidence[key] for key in _FACTS},
        "risk": risks(evidence),
    }
    if not verification.passed:
        failed = [f"{check.name}: {check.message}" for check in verification.checks if not check.passed]
        return {**found, "reason": f"the independent check fails: {'; '.join(failed)}"}
    if target is not None:
        kept = Release(policy, made.table, made.recoding, evidence, made.loaded.kind, made.search)
        write_release(kept, target, force=True)
        found["release_sha256"] = file_hash(target)
    return found


def _infeasible(error: InfeasibleError) -> dict[str, Any]:
    diagnosis = error.diagnosis
    blockers = "; ".join(str(blocker) for blocker in diagnosis.blockers)
    verdict = str(error).splitlines()[0]
    nearest = str(diagnosis.relaxations[0]) if diagnosis.relaxations else None
    return {
        "status": INFEASIBLE,
        "reason": f"{verdict} {blockers}".strip(),
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
    found = {
        "average": evidence["classes"] / released,
        "highest": 1 / evidence["class_sizes"]["smallest"],
    }
    for attack in ("homogeneity", "similarity"):
        shares = [each[attack]["records"] / released for each in exposure if attack in each]
        if shares:
            found[attack] = max(shares)
    return {name: round(value, 12) for name, value in found.items()}
