"""The classes of a release and what each holds of a sensitive column, from the released text itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.verification.canonical_text import Codes, Label, Mask, code
from shoal.verification.result import quoted


@dataclass(frozen=True, eq=False)
class Classes:
    """The records that share one released combination of quasi-identifiers, a missing cell being a label of its own."""

    names: tuple[str, ...]
    labels: Any  # arrow table with the released combination of each class
    sizes: Codes
    class_of: Codes  # class of each row
    counts: Codes  # records that each row stands for

    def describe(self, index: int) -> str:
        """A class for a message."""
        row = self.labels.slice(index, 1).to_pylist()[0]
        return ", ".join(f"{name}={quoted(row[name])}" for name in self.names)

    def first(self, among: Mask) -> int:
        """The first of some classes in the order of their labels, whatever the order of the records."""
        places = np.flatnonzero(among)
        some = self.labels.take(pa.array(places)).rename_columns([f"q{place}" for place in range(len(self.names))])
        keys = [(name, "ascending") for name in some.column_names]
        return int(places[pc.sort_indices(some, sort_keys=keys)[0].as_py()])


def group(columns: Mapping[str, Any], names: Sequence[str], counts: Codes) -> Classes:
    """Group the records by their released labels; each row stands for so many."""
    table = pa.table({f"q{place}": columns[name] for place, name in enumerate(names)})
    table = table.append_column("row", pa.array(np.arange(table.num_rows)))
    keys = [f"q{place}" for place in range(len(names))]
    grouped = table.group_by(keys, use_threads=False).aggregate([("row", "list")])
    rows = grouped.column("row_list").combine_chunks()
    lengths = np.asarray(rows.value_lengths(), dtype=np.int64)
    class_of = np.empty(table.num_rows, dtype=np.int64)
    class_of[np.asarray(rows.flatten())] = np.repeat(np.arange(len(lengths)), lengths)
    labels = grouped.select(keys).rename_columns(list(names))
    sizes = np.bincount(class_of, weights=counts, minlength=len(lengths)).astype(np.int64)
    return Classes(tuple(names), labels, sizes, class_of, counts)


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """How often each published value of one sensitive column occurs in each class, sparse.

    Where categories are published they are the values, each being its own category.
    """

    column: str
    values: list[Label]
    category_of: Codes
    """Category of each value, counted from 0, the most sensitive; -1 where the policy places it in none."""
    categories: tuple[str, ...]
    classes: Codes  # class of each entry, ascending
    entries: Codes  # value of each entry, ascending within a class
    counts: Codes

    def per_class(self, figures: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
        """Sum a figure of the entries over each class."""
        return np.asarray(np.bincount(self.classes, weights=figures, minlength=n_classes), dtype=np.float64)

    def starts(self, n_classes: int) -> Codes:
        """The first entry of each class; every class has one."""
        return np.searchsorted(self.classes, np.arange(n_classes))

    def of_value(self, value: Label, n_classes: int) -> Codes:
        """Records of each class with one value."""
        place = self.values.index(value) if value in self.values else -1
        return self._where(self.entries == place, n_classes)

    def of_category(self, category: int, n_classes: int) -> Codes:
        """Records of each class in one category."""
        return self._where(self.category_of[self.entries] == category, n_classes)

    def _where(self, chosen: Mask, n_classes: int) -> Codes:
        found = np.bincount(self.classes[chosen], weights=self.counts[chosen], minlength=n_classes)
        return found.astype(np.int64)


def tally(
    column: str, cells: Any, classes: Classes, categories: Mapping[str, Sequence[Label]], *, named: bool
) -> SensitiveCounts:
    """Count a sensitive column; ``named`` says that the cells are names of categories."""
    coded = code(cells)
    names = tuple(categories)
    place_of: dict[Label, int] = {name: place for place, name in enumerate(names)}
    if not named:
        place_of = {value: place for place, values in enumerate(categories.values()) for value in values}
    category_of = np.array([place_of.get(value, -1) for value in coded.values], dtype=np.int64)
    width = max(len(coded.values), 1)
    keys, place = np.unique(classes.class_of * width + coded.codes, return_inverse=True)
    counts = np.bincount(place, weights=classes.counts, minlength=len(keys)).astype(np.int64)
    return SensitiveCounts(column, coded.values, category_of, names, keys // width, keys % width, counts)
