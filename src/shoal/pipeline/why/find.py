"""Which record or class is asked about: by number, or by values of its quasi-identifiers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, did_you_mean
from shoal.formatting import listing, pluralize
from shoal.hierarchies.hierarchy import Label, is_scalar, scalar_text
from shoal.present.why import matches_text
from shoal.search.problem import Problem
from shoal.table.recoding import SUPPRESSED, Recoding

Chosen = tuple[int, int | None]
"""The index of a row that is asked about, and the number of the record; None where its class is asked about."""


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
        classes = [renamed(each, number="class") for each in self.classes]
        return {"asked": dict(self.asked), "records": self.records, "classes": classes}


def renamed(facts: Any, **names: str) -> dict[str, Any]:
    """The fields of a dataclass as plain data, some under the names that users know them by."""
    return {names.get(key, key): value for key, value in asdict(facts).items()}


def find(
    problem: Problem, recoding: Recoding, *, record: int | None, where: Mapping[str, Any] | None, in_class: int | None
) -> Chosen | Matches:
    """What is asked about. Raises `InputError` where nothing fits, or not exactly one way is given."""
    given = [each for each in (record, where or None, in_class) if each is not None]
    if len(given) != 1:
        raise InputError(
            "name exactly one thing to explain: a record by its number, records by values of quasi-identifiers, or a "
            f"class by its number ({len(given) or 'none'} given).",
            code="why-choose-one",
        )
    if where:
        return _by_values(problem, recoding, where)
    what, wanted, most = (
        ("class", in_class, recoding.n_classes) if record is None else ("record", record, recoding.n_rows)
    )
    if not isinstance(wanted, int) or isinstance(wanted, bool) or not 1 <= wanted <= most:
        message = f"there is no {what} {wanted!r}: their numbers run from 1 to {most:,}."
        raise InputError(message, code=f"unknown-{what}")
    return (int(np.argmax(recoding.row_class == wanted - 1)), None) if record is None else (record - 1, record)


def _by_values(problem: Problem, recoding: Recoding, where: Mapping[str, Any]) -> Chosen | Matches:
    fits = np.ones(recoding.n_rows, dtype=np.bool_)
    asked: dict[str, Label] = {}
    for name, value in where.items():
        if name not in recoding.quasi:
            message = f"{name!r} is not a quasi-identifier of the policy. {did_you_mean(name, recoding.quasi)}"
            raise InputError(message, code="not-a-quasi-identifier")
        plain = value.item() if isinstance(value, np.generic) else value
        if not is_scalar(plain):
            message = f"the value of {name!r} must be a text, a number or None, not {value!r}."
            raise InputError(message, code="wrong-type")
        asked[name] = scalar_text(plain)
        fits &= _having(problem, recoding, recoding.quasi.index(name), asked[name])
    rows = np.flatnonzero(fits)
    if not len(rows):
        wanted = listing([f"{name} {'missing' if text is None else repr(text)}" for name, text in asked.items()])
        message = f"no record has {wanted}, in the data or in the release. {_known(problem, asked)}"
        raise InputError(message, code="no-such-record")
    classes = recoding.row_class[rows]
    if len(np.unique(classes)) == 1 and len(np.unique(problem.table.row_tuple[rows])) == 1:
        return int(rows[0]), int(rows[0]) + 1
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


def _known(problem: Problem, values: Mapping[str, Label]) -> str:
    """For the first value that does not occur at all, what does; else that the values do not occur together."""
    for name, text in values.items():
        hierarchy = problem.hierarchies[problem.table.quasi.index(name)]
        if text not in hierarchy.by_label:
            leaves = [label for label in hierarchy.labels[: hierarchy.n_leaves] if label is not None]
            return f"Of {name!r}: {did_you_mean(text, leaves)}"
    return (
        "Each value occurs, but not together." if len(values) > 1 else "It is in the hierarchy, but no record has it."
    )


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
