"""A release compared with its evidence: what the evidence says must be what the file shows.

The verifier judges the file by its policy and knows nothing of evidence but the hash beside a release. Here its result
is compared with what was recorded when the release was made, and attacks are made again as far as they can be. So a
release that was changed after it was published is found even where it still satisfies the policy, and so is evidence
that was changed.

What the release shows of itself follows from the file and the policy; with the original also the measures and the
columns. How the search went, bounds and distributions over values that are not released follow from neither.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.attacks.battery import ATTACKS
from shoal.attacks.verdict.verdict import Verdict
from shoal.encode.result import with_chosen
from shoal.errors import DataError, InputError, PolicyError
from shoal.evidence.describe import (
    describe_policy,
)
from shoal.evidence.evidence import evidence_problems, seal
from shoal.evidence.judge import verdict_of, without_verdict
from shoal.facts import plain
from shoal.io import sha256_of
from shoal.io.sink import output_paths
from shoal.pipeline.attack import attack_again
from shoal.pipeline.audit.differences import (
    Difference,
    differing_attacks,
    differing_facts,
    differing_figures,
    same_version,
)
from shoal.pipeline.audit.shown_facts import shown_facts
from shoal.pipeline.registry_options import Condition, exceeded
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.present.audit import audit_message
from shoal.search.problem import Progress, no_progress
from shoal.verification import Check, Verification
from shoal.verification.read import folder_sha256

NEVER = ("bound-but-reached", "search", "utility", "composition", "versions")
"""What is compared with nothing: only making the release again would tell."""
BY_ORIGINAL = ("records", "measures", "column-figures", "data-columns", "bound")
"""What only the original tells."""
_NOT_LOOKED_AT = frozenset({"insensitive columns", "insensitive"})
"""What evidence says was not done where a run, streamed or on a cluster, did not count the insensitive columns."""


@dataclass(frozen=True)
class Audit:
    """What the verifier found, with a check for each thing that the evidence claims."""

    verification: Verification
    source: Path | None  # the file of the evidence; None where there is none
    evidence: Mapping[str, Any] | None  # None also where the file is no evidence
    verdict: Verdict | None = None  # by what the evidence records and what the checks found; None without evidence

    def exceeded(self, conditions: Sequence[Condition]) -> list[dict[str, Any]]:
        """The conditions that the recorded attacks exceed; `InputError` where there is no evidence."""
        if conditions and self.source is None:
            raise InputError(
                "--fail-on is about the attacks in a release's evidence, and there is none. Name it with --evidence, "
                "or attack the release itself with `shoal attack`.",
                code="no-evidence",
            )
        return exceeded(conditions, self.evidence["attacks"], self.verdict) if self.evidence is not None else []


def audit(
    release: str | Path,
    policy: Policy,
    original: Any = None,
    *,
    evidence: str | Path | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Verify a release file and compare it with its evidence: the one named, or the one beside it if there is one."""
    path = Path(release)
    if policy.tables is not None:  # with the hash that their evidence claims; its figures are of the tables as one
        progress("verifying", 0.0)
        return Audit(verify(path, policy, original), None, None)
    source = output_paths(path)["evidence"] if evidence is None else Path(evidence)
    if evidence is not None and not source.is_file():
        raise DataError(f"The evidence file {evidence} does not exist.", code="evidence-not-found")
    progress("verifying", 0.0)
    if not source.is_file():
        return Audit(verify(path, policy, original), None, None)
    content, problems = _read(source)
    verification = verify(path, policy, original, suppressed=None if problems else content["suppressed"])
    checks = [_check("evidence", not problems, file=source.name, problems=problems)]
    if not problems:
        checks += _claims(path, source, policy, original, verification, content)
        if verification.passed and all(check.passed for check in checks) and not content.get("applied"):
            checks.append(_attacked(path, policy, original, content, verification.suppressed, progress))
    audited = replace(verification, checks=(*verification.checks, *checks))
    if problems:
        return Audit(audited, source, None)
    facts, recorded = without_verdict(content), content.get("verdict")
    asked = _with_recorded_algorithm(policy, content) or policy
    own = verdict_of(facts, asked)
    if recorded is not None and audited.passed:
        claim = _check("evidence-verdict", plain(own) == recorded, claimed=recorded["decision"], found=own.decision)
        audited = replace(audited, checks=(*audited.checks, claim))
    failed = [check.name for check in audited.failures]
    return Audit(audited, source, content, verdict_of(facts, asked, failed))


def _check(name: str, passed: bool, **facts: Any) -> Check:
    known = plain(facts)
    return Check(name, passed, audit_message(name, passed, known), known)


