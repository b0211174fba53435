"""Tables for ``same_bytes.py``, drawn from seeds and written in every format that the command line reads."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Rows = list[list[str]]

COUNTRIES = {
    "America": ["USA", "Canada", "Brazil"],
    "Europe": ["Germany", "France"],
    "Asia": ["China", "Japan", "India"],
}
CONDITIONS = {
    "Top Secret": ["HIV", "Cancer"],
    "Secret": ["Phthisis", "Hepatitis"],
    "Less Secret": ["Asthma", "Diabetes"],
    "Non Secret": ["Flu", "Migraine", "Fracture"],
}
STAGES = ["none", "mild", "moderate", "severe", "critical", "terminal"]
MEDICATIONS = ["aspirin", "insulin", "ibuprofen", "statin", "zidovudine"]
ZIPCODES = ["14248", "14206", "14249", "14203", "13053", "13074", "13051", "13077"]
PEOPLE = ["id", "age", "sex", "zipcode", "country", "condition"]
VISITS = [*PEOPLE, "admitted", "stage", "plate", "medication", "income", "ward", "code"]


def seeded(seed: int) -> random.Random:
    """Random numbers that are the same on every machine."""
    return random.Random(seed)  # noqa: S311  # nothing here is a secret


def _number(drawn: random.Random, centre: int, spread: int) -> int:
    return centre + drawn.randint(-spread, spread) + drawn.randint(-spread, spread)


def people(records: int = 400, seed: int = 1, *, missing: float = 0.0, first: int = 0) -> Rows:
    """Records with the columns of `PEOPLE`; a share of the cells of age, country and condition is missing."""
    drawn = seeded(seed)
    conditions = [value for values in CONDITIONS.values() for value in values]
    weights = [2, 3, 2, 3, 6, 6, 10, 6, 4]
    rows = [PEOPLE]
    for place in range(records):
        lost = [drawn.random() < missing for _ in range(3)]
        rows.append(
            [
                f"p{first + place}",
                "" if lost[0] else str(_number(drawn, 50, 15)),
                drawn.choice("FM"),
                drawn.choice(ZIPCODES),
                "" if lost[1] else drawn.choice(COUNTRIES[drawn.choices(list(COUNTRIES), [5, 3, 2])[0]]),
                "" if lost[2] else drawn.choices(conditions, weights)[0],
            ]
        )
    return rows


def visits(records: int = 300, seed: int = 2) -> Rows:
    """Records with the columns of `VISITS`: something for every kind of hierarchy."""
    drawn = seeded(seed)
    rows = [VISITS]
    for person in people(records, seed)[1:]:
        day = datetime.date(2023, 1, 1) + datetime.timedelta(days=drawn.randrange(700))
        ward = drawn.choice(["North", "South", "East, new", 'the "old" wing', ""])
        rows.append(
            [
                *person,
                day.isoformat(),
                drawn.choice(STAGES),
                f"{drawn.choice('AB')}{drawn.choice('CD')}-{drawn.randrange(100, 120)}",
                drawn.choice(MEDICATIONS),
                str(drawn.randrange(20, 80) * 500),
                ward,
                drawn.choice(["a1", "a2", "b1", "b2", "c1"]),
            ]
        )
    return rows


def workers(records: int = 500, seed: int = 3) -> Rows:
    """Records whose target can be predicted from the other columns, for tasks of utility."""
    drawn = seeded(seed)
    rows = [["age", "job", "hours", "income"]]
    for _ in range(records):
        age, job, hours = drawn.randint(20, 59), drawn.choice("abcd"), drawn.randrange(10, 60)
        wealthy = (job in "cd") + (age >= 40) + (hours >= 35) + (drawn.random() < 0.3) >= 3
        rows.append([str(age), job, str(hours), "high" if wealthy else "low"])
    return rows


def wide(records: int = 250, columns: int = 14, seed: int = 4) -> Rows:
    """Records with many quasi-identifiers of few values."""
    drawn = seeded(seed)
    rows = [[*(f"q{place}" for place in range(columns)), "condition"]]
    for _ in range(records):
        cells = [drawn.choices("abcd", [8, 3, 2, 1])[0] for _ in range(columns)]
        rows.append([*cells, drawn.choice(["HIV", "Flu", "Cold", "Asthma"])])
    return rows


def accounts(records: int = 270_000, seed: int = 5) -> Rows:
    """Records with an amount and a note that are nearly all different, for runs with little memory."""
    drawn = seeded(seed)
    rows = [["age", "sex", "zipcode", "condition", "amount", "note"]]
    for place in range(records):
        rows.append(
            [
                str(_number(drawn, 50, 15)),
                drawn.choice("FM"),
                drawn.choice(ZIPCODES),
                drawn.choice(["HIV", "Flu", "Cold", "Asthma"]),
                f"{drawn.randrange(10**7) / 100:.2f}",
                f"note {place * 7919 % records}",
            ]
        )
    return rows


def panel() -> Rows:
    """The eight people of the guide on monthly releases, in whom two releases meet."""
    younger = "21,14248,HIV 23,13051,Flu 26,14203,Flu 28,13077,Cancer"
    older = "41,14206,Cancer 44,13053,Asthma 47,14249,Asthma 48,13074,HIV"
    return [["age", "zipcode", "condition"], *(record.split(",") for record in f"{younger} {older}".split())]


def neighbours() -> Rows:
    """Pairs of ages in groups of zip codes, for the range method."""
    drawn = seeded(6)
    rows = [["zipcode", "age", "disease"]]
    for group in ("476", "479", "130"):
        for place in range(20):
            disease = drawn.choice(["heart disease", "flu", "gastritis", "cancer"])
            rows.append([f"{group}{drawn.randrange(10, 14)}", str(20 + 3 * (place // 2)), disease])
    return rows


def text_of(rows: Rows, separator: str = ",") -> str:
    """Rows as CSV text."""
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue()


def write_text(path: Path, rows: Rows, *, separator: str = ",", encoding: str = "utf-8") -> None:
    """Write rows as a text file."""
    path.write_bytes(text_of(rows, separator).encode(encoding))


def _columns(rows: Rows, numbers: Sequence[str]) -> dict[str, list[Any]]:
    """Cells by column: numbers as whole numbers, empty cells as None."""
    header, *records = rows
    return {
        name: [
            None if not record[place] else int(record[place]) if name in numbers else record[place]
            for record in records
        ]
        for place, name in enumerate(header)
    }


def write_parquet(path: Path, rows: Rows, *, numbers: Sequence[str] = ("age", "income")) -> None:
    """Write rows as Parquet with typed columns: numbers, dates, and a dictionary for the country."""
    import pyarrow as pa  # noqa: PLC0415  # the other tables need no library
    import pyarrow.parquet as pq  # noqa: PLC0415

    columns = {name: pa.array(cells) for name, cells in _columns(rows, numbers).items()}
    if "admitted" in columns:
        columns["admitted"] = columns["admitted"].cast(pa.date32())
    if "country" in columns:
        columns["country"] = columns["country"].dictionary_encode()
    pq.write_table(pa.table(columns), path)


def write_xlsx(path: Path, rows: Rows) -> None:
    """Write rows as the second sheet of a workbook, ages as numbers."""
    import openpyxl  # type: ignore[import-untyped]  # noqa: PLC0415

    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["nothing", "here"])
    sheet = book.create_sheet("people")
    columns = _columns(rows, ["age"])
    sheet.append(list(columns))
    for record in zip(*columns.values(), strict=True):
        sheet.append(list(record))
    book.save(path)


def write_statistics(path: Path, rows: Rows) -> None:
    """Write rows as a file of SPSS or Stata, where sex is a number with labels."""
    import pandas as pd  # noqa: PLC0415
    import pyreadstat  # noqa: PLC0415

    columns = _columns(rows, ["age"])
    columns["sex"] = [1.0 if value == "F" else 2.0 for value in columns["sex"]]
    columns["age"] = [None if value is None else float(value) for value in columns["age"]]
    texts = columns.keys() - {"sex", "age"}
    columns |= {name: [cell or "" for cell in columns[name]] for name in texts}
    frame = pd.DataFrame(columns)
    if path.suffix == ".sav":
        pyreadstat.write_sav(frame, path, variable_value_labels={"sex": {1.0: "F", 2.0: "M"}})
    else:
        frame["sex"] = frame["sex"].astype(int)  # Stata labels whole numbers only
        pyreadstat.write_dta(frame, path, variable_value_labels={"sex": {1: "F", 2: "M"}})


def write_levels(path: Path, separator: str = ";") -> None:
    """Write the hierarchy of the codes as a table of levels: a line for each value with its ancestors."""
    lines = [separator.join([f"{letter}{digit}", letter.upper(), "*"]) for letter in "abc" for digit in "12"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_many(folder: Path, rows: Rows, *, suffix: str) -> None:
    """Write rows as three files in a folder."""
    folder.mkdir()
    header, *records = rows
    third = len(records) // 3 + 1
    for place in range(3):
        part = [header, *records[place * third : (place + 1) * third]]
        path = folder / f"part{place}{suffix}"
        if suffix == ".parquet":
            write_parquet(path, part)
        else:
            write_text(path, part)


def _latin(path: Path) -> None:
    rows = [[cell.replace("Brazil", "Brésil") for cell in row] for row in people()]
    write_text(path, rows, separator=";", encoding="latin-1")


def _gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(text_of(people()).encode(), mtime=0))


def _countries(path: Path) -> None:
    path.write_text("".join(f"{top}: [{', '.join(values)}]\n" for top, values in COUNTRIES.items()), encoding="utf-8")


INPUTS: dict[str, Callable[[Path], None]] = {
    "people.csv": lambda path: write_text(path, people()),
    "few.csv": lambda path: write_text(path, people(120, 8)),
    "many.csv": lambda path: write_text(path, people(3000, 9)),
    "later.csv": lambda path: write_text(path, people(260, 10, first=400)),
    "later2.csv": lambda path: write_text(path, people(200, 11, first=700)),
    "missing.csv": lambda path: write_text(path, people(400, 12, missing=0.08)),
    "visits.csv": lambda path: write_text(path, visits()),
    "workers.csv": lambda path: write_text(path, workers()),
    "wide.csv": lambda path: write_text(path, wide()),
    "accounts.csv": lambda path: write_text(path, accounts()),
    "panel.csv": lambda path: write_text(path, panel()),
    "neighbours.csv": lambda path: write_text(path, neighbours()),
    "people.tsv": lambda path: write_text(path, people(), separator="\t"),
    "latin.csv": _latin,
    "utf16.csv": lambda path: write_text(path, people(), encoding="utf-16"),
    "people.csv.gz": _gzip,
    "visits.parquet": lambda path: write_parquet(path, visits()),
    "missing.parquet": lambda path: write_parquet(path, people(400, 12, missing=0.08)),
    "people.xlsx": lambda path: write_xlsx(path, people()),
    "people.sav": lambda path: write_statistics(path, people(400, 12, missing=0.08)),
    "people.dta": lambda path: write_statistics(path, people()),
    "parts": lambda path: write_many(path, people(), suffix=".csv"),
    "parquets": lambda path: write_many(path, visits(), suffix=".parquet"),
    "codes.csv": write_levels,
    "countries.yaml": _countries,
    "empty.csv": lambda path: write_text(path, [PEOPLE]),
}
"""What the cases name: file (or folder) and how it is made."""
