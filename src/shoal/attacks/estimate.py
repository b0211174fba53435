"""What every attack reports: who tried what, whom it exposed, and what would have been known without the release.

A figure without a baseline says nothing. Of 100 people of whom 95 are healthy, 95 are guessed right by anybody who
knows that; an attack that guesses 95 right has found nothing. So every estimate names its baseline, and ``leak`` says
whether the attack got more than the baseline explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["tried", "not tried", "not applicable"]


@dataclass(frozen=True)
class Estimate:
    """The outcome of one attack, on one sensitive column where it is about one."""

    name: str
    status: Status
    attacker: str
    """Who the attacker is and what is known to them."""
    tried: str
    """What was tried, or why it was not."""
    verdict: str
    """What came of it, in a sentence or two."""
    sensitive: str | None = None
    records: int | None = None
    """Records exposed; None where nothing was tried."""
    of: int | None = None
    """Records that were attacked."""
    classes: int | None = None
    """Classes exposed, where the attack is on classes."""
    rate: float | None = None
    """Share of successes: what is counted as one stands in ``tried``."""
    baseline: float | None = None
    baseline_is: str = ""
    interval: tuple[float, float] | None = None
    """The 95 % interval of the rate where it is an estimate; None where it is exact."""
    leak: bool = False
    """Whether more was found than the baseline explains."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Counts behind the verdict, worst cases first. Never a value of a suppressed record, an identifier or a row."""

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain data, ready for JSON."""
        return {
            "name": self.name,
            "sensitive": self.sensitive,
            "status": self.status,
            "attacker": self.attacker,
            "tried": self.tried,
            "records": self.records,
            "of": self.of,
            "classes": self.classes,
            "rate": _rounded(self.rate),
            "baseline": _rounded(self.baseline),
            "baseline_is": self.baseline_is,
            "interval": None if self.interval is None else [_rounded(end) for end in self.interval],
            "exact": self.status == "tried" and self.interval is None,
            "leak": self.leak,
            "verdict": self.verdict,
            "details": dict(self.details),
        }


def not_tried(name: str, attacker: str, reason: str, sensitive: str | None = None) -> Estimate:
    """An attack that could succeed and for which something is lacking."""
    return Estimate(name, "not tried", attacker, reason, f"Not tried: {reason}", sensitive)


def not_applicable(name: str, attacker: str, reason: str, sensitive: str | None = None) -> Estimate:
    """An attack that this release offers no ground for."""
    return Estimate(name, "not applicable", attacker, reason, f"Does not apply: {reason}", sensitive)


NEEDS_ORIGINAL = "it needs the original, which was not given."


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """A share in words: 12.3 %, and never a rounded 0 or 100 that it is not."""
    shown = f"{100 * share:.1f}"
    if shown == "0.0" and share > 0:
        return "less than 0.1 %"
    if shown == "100.0" and share < 1:
        return "more than 99.9 %"
    return f"{shown.removesuffix('.0')} %"


def shown(value: str | None) -> str:
    """A sensitive value as details and sentences name it."""
    return "(missing)" if value is None else value


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), 9)
