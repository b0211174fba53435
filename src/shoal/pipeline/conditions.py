"""Conditions such as ``similarity>0`` or ``linkage>5%``: how much an attack may expose before a run counts as failed.

Only a leak exceeds a condition: what the baseline explains is not due to the release, however many records it is. Of a
leak, all records exposed count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.attacks.attack import AttackResult
from shoal.attacks.battery import ATTACKS
from shoal.errors import InputError, did_you_mean
from shoal.present.attacks import reason_clause

_CONDITION = re.compile(r"\s*(?P<name>[^\s>]+)\s*>\s*(?P<limit>\d+(\.\d+)?)\s*(?P<percent>%)?\s*", re.ASCII)


@dataclass(frozen=True)
class Condition:
    """A limit on the records that an attack exposes: a number of them, or a share in percent."""

    name: str
    limit: float
    percent: bool
    text: str

    def exceeded_by(self, result: Mapping[str, Any]) -> bool:
        """Whether an attack exposes more than the limit, and more than its baseline explains."""
        if not result["leak"]:
            return False
        records, of = result["records"] or 0, result["of"] or 0
        return bool(100 * records > self.limit * of if self.percent else records > self.limit)


def read_condition(text: str) -> Condition:
    """A condition from its text; `InputError` for one that cannot be read or names no attack."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise InputError(
            f"The condition {text!r} cannot be read. Write the name of an attack and a number of records or a "
            "percentage, such as similarity>0 or linkage>5%.",
            code="condition-unreadable",
        )
    name, percent = match["name"], match["percent"] is not None
    if name not in ATTACKS:
        message = f"The condition {text!r} does not name an attack. {did_you_mean(name, ATTACKS)}"
        raise InputError(message, code="condition-unknown-attack")
    limit = float(match["limit"])
    if percent and limit > 100:
        raise InputError(f"The condition {text!r} asks for more than 100%.", code="condition-over-100")
    if not percent and not limit.is_integer():
        message = (
            f"The condition {text!r} counts records, so it takes a whole number. For a share write {text.strip()}%."
        )
        raise InputError(message, code="condition-not-whole")
    return Condition(name, limit, percent, text.strip())


def exceeded(conditions: Sequence[Condition], results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The conditions that some attack exceeds, with its figures.

    An attack that was not tried is an `InputError`: looking away would satisfy any limit. One that does not apply to
    the release exposes nothing.
    """
    found = []
    for condition in conditions:
        attacks = [each for each in results if each["name"] == condition.name]
        unknown = [each for each in attacks if each["status"] == "not tried"]
        if unknown or not attacks:
            reason = f": {reason_clause(AttackResult(**unknown[0]))}" if unknown else ""
            message = f"The condition {condition.text!r} is about an attack that was not tried{reason}."
            raise InputError(message, code="condition-not-tried")
        found += [
            {"condition": condition.text, **{key: each[key] for key in ("name", "sensitive", "records", "of")}}
            for each in attacks
            if condition.exceeded_by(each)
        ]
    return found
