"""The evidence of a release that was just made: every stage's facts, put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.attacks.battery import AttackReport
from shoal.encode.resolve import used_columns
from shoal.encode.result import release_stats
from shoal.evidence.describe import (
    describe_columns,
    describe_exposure,
    describe_models,
    describe_policy,
    describe_sizes,
    measure,
)
from shoal.evidence.evidence import EVIDENCE_VERSION, BoundFacts, Evidence, sealed
from shoal.evidence.machine import peak_memory_bytes, versions
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
) -> Evidence:
    """The evidence of a release and its verification, of what attackers got, and what it is worth for a task.

    Evidence that is written has the attacks; a comparison does without them.
    """
    policy, recoding, resolved = made.policy, made.recoding, made.resolved
    with clock.stage("evidence"):
        stats = release_stats(resolved, recoding)
        codes = {name: column.codes for name, column in resolved.quasi.items()}
        summary = ReleaseSummary(
            hierarchies=recoding.hierarchies,
            nodes=recoding.nodes,
            sizes=recoding.sizes,
            records=recoding.n_rows,
            violations=count_violations(recoding, list(codes.values()), resolved.problem.caps),
        )
        measures, models = measure(summary), describe_models(resolved.problem.models, stats, recoding)
        columns = describe_columns(policy, summary, recoding, codes)
    return sealed(
        Evidence(
            evidence_version=EVIDENCE_VERSION,
            verified=verification.passed,
            records=recoding.n_rows,
            released=recoding.n_rows - recoding.suppressed,
            suppressed=recoding.suppressed,
            classes=recoding.n_classes,
            levels=dict(recoding.levels) if recoding.levels is not None else None,
            measures=measures,
            bound=BoundFacts(**made.bound.facts(measures["ncp"])) if made.bound is not None else None,
            models=models,
            algorithm=policy.algorithm.name,
            seed=policy.algorithm.seed,
            search=dict(made.search),
            columns=columns,
            not_released=tuple(sorted(set(made.names) - set(used_columns(policy)))),
            not_named=tuple(sorted(set(made.names) - set(policy.columns))),
            class_sizes=describe_sizes(recoding),
            exposure=describe_exposure(stats),
            attacks=() if attacks is None else attacks.attacks,
            attack_seed=0 if attacks is None else attacks.seed,
            utility=utility,
            not_done=not_done or None,
            checks=verification.checks,
            policy=describe_policy(policy),
            policy_sha256=policy.sha256,
            release_sha256=release_sha256,
            evidence_sha256="",
            versions=versions(),
            seconds=sum(clock.stages.values()),
            seconds_by_stage=dict(clock.stages),
            peak_memory_bytes=peak_memory_bytes(),
        )
    )
