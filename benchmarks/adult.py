"""The Adult table and hierarchies for benchmarks; in the folder of SHOAL_DATA, or next to the checkout."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

HIERARCHY_OF = {
    "sex": "sex",
    "age": "age",
    "race": "race",
    "marital-status": "marital-status",
    "education": "education",
    "native-country": "native-country",
    "workclass": "workclass",
    "occupation": "occupation",
    "income": "salary-class",
}
"""The nine quasi-identifiers, and the file that holds each one's hierarchy."""

TRAINING_RECORDS = 32_561
"""The first records of adult.csv; those without unknown values are the table that ARX ships and measures on."""


def data_folder() -> Path:
    """Where adult.csv and adult_hierarchies lie; exits with a clear word when nowhere."""
    candidates = [os.environ.get("SHOAL_DATA"), Path(__file__).resolve().parents[2] / "shared" / "data"]
    for candidate in candidates:
        if candidate and (Path(candidate) / "adult.csv").is_file():
            return Path(candidate)
    sys.exit("adult.csv was not found: set SHOAL_DATA to the folder that holds it and adult_hierarchies/.")


def write_table(target: Path) -> int:
    """Write the 30,162-record table as CSV and return its number of records."""
    with (data_folder() / "adult.csv").open(newline="", encoding="utf-8") as source:
        header, *records = csv.reader(source)
    known = [record for record in records[:TRAINING_RECORDS] if "?" not in record]
    with target.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *known])
    return len(known)


def columns(sensitive: str | None = None) -> dict[str, object]:
    """The policy's columns: the nine quasi-identifiers, one of them sensitive instead where asked."""
    folder = data_folder() / "adult_hierarchies"
    described: dict[str, object] = {}
    for name, file in HIERARCHY_OF.items():
        if name == sensitive:
            described[name] = {"role": "sensitive"}
        else:
            described[name] = {"role": "quasi", "hierarchy": {"levels": str(folder / f"{file}.csv")}}
    return described
