"""Worked tables: what a paper prints of a small table, computed again cell by cell and model by model.

A printed label is at some level of its hierarchy. Raising the original value to that level must give that label:
so each printed cell is computed from the original record, and one that no generalization gives is found. The
independent verifier is asked too, since it shares no code with this.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.encode.resolve import resolve
from shoal.hierarchies import Hierarchy, Tree
from shoal.hierarchies.boundaries import boundary_caps
from shoal.metrics import METRICS, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.models import Model
from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.reproduce.paper import PaperTable, Results, Sheet
from shoal.reproduce.tables import quasi_columns
from shoal.search.engine import LocalEngine
from shoal.table.classes import ClassView
from shoal.table.distinct_rows import DistinctRows
from shoal.table.recoding import Recoding

Categories = Mapping[str, Sequence[str]]
_ANY = "(any)"  # the root over printed labels, of which * may be one


def reached(view: ClassView, model: Model, *parameters: str) -> str:
    """What a printed table reaches of a model's parameters, as statements have it: 4 and not 4.0."""
    values = model.reached(view)
    return ", ".join("none" if values[name] is None else f"{values[name]:g}" for name in parameters)


def view_of(table: PaperTable, quasi: Sequence[str], sensitive: str, categories: Categories | None = None) -> ClassView:
    """What a model sees of a printed table: records with the same printed quasi-identifiers are a class."""
    secret: dict[str, Any] = {"role": "sensitive"}
    if categories is not None:
        secret |= {"categories": {name: list(values) for name, values in categories.items()}, "publish": "values"}
    trees = {name: {"tree": {_ANY: sorted(set(table.column(name)))}} for name in quasi}
    columns = {**quasi_columns(trees), sensitive: secret}
    policy = Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 1}])
    problem = resolve(policy, DistinctRows.of(table.arrow([*quasi, sensitive]))).problem
    engine = LocalEngine(problem.table, problem.ladders, problem.domains)
    return engine.stats(engine.classes((0,) * len(quasi)), [sensitive]).view(sensitive)


@dataclass(frozen=True)
class Masked:
    """A printed table as a view of an original one."""

    name: str  # name of its sheet
    original: PaperTable
    printed: PaperTable
    trees: Mapping[str, Any]
    """The hierarchy of each quasi-identifier: the drawings are lost, so the smallest with the printed labels."""
    sensitive: tuple[str, str]  # the sensitive column as the original and as the printed table name it
    key: str | None = None
    """The column that tells which record of the original a row is; None where the rows stand in the same order."""

    def pairs(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Each printed row with the original record that it shows."""
        printed, originals = self.printed.records(), self.original.records()
        if self.key is None:
            return list(zip(originals, printed, strict=True))
        known = {record.get(self.key, str(number)): record for number, record in enumerate(originals, start=1)}
        return [(known[row[self.key]], row) for row in printed]

    def hierarchies(self) -> dict[str, tuple[Hierarchy, dict[str, int]]]:
        """The hierarchy of each quasi-identifier, and the leaf of each original value."""
        built = {}
        for name, nested in self.trees.items():
            values = list(dict.fromkeys(self.original.column(name)))
            made = Tree(nested).build(values, [1] * len(values), name)
            built[name] = (made.hierarchy, dict(zip(values, (int(code) for code in made.codes), strict=True)))
        return built

    def computed(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Each row computed from the original, every value raised to the level of its printed label, and as printed."""
        hierarchies, rows = self.hierarchies(), []
        for original, printed in self.pairs():
            row = printed | {self.sensitive[1]: original[self.sensitive[0]]}
            for name, (hierarchy, leaves) in hierarchies.items():
                level = int(hierarchy.node_levels[hierarchy.by_label[printed[name]]])
                row[name] = str(hierarchy.labels[hierarchy.levels[level, leaves[original[name]]]])
            rows.append((row, printed))
        return rows

    def equal_cells(self) -> str:
        """How many cells of the quasi-identifiers and the sensitive column come out as printed."""
        cells = [
            row[name] == printed[name] for row, printed in self.computed() for name in (*self.trees, self.sensitive[1])
        ]
        return f"{sum(cells)} of {len(cells)}"

    def sheet(self) -> Sheet:
        """The computed table, and in its last column what the print has instead."""
        rows = Results()
        for row, printed in self.computed():
            other = "; ".join(f"{name} {printed[name]}" for name in printed if row[name] != printed[name])
            rows.append(row | {"printed instead": other})
        return rows.sheet(self.name)

    def comparison_with_print(self, number: int) -> dict[str, str]:
        """Of a numbered table: how many cells come out, and how many records the verifier finds no original for."""
        return {f"{number}-cells": self.equal_cells(), f"{number}-strangers": str(self.without_original())}

    def without_original(self) -> int:
        """Printed records that the independent verifier finds no original for."""
        columns = quasi_columns({name: {"tree": tree} for name, tree in self.trees.items()})
        columns[self.sensitive[1]] = {"role": "sensitive"}
        policy = Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 1}])
        original = self.original.arrow([*self.trees, self.sensitive[0]]).rename_columns(list(columns))
        checked = verify(self.printed.arrow(list(columns)), policy, original=original)
        (truth,) = (check for check in checked.checks if check.name == "truthfulness")
        return int(truth.facts["without_original"])

    def recoding(self) -> Recoding:
        """The printed table as a recoding of the original."""
        trees = [hierarchy for hierarchy, _ in self.hierarchies().values()]
        shown = [tuple(row[name] for name in self.trees) for _, row in self.pairs()]
        kinds = list(dict.fromkeys(shown))
        nodes = [[tree.by_label[label] for tree, label in zip(trees, kind, strict=True)] for kind in kinds]
        owner = np.array([kinds.index(each) for each in shown], dtype=np.int32)
        return Recoding(tuple(self.trees), tuple(trees), owner, np.array(nodes, dtype=np.int32))

    def measure(self, name: str) -> float:
        """A measure of the printed table."""
        return METRICS[name].of(ReleaseSummary.of(self.recoding()))

    def violations(self, boundaries: Mapping[str, Sequence[str]]) -> int:
        """Cells beyond the boundary of their original value (Campan Def. 6)."""
        hierarchies = self.hierarchies()
        codes = [
            np.array([leaves[original[name]] for original, _ in self.pairs()], dtype=np.int32)
            for name, (_, leaves) in hierarchies.items()
        ]
        caps = [boundary_caps(tree, boundaries.get(name), name) for name, (tree, _) in hierarchies.items()]
        return count_violations(self.recoding(), codes, caps)


def rows_of(table: pa.Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The rows of a released table as texts, sorted: a release says nothing by its order."""
    return sorted(tuple(str(row[name]) for name in names) for row in table.to_pylist())


def same_rows(table: pa.Table, printed: PaperTable, names: Sequence[str], *, case: bool = True) -> str:
    """How many printed rows a released table has."""
    ours, theirs = rows_of(table, names), sorted(tuple(row[name] for name in names) for row in printed.records())
    if not case:
        ours, theirs = (sorted(tuple(cell.lower() for cell in row) for row in rows) for rows in (ours, theirs))
    common = (Counter(ours) & Counter(theirs)).total()
    return f"{common} of {len(theirs)}"
