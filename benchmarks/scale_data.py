"""A seeded generator of large tables similar to Adult, of low or high diversity: nine quasi-identifiers, one sensitive.

Records are drawn around some thousands of typical people, so that columns are related as they are in a census, and some
of their columns are redrawn. In the *low* setting, 4% of a million records have distinct quasi-identifiers; in the
*high* setting, 31%. No value comes from a real person.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

import shoal

SEED = 20261115
CHUNK = 500_000
LEVELS: dict[str, tuple[int, ...]] = {
    "sex": (2,),
    "race": (5,),
    "marital": (7, 3),
    "education": (16, 6, 3),
    "country": (41, 6),
    "workclass": (8, 3),
    "occupation": (14, 5),
    "salary": (2,),
}
"""How many values each column has at its levels; ages from 17 to 90 are the ninth quasi-identifier."""
SKEW = {"sex": 0.6, "race": 2.5, "marital": 1.2, "education": 1.1, "country": 3.2, "workclass": 2.2, "occupation": 0.6,
        "salary": 1.6}  # fmt: skip
CONDITIONS = 20


@dataclass(frozen=True)
class Setting:
    """How diverse the records are."""

    people: int
    """Typical people that records are drawn around."""
    redrawn: float
    """Chance that a column of a record is redrawn."""


SETTINGS = {"low": Setting(20_000, 0.006), "high": Setting(60_000, 0.16)}


def values(name: str) -> list[str]:
    """The values of a column, zero-padded so that their order is that of the groups."""
    return [f"{name}-{place:02d}" for place in range(LEVELS[name][0])]


def tree(name: str) -> dict[str, object] | None:
    """The hierarchy of a column as a tree; None for one of two levels."""
    if len(LEVELS[name]) == 1:
        return None
    below: list[object] = list(values(name))
    for level, width in enumerate(LEVELS[name][1:], start=1):
        groups = np.array_split(np.arange(len(below)), width)
        below = [{f"{name} {level}.{place}": [below[each] for each in group]} for place, group in enumerate(groups)]
    merged: dict[str, object] = {}
    for each in below:
        assert isinstance(each, dict)
        merged |= {key: _merged(value) for key, value in each.items()}
    return merged


def _merged(value: list[object]) -> object:
    if not all(isinstance(each, dict) for each in value):
        return value
    found: dict[str, object] = {}
    for each in value:
        assert isinstance(each, dict)
        found |= {key: _merged(below) for key, below in each.items()}
    return found


def policy(data: Path, algorithm: str, *, sensitive: bool = False, suppression: float = 0.05) -> shoal.Policy:
    """k = 5 on nine quasi-identifiers; ``condition`` is released only where it is asked for."""
    columns: dict[str, object] = {"age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20, 40]}}}
    for name in LEVELS:
        levels = tree(name)
        columns[name] = {"role": "quasi", **({} if levels is None else {"hierarchy": {"tree": levels}})}
    if sensitive:
        columns["condition"] = {"role": "sensitive"}
    return shoal.Policy.model_validate(
        {
            "data": str(data),
            "columns": columns,
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "algorithm": {"name": algorithm},
            "suppression": suppression,
        }
    )


def drawn(name: str, count: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """A value of a column for each of a number of records, as codes."""
    if name == "age":
        return np.clip(draw.gamma(6.0, 6.5, count), 17, 90).astype(np.int64) - 17
    if name == "condition":
        return draw.integers(0, CONDITIONS, count)
    weights = 1 / np.arange(1, LEVELS[name][0] + 1) ** SKEW[name]
    return draw.choice(len(weights), count, p=weights / weights.sum())


def chunks(records: int) -> list[tuple[int, int]]:
    """Number and length of the pieces that a table is generated in."""
    return [(start // CHUNK, min(CHUNK, records - start)) for start in range(0, records, CHUNK)]


def chunk(number: int, length: int, setting: Setting) -> pa.Table:
    """One piece of a table; the same whatever the table's length."""
    names = ["age", *LEVELS]
    typical = np.random.default_rng([SEED, 0])
    people = {name: drawn(name, setting.people, typical) for name in names}
    draw = np.random.default_rng([SEED, 1 + number])
    who = np.minimum((draw.pareto(0.9, length) * setting.people / 60).astype(np.int64), setting.people - 1)
    columns = {}
    for name in names:
        codes = people[name][who]
        redrawn = np.flatnonzero(draw.random(length) < setting.redrawn)
        codes[redrawn] = drawn(name, len(redrawn), draw)
        texts = [str(age) for age in range(17, 91)] if name == "age" else values(name)
        columns[name] = pa.array(texts).take(pa.array(codes))
    columns["condition"] = pa.array([f"condition-{place:02d}" for place in range(CONDITIONS)]).take(
        pa.array(drawn("condition", length, draw))
    )
    return pa.table(columns)


def write(records: int, setting: str, target: Path) -> Path:
    """Write a table as CSV or Parquet, by the suffix, unless it is there already."""
    if target.exists():
        return target
    partial = target.with_name(f".{target.name}")
    writer: pq.ParquetWriter | pc.CSVWriter | None = None
    for number, length in chunks(records):
        table = chunk(number, length, SETTINGS[setting])
        if writer is None:
            writer = _opened(partial, table, parquet=target.suffix == ".parquet")
        writer.write_table(table)
    assert writer is not None
    writer.close()
    partial.rename(target)
    return target


def _opened(path: Path, table: pa.Table, *, parquet: bool) -> pq.ParquetWriter | pc.CSVWriter:
    if parquet:
        return pq.ParquetWriter(path, table.schema)
    return pc.CSVWriter(path, table.schema, write_options=pc.WriteOptions(quoting_style="none", quoting_header="none"))
