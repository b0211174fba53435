"""Which record or class is asked about: by number, or by values of its quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, did_you_mean
from shoal.formatting import listing, pluralize
from shoal.hierarchies.hierarchy import Label, is_scalar, scalar_text
from shoal.present.why import matches_text
from shoal.search.problem import Problem
from shoal.table.recoding import SUPPRESSED, Recoding

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """The rows that are asked about, all of one class, and the number of the record if it is about one."""

    rows: Rows
    record: int | None


@dataclass(frozen=True)
class MatchingClass:
    """A class with records that fit."""

    number: int | None  # counted from 1 in the order of the release; None for records that were left out
    released: Mapping[str, Label]
    size: int
    matching: int  # how many of its records fit


@dataclass(frozen=True)
class Matches:
    """Several records fit, and they did not all fare alike; ``str`` says it in words."""

    asked: Mapping[str, Label]
    records: int
    classes: tuple[MatchingClass, ...]

    def __repr__(self) -> str:
        """The counts in one line."""
        return f"<Matches: {pluralize(self.records, 'record')} in {pluralize(len(self.classes), 'class')}>"

    def __str__(self) -> str:
        return matches_text(self)

    def to_dict(self) -> dict[str, Any]:
        """The matches as plain data, ready for JSON."""
        return {
            "asked": dict(self.asked),
            "records": self.records,
            "classes": [
                {"class": each.number, "released": dict(each.released), "size": each.size, "matching": each.matching}
                for each in self.classes
            ],
        }


def find(
    problem: Problem, recoding: Recoding, *, record: int | None, where: Mapping[str, Any] | None, in_class: int | None
) -> ChosenRows | Matches:
    """The rows that are asked about. Raises `InputError` where nothing fits, or not exactly one way is given."""
    given = [each for each in (record, where or None, in_class) if each is not None]
    if len(given) != 1:
        raise InputError(
            "name exactly one thing to explain: a record by its number, records by values of quasi-identifiers, or a "
            f"class by its number ({len(given) or 'none'} given).",
            code="why-choose-one",
        )
    if where:
        return _by_values(problem, recoding, where)
    if in_class is not None:
        _check_number("class", in_class, recoding.n_classes)
        return ChosenRows(np.flatnonzero(recoding.row_class == in_class - 1), None)
    assert record is not None
    _check_number("record", record, recoding.n_rows)
    return ChosenRows(np.array([record - 1]), record)


def _check_number(what: str, number: object, most: int) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= most:
        raise InputError(
            f"there is no {what} {number!r}: their numbers run from 1 to {most:,}.", code=f"unknown-{what}"
        )


def _by_values(problem: Problem, recoding: Recoding, where: Mapping[str, Any]) -> ChosenRows | Matches:
    fits = np.ones(recoding.n_rows, dtype=np.bool_)
    asked: dict[str, Label] = {}
    for name, value in where.items():
        if name not in recoding.quasi:
            raise InputError(
                f"{name!r} is not a quasi-identifier of the policy. {did_you_mean(name, recoding.quasi)}",
                code="not-a-quasi-identifier",
            )
        plain = value.item() if isinstance(value, np.generic) else value
        if not is_scalar(plain):
            raise InputError(
                f"the value of {name!r} must be a text, a number or None, not {value!r}.", code="wrong-type"
            )
        asked[name] = scalar_text(plain)
        fits &= _having(problem, recoding, recoding.quasi.index(name), asked[name])
    rows = np.flatnonzero(fits)
    if not len(rows):
        wanted = listing([f"{name} {'missing' if text is None else repr(text)}" for name, text in asked.items()])
        raise InputError(
            f"no record has {wanted}, in the data or in the release. {_known(problem, asked)}", code="no-such-record"
        )
    classes = recoding.row_class[rows]
    if len(np.unique(classes)) == 1 and len(np.unique(problem.table.row_tuple[rows])) == 1:
        return ChosenRows(rows[:1], int(rows[0]) + 1)
    return Matches(asked, len(rows), tuple(_listed(recoding, classes)))


def _having(problem: Problem, recoding: Recoding, column: int, text: Label) -> NDArray[np.bool_]:
    """The rows that have a value in a column, or were released as it."""
    table = problem.table
    leaf = problem.hierarchies[column].by_label.get(text, -1)  # the codes of a table are leaves, never other nodes
    fits: NDArray[np.bool_] = (table.codes[column] == leaf)[table.row_tuple]
    node = recoding.hierarchies[column].by_label.get(text)
    if node is not None:
        kept = recoding.row_class != SUPPRESSED
        fits[kept] |= (recoding.nodes[:, column] == node)[recoding.row_class[kept]]
    return fits


def _known(problem: Problem, asked: Mapping[str, Label]) -> str:
    """For the first value that does not occur at all, what does; else that the values do not occur together."""
    for name, text in asked.items():
        hierarchy = problem.hierarchies[problem.table.quasi.index(name)]
        if text not in hierarchy.by_label:
            leaves = [label for label in hierarchy.labels[: hierarchy.n_leaves] if label is not None]
            return f"Of {name!r}: {did_you_mean(text, leaves)}"
    return "Each value occurs, but not together." if len(asked) > 1 else "It is in the hierarchy, but no record has it."


def _listed(recoding: Recoding, classes: NDArray[np.int32]) -> list[MatchingClass]:
    """The classes that the rows went to, in the order of the release; those left out last."""
    numbers, counts = np.unique(classes, return_counts=True)
    listed = []
    found = zip(numbers.tolist(), counts.tolist(), strict=True)
    for at, matching in sorted(found, key=lambda each: (each[0] < 0, each)):
        if at == SUPPRESSED:
            listed.append(MatchingClass(None, {}, 0, matching))
            continue
        cells = zip(recoding.quasi, recoding.hierarchies, recoding.nodes[at], strict=True)
        released = {name: hierarchy.labels[node] for name, hierarchy, node in cells}
        listed.append(MatchingClass(at + 1, released, int(recoding.sizes[at]), matching))
    return listed
