"""What the informed adversary starts from: who is in which class, what each class shows, and what nobody said.

People with equal quasi-identifiers cannot be told apart, so all that can be known of a person is known of everybody
with the same tuple. The records of a tuple in a class are a *cell*; a *world* says how many records of each cell have
each secret. The cells of a class share the secrets that it shows. Records that were left out may have any secret, with
the frequencies of the release; a value that a model names and that is not released occurs among them, since a policy
that names a value which the data lacks is refused, and counts as if one released record had it.

A *secret* is a combination of the values of all sensitive columns that the algorithm reads. Insensitive columns, and
who a record is about, are held as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.attacks.attack import Scene
from shoal.attacks.released_classes import Codes, Ints
from shoal.encode.result import splits_duplicates
from shoal.search.problem import Problem
from shoal.table.classes import Floats
from shoal.table.encoded import combine_codes

MOST_FIGURES = 20_000_000  # cells times secrets for which beliefs are held


@dataclass(frozen=True, eq=False)
class PriorKnowledge:
    """Cells with their sizes, the secrets that there may be, and, for the outcome only, the true ones."""

    problem: Problem
    row: Ints  # the rows of the original; one whose records are in several classes comes several times
    row_cell: Ints
    row_records: Ints
    tuples: Ints  # tuple of each cell
    owner: Ints  # class of each cell, or `SUPPRESSED`
    sizes: Ints  # records of each cell
    secrets: Mapping[str, Codes]  # the value of each secret in each column that is read, as a code of its domain
    prior: Floats  # how frequent each secret is taken to be among records that were left out
    true: Ints  # ``true[cell, secret]``: records

    @property
    def n_secrets(self) -> int:
        """How many secrets there may be."""
        return len(self.prior)

    @cached_property
    def record_row(self) -> Ints:
        """The row of the original that each record is of."""
        return np.repeat(self.row, self.row_records)

    @cached_property
    def record_cell(self) -> Ints:
        """The cell of each record."""
        return np.repeat(self.row_cell, self.row_records)

    @cached_property
    def class_secrets(self) -> Ints:
        """Records of each secret in each class: ``class_secrets[class, secret]``."""
        released = self.owner >= 0
        counts = np.zeros((int(self.owner.max(initial=-1)) + 1, self.n_secrets), dtype=np.int64)
        np.add.at(counts, self.owner[released], self.true[released])
        return counts

    @cached_property
    def baseline(self) -> Floats:
        """How many records of each cell have each secret on average, to somebody who knows the release alone."""
        shares = np.vstack(
            [self.class_secrets / np.maximum(self.class_secrets.sum(axis=1, keepdims=True), 1), self.prior]
        )
        return np.asarray(shares[self.owner] * self.sizes[:, None])  # the last row is that of `SUPPRESSED`

    def by_value(self, figures: Floats | Ints, column: str) -> Floats:
        """Figures by cell and secret as figures by tuple and value of a column."""
        return self.by_tuple(np.asarray(figures, dtype=np.float64) @ self.value_of(column).astype(np.float64))

    def by_tuple(self, figures: Floats | Ints) -> Floats:
        """Figures by cell, summed by tuple."""
        starts = np.searchsorted(self.tuples, np.arange(self.problem.table.n_tuples))  # cells ascend by tuple
        return np.asarray(np.add.reduceat(figures, starts, axis=0), dtype=np.float64)

    def value_of(self, column: str) -> Ints:
        """Which value of a column each secret holds: 1 there, and 0 for the others."""
        values = np.arange(len(self.problem.domains[column].values))
        return np.asarray(self.secrets[column][:, None] == values, dtype=np.int64)


def columns_read(scene: Scene) -> tuple[str, ...]:
    """The sensitive columns that decide what the algorithm does.

    An algorithm that may put records with equal quasi-identifiers into different classes takes them in the order of
    their content, which every sensitive column is part of.
    """
    assert scene.original is not None
    problem = scene.original.problem
    return tuple(sorted(problem.table.row_sensitive)) if splits_duplicates(scene.policy) else problem.sensitive_columns


def classes_of_rows(scene: Scene) -> tuple[Ints, Ints, Ints] | None:
    """The rows of the original, the class of each, and its records; None where classes cannot be told."""
    assert scene.original is not None
    table, row_class = scene.original.problem.table, scene.row_class
    if row_class is None:
        return None
    row = np.arange(len(table.row_tuple), dtype=np.int64)
    return (
        row,
        row_class.astype(np.int64),
        np.ones(len(row), dtype=np.int64) if table.weights is None else table.weights,
    )


def knowledge_of(scene: Scene, row: Ints, row_class: Ints, records: Ints) -> PriorKnowledge | None:
    """What can be known of a release, given the class of rows of the original; None where that is too much to hold."""
    assert scene.original is not None
    problem = scene.original.problem
    table, columns = problem.table, columns_read(scene)
    parts = [table.row_tuple[row].astype(np.int64), row_class + 1]
    if table.person is not None:
        parts.append(table.person[row].astype(np.int64))
    if splits_duplicates(scene.policy):  # then the columns that are held decide, too, which of equal records goes where
        insensitive = [scene.original.rows.columns[name] for name in scene.policy.names("insensitive")]
        held, _ = combine_codes(
            [each.codes for each in insensitive], [max(len(each.labels), 1) for each in insensitive]
        )
        parts += [np.unique(held, return_inverse=True)[1][row]] if insensitive else []
    keys, _ = combine_codes(parts, [int(part.max(initial=0)) + 1 for part in parts])
    _, first, cell = np.unique(keys, return_index=True, return_inverse=True)
    codes = [table.row_sensitive[name][row] for name in columns]
    combined, _ = combine_codes(codes, [len(problem.domains[name].values) for name in columns])
    _, sample, secret = np.unique(combined, return_index=True, return_inverse=True)
    if len(first) * len(sample) > MOST_FIGURES:
        return None
    released = np.bincount(secret, weights=records * (parts[1] > 0), minlength=len(sample)).astype(np.float64)
    values = np.array([code[sample] for code in codes], dtype=np.int32).reshape(len(columns), len(sample))
    values, weights = _with_named_values(problem, columns, values, released)
    true = np.zeros((len(first), len(weights)), dtype=np.int64)
    np.add.at(true, (cell, secret), records)
    return PriorKnowledge(
        problem=problem,
        row=row,
        row_cell=cell.astype(np.int64),
        row_records=records,
        tuples=parts[0][first],
        owner=parts[1][first] - 1,
        sizes=np.bincount(cell, weights=records, minlength=len(first)).astype(np.int64),
        secrets=dict(zip(columns, values, strict=True)),
        prior=weights / max(float(weights.sum()), 1.0),
        true=true,
    )


def _with_named_values(
    problem: Problem, columns: tuple[str, ...], values: Codes, released: Floats
) -> tuple[Codes, Floats]:
    """The secrets with those that hold a value which a model names and nobody released has, and a weight for each."""
    shown = {tuple(each): weight for each, weight in zip(values.T.tolist(), released.tolist(), strict=True)}
    named: dict[tuple[int, ...], float] = {}
    for model in problem.models:
        if model.column not in columns:
            continue
        j, domain = columns.index(model.column), problem.domains[model.column]
        for label in model.named_values():
            code = domain.values.index(label) if label in domain.values else -1
            held = released[values[j] == code].sum()
            if code >= 0 and not held:
                like = {(*each[:j], code, *each[j + 1 :]): weight for each, weight in shown.items() if weight}
                total = sum(like.values())
                named |= {each: weight / total for each, weight in like.items()}
    every = {**shown, **{each: shown.get(each, 0.0) + weight for each, weight in named.items()}}
    return np.array(list(every), dtype=np.int32).reshape(len(every), len(columns)).T, np.array(list(every.values()))
