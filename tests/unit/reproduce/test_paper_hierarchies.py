"""Our hierarchies for Adult have the heights that the papers print, and every value of the table."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.datasets import load_adult
from shoal.policy import Policy
from shoal.reproduce.tables import CAMPAN_BOUNDARIES, quasi_columns
from shoal.reproduce.tables import CAMPAN_HIERARCHIES as CAMPAN
from shoal.reproduce.tables import SUN_HIERARCHIES as SUN
from shoal.reproduce.tables import WANG_HIERARCHIES as WANG
from support.adult_cases import made_up, real_folder, write_csv
from support.resolved import resolve


def heights(trees: dict[str, Any], table: Any) -> dict[str, int]:
    policy = Policy(columns=quasi_columns(trees), privacy=[{"model": "k-anonymity", "k": 1}])
    resolved = resolve(policy, table)
    return {name: column.hierarchy.height for name, column in resolved.quasi.items()}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load_adult(write_csv(tmp_path_factory.mktemp("adult"), made_up(200)), complete=True)


def test_suns_hierarchies_have_the_heights_of_table_9(table: Any) -> None:
    assert heights(SUN, table) == {
        "age": 5, "workclass": 3, "education": 4, "native-country": 3, "marital-status": 3, "race": 3, "sex": 2,
    }  # fmt: skip


def test_campans_hierarchies_have_the_heights_of_section_4(table: Any) -> None:
    found = heights(CAMPAN, table)
    assert {name: found[name] for name in ("workclass", "sex", "race", "marital-status")} == {
        "workclass": 1, "sex": 1, "race": 1, "marital-status": 2,
    }  # fmt: skip
    assert found["native-country"] == 3
    assert set(CAMPAN_BOUNDARIES) == {"age", "native-country"}


def test_wangs_ages_are_in_ranges_of_5_10_and_20_years(table: Any) -> None:
    assert heights(WANG, table)["age"] == 4


@pytest.mark.parametrize("trees", [SUN, WANG, CAMPAN], ids=["sun", "wang", "campan"])
def test_every_value_of_the_real_table_has_its_place(trees: dict[str, Any]) -> None:
    assert heights(trees, load_adult(real_folder(), complete=True))
