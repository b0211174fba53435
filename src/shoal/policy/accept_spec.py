"""Leaks that the owner of a policy accepts, each with a reason that stands in the evidence."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from shoal.attack_names import attack_names
from shoal.errors import did_you_mean
from shoal.policy.fields import Name, refuse
from shoal.policy.partial import PartialPolicy, read_part
from shoal.policy.spec import Spec
from shoal.policy.validation_problems import policy_text


def _reason(text: str) -> str:
    if not text.strip():
        raise refuse("must say why the leak is accepted", "blank-reason")
    return text.strip()


class AcceptSpec(Spec):
    """What one attack finds, on one column or on any, and why that is accepted."""

    example = '{attack: linkage-insensitive, column: ward, reason: "nobody outside knows the ward"}'

    attack: str = Field(description="name of the attack")
    column: Name | None = Field(
        None, description="the column by which it works, or that it is on; what it finds on any column when left out"
    )
    reason: Annotated[str, AfterValidator(_reason)] = Field(
        description="why the leak is accepted, for the evidence and the report"
    )


def read_accept(raw: Any, columns: Collection[str], parts: PartialPolicy) -> None:
    """Read the accepted leaks and note what is wrong with each; ``columns`` are those of the policy."""
    if raw is None:
        return
    if not isinstance(raw, (list, tuple)):
        message = f"must be a list of accepted leaks (given: {policy_text(raw)})."
        parts.add("accept", message, f"Write accept: [{AcceptSpec.example}].", code="wrong-type")
        return
    known, seen = attack_names(), set[tuple[str, str | None]]()
    for index, content in enumerate(raw):
        where = f"accept[{index}]"
        part = read_part(AcceptSpec, content, where, parts, stand_ins={"attack": "", "reason": "-"})
        if part.value is None:
            continue
        attack, column = part.value.attack, part.value.column
        named = "attack" not in part.damaged
        if named and attack not in known:
            fix = did_you_mean(attack, known)
            parts.add(f"{where}.attack", f"unknown attack {attack!r}.", fix, code="unknown-attack")
        if column is not None and columns and column not in columns:
            fix = did_you_mean(column, columns)
            parts.add(f"{where}.column", f"unknown column {column!r}.", fix, code="unknown-column")
        if named and not {"column"} & part.damaged and (attack, column) in seen:
            fix = "Keep one of the two, with one reason."
            parts.add(where, "accepts the same as an entry before it.", fix, code="listed-twice")
        seen.add((attack, column))
