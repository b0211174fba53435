"""How problems with hierarchies are reported: which values, how many records, and what is similar."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence

from shoal.errors import PolicyProblem
from shoal.formatting import listing, pluralize
from shoal.hierarchies.hierarchy import Label

LISTED = 10  # how many offenders a message spells out; the rest are counted in it, and all of them are in its facts
_MOST_NAMES_COMPARED = 5_000
"""Above this many known names only spelling in other case or spacing is suggested: comparing all would take seconds."""


class HierarchyError(Exception):
    """A declaration that yields no hierarchy for the column's values; ``problems`` has every reason.

    Internal: the policy gathers these and raises one `PolicyError` for all columns.
    """

    def __init__(self, problems: Sequence[PolicyProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in problems))


def refuse(problems: Sequence[PolicyProblem]) -> None:
    """Raise `HierarchyError` with some problems, if there are any."""
    if problems:
        raise HierarchyError(problems)


def refuse_most(problems: Sequence[PolicyProblem], what: str) -> None:
    """Raise `HierarchyError` with the first of many similar problems, if there are any."""
    refuse(first_problems(problems, what))


def first_problems(problems: Sequence[PolicyProblem], what: str) -> Sequence[PolicyProblem]:
    """The first of many similar problems, and one that counts the rest."""
    rest = len(problems) - LISTED
    if rest <= 0:
        return problems
    where, code = problems[0].where, problems[0].code
    return [*problems[:LISTED], PolicyProblem(where, f"and {rest:,} more {what}.", "", {"more": rest}, code=code)]


def quoted(label: Label) -> str:
    """A label as messages show it."""
    return "the missing value" if label is None else repr(label)


def values_problem(
    where: str,
    what: str,
    offenders: Iterable[tuple[Label, int]],
    *,
    code: str,
    fix: str = "",
    hint: Callable[[Label], str] = lambda _: "",
) -> PolicyProblem:
    """One problem about values of the data: how many, the most frequent ones with their record counts."""
    ranked = sorted(offenders, key=lambda each: (-each[1], each[0] is None, each[0] or ""))
    records = sum(count for _, count in ranked)
    listed = listing(
        [f"{quoted(value)} ({pluralize(count, 'record')}{hint(value)})" for value, count in ranked], most=LISTED
    )
    message = f"{pluralize(len(ranked), 'value')} ({pluralize(records, 'record')}) {what}: {listed}."
    return PolicyProblem(where, message, fix, {"values": dict(ranked), "records": records}, code=code)


def refuse_unknown_values(
    values: Sequence[Label], counts: Sequence[int], known: Collection[Label], where: str, what: str
) -> None:
    """Refuse values of the data that a declared hierarchy lacks; a missing value needs no declaration."""
    counted = zip(values, counts, strict=True)
    offenders = [(value, count) for value, count in counted if value is not None and value not in known]
    if not offenders:
        return
    nearest = _nearest(known)

    def hint(value: Label) -> str:
        near = nearest(value)
        return f"; nearest known: {near!r}" if near else ""

    fix = "Add them to the hierarchy, correct the data, or declare them as missing."
    message = f"of the data are not in {what}"
    refuse([values_problem(where, message, offenders, code="values-not-in-hierarchy", fix=fix, hint=hint)])


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
