"""People who have several records: a streamed release is the same, byte for byte, as one from memory."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError, PolicyError
from shoal.evidence.evidence import VOLATILE
from shoal.io import memory as budget
from shoal.io import write_table
from shoal.io.external_sort import SortedRuns
from shoal.policy import Policy
from support.raises import raises

COLUMNS: dict[str, dict[str, Any]] = {
    "patient": {"role": "identifier"},
    "clinic": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "sex": {"role": "quasi"},
    "condition": {"role": "sensitive", "categories": {"grave": ["HIV", "cancer"], "light": ["flu", "cough"]}},
    "ward": {"role": "insensitive"},
}
K = [{"model": "k-anonymity", "k": 3}]
P = [*K, {"model": "p-sensitive", "p": 2, "sensitive": "condition"}]
T = [*K, {"model": "t-closeness", "t": 0.6, "sensitive": "condition"}]


def events(records: int = 300, people: int = 60, seed: int = 5, wards: int = 3) -> pa.Table:
    """Visits of people, some of whom come often; everybody has one sex and ages a little."""
    draw = np.random.default_rng(seed)
    who = (people * draw.random(records) ** 2).astype(int)
    age, sex = draw.integers(20, 50, people), draw.integers(0, 2, people)
    return pa.table(
        {
            "patient": pa.array(who, pa.int64()),
            "clinic": [f"c{each}" for each in draw.integers(0, 2, records)],
            "age": pa.array(age[who] + draw.integers(0, 3, records), pa.int64()),
            "sex": [("f", "m")[each] for each in sex[who]],
            "condition": [("HIV", "cancer", "flu", "cough")[each] for each in draw.integers(0, 4, records)],
            "ward": [f"W{each}" if each else None for each in draw.integers(0, wards, records)],
        }
    )


def policy_of(folder: Path, data: str, **keys: Any) -> Policy:
    asked = {"columns": COLUMNS, "person": "patient", "privacy": P, "suppression": 0.2, **keys}
    (folder / "policy.yaml").write_text(json.dumps({"data": data, **asked}))
    return Policy.load(folder / "policy.yaml")


def both(folder: Path, policy: Policy, suffix: str = ".csv") -> tuple[dict[str, Any], dict[str, Any]]:
    """Evidence of the release held in memory and of the streamed one, whose files must have the same bytes."""
    facts, files = [], []
    for name, memory in (("held", None), ("streamed", "2GB")):
        published = shoal.publish(policy, out=folder / f"{name}{suffix}", memory=memory, force=True)
        evidence = json.loads(published.paths["evidence"].read_text())
        facts.append({key: value for key, value in evidence.items() if key not in VOLATILE})
        files.append(published.paths["release"].read_bytes())
    assert files[0] == files[1]
    return facts[0], facts[1]


@pytest.mark.parametrize("privacy", [P, T])
@pytest.mark.parametrize("algorithm", ["optimal", "greedy-lattice", "mondrian", "top-down", "greedy-clustering"])
def test_a_release_in_people_does_not_depend_on_streaming(
    tmp_path: Path, algorithm: str, privacy: list[dict[str, Any]]
) -> None:
    write_table(events(), tmp_path / "data.csv")
    held, streamed = both(tmp_path, policy_of(tmp_path, "data.csv", algorithm=algorithm, privacy=privacy))
    assert held == streamed


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_known_events_do_not_depend_on_streaming(tmp_path: Path, algorithm: str) -> None:
    write_table(events(), tmp_path / "data.csv")
    person = {"column": "patient", "events": 2}
    held, streamed = both(tmp_path, policy_of(tmp_path, "data.csv", algorithm=algorithm, person=person))
    assert held == streamed
    assert "known-events" in [each["name"] for each in held["checks"] if each["passed"]]


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_people_of_several_columns_and_files(tmp_path: Path, kind: str) -> None:
    (tmp_path / "data").mkdir()
    for part in range(3):
        write_table(events(100, seed=part), tmp_path / "data" / f"{part}{kind}")
    policy = policy_of(tmp_path, f"data/*{kind}", person=["clinic", "patient"], algorithm="optimal")
    streamed = shoal.publish(policy, out=tmp_path / "streamed.csv")
    whole = pa.concat_tables([events(100, seed=part) for part in range(3)])
    held = shoal.anonymize(whole, policy.changed(data=None))
    write_table(held.table, tmp_path / "held.csv")
    assert streamed.paths["release"].read_bytes() == (tmp_path / "held.csv").read_bytes()


@settings(max_examples=15, deadline=None)
@given(
    records=st.integers(20, 80),
    people=st.integers(4, 40),
    seed=st.integers(0, 10_000),
    algorithm=st.sampled_from(["optimal", "mondrian", "top-down"]),
)
def test_any_events_give_the_same_release(records: int, people: int, seed: int, algorithm: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder)
        write_table(events(records, people, seed), path / "data.csv")
        policy = policy_of(path, "data.csv", algorithm=algorithm, privacy=K, suppression=0.9)
        try:
            held = shoal.publish(policy, out=path / "held.csv")
        except shoal.InfeasibleError:
            with pytest.raises(shoal.InfeasibleError):
                shoal.publish(policy, out=path / "streamed.csv", memory="2GB")
            return
        streamed = shoal.publish(policy, out=path / "streamed.csv", memory="2GB")
        assert streamed.paths["release"].read_bytes() == held.paths["release"].read_bytes()


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_columns_that_tell_records_apart_are_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    write_table(events(wards=300), tmp_path / "data.csv")
    policy = policy_of(tmp_path, "data.csv", algorithm=algorithm)
    held = shoal.publish(policy, out=tmp_path / "held.csv")
    monkeypatch.setattr(budget, "_BY_ITSELF", 1)
    monkeypatch.setattr(budget, "TEXT_STREAMED", 1)
    monkeypatch.setattr(SortedRuns.__init__, "__kwdefaults__", {"run": 130, "head": 16})
    streamed = shoal.publish(policy, out=tmp_path / "streamed.csv")
    assert "insensitive columns" in streamed.release.evidence["not_done"]
    assert streamed.paths["release"].read_bytes() == held.paths["release"].read_bytes()
    assert streamed.release.evidence["models"] == held.release.evidence["models"]


def test_a_record_of_nobody_is_a_problem(tmp_path: Path) -> None:
    data = events()
    patients = [None, *data.column("patient").to_pylist()[1:]]
    write_table(data.set_column(0, "patient", pa.array(patients, pa.int64())), tmp_path / "data.csv")
    for memory in (None, "2GB"):
        with pytest.raises(PolicyError) as raised:
            shoal.publish(policy_of(tmp_path, "data.csv"), out=tmp_path / "out.csv", memory=memory)
        assert [problem.code for problem in raised.value.problems] == ["missing-person"]
    assert not (tmp_path / "out.csv").exists()


def test_too_many_people_for_the_memory_are_refused_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(events(), tmp_path / "data.csv")
    monkeypatch.setattr(budget, "_PER_PERSON_ROW", 10**7)
    with raises(InputError, "memory-exceeded"):
        shoal.publish(policy_of(tmp_path, "data.csv"), out=tmp_path / "out.csv", memory="1GB")
    assert not (tmp_path / "out.csv").exists()
