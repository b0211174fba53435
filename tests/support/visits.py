"""Visits of patients, all invented: 129 visits of 100 patients, one of whom has fifteen, with exact dates of birth."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

PATIENTS, VISITS = 100, 129
_FREQUENT, _TWICE = 15, 15  # visits of the first patient; patients with two
_ILLNESSES = ["Flu", "Asthma", "Fracture", "HIV", "Cancer", "Heart disease"]
HEADER = ["subject_id", "born", "sex", "admitted_by", "diagnosis"]


def visits(seed: int = 11) -> list[list[str]]:
    """The visits, a row each."""
    draw = random.Random(seed)
    rows = []
    for patient in range(PATIENTS):
        born = date(1930, 1, 1) + timedelta(days=draw.randrange(25_000))
        sex, times = draw.choice("FM"), _FREQUENT if patient == 0 else 2 if patient <= _TWICE else 1
        for _ in range(times):
            rows.append(
                [f"{10_000 + patient}", born.isoformat(), sex, draw.choice(["ward", "clinic"]), draw.choice(_ILLNESSES)]
            )
    draw.shuffle(rows)
    return rows


def write_visits(path: Path, seed: int = 11) -> Path:
    """The visits as a CSV file."""
    lines = [HEADER, *visits(seed)]
    path.write_text("".join(f"{','.join(line)}\n" for line in lines), encoding="utf-8")
    return path


def policy_of_visits(person: str | None = None, algorithm: str = "mondrian") -> dict[str, Any]:
    """The policy of somebody who has heard of k = 5; with a person it counts people."""
    policy: dict[str, Any] = {
        "columns": {
            "subject_id": {"role": "identifier"},
            "born": {"role": "quasi", "hierarchy": {"dates": ["month", "year", "decade"]}},
            "sex": {"role": "quasi", "hierarchy": "flat"},
            "diagnosis": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "p-sensitive", "p": 2, "sensitive": "diagnosis"}],
        "algorithm": algorithm,
    }
    return policy if person is None else policy | {"person": person}
