"""The scene of the attacks: a file, a frame and the recoding itself give the same report, whatever was released."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.attacks.battery import ATTACKS, attack_rows
from shoal.attacks.released_classes import rows_of_recoding, rows_of_release
from shoal.encode.result import Result
from shoal.errors import DataError, DisclosureWarning, InputError, PolicyError
from shoal.io import write_table
from shoal.pipeline.run import make_release
from shoal.search import ALGORITHMS
from support.attack_cases import found

COUNTRIES = {"America": ["USA", "Canada"], "Asia": ["China", "Japan", "India"]}
ILLNESSES = {"Grave": ["HIV", "Cancer"], "Light": ["Flu", None]}
COLUMNS: dict[str, Any] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "country": {"role": "quasi", "hierarchy": {"tree": COUNTRIES}},
    "zipcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "ward": {"role": "insensitive"},
    "illness": {"role": "sensitive", "categories": ILLNESSES},
}


def clinic(n: int = 60, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    countries = [country for group in COUNTRIES.values() for country in group]
    return pa.table(
        {
            "name": [f"person-{i}" for i in range(n)],
            "age": pa.array(rng.integers(20, 60, n)),
            "country": [countries[i] for i in rng.integers(0, 5, n)],
            "zipcode": [f"{z:05}" for z in rng.integers(14200, 14212, n)],
            "ward": [["north", "south", None][i] for i in rng.integers(0, 3, n)],
            "illness": [["HIV", "Cancer", "Flu", None][i] for i in rng.integers(0, 4, n)],
        }
    )


def policy(**changes: Any) -> shoal.Policy:
    columns = COLUMNS | changes.pop("columns", {})
    privacy = [{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2, "sensitive": "illness"}]
    others = {"algorithm": "optimal", "suppression": 0.1} | changes
    return shoal.Policy(columns=columns, privacy=others.pop("privacy", privacy), **others)


def made(asked: shoal.Policy, table: pa.Table | None = None) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)
        return make_release(clinic() if table is None else table, asked)


WITHOUT_SECRETS = [{"model": "k-anonymity", "k": 1}]
CASES: dict[str, dict[str, Any]] = {name: {"algorithm": name} for name in ALGORITHMS if name != "range"} | {
    "range": {"algorithm": {"name": "range", "group": {"zipcode": 1}, "ranges": ["age"]}, "privacy": WITHOUT_SECRETS},
    "safe range": {
        "algorithm": {"name": "range", "group": {"zipcode": 2}, "ranges": ["age"], "safe": True},
        "privacy": WITHOUT_SECRETS,
    },
    "mondrian with ranges": {"algorithm": {"name": "mondrian", "ranges": ["age"]}},
    "stars": {"suppressed": "star", "suppression": 0.3},
    "both published": {"columns": {"illness": COLUMNS["illness"] | {"publish": "both"}}},
    "categories published": {"columns": {"illness": COLUMNS["illness"] | {"publish": "categories"}}},
    "boundary": {"columns": {"country": COLUMNS["country"] | {"boundary": ["America", "Asia"]}}, "suppression": 0.5},
}


@pytest.mark.parametrize("case", CASES)
def test_file_frame_and_recoding_give_the_same_report(case: str, tmp_path: Path) -> None:
    asked = policy(**CASES[case])
    one = made(asked)
    path = tmp_path / "release.parquet"
    write_table(one.table, path)
    rows = rows_of_recoding(asked, one.rows, one.resolved, one.recoding)
    expected = attack_rows(one.made_by, rows, one.rows, one.resolved, one.recoding)
    shuffled = clinic().take(pa.array(np.random.default_rng(0).permutation(60)))
    for again in (
        attack_rows(one.made_by, rows_of_release(one.table, asked), one.rows, one.resolved),
        shoal.attack(path, asked, original=clinic()),
        shoal.attack(one.table, asked, original=shuffled),
    ):
        unknown = {each.name for each in again.attacks if each.outcome == "classes-overlap"}  # the run alone knows
        assert unknown <= {"undone"}
        assert _without(again, unknown) == _without(expected, unknown)


def _without(report: shoal.AttackReport, names: set[str]) -> list[dict[str, Any]]:
    return [each.to_dict() for each in report.attacks if each.name not in names]


def test_the_order_and_the_kind_of_the_release_change_nothing(tmp_path: Path) -> None:
    asked = policy()
    one = made(asked)
    turned = one.table.take(pa.array(np.arange(one.table.num_rows)[::-1]))
    expected = shoal.attack(one.table, asked, original=clinic())["attacks"]
    frame = turned.to_pandas()
    frame.index = pd.Index(range(100, 100 + len(frame)))
    shoal.anonymize(clinic(), asked).write(tmp_path / "release.csv")
    for release in (turned, frame, pl.from_arrow(turned), tmp_path / "release.csv"):
        assert shoal.attack(release, asked, original=clinic())["attacks"] == expected


def test_every_attack_is_reported_whatever_is_lacking() -> None:
    asked = policy()
    one = made(asked)
    for original in (None, clinic()):
        report = shoal.attack(one.table, asked, original=original)
        of_records = [name for name, attack in ATTACKS.items() if not attack.needs_person]
        assert list(dict.fromkeys(each.name for each in report.attacks)) == of_records
        for each in report.attacks:
            if each.status == "tried":
                assert each.records is not None
                assert each.of is not None
                assert 0 <= each.records <= each.of
                assert each.outcome == ("leak" if each.leak else "explained" if each.records else "nothing")
            else:
                assert (each.records, each.leak) == (None, False)
        json.dumps(report.to_dict(), allow_nan=False)


def test_a_policy_without_secrets_says_that_there_are_none() -> None:
    columns = {name: spec for name, spec in COLUMNS.items() if name != "illness"}
    asked = shoal.Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 2}], algorithm="optimal")
    report = shoal.attack(made(asked).table, asked, original=clinic())
    for name in ("homogeneity", "similarity", "skewness", "background", "inference", "composition"):
        estimate = found(report, name)
        assert (estimate.status, estimate.leak) == ("not applicable", False)
        assert estimate.outcome == "no-sensitive-column"


ODD = pa.table(
    {
        "name": ["Zaphod"],
        "age": [111],
        "country": ["India"],
        "zipcode": ["99999"],
        "ward": ["attic"],
        "illness": ["Cancer"],
    }
)
"""Somebody like nobody else, whom every release leaves out."""


def test_a_report_tells_nothing_of_identifiers_and_of_suppressed_records() -> None:
    asked, both = policy(), pa.concat_tables([clinic(), ODD])
    one = made(asked, both)
    assert one.recoding.suppressed == 1
    told = json.dumps(shoal.attack(one.table, asked, original=both).to_dict())
    for text in ("Zaphod", "person-", "99999", "999", '"111', "[110", "[100", "attic"):
        assert text not in told


def test_star_rows_are_no_records() -> None:
    asked, both = policy(suppressed="star"), pa.concat_tables([clinic(), ODD])
    one = made(asked, both)
    assert one.table.num_rows == 61
    report = shoal.attack(one.table, asked, original=both)
    assert found(report, "linkage").of == 60
    assert found(report, "homogeneity").of == 60 - clinic()["illness"].null_count


def test_a_release_of_another_policy_is_refused_with_what_it_has() -> None:
    one = made(policy())
    with pytest.raises(DataError, match=r"'zipcode'.*'age'"):
        shoal.attack(one.table.drop_columns(["zipcode"]), policy())
    strange = one.table.set_column(
        one.table.column_names.index("illness"), "illness", pa.array(["Gout"] * one.table.num_rows)
    )
    with pytest.raises(DataError, match="values of 'illness' in no category: 'Gout'"):
        shoal.attack(strange, policy())
    with pytest.raises(DataError, match="no record"):
        shoal.attack(one.table.slice(0, 0), policy())
    with pytest.raises(PolicyError, match="zipcode"):
        shoal.attack(one.table, policy(), original=clinic().drop_columns(["zipcode"]))


def test_seeds_and_numbers_that_make_no_sense_are_refused() -> None:
    one = made(policy())
    with pytest.raises(InputError, match="seed"):
        shoal.attack(one.table, policy(), seed=-1)
    with pytest.raises(InputError, match="it takes 1 or more"):
        shoal.attack(one.table, policy(), ruled_out=0)


def test_the_report_says_what_leaks_in_a_line() -> None:
    asked = policy(privacy=[{"model": "k-anonymity", "k": 2}])
    alike = pa.table({"age": ["20", "20", "30", "30"], "country": ["*"] * 4, "zipcode": ["*"] * 4, "ward": ["a"] * 4,
                      "illness": ["HIV", "HIV", "Flu", "Flu"]})  # fmt: skip
    report = shoal.attack(alike, asked)
    assert [each.name for each in report.leaks] == ["homogeneity", "similarity"]
    assert str(report) == "2 of 9 attacks found a leak: homogeneity and similarity"
    mixed = alike.set_column(4, "illness", pa.array(["HIV", "Flu", "HIV", "Flu"]))
    assert str(shoal.attack(mixed, asked)) == "0 of 9 attacks found a leak"
