"""What an attack declares, and what it reports: an outcome, numbers and a baseline, no sentences.

A figure without a baseline says nothing. Of 100 people of whom 95 are healthy, anybody who knows that guesses 95 right;
an attack that guesses 95 right has found nothing. So every result has a baseline, and ``leak`` says whether the attack
got more than the baseline explains.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from shoal.attacks.between_columns.column_readings import Secret, published_knowledge, targets_of
from shoal.attacks.between_columns.column_tests import column_tests
from shoal.attacks.between_columns.guessed import ColumnTests
from shoal.attacks.linkable_records import LinkableRecords, linkable_records
from shoal.attacks.original_people import Original
from shoal.attacks.registry.people import EarlierRelease
from shoal.attacks.registry.signature import Signature, signature_of
from shoal.attacks.released_classes import Codes, Ints, Released, Rows
from shoal.facts import Facts
from shoal.policy import Policy
from shoal.table.recoding import Recoding

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
    people: int | None = None
    """Different people exposed, where the models count people and the attack finds people."""
    of_people: int | None = None
    """Different people that were attacked."""
    columns: tuple[str, ...] | None = None
    """The released columns besides the quasi-identifiers by which the attack works, the most damaging first."""
    certain: int | None = None
    """Records of which the attacker is certain (of the secret, or of whose record it is) and would not be without the
    release; null where the attack is never certain of anything."""
    p_value: float | None = None
    """How probable as much is where the same values are dealt at random; null where nothing is left to chance."""
    counted: Literal["records"] | None = None
    """That every record was taken for somebody else's although the models count people: the attack cannot tell."""


def tried(
    *,
    records: int,
    of: int,
    rate: float | None = None,
    baseline: float = 0.0,
    leak: bool | None = None,
    classes: int | None = None,
    interval: tuple[float, float] | None = None,
    people: tuple[int, int] | None = None,
    columns: Sequence[str] | None = None,
    certain: int | None = None,
    p_value: float | None = None,
    **details: Any,
) -> AttackResult:
    """The result of an attack that was made; by default its rate is the exposed share, and what exceeds the baseline
    is a leak. ``people`` are those exposed, and those attacked."""
    rate = share(records, of) if rate is None else rate
    leak = rate > baseline if leak is None else leak
    outcome = "leak" if leak else "explained" if records else "nothing"
    figures = outcome, records, of, classes, rate, baseline, interval, leak, details
    found, attacked = people or (None, None)
    by = None if columns is None else tuple(columns)
    return AttackResult("", None, "tried", *figures, found, attacked, by, certain, p_value)


def share(part: float, whole: float) -> float:
    """A share; 0 where there is nothing to have one of."""
    return part / whole if whole else 0.0


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
    earlier: Sequence[EarlierRelease] = ()
    seed: int = 0
    ruled_out: int = 3  # values that an attacker with background knowledge can rule out
    recoding: Recoding | None = None  # what the release was written from, where it has just been made
    searched: bool = True  # whether labels were chosen for these very records, not for those of an earlier release

    @cached_property
    def linkable(self) -> LinkableRecords:
        """The released records that people fit by their quasi-identifiers; needs the original."""
        assert self.original is not None
        return linkable_records(self.released, self.original, self.seed)

    @cached_property
    def row_class(self) -> Codes | Ints | None:
        """The class of each row of the original, -1 for one that is not released; None where it cannot be told."""
        assert self.original is not None
        if self.recoding is not None:
            row_class = np.full(len(self.recoding.row_class), -1, dtype=np.int32)
            row_class[self.recoding.row_class >= 0] = self.rows.owner
            return row_class
        of_tuple = self.original.only_class(self.released)
        return None if of_tuple is None else of_tuple[self.original.problem.table.row_tuple]

    @cached_property
    def column_tests(self) -> Mapping[str, ColumnTests]:
        """What each other published column tells of each sensitive column of which a value is known."""
        rows, insensitive = self.rows, {} if self.rows.unseen else self.rows.insensitive
        secrets = []
        for name in rows.sensitive:
            domain = self.released.stats.domains[name]
            if not self.released.known(name):
                continue
            others = {other: column for other, column in rows.sensitive.items() if other != name}
            by_values = domain.categories and self.policy.published(name) != "categories"
            targets = targets_of(
                rows.sensitive[name],
                rows.weights,
                known=domain.known,
                unknown=domain.unknown,
                category_of=domain.category_of if by_values else None,
            )
            secrets.append(Secret(name, targets, published_knowledge({**insensitive, **others}, rows.weights)))
        return column_tests(
            rows.owner,
            rows.weights,
            secrets,
            person=rows.person,
            certain_among=frozenset(insensitive),
            seed=self.seed,
        )

    @cached_property
    def signature(self) -> Signature:
        """The classes of the release as a registry keeps them."""
        return signature_of(self.policy, self.rows)


class Attack(ABC):
    """One attacker. Subclasses declare who it is and make the attack, one file each."""

    name: ClassVar[str]  # in the evidence and in conditions such as ``linkage>5%``
    title: ClassVar[str]
    attacker: ClassVar[str]  # who the attacker is and what they know, in a sentence
    attempt: ClassVar[str]  # what is tried and what counts as a success, in a sentence
    baseline: ClassVar[str]  # what the baseline is, as a phrase
    position: ClassVar[int] = 100  # where it stands in reports
    on_sensitive: ClassVar[bool] = False  # whether it is made on each sensitive column by itself
    needs_original: ClassVar[bool] = False
    needs_insensitive: ClassVar[bool] = False  # whether it needs insensitive columns in the release
    reads_insensitive: ClassVar[bool] = False  # whether it looks at insensitive columns where there are any
    needs_earlier: ClassVar[bool] = False  # whether it needs earlier releases
    finds_people: ClassVar[bool] = False  # whether it looks for people instead of records where the models count them
    needs_person: ClassVar[bool] = False  # whether it is made only where the policy says who a record is about
    tells_people_apart: ClassVar[bool] = False  # whether what it finds depends on who a record is about
    exposed_by_chance: ClassVar[bool] = False
    """Whether people are exposed also where chance explains how many: no leak, but limits on exposed records count
    them. A guess that chance explains exposes nobody."""
    promise: ClassVar[bool] = False
    """Whether a leak breaks what the models promise about people of whom only quasi-identifiers are known."""
    grave_if_certain: ClassVar[bool] = True
    """Whether it is grave that the attacker is certain: not where that takes knowledge about single people which no
    column has, or where it is of nothing secret."""
    stopped_by_full_domain: ClassVar[bool] = False  # whether it fails where each column is released at one level
    stopped_by_option: ClassVar[str | None] = None  # the option of an algorithm that stops it

    @staticmethod
    @abstractmethod
    def run(scene: Scene, column: str) -> AttackResult | Sequence[AttackResult]:
        """Make the attack, on a sensitive column where it is on one (else ""); the caller fills in the names.

        Several results are about different columns by which the attack works, the worst first.
        """

    @staticmethod
    def needed(result: AttackResult) -> Mapping[str, float]:  # noqa: ARG004 - see subclasses
        """What would have to be for the attack to find nothing, for advice; nothing where that is not known.

        ``values`` or ``categories``: how many every class has; ``distance``: how far the distribution of a class lies
        from that of the release at most, from 0 to 1; ``width``: that of the bins of sensitive numbers; ``events``:
        how many records of a person may be known.
        """
        return {}
