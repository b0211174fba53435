"""Create ``data.csv``: invented admissions of an invented district hospital, one record per patient.

Run ``python examples/hospital/make_data.py``, or give another path to write to. Everything is drawn by ``random()`` of
the standard library from the seed below, so that the file is the same, byte for byte, on every machine. No record
describes a person.

Awkward on purpose: zip codes with a leading zero and a tail of visitors from far away, lengths of stay with a long
tail, ages that nobody wrote down, diagnoses that only one sex has, wards that follow from the diagnosis, and a note in
free text.
"""

from __future__ import annotations

import csv
import io
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

SEED = 20240229
RECORDS = 800
TARGET = Path(__file__).parent / "data.csv"
HEADER = ("patient_no", "name", "sex", "age", "zip", "insurance", "nights", "ward", "icd", "note")

FIRST_NAMES = (
    "Alder",
    "Birch",
    "Cedar",
    "Flint",
    "Heather",
    "Ivy",
    "Jasper",
    "Linden",
    "Marl",
    "Rowan",
    "Slate",
    "Yarrow",
)
LAST_NAMES = (
    "Examplebury",
    "Fakeworth",
    "Inventedson",
    "Madeupton",
    "Nobodyman",
    "Placeholder",
    "Samplewood",
    "Testfield",
)

AGES = {(0, 5): 7, (6, 17): 7, (18, 34): 19, (35, 49): 17, (50, 64): 19, (65, 79): 21, (80, 89): 8, (90, 98): 2}
"""Weight of each age bracket, both ends included."""
PLACES = {"0421": 46, "0430": 26, "0442": 14, "0447": 8, "": 6}
"""Weight of the first four digits of a zip code: the town, its suburbs, two valleys, and visitors from anywhere."""
FAR_AWAY = ("10115", "20095", "50667", "60311", "80331", "99084")
INSURANCE = {"statutory": 84, "private": 12, "none": 4}

DIAGNOSES: Mapping[str, tuple[int, int, int, int]] = {
    "B20": (0, 4, 3, 1),
    "A53": (0, 3, 1, 0),
    "F10": (0, 7, 9, 3),
    "F20": (0, 6, 3, 1),
    "F32": (1, 10, 9, 6),
    "C34": (0, 0, 6, 9),
    "C50": (0, 2, 10, 9),
    "C61": (0, 0, 7, 13),
    "I21": (0, 1, 9, 14),
    "I63": (0, 1, 5, 13),
    "E11": (1, 3, 11, 15),
    "I10": (0, 4, 13, 18),
    "J45": (16, 7, 4, 3),
    "M54": (1, 12, 14, 8),
    "J06": (30, 12, 7, 6),
    "A09": (20, 10, 6, 7),
    "K35": (14, 13, 6, 3),
    "S52": (17, 14, 9, 12),
    "O80": (0, 30, 1, 0),
}
"""Weight of each diagnosis (ICD-10) under 18, from 18 to 44, from 45 to 64, and from 65 on."""
ONLY = {"C50": "F", "C61": "M", "O80": "F"}
"""Diagnoses that, here, only one sex has."""
WARDS: Mapping[str, Mapping[str, int]] = {
    "B": {"Internal": 1},
    "F": {"Psychiatry": 9, "Internal": 1},
    "C": {"Oncology": 8, "Surgery": 2},
    "I": {"Internal": 1},
    "O": {"Maternity": 1},
    "K": {"Surgery": 1},
    "S": {"Surgery": 1},
    "M": {"Surgery": 3, "Internal": 7},
}
"""Weight of each ward by the first letter of the diagnosis; all others lie in Internal, and children in Paediatrics."""
LONG_STAYS = {"F": 0.93, "C": 0.88, "I": 0.86, "B": 0.90}
"""How likely one more night follows another, by the first letter of the diagnosis; else 0.70."""
NOTES: Mapping[str, tuple[str, ...]] = {
    "B": ('Asks that nobody at the "Blue Ox" be told, works there.', "Partner informed."),
    "F": ("Brought in by the police, neighbours had called.", "Wants no visits."),
    "C": ("Second cycle.", "Wants to be home for the harvest."),
    "S": ("Fell off a ladder, cleaning gutters.", "Ski accident; captain of the local team."),
    "O": ("Twins.", "First child; father is the baker on the market square."),
}
"""What staff wrote, by the first letter of the diagnosis: this is why free text is never released."""
RELATIVES = ("Sister", "Brother", "Mother", "Son", "Daughter", "Husband", "Wife", "Neighbour")
STREETS = ("Mill Lane", "Weir Road", "Church Street", "Station Road", "Kiln Yard")

Item = TypeVar("Item")


def pick(rng: random.Random, weights: Mapping[Item, int]) -> Item:
    """Draw one key with probability proportional to its weight."""
    return rng.choices(list(weights), list(weights.values()))[0]


def one_of(rng: random.Random, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return low + int(rng.random() * (high - low + 1))


def choose(rng: random.Random, items: Sequence[Item]) -> Item:
    """One of some items, each as likely as the others."""
    return items[one_of(rng, 0, len(items) - 1)]


def diagnosis(rng: random.Random, age: int, sex: str) -> str:
    """A diagnosis that suits age and sex."""
    column = 0 if age < 18 else 1 if age < 45 else 2 if age < 65 else 3
    weights = {code: by_age[column] for code, by_age in DIAGNOSES.items() if ONLY.get(code, sex) == sex}
    return pick(rng, weights)


def nights(rng: random.Random, code: str) -> int:
    """A length of stay: short for most, with a long tail where the diagnosis is grave."""
    stay, more = 0, LONG_STAYS.get(code[0], 0.70)
    while rng.random() < more and stay < 180:
        stay += 1
    return stay


def zip_code(rng: random.Random) -> str:
    """A code from around, or of a visitor."""
    area = pick(rng, PLACES)
    return f"{area}{one_of(rng, 0, 6)}" if area else choose(rng, FAR_AWAY)


def note(rng: random.Random, code: str) -> str:
    """A remark of the staff, often none, and most often another one."""
    if rng.random() < 0.35:
        return ""
    call = f"{choose(rng, RELATIVES)}, {choose(rng, STREETS)} {one_of(rng, 1, 60)}, is to be called."
    return f"{choose(rng, NOTES.get(code[0], ('Discharged home.',)))} {call}"


def record(rng: random.Random, number: int) -> list[str]:
    """One patient."""
    low, high = pick(rng, AGES)
    age, sex = one_of(rng, low, high), pick(rng, {"F": 51, "M": 49})
    code = diagnosis(rng, age, sex)
    ward = "Paediatrics" if age < 18 else pick(rng, WARDS.get(code[0], {"Internal": 1}))
    return [
        f"H{number:05d}",
        f"{choose(rng, FIRST_NAMES)} {choose(rng, LAST_NAMES)}",
        sex,
        "unknown" if rng.random() < 0.015 else str(age),
        zip_code(rng),
        pick(rng, INSURANCE),
        str(nights(rng, code)),
        ward,
        code,
        note(rng, code),
    ]


def data_csv() -> str:
    """The whole table as CSV text, always the same."""
    rng = random.Random(SEED)  # noqa: S311 - an example needs repeatable numbers, not secret ones
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(record(rng, 10_000 + 37 * place) for place in range(RECORDS))
    return out.getvalue()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_bytes(data_csv().encode("utf-8"))
