"""What several released tables must satisfy, from the definition: recounted from the written files alone."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

Record = tuple[str, dict[str, str]]  # its table, and its cells


def read(folder: Path, tables: Sequence[str]) -> list[Record]:
    """The records of all tables."""
    found = []
    for table in tables:
        with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
            found += [(table, row) for row in csv.DictReader(file)]
    return found


def linked(records: Sequence[Record], person: str, quasi: Sequence[str]) -> dict[str, frozenset[object]]:
    """What the records of each person show together: the labels of each, and how often."""
    shown: dict[str, Counter[object]] = defaultdict(Counter)
    for table, row in records:
        shown[row[person]][(table, tuple(row.get(name) for name in quasi))] += 1
    return {who: frozenset(each.items()) for who, each in shown.items()}


def fewest_people(records: Sequence[Record], person: str, quasi: Sequence[str]) -> int:
    """The fewest people who show the same."""
    return min(Counter(linked(records, person, quasi).values()).values())


def fewest_values(
    records: Sequence[Record], person: str, quasi: Sequence[str], having: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """For each sensitive column the fewest known values in a linked class, or in the same labels within one."""
    shows, found = linked(records, person, quasi), {}
    for column, tables in having.items():
        values: dict[object, set[str]] = defaultdict(set)
        for table, row in records:
            if table in tables:
                labels = (table, tuple(row.get(name) for name in quasi))
                for group in (shows[row[person]], (shows[row[person]], labels)):
                    values[group] |= {row[column]} - {""}
        found[column] = min(len(each) for each in values.values())
    return found
