"""What stands beside a release, where people are counted: why, compare, utility, apply, registry."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import shoal
from shoal.errors import InputError, PolicyError
from shoal.pipeline.why.explain import Why

pytestmark = pytest.mark.filterwarnings("ignore::shoal.errors.DisclosureWarning")

COLUMNS: dict[str, Any] = {
    "who": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "region": {"role": "quasi", "hierarchy": {"flat": True}},
    "condition": {"role": "sensitive"},
}


def visits(seed: int = 3) -> pa.Table:
    """Sixty visits of fifteen people; the first has a third of them."""
    random = Random(seed)
    rows = [(0 if random.random() < 0.3 else random.randrange(15)) for _ in range(60)]
    homes = [(random.randrange(20, 60), random.choice("ab")) for _ in range(15)]
    return pa.table(
        {
            "who": [f"p{person}" for person in rows],
            "age": [homes[person][0] for person in rows],
            "region": [homes[person][1] for person in rows],
            "condition": [random.choice(["HIV", "Flu", "Asthma"]) for _ in rows],
        }
    )


def policy(**more: Any) -> shoal.Policy:
    asked = {"columns": COLUMNS, "person": "who", "privacy": [{"model": "k-anonymity", "k": 3}]}
    return shoal.Policy(**(asked | {"algorithm": {"name": "mondrian"}} | more))


def test_new_records_do_not_join_a_release_that_counts_people(tmp_path: Path) -> None:
    release = shoal.anonymize(visits(), policy())
    release.write(tmp_path / "release.csv")
    before = sorted(tmp_path.iterdir())
    for recoding, given in ((release, None), (tmp_path / "release.csv", policy())):
        with pytest.raises(InputError) as refused:
            shoal.apply(recoding, visits(4), policy=given)
        assert refused.value.code == "apply-with-person"
    assert sorted(tmp_path.iterdir()) == before


def test_a_policy_that_counts_people_writes_no_recoding() -> None:
    with pytest.raises(PolicyError) as refused:
        policy(recoding=True)
    assert [(each.where, each.code) for each in refused.value.problems] == [("recoding", "recoding-with-person")]
    assert policy(recoding=False).person_columns == ("who",)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_why_speaks_of_the_people_that_a_finer_class_lacks(algorithm: str) -> None:
    """Ten visits of p0 would be a class of ten; it is one person, so the age is not released finer."""
    table = pa.table(
        {
            "who": ["p0"] * 10 + ["p1", "p2", "p3"],
            "age": [30] * 10 + [40, 40, 40],
            "region": ["a"] * 13,
            "condition": ["Flu"] * 13,
        }
    )
    asked = policy(algorithm={"name": algorithm}, privacy=[{"model": "k-anonymity", "k": 2}])
    found = shoal.anonymize(table, asked).why(1)
    assert isinstance(found, Why)
    (age,) = [column for column in found.columns if column.column == "age"]
    assert age.verdict == "blocked"
    lacks = [lack for part in age.splits[0].parts if part.own for lack in part.lacks]
    assert [(each.model, each.lacks[0].reached, each.lacks[0].required) for each in lacks] == [("k-anonymity", 1, 2)]


def test_algorithms_are_compared_in_people() -> None:
    compared = shoal.compare(policy(), ["optimal", "mondrian"], data=visits(), k=[2, 3])
    assert len(compared.points) == 4
    for point in compared.points:
        assert point["verified"]


def test_a_task_is_measured_on_a_release_that_counts_people() -> None:
    asked = policy(utility={"target": "condition"})
    assert shoal.anonymize(visits(), asked).evidence["utility"]


def test_a_later_release_is_compared_with_an_earlier_one_of_the_same_events(tmp_path: Path) -> None:
    asked = policy(privacy=[{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "p": 2}])
    parquet.write_table(visits(), tmp_path / "visits.parquet")
    for name in ("one", "two"):
        shoal.publish(
            asked, data=str(tmp_path / "visits.parquet"), out=str(tmp_path / f"{name}.csv"),
            registry=tmp_path / "registry",
        )  # fmt: skip
    (found,) = [
        each
        for each in json.loads((tmp_path / "two.evidence.json").read_text())["attacks"]
        if each["name"] == "composition"
    ]
    assert (found["outcome"], found["records"], found["of"]) == ("nothing", 0, 60)
