"""Conditions such as ``similarity>0`` or ``linkage>5%``: how much an attack may expose before a run counts as failed.

Only a leak exceeds a condition: where an attack found no more than its baseline explains, nothing of that is the
release's doing, whatever the number of records. Of a leak, all records exposed count.

They are read against plain data, as `Estimate.to_dict` gives it and as the evidence keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.errors import InputError, did_you_mean

_CONDITION = re.compile(r"\s*(?P<name>[^\s>]+)\s*>\s*(?P<limit>\d+(\.\d+)?)\s*(?P<percent>%)?\s*", re.ASCII)


@dataclass(frozen=True)
class Condition:
    """A limit on the records that an attack exposes: a number of them, or a share in percent."""

    name: str
    limit: float
    percent: bool
    text: str

    def exceeded_by(self, estimate: Mapping[str, Any]) -> bool:
        """Whether an attack exposes more than the limit, and more than its baseline explains."""
        if not estimate.get("leak"):
            return False
        records, of = estimate.get("records") or 0, estimate.get("of") or 0
        return bool(100 * records > self.limit * of if self.percent else records > self.limit)


def read_condition(text: str, names: Sequence[str]) -> Condition:
    """A condition from its text; `InputError` for one that cannot be read or names no attack."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise InputError(
            f"the condition {text!r} cannot be read. Write the name of an attack and a number of records or a share, "
            "such as similarity>0 or linkage>5%."
        )
    name, percent = match["name"], match["percent"] is not None
    if name not in names:
        raise InputError(f"the condition {text!r} names no attack. {did_you_mean(name, names)}")
    limit = float(match["limit"])
    if percent and limit > 100:
        raise InputError(f"the condition {text!r} asks for more than 100 %.")
    if not percent and not limit.is_integer():
        raise InputError(f"the condition {text!r} counts records, which are whole. For a share write {text.strip()}%.")
    return Condition(name, limit, percent, text.strip())


def exceeded(conditions: Sequence[Condition], estimates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The conditions that some attack exceeds, with its figures.

    An attack that was not tried is an `InputError`: a limit on it would be kept by looking away. One that does not
    apply to the release exposes nothing.
    """
    found = []
    for condition in conditions:
        attacks = [each for each in estimates if each.get("name") == condition.name]
        unknown = [each for each in attacks if each.get("status") == "not tried"]
        if unknown or not attacks:
            reason = f": {unknown[0].get('tried')}" if unknown else "."
            raise InputError(f"the condition {condition.text!r} is on an attack that was not tried{reason}")
        found += [
            {
                "condition": condition.text,
                "name": condition.name,
                "sensitive": each.get("sensitive"),
                "records": each.get("records"),
                "of": each.get("of"),
            }
            for each in attacks
            if condition.exceeded_by(each)
        ]
    return found
