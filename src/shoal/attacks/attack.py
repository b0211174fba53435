"""What an attack declares, and what it reports: an outcome, numbers and a baseline, no sentences.

A figure without a baseline says nothing. Of 100 people of whom 95 are healthy, anybody who knows that guesses 95 right;
an attack that guesses 95 right has found nothing. So every result has a baseline, and ``leak`` says whether the attack
got more than the baseline explains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from shoal.attacks.linkable_records import LinkableRecords, linkable_records
from shoal.attacks.original import Original
from shoal.attacks.registry.people import EarlierRelease
from shoal.attacks.registry.signature import Signature, signature_of
from shoal.attacks.released_classes import Released, Rows
from shoal.facts import Facts
from shoal.policy import Policy
from shoal.search.problem import Problem
from shoal.table.distinct_rows import DistinctRows

Status = Literal["tried", "not tried", "not applicable"]


@dataclass(frozen=True, eq=False)
class AttackResult(Facts):
    """What one attacker got, against what would have been known without the release."""

    name: str
    sensitive: str | None
    """The sensitive column that was attacked; null where the attack is not on one."""
    status: Status
    outcome: str
    """A code: ``leak``, ``explained`` (by the baseline) or ``nothing``; for an attack not made, the reason."""
    records: int | None
    """Records exposed; --fail-on is about these where the attack leaks."""
    of: int | None
    """Records that were attacked."""
    classes: int | None
    """Classes exposed, where the attack is on classes."""
    rate: float | None
    """Share of successes."""
    baseline: float | None
    """Share of successes that is possible without the release, or without what the attack is about."""
    interval: tuple[float, float] | None
    """The 95% interval of the rate where it is an estimate; null where it is exact."""
    leak: bool
    """Whether more was found than the baseline explains."""
    details: Mapping[str, Any]
    """Counts behind the outcome, worst cases first. Never a value of a suppressed record, an identifier or a row."""


def tried(
    *,
    records: int,
    of: int,
    rate: float,
    baseline: float,
    leak: bool,
    classes: int | None = None,
    interval: tuple[float, float] | None = None,
    **details: Any,
) -> AttackResult:
    """The result of an attack that was made."""
    outcome = "leak" if leak else "explained" if records else "nothing"
    return AttackResult("", None, "tried", outcome, records, of, classes, rate, baseline, interval, leak, details)


def not_tried(reason: str, **details: Any) -> AttackResult:
    """An attack that could succeed and for which something is lacking."""
    return AttackResult("", None, "not tried", reason, None, None, None, None, None, None, False, details)


def not_applicable(reason: str, **details: Any) -> AttackResult:
    """An attack that cannot be made on such a release."""
    return AttackResult("", None, "not applicable", reason, None, None, None, None, None, None, False, details)


@dataclass(frozen=True, eq=False)
class Scene:
    """All that attackers may have: the release, the original where it is given, and earlier releases."""

    policy: Policy
    rows: Rows
    released: Released
    original: Original | None = None
    problem: Problem | None = None
    """The original as it was encoded."""
    distinct: DistinctRows | None = None
    """The original as distinct rows."""
    earlier: Sequence[EarlierRelease] = ()
    seed: int = 0
    ruled_out: int = 3
    """Values that an attacker with background knowledge can rule out."""

    @cached_property
    def linkable(self) -> LinkableRecords:
        """The released records that people fit by their quasi-identifiers; needs the original."""
        assert self.original is not None
        return linkable_records(self.released, self.original, self.seed)

    @cached_property
    def signature(self) -> Signature:
        """The classes of the release as a registry keeps them."""
        return signature_of(self.policy, self.rows)


class Attack(ABC):
    """One attacker. Subclasses declare who it is and make the attack, one file each."""

    name: ClassVar[str]
    """Name in the evidence and in conditions such as ``linkage>5%``."""
    title: ClassVar[str]
    attacker: ClassVar[str]
    """Who the attacker is and what they know, in a sentence."""
    attempt: ClassVar[str]
    """What is tried and what counts as a success, in a sentence."""
    baseline: ClassVar[str]
    """What the baseline is, as a phrase."""
    remedy: ClassVar[str]
    """What makes a release less open to the attack, as a sentence."""
    position: ClassVar[int] = 100
    """Where it stands in reports."""
    on_sensitive: ClassVar[bool] = False
    """Whether it is made on each sensitive column by itself."""
    needs_original: ClassVar[bool] = False
    needs_insensitive: ClassVar[bool] = False
    """Whether it needs insensitive columns in the release."""
    needs_earlier: ClassVar[bool] = False
    """Whether it needs earlier releases."""

    @staticmethod
    @abstractmethod
    def run(scene: Scene, column: str | None) -> AttackResult:
        """Make the attack, on a sensitive column where it is on one; the caller fills in the names."""
