"""Running the algorithm on another world: does the same release come out?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.attack import Scene
from shoal.attacks.informed.knowledge import PriorKnowledge
from shoal.attacks.informed.recorded_run import RecordedRun
from shoal.attacks.released_classes import Codes, Ints, by_text
from shoal.encode.result import works_on_records
from shoal.errors import DisclosureWarning, InfeasibleError
from shoal.hierarchies.hierarchy import Label
from shoal.search import ALGORITHMS
from shoal.search.conceal import Veto
from shoal.search.engine import LocalEngine
from shoal.search.problem import Problem, no_progress
from shoal.table.encoded import EncodedTable, encode_table
from shoal.table.recoding import SUPPRESSED, Recoding


def made_again(scene: Scene) -> tuple[Ints, Ints, Ints] | None:
    """Rows of the original, the class of each, and its records, found by making the release again; None where another
    one comes out."""
    assert scene.original is not None
    if key_unknown(scene):
        return None
    problem = replace(scene.original.problem, progress=no_progress)
    if works_on_records(scene.policy):
        problem = replace(problem, table=problem.table.unfolded())
    recoding = _run(scene.policy.algorithm.name, problem)
    if recoding is None:
        return None
    rows = len(recoding.row_class)
    row = np.arange(rows, dtype=np.int64) if recoding.entry is None else recoding.entry
    times = np.ones(rows, dtype=np.int64) if recoding.weights is None else recoding.weights
    owner = _classes_of(recoding, class_numbers(scene))
    sizes = np.bincount(owner + 2, weights=times, minlength=2)
    if sizes[0] or not np.array_equal(sizes[2:], scene.released.stats.records):
        return None
    return row, owner, times


def key_unknown(scene: Scene) -> bool:
    """Whether a release that conceals cannot be made again: its key was made for the run, and this is another one."""
    assert scene.original is not None
    veto = scene.original.problem.concealing
    return veto is not None and not veto.given and scene.recoding is None


def class_numbers(scene: Scene) -> dict[tuple[Label, ...], int]:
    """The classes of a release by what they show."""
    released = scene.released
    labels = [[each[code] for code in cells] for each, cells in zip(released.labels, released.cells, strict=True)]
    return {each: index for index, each in enumerate(zip(*labels, strict=True))}


def _classes_of(recoding: Recoding, number: Mapping[tuple[Label, ...], int]) -> Ints:
    """The class of a release that each row is in; -1 where it is suppressed, -2 where there is no such class."""
    names = [hierarchy.labels for hierarchy in recoding.hierarchies]
    shown = [
        tuple(labels[node] for labels, node in zip(names, nodes, strict=True)) for nodes in recoding.nodes.tolist()
    ]
    return np.array([*(number.get(each, -2) for each in shown), SUPPRESSED], dtype=np.int64)[recoding.row_class]


def _run(algorithm: str, problem: Problem) -> Recoding | None:
    """What the algorithm makes of a problem; None where there is no release."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisclosureWarning)
            engine = LocalEngine(problem.table, problem.ladders, problem.domains)
            return ALGORITHMS[algorithm].run(problem, engine).recoding
    except InfeasibleError:
        return None


