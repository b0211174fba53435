"""A seeded generator of event tables: visits of people who come several times, on average ten times.

Everybody is like one of the typical people of `scale_data` in what does not change, and a patient of a few conditions.
A visit has its year, the age at that time, and one of the conditions, rarely another one. Four of five visits differ
from every other. No value comes from a real person.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

import scale_data
import shoal

SEED = 20261116
CHUNK = 500_000
VISITS = 10  # of a person, on average
REDRAWN = 0.03  # chance that a column of a person is not that of the typical one
CONSTANT = ("sex", "education", "country", "occupation")
YEARS, CONDITIONS, OWN = 6, 60, 4  # years of visits, conditions in all and of each person


def policy(data: Path, algorithm: str, *, person: bool) -> shoal.Policy:
    """k = 5 and p = 2 on six quasi-identifiers, in people or in records; at most 5% of the records suppressed."""
    years = {"before": [str(2020 + year) for year in range(3)], "after": [str(2023 + year) for year in range(3)]}
    columns: dict[str, object] = {
        "patient": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20, 40]}},
        "year": {"role": "quasi", "hierarchy": {"tree": years}},
        "condition": {"role": "sensitive"},
    }
    trees = {name: scale_data.tree(name) for name in CONSTANT}
    columns |= {
        name: {"role": "quasi", **({} if tree is None else {"hierarchy": {"tree": tree}})}
        for name, tree in trees.items()
    }
    content: dict[str, object] = {
        "data": str(data),
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "p-sensitive", "p": 2, "sensitive": "condition"}],
        "algorithm": {"name": algorithm},
        "suppression": 0.05,
    }
    return shoal.Policy.model_validate(content | ({"person": "patient"} if person else {}))


@cache
def _people(count: int) -> dict[str, NDArray[np.int64]]:
    """What does not change about each person, their age in the first year, and their conditions."""
    draw = np.random.default_rng([SEED, 0])
    setting = scale_data.SETTINGS["low"]
    who = np.minimum((draw.pareto(0.9, count) * setting.people / 60).astype(np.int64), setting.people - 1)
    found = {}
    for name in ("age", *CONSTANT):
        found[name] = scale_data.drawn(name, setting.people, draw)[who]
        redrawn = np.flatnonzero(draw.random(count) < REDRAWN)
        found[name][redrawn] = scale_data.drawn(name, len(redrawn), draw)
    return found | {"conditions": (CONDITIONS * draw.random((OWN, count)) ** 2).astype(np.int64)}


def chunk(number: int, length: int, records: int) -> pa.Table:
    """One piece of a table of so many records."""
    count = max(records // VISITS, 1)
    people, draw = _people(count), np.random.default_rng([SEED, 1 + number])
    who = (count * draw.random(length) ** 1.5).astype(np.int64)  # some come much more often than others
    year, own = draw.integers(0, YEARS, length), people["conditions"][draw.integers(0, OWN, length), who]
    condition = np.where(draw.random(length) < 0.05, draw.integers(0, CONDITIONS, length), own)
    columns = {
        "patient": pa.array(np.char.mod("P%08d", who)),
        "age": pa.array((17 + people["age"][who] + year).astype(str)),
        "year": pa.array((2020 + year).astype(str)),
        "condition": _texts([f"condition-{place:02d}" for place in range(CONDITIONS)], condition),
    }
    return pa.table(columns | {name: _texts(scale_data.values(name), people[name][who]) for name in CONSTANT})


def _texts(values: list[str], codes: NDArray[np.int64]) -> pa.Array:
    return pa.array(values).take(pa.array(codes))


def write(records: int, target: Path) -> Path:
    """Write a table as CSV unless it is there already."""
    if target.exists():
        return target
    partial = target.with_name(f".{target.name}")
    writer: pc.CSVWriter | None = None
    for number, start in enumerate(range(0, records, CHUNK)):
        table = chunk(number, min(CHUNK, records - start), records)
        if writer is None:
            options = pc.WriteOptions(quoting_style="none", quoting_header="none")
            writer = pc.CSVWriter(partial, table.schema, write_options=options)
        writer.write_table(table)
    assert writer is not None, "a table has records"
    writer.close()
    partial.rename(target)
    return target
