"""The verdict as facts: a decision, what stands behind it, and the changes to the policy that would help."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from shoal.edits import PolicyEdit
from shoal.facts import Facts

Decision = Literal["publish", "publish-with-caveats", "do-not-publish"]
DECISIONS: tuple[Decision, ...] = ("publish", "publish-with-caveats", "do-not-publish")
"""The decisions, from the best to the worst."""

ReasonCode = Literal["not-verified", "certain", "promise-broken"]
CaveatCode = Literal[
    "leak", "accepted", "narrowed", "not-tried", "not-attacked", "models-not-judged", "warning", "not-done"
]
AdviceCode = Literal[
    "add-model", "strengthen-model", "omit-columns", "make-quasi", "full-domain", "switch-option", "widen-bins",
    "know-events", "withdraw-earlier",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Leak(Facts):
    """What one attack found, in the figures that a verdict is made from."""

    attack: str
    sensitive: str | None
    """The sensitive column that was attacked; null where the attack is not on one."""
    columns: tuple[str, ...]
    """The released columns by which it works, besides the quasi-identifiers."""
    records: int
    """Records exposed."""
    of: int
    """Records that were attacked."""
    rate: float | None
    """Share of successes."""
    certain: int
    """Records of which the attacker is certain because of the release."""


@dataclass(frozen=True, eq=False)
class AcceptedLeak(Facts):
    """A leak that the policy accepts."""

    leak: Leak
    reasons: tuple[str, ...]
    """As the policy gives them: one for each entry that covers a part of the leak."""


@dataclass(frozen=True, eq=False)
class UnusedAccept(Facts):
    """An entry of ``accept`` that no finding matches. It may be stale."""

    attack: str
    column: str | None
    reason: str


@dataclass(frozen=True, eq=False)
class Reason(Facts):
    """Why the release should not be published."""

    code: ReasonCode
    """``not-verified``: models or checks fail; ``certain``: somebody's secret or record is certain;
    ``promise-broken``: somebody who knows quasi-identifiers alone gets more than the models promise."""
    leak: Leak | None = None
    failed: tuple[str, ...] | None = None
    """Models and checks that fail."""


@dataclass(frozen=True, eq=False)
class Caveat(Facts):
    """What whoever publishes the release should know."""

    code: CaveatCode
    """``leak``: beliefs move, and nobody is certain; ``accepted``: a leak that the policy accepts; ``narrowed``:
    columns that single people out as chance does, so nobody may know them; ``not-tried``: an attack that something is
    lacking for; ``not-attacked``: none was made; ``models-not-judged``: only the original tells whether models hold;
    ``warning`` and ``not-done``: what the evidence says under these keys."""
    leak: Leak | None = None
    attack: str | None = None
    """Of an attack that was not tried."""
    what: str | None = None
    """The code of why it was not tried, or of the warning; what was not done."""
    reasons: tuple[str, ...] | None = None
    """Why a leak is accepted, as the policy says."""


@dataclass(frozen=True, eq=False)
class Advice(Facts):
    """A change that would stop one leak; where there are several for a leak, each is enough."""

    code: AdviceCode
    attack: str
    sensitive: str | None
    by: tuple[str, ...]
    """The columns by which the leak works that it stops."""
    columns: tuple[str, ...]
    """The columns that change."""
    edits: tuple[PolicyEdit, ...]
    """What changes in the policy, all of it together; nothing where it is not the policy that has to change."""
    model: str | None = None
    """The model that is added or strengthened."""
    option: str | None = None
    """The option of the algorithm that is switched on."""


@dataclass(frozen=True, eq=False)
class Verdict(Facts):
    """Whether to publish a release."""

    decision: Decision
    models_hold: bool | None
    """Null where only the original would tell."""
    tried: int
    """Attacks that were tried, each sensitive column by itself."""
    leaking: int
    """Those of them that leak."""
    worst: Leak | None
    """The gravest leak; one that is not accepted comes first."""
    reasons: tuple[Reason, ...]
    caveats: tuple[Caveat, ...]
    accepted: tuple[AcceptedLeak, ...]
    unused_accepts: tuple[UnusedAccept, ...]
    advice: tuple[Advice, ...] = field(default=())


def worse(decision: Decision, than: Decision) -> bool:
    """Whether a decision is worse than another."""
    return DECISIONS.index(decision) > DECISIONS.index(than)
