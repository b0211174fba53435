"""Seeded tables with wide keys: many quasi-identifiers, long ladders, or thousands of values per column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class WideTable:
    """The values of each quasi-identifier, and its hierarchy as a policy declares it."""

    values: Mapping[str, list[str]]
    hierarchies: Mapping[str, Mapping[str, Any]]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a policy."""
        return {name: {"role": "quasi", "hierarchy": dict(each)} for name, each in self.hierarchies.items()}


def donors(records: int = 63_441, seed: int = 1) -> WideTable:
    """Donors to a charity: 8 quasi-identifiers, among them ZIP codes and amounts with thousands of values.

    The shape of the KDD Cup 1998 table as the ARX project measures it: 45,000 lattice nodes.
    """
    draw = np.random.default_rng(seed)
    towns = np.sort(draw.choice(90_000, 13_000, replace=False)) + 10_000
    town = np.minimum((len(towns) * draw.beta(0.9, 1.3, records)).astype(np.int64), len(towns) - 1)
    zips = towns[town]
    gifts = np.minimum(1 + draw.geometric(0.1, records), 237)
    smallest = np.minimum(np.round(np.exp(draw.normal(1.9, 0.7, records))).astype(np.int64), 1000)
    total = np.minimum(np.round(gifts * smallest * np.exp(draw.normal(0.35, 0.3, records))).astype(np.int64), 9485)
    age = np.clip(np.round(draw.normal(61, 17, records)), 1, 98).astype(np.int64)
    gender = draw.choice(np.array(["F", "M", "J", "U"]), records, p=[0.54, 0.41, 0.01, 0.04])
    income = np.clip(np.round(draw.normal(4 - (age > 70), 1.7, records)), 1, 7).astype(np.int64)
    state = np.searchsorted(np.linspace(10_000, 100_000, 54), zips, side="right")
    values = {
        "zip": _texts(zips), "age": _texts(age), "gender": gender.tolist(), "income": _texts(income),
        "state": [f"S{each:02}" for each in state.tolist()], "gifts": _texts(gifts), "smallest": _texts(smallest),
        "total": _texts(total),
    }  # fmt: skip
    return WideTable(
        values,
        {
            "zip": {"mask": "right"},
            "age": {"intervals": [5, 10, 20]},
            "gender": {"flat": True},
            "income": {"intervals": [2]},
            "state": {"flat": True},
            "gifts": {"intervals": [10, 50, 100]},
            "smallest": {"intervals": [10, 50, 200]},
            "total": {"intervals": [100, 500, 2000]},
        },
    )


def accidents(records: int = 100_000, seed: int = 6) -> WideTable:
    """People in road accidents: 8 quasi-identifiers of few values, many of whose combinations occur several times.

    The shape of the FARS table as the ARX project measures it: 20,000 lattice nodes.
    """
    draw = np.random.default_rng(seed)
    skewed = {"race": (20, 1.1), "hispanic": (10, 1.5), "state": (51, 0.35), "injury": (8, 0.7)}
    values: dict[str, list[str]] = {}
    kind = draw.integers(0, 12, records)  # what the columns have in common
    age = np.clip(np.round(draw.gamma(3.2, 11, records) + 2 * kind), 0, 98).astype(np.int64)
    values["age"] = _texts(age)
    for name, (size, falling) in skewed.items():
        shares = np.exp(-falling * np.arange(size))
        found = draw.choice(size, records, p=shares / shares.sum())
        values[name] = _texts(np.where(draw.random(records) < 0.25, (found + kind) % size, found))
    values["month"] = _texts(1 + (draw.integers(0, 12, records) + kind // 6) % 12)
    values["day"] = _texts(1 + draw.integers(0, 31, records))
    values["sex"] = draw.choice(np.array(["M", "F", "U"]), records, p=[0.68, 0.315, 0.005]).tolist()
    return WideTable(
        values,
        {
            "age": {"intervals": [5, 10, 20, 40]},
            "race": {"intervals": [5]},
            "hispanic": {"intervals": [3]},
            "state": {"intervals": [5, 10]},
            "injury": {"intervals": [2]},
            "month": {"intervals": [3, 6]},
            "day": {"intervals": [7, 14]},
            "sex": {"flat": True},
        },
    )


def codes(records: int = 60_000, columns: int = 8, seed: int = 2) -> WideTable:
    """Eight columns of five-digit codes with thousands of values each, pairs of them related like home and work."""
    draw = np.random.default_rng(seed)
    values: dict[str, list[str]] = {}
    for index in range(0, columns, 2):
        known = np.sort(draw.choice(90_000, 4_000, replace=False)) + 10_000
        home = (len(known) * draw.beta(0.7, 2.0, records)).astype(np.int64)
        away = np.abs(home + np.round(draw.standard_cauchy(records) * 20).clip(-3e3, 3e3).astype(np.int64))
        values[f"home{index}"], values[f"work{index}"] = _texts(known[home % 4000]), _texts(known[away % 4000])
    return WideTable(values, {name: {"mask": "right"} for name in values})


def ladders(records: int = 30_000, columns: int = 8, seed: int = 3) -> WideTable:
    """Numbers with ladders of 15 levels, each level twice as wide as the one below."""
    draw = np.random.default_rng(seed)
    factors = draw.normal(size=(records, 2)) @ draw.normal(size=(2, columns))
    numbers = factors + 0.3 * draw.normal(size=(records, columns))
    numbers = np.clip(np.round(8192 + 1800 * numbers), 0, 16_383).astype(np.int64)
    values = {f"number{c:02}": _texts(numbers[:, c]) for c in range(columns)}
    widths = [2**step for step in range(1, 14)]
    return WideTable(values, {name: {"intervals": widths} for name in values})


def survey(records: int = 20_000, columns: int = 22, seed: int = 4) -> WideTable:
    """Answers on scales of 2 to 12 points by people of thirty kinds, most of whom answer as their kind does."""
    draw = np.random.default_rng(seed)
    points = draw.integers(2, 13, columns)
    kind = np.minimum((30 * draw.beta(0.8, 1.6, records)).astype(np.int64), 29)
    typical = (draw.random((30, columns)) * points).astype(np.int64)
    noise = np.round(draw.laplace(0, 0.5, (records, columns))).astype(np.int64)
    answers = np.clip(typical[kind] + noise, 0, points - 1)
    values = {f"q{c:02}": _texts(answers[:, c]) for c in range(columns)}
    hierarchies = {
        name: {"intervals": [2, 4] if size > 4 else [2]} if size > 2 else {"flat": True}
        for name, size in zip(values, points.tolist(), strict=True)
    }
    return WideTable(values, hierarchies)


TABLES: Mapping[str, Callable[[], WideTable]] = {
    "donors": donors,
    "accidents": accidents,
    "codes": codes,
    "ladders": ladders,
    "survey of 22": survey,
    "survey of 40": lambda: survey(columns=40, seed=7),
    "survey of 60": lambda: survey(columns=60, seed=5),
}


def _texts(numbers: Ints) -> list[str]:
    return [str(each) for each in numbers.tolist()]