class PossibleOriginals:
    """The worlds of one release, each of which the algorithm can be run on."""

    def __init__(self, scene: Scene, known: PriorKnowledge) -> None:
        assert scene.original is not None
        self._known, self._rows, self._first = known, scene.original.rows, scene.policy.person_columns
        self._algorithm = scene.policy.algorithm.name
        self._problem = replace(known.problem, progress=no_progress, repeated=True)
        self._number = class_numbers(scene)
        self._by_cell = np.argsort(known.record_cell, kind="stable")
        self._recorded: RecordedRun | None = None
        self.runs = 0

    def reproduces(self) -> bool:
        """Whether the release comes out for the true secrets: then the program in this version has made it.

        The run is recorded where that is possible, so that many worlds need no run of their own.
        """
        if not self.allowed(self._known.true):
            return False
        secret = self._secrets(self._known.true)
        table, order = self._table_of(secret)
        recorded = RecordedRun.of(replace(self._problem, table=table), partial(_run, self._algorithm))
        if recorded is None or recorded.recoding is None or not self._same(recorded.recoding, order, secret):
            return self.explains(self._known.true)
        self._recorded = recorded
        self.runs += 1
        return True

    def explains(self, counts: Ints, veto: Veto | None = None) -> bool:
        """Whether the release comes out where so many records of each cell have each secret; with other answers than
        those of the true key where a search that conceals is given them."""
        if veto is None and self.proven(counts):
            return True
        if not self.allowed(counts):
            return False
        secret = self._secrets(counts)
        table, order = self._table_of(secret)
        self.runs += 1
        problem = self._problem if veto is None else replace(self._problem, veto=veto)
        recoding = _run(self._algorithm, replace(problem, table=table))
        return recoding is not None and self._same(recoding, order, secret)

    def proven(self, counts: Ints) -> bool | None:
        """Whether the recorded run proves that the release comes out; None where there is none for such a world."""
        recorded = self._recorded
        if recorded is None or recorded.recoding is None:
            return None
        if not self.allowed(counts):
            return False
        secret = self._secrets(counts)
        table, order = self._table_of(secret)
        if not recorded.covers(table.row_tuple):
            return None
        return recorded.repeats(table.row_sensitive) and self._same(recorded.recoding, order, secret)

    def _secrets(self, counts: Ints) -> Ints:
        """The secret of each record where so many of each cell have each secret."""
        secret = np.empty(len(self._known.record_cell), dtype=np.int64)
        secrets = np.tile(np.arange(self._known.n_secrets), len(counts))
        secret[self._by_cell] = np.repeat(secrets, counts.ravel())
        return secret

    def allowed(self, counts: Ints) -> bool:
        """Whether the policy would be accepted: the values that it names must occur."""
        present = counts.sum(axis=0) > 0
        return all(present[holders].any() for holders in self._named)

    @property
    def sampled(self) -> bool:
        """Whether the algorithm draws more than what it refuses: which of equal records goes where."""
        return ALGORITHMS[self._algorithm].works_on_records

    @cached_property
    def _named(self) -> list[NDArray[np.intp]]:
        """For each value that a model names, the secrets that hold it: a policy must name values that occur."""
        found = []
        for model in self._problem.models:
            if model.column is not None and model.column in self._known.secrets:
                domain = self._problem.domains[model.column]
                codes = [domain.values.index(value) for value in model.named_values() if value in domain.values]
                found += [np.flatnonzero(self._known.secrets[model.column] == code) for code in codes]
        return found

    @cached_property
    def _order_by(self) -> list[tuple[Codes, bool]]:
        """The columns in whose order the rows come, each by record or, if a secret decides it, by secret."""
        columns, row = self._rows.columns, self._known.record_row
        first = [name for name in self._first if name in columns]
        found = []
        for name in [*first, *sorted(set(columns) - set(first), reverse=True)]:
            if name in self._known.secrets:
                values = self._problem.domains[name].values
                rank = np.empty(len(values), dtype=np.int32)
                rank[sorted(range(len(values)), key=lambda code: by_text(values[code]))] = np.arange(len(values))
                found.append((rank[self._known.secrets[name]], True))
            else:
                found.append((columns[name].codes[row], False))
        return found

    def _table_of(self, secret: Ints) -> tuple[EncodedTable, Ints]:
        """The table in a world, a row per record, and the record of each row."""
        known, table = self._known, self._problem.table
        keys = [codes[secret] if by_secret else codes for codes, by_secret in self._order_by]
        order = np.lexsort([*keys[::-1], table.row_tuple[known.record_row]])  # tuple by tuple, as algorithms take them
        row, tuples = known.record_row[order], table.row_tuple[known.record_row[order]]
        sensitive = {name: codes[row] for name, codes in table.row_sensitive.items()}
        sensitive |= {name: codes[secret[order]] for name, codes in known.secrets.items()}
        leaves = zip(table.quasi, table.codes, self._problem.hierarchies, strict=True)
        quasi = {name: (codes[tuples], hierarchy.n_leaves) for name, codes, hierarchy in leaves}
        person = None if table.person is None else table.person[row]
        return encode_table(quasi, sensitive, len(order), None, person), order

    def _same(self, recoding: Recoding, order: Ints, secret: Ints) -> bool:
        """Whether each class has the same secrets of the same people as in the world that was recoded."""
        owner = _classes_of(recoding, self._number)
        if (owner == -2).any():
            return False
        known, row = self._known, order if recoding.entry is None else order[recoding.entry]
        tuples = known.tuples[known.record_cell[row]]
        weights = np.ones(len(row), dtype=np.int64) if recoding.weights is None else recoding.weights
        made = np.sort(np.repeat(self._keys(tuples, owner, secret[row]), weights))
        cell = known.record_cell
        return np.array_equal(made, np.sort(self._keys(known.tuples[cell], known.owner[cell], secret)))

    def _keys(self, tuples: Ints, owner: Ints, secret: Ints) -> Ints:
        """A number for each combination of tuple, class and secret."""
        return (tuples * (len(self._number) + 1) + owner + 1) * self._known.n_secrets + secret
