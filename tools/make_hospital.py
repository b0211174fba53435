"""Make the bundled example table, ``src/shoal/data/hospital.csv``: invented discharge records of an invented hospital.

Run ``python tools/make_hospital.py`` from the root of the repository, or give another path to write to. The seed below
and integer draws of the standard library make it the same file, byte for byte, on every machine. No record describes
a person: the names are made of plants and stones, the numbers are drawn.
"""

from __future__ import annotations

import csv
import datetime
import io
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

SEED = 20080401
RECORDS = 1200
TARGET = Path(__file__).parent.parent / "src" / "shoal" / "data" / "hospital.csv"
HEADER = (
    "patient_id",
    "name",
    "age",
    "sex",
    "zipcode",
    "country",
    "marital_status",
    "admission_date",
    "ward",
    "condition",
)

FIRST_NAMES = (
    "Maple",
    "Pebble",
    "Juniper",
    "Flint",
    "Willow",
    "Basalt",
    "Clover",
    "Opal",
    "Bracken",
    "Marble",
    "Sorrel",
    "Onyx",
)
LAST_NAMES = (
    "Inventedson",
    "Fakeworth",
    "Examplebury",
    "Nobodyman",
    "Placeholder",
    "Samplewood",
    "Madeupton",
    "Testfield",
)

AGES = {(20, 29): 16, (30, 44): 25, (45, 59): 26, (60, 79): 26, (80, 91): 7}
"""Weight of each age bracket, both ends included."""
AREAS = {"0213": 4, "0214": 3, "1424": 5}
"""Weight of the first four digits of a zip code."""
COUNTRIES: Mapping[str, Mapping[str, int]] = {
    "02": {"USA": 62, "Canada": 10, "Brazil": 6, "Italy": 10, "Germany": 7, "France": 5},
    "14": {"USA": 58, "Canada": 20, "Mexico": 4, "India": 7, "China": 6, "Japan": 5},
}
"""Weight of each country of birth, by the first two digits of the zip code."""
CONDITIONS: Mapping[str, tuple[int, int, int]] = {
    "HIV": (5, 4, 1),
    "Cancer": (2, 7, 13),
    "Phthisis": (3, 3, 3),
    "Hepatitis": (4, 5, 3),
    "Heart Disease": (1, 9, 22),
    "Asthma": (13, 7, 4),
    "Diabetes": (4, 10, 14),
    "Obesity": (7, 9, 4),
    "Flu": (20, 15, 17),
    "Indigestion": (12, 12, 7),
    "Migraine": (14, 10, 3),
    "Fracture": (15, 9, 9),
}
"""Weight of each condition for patients under 40, from 40 to 64, and from 65 on."""
PHTHISIS_AREA = "1424"
"""An invented outbreak: in this area phthisis is four times as frequent."""
WARDS = ("North", "East", "South", "West")
"""Wings of the building; a patient gets the next free bed, so the wing says nothing about the patient."""
FIRST_DAY = datetime.date(2024, 1, 1)
DAYS = 366

Item = TypeVar("Item")


def weighted(rng: random.Random, weights: Mapping[Item, int]) -> Item:
    """Draw one key with probability proportional to its weight, by whole numbers only."""
    place = rng.randrange(sum(weights.values()))
    for item, weight in weights.items():
        place -= weight
        if place < 0:
            return item
    raise AssertionError("the place lies below the sum of the weights")


def marital_status(rng: random.Random, age: int) -> str:
    """A status that suits the age; now and then nobody asked."""
    if rng.randrange(100) < 1:
        return ""
    if age < 30:
        return weighted(rng, {"Never married": 74, "Married": 20, "Separated": 3, "Divorced": 3})
    if age < 65:
        return weighted(rng, {"Never married": 24, "Married": 55, "Separated": 6, "Divorced": 13, "Widowed": 2})
    return weighted(rng, {"Never married": 9, "Married": 52, "Separated": 2, "Divorced": 12, "Widowed": 25})


def condition(rng: random.Random, age: int, area: str) -> str:
    """A condition that suits the age and the area."""
    column = 0 if age < 40 else 1 if age < 65 else 2
    weights = {name: by_age[column] for name, by_age in CONDITIONS.items()}
    if area == PHTHISIS_AREA:
        weights["Phthisis"] *= 4
    return weighted(rng, weights)


def record(rng: random.Random, number: int) -> list[str]:
    """One discharge record."""
    low, high = weighted(rng, AGES)
    age = rng.randrange(low, high + 1)
    area = weighted(rng, AREAS)
    country = "?" if rng.randrange(100) < 1 else weighted(rng, COUNTRIES[area[:2]])
    return [
        f"P{number:06d}",
        f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}",
        str(age),
        rng.choice(("F", "M")),
        f"{area}{rng.randrange(10)}",
        country,
        marital_status(rng, age),
        (FIRST_DAY + datetime.timedelta(days=rng.randrange(DAYS))).isoformat(),
        rng.choice(WARDS),
        condition(rng, age, area),
    ]


def hospital_csv() -> str:
    """The whole table as CSV text, always the same."""
    rng = random.Random(SEED)  # noqa: S311 - an example needs repeatable numbers, not secret ones
    numbers = rng.sample(range(1, 10**6), RECORDS)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(record(rng, number) for number in numbers)
    return out.getvalue()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_bytes(hospital_csv().encode("utf-8"))
