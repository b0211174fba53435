"""Generated tables for `calibration.py`: secrets that depend on nothing, and secrets with a planted leak.

Independent tables have two to four quasi-identifiers, a secret of few values with declared categories (``illness``) and
a secret number (``income``); neither depends on any other column. Planted leaks are of two kinds of strength. *By
person*: with the probability s a secret is that of the person's group, otherwise it is drawn as for everybody. *By
district*: in a share s of the districts the leak is complete, in the others there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import shoal

ALGORITHMS = ("optimal", "greedy-lattice", "mondrian", "top-down", "greedy-clustering")
SIZES = (100, 200, 400, 800, 1500, 3000)
DISTRICTS, WARDS = 16, 6
PLANTED_RECORDS, PLANTED_VALUES, PLANTED_K = 1000, 8, 5
HIERARCHIES: dict[str, dict[str, Any]] = {
    "district": {"mask": "right"},
    "age": {"intervals": [8, 16, 32]},
    "sex": {"flat": True},
    "year": {"intervals": [2, 4]},
}
Columns = dict[str, list[str]]
Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A table, and the policy under which it is released."""

    table: pa.Table
    policy: shoal.Policy


def independent(seed: int, *, diverse: bool) -> Case:
    """A table whose secrets depend on nothing; ``diverse``: the policy promises several values and categories."""
    random = np.random.default_rng([1, seed])
    records, n_quasi, values = int(random.choice(SIZES)), int(random.integers(2, 5)), int(random.integers(2, 13))
    k, insensitive = int(random.choice([2, 3, 5, 10])), bool(random.random() < 0.5)
    table = _quasi(random, records, n_quasi)
    names = list(table)
    table["illness"] = _names(random.choice(values, records, p=_shares(random, values)))
    table["income"] = _incomes(random, records)
    if insensitive:
        table["ward"] = [f"w{code}" for code in random.integers(0, WARDS, records)]
    promised = _promises(k) if diverse else _promises(k)[:1]
    return Case(pa.table(table), _policy(table, names, values, promised, ALGORITHMS[seed % len(ALGORITHMS)]))


def planted(kind: str, strength: float, seed: int) -> Case:
    """A table with a leak of some kind and strength."""
    random = np.random.default_rng([2, seed])
    records, values = PLANTED_RECORDS, PLANTED_VALUES
    table = _quasi(random, records, 2)
    del table["age"]
    table["sex"] = [str(each) for each in random.choice(["f", "m"], records)]
    names = list(table)
    table["illness"] = _names(random.choice(values, records, p=_shares(random, values)))
    table["income"] = _incomes(random, records)
    table["ward"] = [f"w{code}" for code in random.integers(0, WARDS, records)]
    PLANTED[kind](random, table, strength)
    return Case(pa.table(table), _policy(table, names, values, _promises(PLANTED_K)[:1], ALGORITHMS[seed % 3]))


def _value_by_person(random: Random, table: Columns, strength: float) -> None:
    """With a probability, a person's illness is that of the district."""
    of_district = _names(random.integers(0, PLANTED_VALUES, DISTRICTS))
    _replace(table, "illness", random.random(PLANTED_RECORDS) < strength, [of_district[each] for each in _place(table)])


def _value_by_district(random: Random, table: Columns, strength: float) -> None:
    """In some districts everybody has the same illness."""
    of_district = _names(random.integers(0, PLANTED_VALUES, DISTRICTS))
    _replace(table, "illness", _inside(random, table, strength), [of_district[each] for each in _place(table)])


def _two_values_by_district(random: Random, table: Columns, strength: float) -> None:
    """In some districts there are two illnesses only."""
    pairs = np.array([random.choice(PLANTED_VALUES, 2, replace=False) for _ in range(DISTRICTS)])
    drawn = pairs[_place(table), random.integers(0, 2, PLANTED_RECORDS)]
    _replace(table, "illness", _inside(random, table, strength), _names(drawn))


def _category_by_district(random: Random, table: Columns, strength: float) -> None:
    """In some districts all illnesses are of one category."""
    half = PLANTED_VALUES // 2
    drawn = random.integers(0, 2, DISTRICTS)[_place(table)] * half + random.integers(0, half, PLANTED_RECORDS)
    _replace(table, "illness", _inside(random, table, strength), _names(drawn))


