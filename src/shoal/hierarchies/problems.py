"""How problems with hierarchies are reported: which values, how many records, and what is similar."""

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NoReturn

from shoal.errors import PolicyProblem
from shoal.formatting import listing, pluralize
from shoal.hierarchies.hierarchy import Label

LISTED = 10  # how many offenders a message spells out; the rest are counted in it, and all of them are in its facts
_MOST_NAMES_COMPARED = 5_000  # of more only other case or spacing is suggested: comparing all takes seconds


class HierarchyError(Exception):
    """A declaration that yields no hierarchy for the column's values; ``problems`` has every reason."""

    def __init__(self, problems: Sequence[PolicyProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in problems))


def refuse(where: str, message: str, fix: str, *, code: str, **facts: object) -> NoReturn:
    """Raise `HierarchyError` with one problem."""
    raise HierarchyError([PolicyProblem(where, message, fix, facts, code=code)])


class Problems:
    """What is wrong with one hierarchy, gathered so that everything is reported at once."""

    def __init__(self, where: str) -> None:
        self.where, self.found = where, list[PolicyProblem]()

    def add(self, message: str, fix: str, *, code: str, **facts: object) -> None:
        """Note a problem with the declaration."""
        self.found.append(PolicyProblem(self.where, message, fix, facts, code=code))

    def add_values(self, what: str, offenders: Sequence[tuple[Label, int]], fix: str, *, code: str) -> None:
        """Note values of the data that are wrong with their record counts, if there are any."""
        if offenders:
            self.found.append(values_problem(self.where, what, offenders, code=code, fix=fix))

    def refuse(self, similar: str = "") -> None:
        """Raise `HierarchyError` if there is any problem; where all are ``similar``, the first, and how many more."""
        rest = len(self.found) - LISTED
        if similar and rest > 0:
            self.found = self.found[:LISTED]
            self.add(f"and {rest:,} more {similar}.", "", code=self.found[0].code, more=rest)
        if self.found:
            raise HierarchyError(self.found)


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
    names = [name for name in known if name is not None]
    folded = {name.strip().casefold(): name for name in reversed(names)}
    compared = names if len(names) <= _MOST_NAMES_COMPARED else []

    def hint(value: Label) -> str:
        """The nearest known name, by spelling without case and outer spaces first."""
        text = value or ""
        same = folded.get(text.strip().casefold())
        near = [same] if same else difflib.get_close_matches(text, compared, n=1)
        return f"; nearest known: {near[0]!r}" if near else ""

    fix = "Add them to the hierarchy, correct the data, or declare them as missing."
    message = f"of the data are not in {what}"
    raise HierarchyError(
        [values_problem(where, message, offenders, code="values-not-in-hierarchy", fix=fix, hint=hint)]
    )
