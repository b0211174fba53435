"""The evidence of a release that was just made: every stage's facts, put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.attacks.battery import AttackReport
from shoal.encode.released_table import release_stats
from shoal.encode.resolve import used_columns
from shoal.evidence import (
    EVIDENCE_VERSION,
    describe_columns,
    describe_exposure,
    describe_models,
    describe_policy,
    describe_sizes,
    measure,
    peak_memory_bytes,
    sealed,
    versions,
)
from shoal.metrics import ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.verification import Verification

if TYPE_CHECKING:
    from shoal.encode.result import Result
    from shoal.pipeline.run import Clock


def make_evidence(
    made: Result,
    verification: Verification,
    clock: Clock,
    release_sha256: str | None = None,
    utility: Mapping[str, Any] | None = None,
    attacks: AttackReport | None = None,
    not_done: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The evidence of a release and its verification, of what attackers got, and what it is worth for a task.

    Evidence that is written has the attacks; a comparison does without them.
    """
    policy = made.policy
    with clock.stage("evidence"):
        facts = _facts(made)
    return sealed(
        {
            "evidence_version": EVIDENCE_VERSION,
            "verified": verification.passed,
            **facts,
            **({} if attacks is None else {"attacks": attacks.to_dict()["attacks"], "attack_seed": attacks.seed}),
            **({} if utility is None else {"utility": utility}),
            **({"not_done": dict(not_done)} if not_done else {}),
            "checks": [check.to_dict() for check in verification.checks],
            "policy": describe_policy(policy),
            "policy_sha256": policy.sha256,
            "release_sha256": release_sha256,
            "evidence_sha256": None,
            "versions": versions(),
            "seconds": round(sum(clock.stages.values()), 6),
            "seconds_by_stage": {name: round(seconds, 6) for name, seconds in clock.stages.items()},
            "peak_memory_bytes": peak_memory_bytes(),
        }
    )


def _facts(made: Result) -> dict[str, Any]:
    """What can be counted and measured of the recoding itself."""
    policy, recoding, resolved = made.policy, made.recoding, made.resolved
    stats = release_stats(resolved, recoding)
    codes = {name: column.codes for name, column in resolved.quasi.items()}
    summary = ReleaseSummary(
        hierarchies=recoding.hierarchies,
        nodes=recoding.nodes,
        sizes=recoding.sizes,
        records=recoding.n_rows,
        violations=count_violations(recoding, list(codes.values()), resolved.problem.caps),
    )
    measures = measure(summary)
    return {
        "records": recoding.n_rows,
        "released": recoding.n_rows - recoding.suppressed,
        "suppressed": recoding.suppressed,
        "classes": recoding.n_classes,
        "levels": dict(recoding.levels) if recoding.levels is not None else None,
        "measures": measures,
        "bound": made.bound.facts(measures["ncp"]) if made.bound is not None else None,
        "models": describe_models(resolved.problem.models, stats, recoding),
        "algorithm": policy.algorithm.name,
        "seed": policy.algorithm.seed,
        "search": dict(made.search),
        "columns": describe_columns(policy, summary, recoding, codes),
        "not_released": sorted(set(made.names) - set(used_columns(policy))),
        "not_named": sorted(set(made.names) - set(policy.columns)),
        "class_sizes": describe_sizes(recoding),
        "exposure": describe_exposure(stats),
    }