def _read(source: Path) -> tuple[Any, list[Mapping[str, str]]]:
    """The evidence and what is wrong with it."""
    try:
        content = json.loads(source.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return None, [{"code": "unreadable", "detail": str(error)}]
    return content, [{"code": "not-evidence", "detail": each} for each in evidence_problems(content)]


def _claims(
    release: Path, source: Path, policy: Policy, original: Any, verification: Verification, content: Mapping[str, Any]
) -> Iterator[Check]:
    """The seal, the hash, the policy and the figures."""
    sealed, found = content["evidence_sha256"], seal(content)
    yield _check("evidence-seal", sealed == found, claimed=sealed, found=found)
    if not any(check.name == "hash" for check in verification.checks):  # the verifier looks beside the release
        claimed = content["release_sha256"]
        found = folder_sha256(release, source) if release.is_dir() else sha256_of(release)
        yield _check("hash", claimed == found, claimed=claimed, found=found)
    given, recorded = plain(describe_policy(policy)), content["policy"]
    differing = sorted(key for key in {*given, *recorded} if given.get(key) != recorded.get(key))
    made_by = _with_recorded_algorithm(policy, content)
    same_file = content["policy_sha256"] == policy.sha256  # else another one that says the same
    yield _check(
        "evidence-policy",
        made_by is not None and (not differing or (same_file and differing == ["algorithm"])),
        claimed=content["policy_sha256"],
        found=policy.sha256,
        differing=differing,
        algorithm=content["algorithm"],
    )
    problems = differing_figures(verification, content, original=original is not None)
    left = [*(BY_ORIGINAL if original is None else ()), *NEVER, *(["survey"] if "survey" in content else [])]
    if original is None or content["suppressed"] or policy.person_columns:
        left.append("distributions")
    if not same_version(content):
        left.append("messages")
    if content.get("applied"):
        left = ["all-of-applied"]
    elif not verification.passed or made_by is None:
        left = ["all-of-unverified"]
    else:
        shown = shown_facts(release, made_by, original, suppressed=verification.suppressed)
        people = bool(policy.person_columns)
        if people:
            shown = _without_people(shown)
            left += ["exposure", "unknown-values", "weakest-classes" if verification.people_counted else "models"]
        if _NOT_LOOKED_AT & (content.get("not_done") or {}).keys():
            shown = _without_insensitive(shown, policy)
        problems += differing_facts(shown, _as_shown(content), required=None if people else len(policy.models()))
    distinct = list({each.fact: each for each in problems}.values())
    yield _check("evidence-figures", not distinct, problems=distinct, not_compared=left)


def _without_people(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Without the facts that are recorded in people: the file does not say whose its records are."""
    columns = {
        name: {key: fact for key, fact in column.items() if key != "unknown"}
        for name, column in shown["columns"].items()
    }
    others = {key: fact for key, fact in shown.items() if key != "exposure"}
    return others | {"models": (), "columns": columns}


def _without_insensitive(shown: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """Without warnings about insensitive columns, which the run did not look at."""
    columns = policy.names("insensitive")
    warnings = [each for each in plain(shown["warnings"]) or () if each.get("column") not in columns]
    return {**shown, "warnings": warnings or None}


def _as_shown(content: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence without warnings about columns that are not released."""
    warnings = [each for each in content.get("warnings") or () if each["code"] != "several-records-per-person"]
    return {**content, "warnings": warnings or None}


def _with_recorded_algorithm(policy: Policy, content: Mapping[str, Any]) -> Policy | None:
    """The policy with the algorithm that the release was made by, which a command may have named instead.

    None where there is no such algorithm.
    """
    try:
        made = policy.changed(algorithm=content["policy"]["algorithm"]) if "algorithm" in content["policy"] else policy
        return with_chosen(made, content["search"])
    except PolicyError:
        return None


def _attacked(
    release: Path,
    policy: Policy,
    original: Any,
    content: Mapping[str, Any],
    suppressed: int | None,
    progress: Progress,
) -> Check:
    """The attacks once more: all that the file, and the original where it is given, are enough for."""
    report = attack_again(
        release,
        _with_recorded_algorithm(policy, content) or policy,
        original,
        seed=content["attack_seed"],
        suppressed=suppressed,
        progress=progress,
    )
    lacking: list[str] = []
    elsewhere = {name for name, each in ATTACKS.items() if each.needs_earlier and content.get("composition")}
    if _NOT_LOOKED_AT & (content.get("not_done") or {}).keys():  # the run did not hold them, and the file has them
        lacking = [name for name, each in ATTACKS.items() if each.needs_insensitive]
        elsewhere |= {name for name, each in ATTACKS.items() if each.reads_insensitive}
    again, exactly = report["attacks"], original is not None
    # only the run that made the release knows the class of each record where labels overlap, and what Spark coarsened
    elsewhere |= {each["name"] for each in again if each["outcome"] in {"classes-overlap", "maybe-coarsened"}}
    if policy.person_columns:  # the file does not say whose its records are, so people are not counted again
        elsewhere |= {name for name, each in ATTACKS.items() if each.finds_people or each.tells_people_apart}
        exactly = False
    pairs = differing_attacks(again, content["attacks"], original=exactly, lacking=lacking, elsewhere=elsewhere)
    problems: list[Difference] = [each for found in pairs for each in found]
    return _check("evidence-attacks", not problems, problems=problems, compared=len(pairs))
