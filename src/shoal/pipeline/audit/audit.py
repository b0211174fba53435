"""A release compared with its evidence: what the evidence says must be what the file shows.

The verifier judges the file by its policy and knows nothing of evidence but the hash beside a release. Here its result
is compared with what was recorded when the release was made, and attacks are made again as far as they can be. So a
release that was changed after it was published is found even where it still satisfies the policy, and so is evidence
that was changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.attacks.battery import ATTACKS
from shoal.errors import DataError, InputError
from shoal.evidence.describe import describe_policy
from shoal.evidence.evidence import evidence_problems, seal
from shoal.facts import plain
from shoal.formatting import listing, pluralize
from shoal.io import sha256_of
from shoal.io.sink import output_paths
from shoal.pipeline.attack import attack
from shoal.pipeline.audit.differences import Difference, differing_attacks, differing_facts, differing_figures
from shoal.pipeline.audit.recomputed import BY_ORIGINAL, NEVER, shown_beside_original, shown_by_release
from shoal.pipeline.registry_options import Condition, exceeded
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.search.problem import Progress, no_progress
from shoal.verification import Check, Verification

_LISTED = 3


@dataclass(frozen=True)
class Audit:
    """What the verifier found, with a check for each thing that the evidence claims."""

    verification: Verification
    source: Path | None  # the file of the evidence; None where there is none
    evidence: Mapping[str, Any] | None

    def exceeded(self, conditions: Sequence[Condition]) -> list[dict[str, Any]]:
        """The conditions that the recorded attacks exceed; `InputError` where there is no evidence."""
        if conditions and self.source is None:
            raise InputError(
                "--fail-on is about the attacks in a release's evidence, and there is none. Name it with --evidence, "
                "or attack the release itself with `shoal attack`.",
                code="no-evidence",
            )
        return exceeded(conditions, self.evidence["attacks"]) if self.evidence is not None else []


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
    source = _evidence_file(path, evidence)
    progress("verifying", 0.0)
    verification = verify(path, policy, original)
    if source is None:
        return Audit(verification, None, None)
    content, problems = _read(source)
    checks = [_check("evidence", problems, f"{source.name} is evidence of version 1")]
    if content is None or problems:
        return Audit(replace(verification, checks=(*verification.checks, *checks)), source, None)
    checks.append(_same("evidence-seal", content["evidence_sha256"], seal(content), "the seal", "the evidence"))
    if not any(check.name == "hash" for check in verification.checks):  # the verifier looks beside the release
        checks.append(
            _same("hash", content["release_sha256"], sha256_of(path), "the hash in the evidence", "the release")
        )
    checks += [_policy(policy, content), _figures(path, policy, original, verification, content)]
    if verification.passed and all(check.passed for check in checks) and not content.get("applied"):
        checks.append(_attacked(path, policy, original, content, progress))
    return Audit(replace(verification, checks=(*verification.checks, *checks)), source, content)


def _evidence_file(release: Path, named: str | Path | None) -> Path | None:
    if named is not None:
        if not Path(named).is_file():
            raise DataError(f"The evidence file {named} does not exist.", code="evidence-not-found")
        return Path(named)
    beside = output_paths(release)["evidence"]
    return beside if beside.is_file() else None


def _read(source: Path) -> tuple[Mapping[str, Any] | None, list[str]]:
    """The evidence and what is wrong with it."""
    try:
        content = json.loads(source.read_bytes())
    except (OSError, ValueError) as error:
        return None, [f"{source.name} cannot be read: {error}"]
    problems = [f"{source.name} is not evidence: {each}" for each in evidence_problems(content)]
    return content if isinstance(content, Mapping) else None, problems


def _check(name: str, problems: Sequence[str | Difference], good: str, **facts: Any) -> Check:
    more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
    message = "; ".join(map(str, problems[:_LISTED])) + more
    return Check(name, not problems, message or good, {"problems": plain(list(problems)), **facts})


def _same(name: str, claimed: str | None, found: str, what: str, of: str) -> Check:
    words = "is that of" if claimed == found else "is not that of"
    return Check(name, claimed == found, f"{what} {words} {of}", {"claimed": claimed, "found": found})


def _policy(policy: Policy, content: Mapping[str, Any]) -> Check:
    """The same policy: the same file, or another one that says the same."""
    claimed, found = content["policy_sha256"], policy.sha256
    given, recorded = plain(describe_policy(policy)), content["policy"]
    differing = sorted(key for key in {*given, *recorded} if given.get(key) != recorded.get(key))
    good = not differing or (claimed == found and differing == ["algorithm"])
    message = "the release was made under this policy"
    if not good:
        message = f"the evidence is of a policy with another {listing(differing)}"
    elif claimed != found:
        message = f"{message}, from another file"
    elif differing:
        message = f"{message}, by another algorithm ({content['algorithm']})"
    return Check("evidence-policy", good, message, {"claimed": claimed, "found": found, "differing": differing})


def _figures(
    release: Path, policy: Policy, original: Any, verification: Verification, content: Mapping[str, Any]
) -> Check:
    """What the evidence says against what the release shows, and what could not be compared."""
    problems = differing_figures(verification, content, original=original is not None)
    left: list[str] = list(NEVER)
    if content.get("applied"):
        left = ["all but counts, and models of everything together"]
    elif not verification.passed:
        left = ["all but counts, models and checks, since the release is not verified"]
    else:
        asked = _asked(policy, content)
        if original is not None:
            shown = shown_beside_original(release, asked, original)
        else:
            shown, left = shown_by_release(release, asked), [*BY_ORIGINAL, *left]
        if sum(plain(shown["class_sizes"])["classes_by_size"].values()) == verification.classes:
            problems += differing_facts(shown, content)
        else:
            left = ["all but counts, models and checks, since rows of * can be read in two ways"]
    distinct = list({each.fact: each for each in problems}.values())
    message = f"what was compared is what the file shows; not compared: {', '.join(left)}"
    return _check("evidence-figures", distinct, message, not_compared=left)


def _asked(policy: Policy, content: Mapping[str, Any]) -> Policy:
    """The policy with the algorithm that the release was made by, which a command may have named instead."""
    return policy.changed(algorithm=content["policy"]["algorithm"]) if "algorithm" in content["policy"] else policy


def _attacked(release: Path, policy: Policy, original: Any, content: Mapping[str, Any], progress: Progress) -> Check:
    """The attacks once more: all that the file, and the original where it is given, are enough for."""
    report = attack(release, _asked(policy, content), original=original, seed=content["attack_seed"], progress=progress)
    by_insensitive = [name for name, each in ATTACKS.items() if each.needs_insensitive]
    lacking = by_insensitive if "insensitive columns" in (content.get("not_done") or {}) else ()
    problems, compared = differing_attacks(
        report["attacks"], content["attacks"], original=original is not None, lacking=lacking
    )
    return _check("evidence-attacks", problems, f"{pluralize(compared, 'attack')} made again find what is recorded")