def _near_numbers_by_district(random: Random, table: Columns, strength: float) -> None:
    """In some districts all incomes are within 20 of each other."""
    middle = random.integers(1500, 5000, DISTRICTS)[_place(table)]
    near = middle + random.integers(-10, 11, PLANTED_RECORDS)
    _replace(table, "income", _inside(random, table, strength), [str(each) for each in near])


def _value_by_ward(random: Random, table: Columns, strength: float) -> None:
    """With a probability, a person's illness is that of the ward, which is released as an insensitive column."""
    of_ward = _names(random.permutation(PLANTED_VALUES)[:WARDS])
    mine = [of_ward[int(each[1:])] for each in table["ward"]]
    _replace(table, "illness", random.random(PLANTED_RECORDS) < strength, mine)


def _value_by_secret(random: Random, table: Columns, strength: float) -> None:
    """With a probability, a person's income is that of all who have the same illness."""
    mine = [str(1500 + 100 * int(each[1:])) for each in table["illness"]]
    _replace(table, "income", random.random(PLANTED_RECORDS) < strength, mine)


def _number_of_ones_own(random: Random, table: Columns, strength: float) -> None:
    """With a probability, a person's income is nobody else's."""
    mine = [str(100_000 + each) for each in random.permutation(PLANTED_RECORDS).tolist()]
    _replace(table, "income", random.random(PLANTED_RECORDS) < strength, mine)


PLANTED: dict[str, Callable[[Random, Columns, float], None]] = {
    "value by person": _value_by_person,
    "value by district": _value_by_district,
    "two values by district": _two_values_by_district,
    "category by district": _category_by_district,
    "near numbers by district": _near_numbers_by_district,
    "value by ward": _value_by_ward,
    "value by other secret": _value_by_secret,
    "number of one's own": _number_of_ones_own,
}


def _quasi(random: Random, records: int, columns: int) -> Columns:
    """Districts, ages and what else is known of people; unrelated to each other."""
    found = {
        "district": [f"{code:04b}" for code in random.integers(0, DISTRICTS, records)],
        "age": [str(age) for age in random.integers(20, 84, records)],
        "sex": [str(each) for each in random.choice(["f", "m"], records)],
        "year": [str(year) for year in random.integers(2000, 2008, records)],
    }
    return {name: found[name] for name in list(found)[:columns]}


def _place(table: Columns) -> list[int]:
    """The district of each record, as a number."""
    return [int(each, 2) for each in table["district"]]


def _inside(random: Random, table: Columns, strength: float) -> np.ndarray:
    """Which records are in a share of the districts, one at least."""
    some = random.permutation(DISTRICTS)[: max(1, round(strength * DISTRICTS))]
    return np.isin(_place(table), some)


def _replace(table: Columns, name: str, where: np.ndarray, values: Sequence[str]) -> None:
    table[name] = [new if there else old for old, new, there in zip(table[name], values, where, strict=True)]


def _names(codes: np.ndarray) -> list[str]:
    return [f"v{code:02}" for code in codes]


def _shares(random: Random, values: int) -> np.ndarray:
    """How frequent the values of a secret are: all the same, or each half as frequent again as the next."""
    weights = np.ones(values) if random.random() < 0.5 else 1.5 ** -np.arange(values)
    return np.asarray(weights / weights.sum())


def _incomes(random: Random, records: int) -> list[str]:
    """Incomes, with a long tail and rounded, so that some occur several times."""
    return [str(int(each)) for each in np.round(np.exp(random.normal(8, 0.5, records)), -1)]


def _promises(k: int) -> list[dict[str, Any]]:
    """k, and two categories (and so two values) or two numbers in every class."""
    return [
        {"model": "k-anonymity", "k": k},
        {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 1, "sensitive": "illness"},
        {"model": "distinct-l-diversity", "l": 2, "sensitive": "income"},
    ]


def _policy(
    table: Columns, quasi: Sequence[str], values: int, privacy: Sequence[Mapping[str, Any]], algorithm: str
) -> shoal.Policy:
    """The policy of a generated table; the values have two categories, the first half of them and the rest."""
    names, half = _names(np.arange(values)), (values + 1) // 2
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": HIERARCHIES[name]} for name in quasi}
    columns["illness"] = {
        "role": "sensitive",
        "categories": {"grave": names[:half], "light": names[half:]},
        "publish": "values",
    }
    columns["income"] = {"role": "sensitive"}
    if "ward" in table:
        columns["ward"] = {"role": "insensitive"}
    return shoal.Policy(columns=columns, privacy=list(privacy), algorithm={"name": algorithm}, suppression=0.1)
