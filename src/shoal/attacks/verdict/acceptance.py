"""Which findings the policy accepts.

An entry of ``accept`` names an attack and may name a column. A finding is accepted if each of the columns by which it
works is covered by an entry of its attack; without such columns, the sensitive column that it is on. An entry without a
column covers all that its attack finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.attacks.attack import AttackResult
from shoal.attacks.verdict.verdict import AcceptedLeak, Leak, UnusedAccept
from shoal.policy.accept_spec import AcceptSpec


@dataclass(frozen=True, eq=False)
class Acceptance:
    """The findings that are accepted, with their reasons, and the entries that match nothing."""

    leaks: tuple[AcceptedLeak, ...]
    unused: tuple[UnusedAccept, ...]
    indices: frozenset[int]
    """Those of the attacks whose findings are accepted."""


def acceptance(entries: Sequence[AcceptSpec], attacks: Sequence[AttackResult]) -> Acceptance:
    """Match the entries of a policy with what attacks found."""
    leaks, indices, used = [], set[int](), set[int]()
    for index, result in enumerate(attacks):
        if not (result.leak or narrows(result)):
            continue
        covering = [each for each, entry in enumerate(entries) if _covers(entry, result)]
        used.update(covering)
        some = [entries[each] for each in covering]
        if some and all(any(entry.column is None or _names(entry, name) for entry in some) for name in _about(result)):
            indices.add(index)
            leaks.append(AcceptedLeak(leak_of(result), tuple(dict.fromkeys(entry.reason for entry in some))))
    lacking = {each.name for each in attacks if each.status == "not tried"}
    unused = [
        UnusedAccept(entry.attack, entry.column, entry.reason)
        for index, entry in enumerate(entries)
        if index not in used and entry.attack not in lacking
    ]
    return Acceptance(tuple(leaks), tuple(unused if attacks else ()), frozenset(indices))


def _about(result: AttackResult) -> tuple[str, ...]:
    """The columns that entries have to cover: those by which an attack works, else the one that it is on."""
    return tuple(result.columns or (() if result.sensitive is None else (result.sensitive,)))


def _covers(entry: AcceptSpec, result: AttackResult) -> bool:
    """Whether an entry covers a part of a finding."""
    about = _about(result)
    return entry.attack == result.name and (entry.column is None or any(_names(entry, name) for name in about))


def _names(entry: AcceptSpec, released: str) -> bool:
    """Whether an entry names a released column: itself, or the one that it shows the categories of."""
    return entry.column is not None and released in {entry.column, f"{entry.column}_category"}


def narrows(result: AttackResult) -> bool:
    """Whether columns narrow people down as far as chance does: harmless only where nobody knows them of a person."""
    explained = result.outcome == "explained" and bool(result.records)
    return explained and bool(result.columns) and result.sensitive is None


def leak_of(result: AttackResult) -> Leak:
    """What an attack found, as a verdict has it."""
    columns, records, of = result.columns or (), result.records or 0, result.of or 0
    return Leak(result.name, result.sensitive, tuple(columns), records, of, result.rate, result.certain or 0)
