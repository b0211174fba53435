"""How the hierarchies word what is wrong: which values, how many records, and what is near."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence

from shoal.errors import PolicyProblem
from shoal.hierarchies.hierarchy import Label

LISTED = 10
"""How many offenders a message spells out; the rest are counted in it and all of them stand in its facts."""
_MOST_NAMES_COMPARED = 5_000
"""Above this many known names only spelling in other case or spacing is suggested: comparing all would take seconds."""


def quoted(label: Label) -> str:
    """A label as messages show it."""
    return "the missing value" if label is None else repr(label)


def plural(count: int, noun: str) -> str:
    """A count with its noun: "1 record", "2 records"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listing(parts: Sequence[str], total: int) -> str:
    """Join what is spelled out and count the rest."""
    rest = total - len(parts)
    return ", ".join(parts) + (f" and {rest:,} more" if rest > 0 else "")


def values_problem(
    where: str,
    what: str,
    offenders: Iterable[tuple[Label, int]],
    *,
    fix: str = "",
    hint: Callable[[Label], str] = lambda _: "",
) -> PolicyProblem:
    """One problem about values of the data: how many, the most frequent ones with their record counts."""
    ranked = sorted(offenders, key=lambda each: (-each[1], each[0] is None, each[0] or ""))
    records = sum(count for _, count in ranked)
    parts = [f"{quoted(value)} ({plural(count, 'record')}{hint(value)})" for value, count in ranked[:LISTED]]
    message = f"{plural(len(ranked), 'value')} ({plural(records, 'record')}) {what}: {listing(parts, len(ranked))}."
    return PolicyProblem(where, message, fix, {"values": dict(ranked), "records": records})


def unknown_values(
    values: Sequence[Label], counts: Sequence[int], known: Collection[Label], where: str, what: str
) -> list[PolicyProblem]:
    """The values of the data that a declared hierarchy lacks; a missing value needs no declaration."""
    offenders = [
        (value, count) for value, count in zip(values, counts, strict=True) if value is not None and value not in known
    ]
    if not offenders:
        return []
    nearest = _nearest(known)

    def hint(value: Label) -> str:
        near = nearest(value)
        return f"; nearest known: {near!r}" if near else ""

    fix = "Add them to the hierarchy, correct the data, or declare them as missing."
    return [values_problem(where, f"of the data are not in {what}", offenders, fix=fix, hint=hint)]


def at_most_listed(problems: Sequence[PolicyProblem], where: str, what: str) -> list[PolicyProblem]:
    """The first problems of one sort, then one that counts the rest."""
    rest = len(problems) - LISTED
    if rest <= 0:
        return list(problems)
    return [*problems[:LISTED], PolicyProblem(where, f"and {rest:,} more {what}.", "", {"more": rest})]


def _nearest(known: Collection[Label]) -> Callable[[Label], str]:
    """A finder of the nearest known name, by spelling without case and outer spaces first."""
    names = [name for name in known if name is not None]
    folded = {name.strip().casefold(): name for name in reversed(names)}

    def find(value: Label) -> str:
        text = value or ""
        if (same := folded.get(text.strip().casefold())) is not None:
            return same
        if len(names) > _MOST_NAMES_COMPARED:
            return ""
        near = difflib.get_close_matches(text, names, n=1, cutoff=0.6)
        return near[0] if near else ""

    return find
