"""The verdict that follows from evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal.attacks.verdict.rules import UNNAMED, decide
from shoal.attacks.verdict.verdict import Verdict
from shoal.evidence.evidence import Evidence, sealed
from shoal.policy import Policy


def judged(evidence: Evidence, policy: Policy) -> Evidence:
    """The evidence with its verdict, sealed again."""
    return sealed(evidence, verdict=verdict_of(evidence, policy))


def verdict_of(evidence: Evidence, policy: Policy, failed: Sequence[str] = ()) -> Verdict:
    """The verdict by the facts of evidence, and by checks that ``failed`` since."""
    wrong = [
        *(each.model for each in evidence.models if not each.holds),
        *(each.name for each in evidence.checks if not each.passed),
        *failed,
    ]
    if not evidence.verified and not wrong:
        wrong = [UNNAMED]
    return decide(
        policy,
        evidence.attacks,
        failed=list(dict.fromkeys(wrong)),
        warnings=evidence.warnings or (),
        not_done=tuple(evidence.not_done or ()),
    )


def without_verdict(content: Mapping[str, Any]) -> Evidence:
    """Evidence from plain data, without what it says of its own verdict."""
    return replace(Evidence.read(content), verdict=None)
