"""What a verification found: one `Check` for each thing that was looked at, and the whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import VerificationError

_PEOPLE = {"people", "pseudonyms"}  # the checks that say whether people were counted


@dataclass(frozen=True)
class Check:
    """One thing that was checked, whether it holds, and the figures behind the answer."""

    name: str
    """What was checked: ``columns``, ``truthfulness``, a model's name (``p-sensitive[condition]``), …"""
    passed: bool
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The check as plain data."""
        return {"name": self.name, "passed": self.passed, "message": self.message, "facts": dict(self.facts)}


@dataclass(frozen=True)
class Verification:
    """Every check of a release and its outcome."""

    checks: tuple[Check, ...]
    records: int
    """Records of the release, those kept as rows of ``*`` not counted."""
    classes: int | None
    """Classes of the release; ``None`` when a quasi-identifier is missing, which leaves no classes to count."""
    suppressed: int | None
    """Records left out or kept as rows of ``*``; ``None`` when only the original could tell."""

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def people_counted(self) -> bool | None:
        """Whether models were judged in people; ``None`` for a policy that does not say who a record is about."""
        return next((bool(check.facts["counted"]) for check in self.checks if check.name in _PEOPLE), None)

    def raise_if_failed(self) -> None:
        """Raise `VerificationError` unless every check holds."""
        if not self.passed:
            raise VerificationError(self)

    def to_dict(self) -> dict[str, Any]:
        """The verification as plain data, ready for JSON."""
        return {
            "passed": self.passed,
            "records": self.records,
            "classes": self.classes,
            "suppressed": self.suppressed,
            "checks": [check.to_dict() for check in self.checks],
        }

    def __str__(self) -> str:
        """One line for a release that holds, else one line per failing check."""
        if self.passed:
            return (
                f"verified: {len(self.checks)} checks hold on {self.records:,} records in {self.classes or 0:,} classes"
            )
        fail = "fails" if len(self.failures) == 1 else "fail"
        head = f"not verified: {len(self.failures)} of {len(self.checks)} checks {fail}"
        return "\n".join([head, *(f"  - {check.name}: {check.message}" for check in self.failures)])


def quoted(value: str | None) -> str:
    """A released value as messages show it."""
    return "(missing)" if value is None else repr(value)


def described(columns: Mapping[str, Any], row: int) -> str:
    """What a row shows in some columns, for a message."""
    return ", ".join(f"{name}={quoted(column[row].as_py())}" for name, column in columns.items())


def listed(values: list[str | None], most: int = 5) -> str:
    """Some values for a message, and how many more there are."""
    more = f", … ({len(values):,} in all)" if len(values) > most else ""
    return ", ".join(map(quoted, values[:most])) + more
