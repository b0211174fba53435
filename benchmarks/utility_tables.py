"""What the utility benchmark asks for: tables, policies and privacy, by row; nothing here is measured.

Three tables are generated, always alike. *wide* has 22 quasi-identifiers: answers to a questionnaire in four themes,
each answer following its theme more often than not. *skewed* has columns of up to a thousand values, like postal codes,
most records having few of them. *rare* has a secret that few records have, the older ones more often, and t-closeness.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import adult
import shoal

SEED = 20261116
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
OCCUPATIONS = {
    "Technical": ["Tech-support", "Craft-repair", "Prof-specialty", "Machine-op-inspct"],
    "Nontechnical": ["Sales", "Exec-managerial", "Handlers-cleaners"],
    "Other": ["Other-service", "Adm-clerical", "Farming-fishing", "Transport-moving", "Priv-house-serv",
              "Protective-serv", "Armed-Forces"],
}  # fmt: skip
"""The groups of the hierarchy as categories, in its order."""
SENSITIVE: list[tuple[str, dict[str, Any]]] = [
    ("3-sensitive", {"model": "p-sensitive", "p": 3}),
    ("t-0.2", {"model": "t-closeness", "t": 0.2}),
    ("p+alpha", {"model": "p-plus-alpha-sensitive", "p": 2, "alpha": 2}),
]


@dataclass(frozen=True)
class Row:
    """A table with a policy, without its algorithm."""

    name: str
    data: Path | pa.Table
    policy: shoal.Policy


def adult_rows(folder: Path) -> Iterator[Row]:
    """Adult with nine quasi-identifiers and k alone, and with eight where the occupation is a secret."""
    table = folder / "adult.csv"
    adult.write_table(table)
    for k in (2, 5, 10, 25, 50):
        yield Row(f"adult-k{k}", table, shoal.Policy(columns=adult.columns(), privacy=[_k(k)]))
    columns: dict[str, Any] = adult.columns("occupation")
    for name, model in SENSITIVE:
        if "alpha" in model:
            columns = {**columns, "occupation": {"role": "sensitive", "categories": OCCUPATIONS}}
        yield Row(f"adult-{name}", table, shoal.Policy(columns=columns, privacy=[_k(5), model]))


def example_rows() -> Iterator[Row]:
    """The examples with their own policies."""
    for path in sorted(EXAMPLES.glob("*/policy.yaml")):
        policy = shoal.Policy.load(path)
        assert policy.data is not None
        yield Row(f"example-{path.parent.name}", path.parent / str(policy.data.path), policy)


def generated_rows() -> Iterator[Row]:
    """The generated tables with k = 5, and one with t-closeness and several k: a smaller one should not cost more."""
    for name, table, columns in (("wide", *wide()), ("skewed", *skewed())):
        yield Row(name, table, shoal.Policy(columns=columns, privacy=[_k(5)]))
    table, columns = rare()
    for k in (2, 5, 7):
        close = {"model": "t-closeness", "t": 0.2}
        yield Row(f"rare-k{k}", table, shoal.Policy(columns=columns, privacy=[_k(k), close]))


def wide(records: int = 5_000, columns: int = 22, themes: int = 4) -> tuple[pa.Table, dict[str, Any]]:
    """Answers 1 to 5 or 1 to 9, in order; each is near the opinion that its record has on its theme."""
    random = np.random.default_rng(SEED)
    opinions = random.random((records, themes))
    cells: dict[str, list[str]] = {}
    described: dict[str, Any] = {}
    for j in range(columns):
        answers = 5 if j % 3 else 9
        noise = random.normal(0, 0.12, records)
        spread = np.clip(opinions[:, j % themes] ** (1 + j % 5 / 2) + noise, 0, 0.999)
        cells[f"q{j:02}"] = [str(1 + int(each * answers)) for each in spread]
        order = [str(answer) for answer in range(1, answers + 1)]
        described[f"q{j:02}"] = {"role": "quasi", "hierarchy": {"order": order}}
    return pa.table(cells), described


def skewed(records: int = 20_000) -> tuple[pa.Table, dict[str, Any]]:
    """Postal codes, jobs, birth years and more; the n-th most common value of a column is about 1/n as common."""
    random = np.random.default_rng(SEED + 1)

    def drawn(values: list[str], power: float) -> list[str]:
        chances = 1.0 / np.arange(1, len(values) + 1) ** power
        order = random.permutation(len(values))
        return [values[order[each]] for each in random.choice(len(values), records, p=chances / chances.sum())]

    jobs = {
        f"branch {b}": {f"field {b}.{f}": [f"job {b}.{f}.{j}" for j in range(5)] for f in range(5)} for b in range(6)
    }
    names = [job for branch in jobs.values() for field in branch.values() for job in field]
    cells = {
        "zip": drawn([f"{number:04}" for number in range(0, 10_000, 10)], 0.9),
        "job": drawn(names, 1.1),
        "birth": [str(year) for year in 2006 - random.gamma(3, 12, records).astype(int).clip(0, 90)],
        "sex": drawn(["f", "m", "x"], 2.5),
        "children": [str(each) for each in random.poisson(1.3, records)],
        "school": drawn(["none", "primary", "lower", "middle", "upper", "college", "master", "doctor"], 0.8),
        "car": drawn(["yes", "no"], 1.0),
    }
    order = ["none", "primary", "lower", "middle", "upper", "college", "master", "doctor"]
    hierarchies: dict[str, Any] = {
        "zip": {"mask": "right"},
        "job": {"tree": jobs},
        "birth": {"intervals": [5, 10, 20, 40]},
        "sex": {"flat": True},
        "children": {"intervals": [[0, 1, 3, 100]]},
        "school": {"order": order},
        "car": {"flat": True},
    }
    return pa.table(cells), {name: {"role": "quasi", "hierarchy": each} for name, each in hierarchies.items()}


def rare(records: int = 5_000) -> tuple[pa.Table, dict[str, Any]]:
    """Age, sex, work and habits of patients, and a rare illness that older ones have more often."""
    random = np.random.default_rng(SEED + 2)
    age = np.clip(random.normal(43, 22, records), 1, 82).astype(int)
    chances = {"pressure": age / 500, "heart": age / 800, "married": np.clip((age - 18) / 30, 0, 0.9)}
    cells = {
        "age": [str(each) for each in age],
        "sex": random.choice(["f", "m"], records, p=[0.59, 0.41]).tolist(),
        "work": random.choice(["private", "own", "state", "child"], records, p=[0.57, 0.16, 0.13, 0.14]).tolist(),
        "town": random.choice(["urban", "rural"], records).tolist(),
        "smokes": random.choice(["never", "formerly", "yes", "unknown"], records).tolist(),
        **{name: np.where(random.random(records) < chance, "yes", "no").tolist() for name, chance in chances.items()},
        "ill": np.where(random.random(records) < 0.002 * np.exp(age / 22), "yes", "no").tolist(),
    }
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": {"flat": True}} for name in cells}
    columns["age"] = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20, 40]}}
    columns["ill"] = {"role": "sensitive"}
    return pa.table(cells), columns


def _k(k: int) -> dict[str, Any]:
    return {"model": "k-anonymity", "k": k}
