"""Create ``data.csv``: invented records of an invented school, one record per pupil.

Run ``python examples/school/make_data.py``, or give another path to write to. Everything is drawn by ``random()`` of
the standard library from the seed below, so that the file is the same, byte for byte, on every machine. No record
describes a person.

Awkward on purpose: dates as the office writes them (14.03.2011), dates of enrolment that are missing for pupils from
abroad, a marker ``k. A.`` that means "no answer", languages that a single family speaks, days of absence with a long
tail, a kind of support that is missing if nobody asked, and a remark in free text.
"""

from __future__ import annotations

import csv
import datetime
import io
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

SEED = 20230904
RECORDS = 640
TARGET = Path(__file__).parent / "data.csv"
HEADER = (
    "pupil_no",
    "name",
    "birth",
    "enrolled",
    "gender",
    "district",
    "language",
    "absent_days",
    "maths",
    "support",
    "remark",
)

FIRST_NAMES = ("Aster", "Briar", "Clover", "Dune", "Fern", "Garnet", "Hazel", "Juniper", "Moss", "Onyx", "Reed", "Sage")
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

YEARS = {2006: 82, 2007: 96, 2008: 104, 2009: 110, 2010: 116, 2011: 112, 2012: 20}
"""Pupils by year of birth; the last are those who came early."""
DISTRICTS = {"Old Town": 30, "Station": 26, "Riverside": 20, "Vineyard": 12, "Northfield": 9, "Castle Hill": 3}
LANGUAGES = {
    "German": 66,
    "Turkish": 9,
    "Arabic": 6,
    "Russian": 5,
    "Polish": 4,
    "Ukrainian": 4,
    "English": 3,
    "Italian": 2,
    "Tigrinya": 1,
}
SUPPORT = {"none": 68, "reading": 10, "language": 9, "counselling": 7, "illness": 4, "protection": 2}
REMARKS = (
    "Father asks for calls after six only.",
    "Won the regional chess cup, see newspaper.",
    "Moved in with the grandparents in spring.",
    'Wants to be called "Robin".',
)
RELATIVES = ("mother", "father", "aunt", "grandfather", "guardian")

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


def written(day: datetime.date) -> str:
    """A date as the office writes it."""
    return f"{day.day:02d}.{day.month:02d}.{day.year}"


def enrolment(rng: random.Random, year: int, language: str) -> datetime.date | None:
    """Most start in the September after their tenth birthday; some move here later, some lack the day."""
    if rng.random() < (0.03 if language == "German" else 0.22):
        return None
    start = datetime.date(year + 11, 9, 1)
    moved = rng.random() < (0.06 if language == "German" else 0.25)
    later = start + datetime.timedelta(days=one_of(rng, 20, 700) if moved else 0)
    return min(later, datetime.date(2023, 9, 4))


def support_need(rng: random.Random, language: str, district: str) -> str:
    """A need that suits the language and, for some, the district; empty where nobody asked."""
    if rng.random() < 0.04:
        return ""
    weights = dict(SUPPORT)
    weights["language"] = 0 if language == "German" else 30
    weights["counselling"] *= 2 if district == "Station" else 1
    return pick(rng, weights)


def mark(rng: random.Random, support: str) -> str:
    """A mark in mathematics from 1 (best) to 6, or none."""
    if rng.random() < 0.03:
        return "k. A."
    better = support in {"", "none"}
    return pick(rng, {"1": 14, "2": 28, "3": 30, "4": 18, "5": 8, "6": 2} if better else
                {"1": 5, "2": 16, "3": 30, "4": 28, "5": 16, "6": 5})  # fmt: skip


def absences(rng: random.Random, support: str) -> int:
    """Days of absence: few for most, many for some."""
    days, more = 0, 0.95 if support in {"illness", "protection"} else 0.82
    while rng.random() < more and days < 120:
        days += 1
    return days


def remark(rng: random.Random) -> str:
    """What teachers wrote, most often nothing."""
    if rng.random() < 0.8:
        return ""
    day = datetime.date(2023, 1, 9) + datetime.timedelta(days=one_of(rng, 0, 180))
    return f"{day.day}.{day.month}.: spoke with {choose(rng, RELATIVES)}. {choose(rng, REMARKS)}"


def record(rng: random.Random, number: int) -> list[str]:
    """One pupil."""
    year = pick(rng, YEARS)
    born = datetime.date(year, 1, 1) + datetime.timedelta(days=one_of(rng, 0, 364))
    district, language = pick(rng, DISTRICTS), pick(rng, LANGUAGES)
    came = enrolment(rng, year, language)
    support = support_need(rng, language, district)
    return [
        f"S{number}",
        f"{choose(rng, FIRST_NAMES)} {choose(rng, LAST_NAMES)}",
        written(born),
        "" if came is None else written(came),
        pick(rng, {"f": 49, "m": 49, "x": 2}),
        district,
        language,
        str(absences(rng, support)),
        mark(rng, support),
        support,
        remark(rng),
    ]


def data_csv() -> str:
    """The whole table as CSV text, always the same."""
    rng = random.Random(SEED)  # noqa: S311 - an example needs repeatable numbers, not secret ones
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(record(rng, 20_230_000 + 7 * place) for place in range(RECORDS))
    return out.getvalue()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_bytes(data_csv().encode("utf-8"))
