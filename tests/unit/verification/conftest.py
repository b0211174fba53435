"""Table 1 of Sun et al. with its hierarchies, and a release of it made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from verification_tables import CATEGORIES, TABLE_1, Row, as_it_stands, by_cells, rows_of

from shoal.policy import Policy


@pytest.fixture
def columns() -> dict[str, Any]:
    return {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"intervals": {"cuts": [[0, 30, 40, 120], [0, 40, 120]]}}},
        "country": {
            "role": "quasi",
            "hierarchy": {"tree": {"America": ["USA", "Canada"], "Asia": ["China", "Japan", "India"]}},
        },
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "condition": {"role": "sensitive", "categories": CATEGORIES},
    }


@pytest.fixture
def make_policy(columns: dict[str, Any]) -> Callable[..., Policy]:
    def make(*models: dict[str, Any], changes: dict[str, dict[str, Any]] | None = None, **keys: Any) -> Policy:
        changed = {name: column | (changes or {}).get(name, {}) for name, column in columns.items()}
        privacy = list(models) or [{"model": "k-anonymity", "k": 4}, {"model": "p-sensitive", "p": 2}]
        return Policy(columns=changed, privacy=privacy, **keys)

    return make


@pytest.fixture
def original() -> pa.Table:
    rows = rows_of(TABLE_1)
    return as_it_stands([{"name": f"person {place}", **row} for place, row in enumerate(rows)])


@pytest.fixture
def release() -> list[Row]:
    """Table 1 by full-domain recoding: decades, continents, zip codes of three digits."""
    decade = {2: "[0, 30)", 3: "[30, 40)", 4: "[40, 120)"}
    continent = {"USA": "America", "Canada": "America"}
    return rows_of(
        [
            (decade[age // 10], continent.get(country, "Asia"), f"{code[:3]}**", condition)
            for age, country, code, condition in TABLE_1
        ]
    )


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(rows: list[Row], name: str = "release.csv") -> Path:
        cells = [",".join(rows[0])]
        cells += [",".join("" if value is None else _cell(value) for value in row.values()) for row in by_cells(rows)]
        path = tmp_path / name
        path.write_text("\n".join(cells) + "\n", encoding="utf-8")
        return path

    return write


def _cell(value: Any) -> str:
    text = str(value)
    return f'"{text}"' if "," in text or text == "" else text
