"""The rules by which a release gets its verdict; docs/verdict.md has them as a table.

*Do not publish* if the verification fails, or if a leak that nobody accepted is grave: it makes the secret of a person,
or which record is theirs, certain, or it breaks what the models promise against somebody who knows nothing but
quasi-identifiers. *Publish with caveats* if there is anything else to know. Else *publish*.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.attacks.attack import AttackResult
from shoal.attacks.battery import ATTACKS
from shoal.attacks.verdict.acceptance import acceptance, leak_of, narrows
from shoal.attacks.verdict.advice import advice_for
from shoal.attacks.verdict.verdict import Caveat, Decision, Reason, ReasonCode, Verdict
from shoal.policy import Policy

UNNAMED = "verification"
"""What fails where it is only known that a release is not verified."""
_NO_EARLIER = "no-earlier-release"  # then there is nothing that could be tried


def decide(
    policy: Policy,
    attacks: Sequence[AttackResult],
    *,
    failed: Sequence[str] = (),
    models_judged: bool = True,
    warnings: Sequence[Mapping[str, Any]] = (),
    not_done: Sequence[str] = (),
) -> Verdict:
    """The verdict on a release.

    ``failed`` are the models and checks that fail; ``models_judged`` is false where the release alone does not tell
    whether models hold. ``warnings`` and ``not_done`` are those of the evidence.
    """
    found = acceptance(policy.accept, attacks)
    leaks = by_gravity([each for each in attacks if each.leak])
    still_open = by_gravity([each for index, each in enumerate(attacks) if each.leak and index not in found.indices])
    narrowing = [each for index, each in enumerate(attacks) if narrows(each) and index not in found.indices]
    reasons = [Reason("not-verified", failed=tuple(failed))] if failed else []
    reasons += [Reason(code, leak_of(each)) for each in still_open if (code := gravity(each)) is not None]
    caveats = [
        *([] if models_judged or failed else [Caveat("models-not-judged")]),
        *(Caveat("leak", leak_of(each)) for each in still_open if gravity(each) is None),
        *(Caveat("accepted", each.leak, reasons=each.reasons) for each in found.leaks),
        *(Caveat("narrowed", leak_of(each)) for each in narrowing),
        *_not_tried(attacks),
        *(Caveat("warning", what=code) for code in dict.fromkeys(str(each["code"]) for each in warnings)),
        *(Caveat("not-done", what=what) for what in not_done),
    ]
    worst = next(iter(still_open or leaks), None)
    return Verdict(
        decision=_decision(reasons, caveats),
        models_hold=_models_hold(policy, failed, models_judged),
        tried=len({(each.name, each.sensitive) for each in attacks if each.status == "tried"}),
        leaking=len({(each.name, each.sensitive) for each in leaks}),
        worst=None if worst is None else leak_of(worst),
        reasons=tuple(reasons),
        caveats=tuple(caveats),
        accepted=found.leaks,
        unused_accepts=found.unused,
        advice=advice_for(policy, (*still_open, *narrowing)),
    )


def _models_hold(policy: Policy, failed: Sequence[str], models_judged: bool) -> bool | None:
    """Whether the models hold, whatever other checks fail; None where that is not known."""
    models = {model.name for model in policy.models()}
    if any(name.partition("[")[0] in models for name in failed):
        return False
    return True if models_judged and UNNAMED not in failed else None


def _decision(reasons: Sequence[Reason], caveats: Sequence[Caveat]) -> Decision:
    return "do-not-publish" if reasons else "publish-with-caveats" if caveats else "publish"


def gravity(result: AttackResult) -> ReasonCode | None:
    """Why a leak is grave; None where it is not."""
    attack = ATTACKS.get(result.name)
    if result.certain and (attack is None or attack.grave_if_certain):
        return "certain"
    return "promise-broken" if attack is not None and attack.promise else None


def by_gravity(leaks: Sequence[AttackResult]) -> list[AttackResult]:
    """Grave leaks first, and of these the larger share of records."""
    return sorted(leaks, key=lambda each: (gravity(each) is None, -(each.records or 0) / (each.of or 1)))


def _not_tried(attacks: Sequence[AttackResult]) -> list[Caveat]:
    """The attacks that something is lacking for, once each."""
    if not attacks:
        return [Caveat("not-attacked")]
    lacking = {
        (each.name, each.outcome): Caveat("not-tried", attack=each.name, what=each.outcome)
        for each in attacks
        if each.status == "not tried" and each.outcome != _NO_EARLIER
    }
    return list(lacking.values())
