"""Create ``data.csv``: an invented household survey similar to a census, one record per person.

Run ``python examples/survey/make_data.py``, or give another path to write to. Everything is drawn by ``random()`` of
the standard library from the seed below, so that the file is the same, byte for byte, on every machine. No record
describes a person.

Awkward on purpose: municipalities of very different sizes, large households that are rare, religions with a handful of
members, incomes that people refused to state, a sampling weight that almost identifies the person, the interviewer,
and a remark in free text.
"""

from __future__ import annotations

import csv
import io
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

SEED = 20211109
RECORDS = 1500
TARGET = Path(__file__).parent / "data.csv"
HEADER = (
    "respondent",
    "interviewer",
    "municipality",
    "age",
    "sex",
    "household",
    "education",
    "occupation",
    "income",
    "religion",
    "weight",
    "remark",
)

MUNICIPALITIES = {
    "Harbourtown": 330,
    "Lowquay": 120,
    "Saltmarsh": 60,
    "Gull Point": 12,
    "Midcross": 260,
    "Oldmill": 140,
    "Ferrydown": 90,
    "Three Elms": 35,
    "Highfold": 170,
    "Stonebeck": 80,
    "Upper Tarn": 28,
    "Shepherd's Rest": 9,
}
"""Weight of each place; the first four lie on the coast, the next in the plain, the last in the hills."""
CITIES = ("Harbourtown", "Midcross", "Highfold")
EDUCATION = ("none", "primary", "lower secondary", "upper secondary", "bachelor", "master", "doctorate")
EDUCATED: Mapping[str, tuple[int, ...]] = {
    "young": (1, 4, 22, 48, 20, 5, 0),
    "middle": (2, 6, 18, 38, 20, 14, 2),
    "old": (5, 24, 30, 27, 7, 6, 1),
}
"""Weight of each education by generation."""
OCCUPATIONS: Mapping[str, tuple[int, int, int]] = {
    "farm or fishery": (10, 4, 1),
    "cleaning or care": (22, 12, 2),
    "factory": (20, 13, 2),
    "building": (14, 11, 1),
    "shop or restaurant": (18, 18, 5),
    "office": (4, 20, 17),
    "technical": (1, 12, 22),
    "teaching or health": (0, 5, 28),
    "management": (0, 3, 17),
    "police or army": (1, 3, 2),
}
"""Weight of each occupation with at most primary or lower secondary education, upper secondary, and a degree."""
WELL_PAID = {"office": 1, "technical": 2, "teaching or health": 2, "management": 3, "police or army": 1}
"""Bands of income that an occupation adds."""
INCOMES = ("under 1000", "1000-1499", "1500-1999", "2000-2999", "3000-4999", "5000 and over")
RELIGIONS: Mapping[str, Mapping[str, int]] = {
    "city": {"none": 52, "Protestant": 20, "Catholic": 11, "Muslim": 10, "Orthodox": 3, "Jewish": 2, "Hindu": 2},
    "country": {"none": 30, "Protestant": 52, "Catholic": 12, "Muslim": 3, "Orthodox": 2, "Old Brethren": 1},
}
REMARKS = (
    "Dog barked throughout, please send somebody else next time.",
    "Mayor's brother, would not talk about income at first.",
    "Interview in the doorway; runs the only pharmacy here.",
    'Said "ask my wife", wife answered.',
)
ROADS = ("Chapel Road", "Quay Street", "Long Lane", "Green End")

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


def age_of(rng: random.Random, place: str) -> int:
    """Ages from 16 on; small places are older."""
    low, high = pick(
        rng, {(16, 29): 22, (30, 44): 25, (45, 64): 32, (65, 79): 16 if place in CITIES else 28, (80, 97): 6}
    )
    return one_of(rng, low, high)


def household(rng: random.Random, age: int) -> int:
    """Persons in the household: few are large."""
    size = 1 if rng.random() < (0.45 if age > 64 else 0.25) else 2
    while size > 1 and size < 11 and rng.random() < (0.2 if age > 54 else 0.5):
        size += 1
    return size


def occupation(rng: random.Random, age: int, education: str) -> str:
    """Present or last occupation; now and then none that fits the list."""
    if age < 19 or rng.random() < 0.04:
        return ""
    level = 0 if EDUCATION.index(education) < 3 else 1 if education == "upper secondary" else 2
    return pick(rng, {name: by_level[level] for name, by_level in OCCUPATIONS.items()})


def income(rng: random.Random, age: int, education: str, work: str) -> str:
    """A band that suits education, occupation and age; some refuse."""
    if rng.random() < 0.06:
        return "refused"
    band = EDUCATION.index(education) // 3 + WELL_PAID.get(work, 0) + one_of(rng, -1, 1)
    band += (35 <= age < 65) - (age < 25)
    return INCOMES[min(max(band, 0), len(INCOMES) - 1)]


def remark(rng: random.Random) -> str:
    """What the interviewer wrote, most often nothing."""
    if rng.random() < 0.85:
        return ""
    return f"{choose(rng, ROADS)} {one_of(rng, 1, 90)}. {choose(rng, REMARKS)}"


def record(rng: random.Random, number: int) -> list[str]:
    """One person."""
    place = pick(rng, MUNICIPALITIES)
    age = age_of(rng, place)
    generation = "young" if age < 30 else "middle" if age < 60 else "old"
    education = pick(rng, dict(zip(EDUCATION, EDUCATED[generation], strict=True)))
    work = occupation(rng, age, education)
    earned = income(rng, age, education, work)
    religion = pick(rng, RELIGIONS["city" if place in CITIES else "country"])
    weight = 180_000 / MUNICIPALITIES[place] * (0.7 + 0.6 * rng.random())
    return [
        f"R{number:06d}",
        f"I{one_of(rng, 1, 14):02d}",
        place,
        str(age),
        pick(rng, {"F": 51, "M": 49}),
        str(household(rng, age)),
        "" if rng.random() < 0.02 else education,
        work,
        earned,
        religion if rng.random() > 0.03 else "",
        f"{weight:.2f}",
        remark(rng),
    ]


def data_csv() -> str:
    """The whole table as CSV text, always the same."""
    rng = random.Random(SEED)  # noqa: S311 - an example needs repeatable numbers, not secret ones
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(record(rng, 300_000 + 11 * place) for place in range(RECORDS))
    return out.getvalue()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_bytes(data_csv().encode("utf-8"))
