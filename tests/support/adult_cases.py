"""Adult for tests: the real table where there is one, and a made-up one with the same columns and values."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from random import Random

import pytest

from shoal.datasets import ADULT_COLUMNS
from shoal.reproduce.tables import TREES

Tree = dict[str, "Tree"] | list[str]


def leaves(tree: Tree) -> list[str]:
    """The values of a tree."""
    return list(tree) if isinstance(tree, list) else [leaf for below in tree.values() for leaf in leaves(below)]


VALUES = {
    "workclass": leaves(TREES["workclass"]),
    "education": leaves(TREES["education"]),
    "marital-status": leaves(TREES["marital"]),
    "occupation": leaves(TREES["occupation"]),
    "relationship": ["Husband", "Wife", "Own-child"],
    "race": leaves(TREES["race"]),
    "sex": ["Male", "Female"],
    "native-country": leaves(TREES["country"]),
    "income": ["<=50K", ">50K"],
}
NUMBERS = {
    "age": (17, 90), "fnlwgt": (10_000, 900_000), "education-num": (1, 16), "capital-gain": (0, 9),
    "capital-loss": (0, 9), "hours-per-week": (1, 99),
}  # fmt: skip


def made_up(records: int, seed: int = 0) -> list[dict[str, str]]:
    """Records with values of Adult, the first value of each column the commonest; one of twenty cells is unknown."""
    draw = Random(seed)
    rows = []
    for _ in range(records):
        row = {name: str(draw.randint(*ends)) for name, ends in NUMBERS.items()}
        row |= {name: values[int(len(values) * draw.random() ** 4)] for name, values in VALUES.items()}
        if draw.random() < 0.05:
            row["workclass"] = "?"
        rows.append({name: row[name] for name in ADULT_COLUMNS})
    return rows


def write_csv(folder: Path, rows: list[dict[str, str]]) -> Path:
    """The records as adult.csv in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "adult.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ADULT_COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return folder


def real_folder() -> Path:
    """The folder of the real table; the test is skipped where there is none."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    for place in (os.environ.get("SHOAL_DATA"), beside):
        if place and (Path(place) / "adult.csv").is_file():
            return Path(place)
    pytest.skip("adult.csv is not there: set SHOAL_DATA to the folder that holds it")
