"""A release is the same, byte for byte, whether its records are held in memory or streamed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.encode.result import Result
from shoal.errors import InputError, VerificationError
from shoal.evidence.evidence import VOLATILE
from shoal.io import external_sort, read_batches, write_table
from shoal.io import memory as budget
from shoal.io import source as sources
from shoal.io import streaming as stream
from shoal.io.counting import DistinctRowCounter
from shoal.io.external_sort import SortedRuns
from shoal.io.formats import parquet_file
from shoal.pipeline.audit.audit import audit
from shoal.pipeline.run import Job
from shoal.table.distinct_rows import DistinctRows

AGES = [str(age) for age in range(20, 60)]
CITIES = {"North": ["Aa", "Bb", "Cc"], "South": ["Dd", "Ee"]}
CONDITIONS = {"Grave": ["HIV", "Cancer"], "Light": ["Flu", "Asthma", "Cough"]}
COLUMNS: dict[str, dict[str, Any]] = {
    "ward": {"role": "insensitive"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "city": {"role": "quasi", "hierarchy": {"tree": CITIES}},
    "sex": {"role": "quasi"},
    "condition": {"role": "sensitive", "publish": "both", "categories": CONDITIONS},
    "stay": {"role": "insensitive"},
}
K = [{"model": "k-anonymity", "k": 4}]
P = [*K, {"model": "p-sensitive", "p": 2, "sensitive": "condition"}]


def records(n: int = 400, seed: int = 3, wards: int = 3) -> pa.Table:
    draw = np.random.default_rng(seed)
    cities = [city for group in CITIES.values() for city in group]
    conditions = [value for group in CONDITIONS.values() for value in group]
    age = draw.integers(0, 12, n) * 3 % 40
    return pa.table(
        {
            "name": [f"person {place}" for place in range(n)],
            "ward": [f"W{ward}" if ward else None for ward in draw.integers(0, wards, n)],
            "age": pa.array([int(AGES[place]) for place in age], pa.int64()),
            "city": [cities[place] for place in draw.choice(5, n, p=[0.4, 0.2, 0.2, 0.1, 0.1])],
            "sex": pa.array([("f", "m", None)[place] for place in draw.choice(3, n, p=[0.5, 0.45, 0.05])]),
            "condition": [conditions[place] for place in draw.choice(5, n, p=[0.1, 0.2, 0.3, 0.2, 0.2])],
            "stay": pa.array(draw.integers(0, 3, n) / 2.0),
        }
    )


def policy_of(folder: Path, data: str, **keys: Any) -> shoal.Policy:
    asked = {"columns": COLUMNS | {"name": {"role": "identifier"}}, "privacy": K, "suppression": 0.1, **keys}
    path = folder / "policy.yaml"
    path.write_text(json.dumps({"data": data, **asked}))
    return shoal.Policy.load(path)


def both(tmp_path: Path, policy: shoal.Policy, suffix: str = ".csv") -> tuple[dict[str, Any], dict[str, Any]]:
    """Evidence of the release held in memory and of the streamed one, whose files must have the same bytes."""
    facts, files = [], []
    for name, memory in (("held", None), ("streamed", "2GB")):
        out = tmp_path / f"{name}{suffix}"
        published = shoal.publish(policy, out=out, memory=memory)
        evidence = json.loads(published.paths["evidence"].read_text())
        assert evidence["verified"]
        facts.append({key: value for key, value in evidence.items() if key not in VOLATILE})
        files.append(out.read_bytes())
    assert files[0] == files[1]
    return facts[0], facts[1]


@pytest.mark.parametrize(
    ("algorithm", "privacy"),
    [
        ("optimal", K),
        ("optimal", P),
        ("incognito", P),
        ("greedy-lattice", K),
        ("mondrian", P),
        ("top-down", K),
        ("top-down", P),
        ("greedy-clustering", P),
    ],
)
@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_the_release_and_its_evidence_do_not_depend_on_streaming(
    tmp_path: Path, algorithm: str, privacy: list[dict[str, Any]], kind: str
) -> None:
    write_table(records(), tmp_path / f"data{kind}")
    policy = policy_of(tmp_path, f"data{kind}", privacy=privacy, algorithm={"name": algorithm})
    held, streamed = both(tmp_path, policy, kind)
    assert held == streamed
    assert held["attacks"]


@pytest.mark.parametrize("keys", [
    {"suppressed": "star", "suppression": 0.3, "algorithm": {"name": "optimal"}},
    {"algorithm": {"name": "mondrian", "ranges": ["age"]}},
    {"algorithm": {"name": "top-down", "ranges": ["age"]}},
    {"algorithm": {"name": "mondrian", "refine": 60}, "privacy": P},
    {"privacy": [*K, {"model": "t-closeness", "t": 0.4, "sensitive": "condition"}], "algorithm": "mondrian"},
    {"columns": {**COLUMNS, "city": {**COLUMNS["city"], "boundary": list(CITIES)}, "name": {"role": "identifier"}},
     "algorithm": "top-down"},
])  # fmt: skip
def test_options_of_a_policy_do_not_depend_on_streaming(tmp_path: Path, keys: dict[str, Any]) -> None:
    write_table(records(), tmp_path / "data.parquet")
    held, streamed = both(tmp_path, policy_of(tmp_path, "data.parquet", **keys))
    assert held == streamed


def test_a_streamed_release_is_the_same_with_a_column_that_tells_every_record_apart(tmp_path: Path) -> None:
    write_table(records(300, wards=300), tmp_path / "data.csv")
    held, streamed = both(tmp_path, policy_of(tmp_path, "data.csv", algorithm="mondrian"))
    assert held == streamed


def test_several_files_are_one_table(tmp_path: Path) -> None:
    table = records()
    write_table(table, tmp_path / "data.csv")
    (tmp_path / "parts").mkdir()
    for place in range(4):
        write_table(table.slice(place * 100, 100), tmp_path / "parts" / f"part{place}.csv")
    (tmp_path / "parts" / "notes.md").write_text("no table")
    whole = shoal.publish(policy_of(tmp_path, "data.csv"), out=tmp_path / "whole.csv")
    for data in ("parts", "parts/part*.csv"):
        shoal.publish(policy_of(tmp_path, data), out=tmp_path / "many.csv", force=True)
        assert (tmp_path / "many.csv").read_bytes() == whole.paths["release"].read_bytes()
    assert shoal.verify(tmp_path / "many.csv", policy_of(tmp_path, "parts"), original=tmp_path / "parts").passed


def test_large_files_are_streamed_without_being_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(records(), tmp_path / "data.csv")
    policy = policy_of(tmp_path, "data.csv")
    held = shoal.publish(policy, out=tmp_path / "held.csv")
    monkeypatch.setattr(budget, "TEXT_STREAMED", 1000)

    def never(*_: object) -> None:
        raise AssertionError("the records were loaded")

    monkeypatch.setattr(sources, "read_table", never)
    streamed = shoal.publish(policy, out=tmp_path / "streamed.csv")
    assert streamed.release.table.equals(held.release.table.cast(streamed.release.table.schema))
    assert len(streamed.release.data) == held.release.evidence["released"]


def test_a_budget_that_does_not_suffice_is_refused_with_what_would_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(records(300, wards=300), tmp_path / "data.csv")
    monkeypatch.setattr(budget, "_PER_ROW", 2_000_000)
    policy = policy_of(tmp_path, "data.csv", algorithm="top-down")
    with pytest.raises(InputError) as caught:
        shoal.publish(policy, out=tmp_path / "out.csv", memory="500MB")
    assert caught.value.code == "memory-exceeded"
    assert "insensitive columns" in str(caught.value)
    assert not (tmp_path / "out.csv").exists()


def test_a_refusal_names_how_much_was_counted_and_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(records(300, wards=300), tmp_path / "data.parquet", row_group_size=100)
    monkeypatch.setattr(budget, "_PER_ROW", 50_000_000)
    with pytest.raises(InputError) as caught:
        shoal.publish(policy_of(tmp_path, "data.parquet", algorithm="mondrian"), out=tmp_path / "out.csv",
                      memory="500MB")  # fmt: skip
    assert caught.value.code == "memory-exceeded"
    for fact in ("first 100 records", "ward and stay", "500 MB"):
        assert fact in str(caught.value)


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_long_texts_are_written_the_same_held_or_sorted_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    table = records(200)
    notes = pa.array([f"{place:03d}" + "x" * (place * 7 % 300) for place in range(200)])
    write_table(table.set_column(1, "ward", notes), tmp_path / f"data{kind}")
    for module, name in (
        (external_sort, "_BYTES_OF_A_RUN"),
        (parquet_file, "_BYTES_OF_A_GROUP"),
        (parquet_file, "_BYTES"),
    ):
        monkeypatch.setattr(module, name, 3000)
    policy = policy_of(tmp_path, f"data{kind}", algorithm="mondrian")
    held = shoal.publish(policy, out=tmp_path / f"held{kind}")
    counted = shoal.publish(policy, out=tmp_path / f"counted{kind}", memory="2GB")
    for name in ("_BY_ITSELF", "TEXT_STREAMED", "PACKED_STREAMED"):
        monkeypatch.setattr(budget, name, 1)
    sorted_ = shoal.publish(policy, out=tmp_path / f"sorted{kind}")
    assert "not_done" in sorted_.release.evidence
    assert len({each.paths["release"].read_bytes() for each in (held, counted, sorted_)}) == 1
    if kind == ".parquet":
        assert pq.ParquetFile(tmp_path / "held.parquet").num_row_groups > 5


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2 * 10**9), ("500 MB", 5 * 10**8), ("1.5GiB", 3 * 2**29), ("1g", 10**9)]
)
def test_amounts_of_memory_are_read_as_people_write_them(text: str, size: int) -> None:
    assert budget.memory_limit(text) == size


@pytest.mark.parametrize(
    ("text", "code"),
    [("much", "not-a-size"), ("2 GB or so", "not-a-size"), ("-1GB", "not-a-size"), ("10", "too-little-memory"),
     ("100MB", "too-little-memory")],
)  # fmt: skip
def test_other_amounts_are_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        budget.memory_limit(text)
    assert caught.value.code == code


def test_a_registry_and_a_streamed_release_go_together(tmp_path: Path) -> None:
    write_table(records(), tmp_path / "data.csv")
    policy = policy_of(tmp_path, "data.csv", privacy=P, algorithm="mondrian")
    for memory, folder in ((None, "held"), ("2GB", "streamed")):
        (tmp_path / folder).mkdir()
        for name in ("one", "two"):
            shoal.publish(
                policy, out=tmp_path / folder / f"{name}.csv", registry=tmp_path / folder / "registry", memory=memory
            )
    held, streamed = (json.loads((tmp_path / each / "two.evidence.json").read_text()) for each in ("held", "streamed"))
    assert held["composition"] == streamed["composition"]


def test_the_evidence_says_what_was_not_measured_on_streamed_records(tmp_path: Path) -> None:
    write_table(records(), tmp_path / "data.csv")
    policy = policy_of(tmp_path, "data.csv", utility={"queries": 3})
    streamed = shoal.publish(policy, out=tmp_path / "streamed.csv", memory="2GB")
    assert "streamed" in streamed.release.evidence["not_done"]["utility"]
    assert "utility" not in streamed.release.evidence


def test_a_streamed_parquet_release_has_no_trace_of_how_the_input_was_cut(tmp_path: Path) -> None:
    table = records()
    pq.write_table(table, tmp_path / "one.parquet")
    pq.write_table(table, tmp_path / "many.parquet", row_group_size=37)
    for name in ("one", "many"):
        shoal.publish(policy_of(tmp_path, f"{name}.parquet"), out=tmp_path / f"{name}-out.parquet", memory="2GB")
    assert (tmp_path / "one-out.parquet").read_bytes() == (tmp_path / "many-out.parquet").read_bytes()


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "keys",
    [{"algorithm": "mondrian", "privacy": P}, {"algorithm": "optimal", "suppression": 0.3, "suppressed": "star"}],
)
def test_columns_that_tell_records_apart_are_written_record_by_record_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, keys: dict[str, Any]
) -> None:
    write_table(records(500, wards=400), tmp_path / f"data{kind}")
    policy = policy_of(tmp_path, f"data{kind}", **keys)
    held = shoal.publish(policy, out=tmp_path / f"held{kind}")
    monkeypatch.setattr(budget, "_BY_ITSELF", 1)
    monkeypatch.setattr(budget, "TEXT_STREAMED", 1)
    monkeypatch.setattr(budget, "PACKED_STREAMED", 1)
    monkeypatch.setattr(SortedRuns.__init__, "__kwdefaults__", {"run": 130, "head": 16})
    streamed = shoal.publish(policy, out=tmp_path / f"streamed{kind}")
    assert streamed.paths["release"].read_bytes() == held.paths["release"].read_bytes()
    evidence = streamed.release.evidence
    assert "ward and stay" in evidence["not_done"]["insensitive columns"]
    status = {each["name"]: each["status"] for each in evidence["attacks"]}
    assert status["linkage-insensitive"] == status["homogeneity-insensitive"] == "not tried"
    assert status["linkage"] == "tried"
    truth = next(each for each in evidence["checks"] if each["name"] == "truthfulness")
    assert truth["facts"]["not_compared"] == ["ward", "stay"]
    assert not list(tmp_path.glob(".*"))
    assert audit(streamed.paths["release"], policy, tmp_path / f"data{kind}").verification.passed
    assert "Not done, with the reasons" in streamed.paths["report"].read_text()
    for key in ("star_rows", "suppressed"):
        counted = [_check(each.release.evidence, "suppression")["facts"][key] for each in (held, streamed)]
        assert counted[0] == counted[1]
    assert _check(evidence, "k-anonymity") == _check(held.release.evidence, "k-anonymity")
    same = {"models", "measures", "class_sizes", "columns", "records", "suppressed"}
    assert {key: evidence[key] for key in same} == {key: held.release.evidence[key] for key in same}


def _check(evidence: Mapping[str, Any], name: str) -> Any:
    return next(each for each in evidence["checks"] if each["name"] == name)


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_rows_of_stars_beside_columns_apart_are_suppressed_records_and_held_against_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    few = {"age": ["30"] * 40 + [str(age) for age in range(40, 52)], "note": [f"n{place}" for place in range(52)]}
    write_table(pa.table(few), tmp_path / f"data{kind}")
    columns = {"age": {"role": "quasi"}, "note": {"role": "insensitive"}}
    policy = policy_of(
        tmp_path, f"data{kind}", columns=columns, suppression=0.3, suppressed="star", algorithm="optimal"
    )
    monkeypatch.setattr(budget, "_BY_ITSELF", 1)
    monkeypatch.setattr(budget, "TEXT_STREAMED", 1)
    monkeypatch.setattr(budget, "PACKED_STREAMED", 1)
    published = shoal.publish(policy, out=tmp_path / f"out{kind}")
    assert "insensitive columns" in published.release.evidence["not_done"]
    assert _check(published.release.evidence, "suppression")["facts"]["star_rows"] == 12
    assert audit(published.paths["release"], policy).verification.passed
    strict = policy.changed(suppression=0.2)

    encode = Job.encode

    def lax(_: Job, reading: sources.Reading) -> Any:
        return encode(Job(policy), reading)

    monkeypatch.setattr(Job, "encode", lax)
    with pytest.raises(VerificationError, match="12 of 52 records are suppressed, 10 allowed"):
        shoal.publish(strict, out=tmp_path / f"strict{kind}")
    assert not (tmp_path / f"strict{kind}").exists()


@pytest.mark.parametrize("algorithm", ["top-down", "mondrian"])
@pytest.mark.parametrize("memory", [None, "2GB"])
def test_a_release_is_verified_against_what_was_read_and_not_what_was_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, memory: str | None
) -> None:
    """A search that loses one record and invents another in its place."""
    write_table(records(), tmp_path / "data.csv")
    honest = Job.search

    def wrong(*args: Any) -> Result:
        found = honest(*args)
        kept = np.flatnonzero(found.recoding.row_class >= 0)
        counts = found.rows.counts.copy()
        counts[kept[0]] += 1
        counts[kept[-1]] -= 1
        rows = DistinctRows(found.rows.columns, counts)
        return replace(found, rows=rows, recoding=replace(found.recoding, weights=counts))

    monkeypatch.setattr(Job, "search", wrong)
    policy = policy_of(tmp_path, "data.csv", algorithm=algorithm)
    with pytest.raises(VerificationError, match="truthfulness: 1 of "):
        shoal.publish(policy, out=tmp_path / "out.csv", memory=memory)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_a_count_that_misses_records_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    write_table(records(), tmp_path / f"data{kind}")
    honest = DistinctRowCounter.add
    monkeypatch.setattr(DistinctRowCounter, "add", lambda counter, batch: honest(counter, batch.slice(1)))
    with pytest.raises(
        VerificationError, match="original: 400 records of the original were read, and 399 were counted"
    ):
        shoal.publish(policy_of(tmp_path, f"data{kind}"), out=tmp_path / "out.csv", memory="2GB")
    assert not (tmp_path / "out.csv").exists()


def test_batches_that_lack_records_of_a_parquet_file_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(records(), tmp_path / "data.parquet")
    monkeypatch.setattr(stream, "read_batches", lambda *args: (each.slice(2) for each in read_batches(*args)))
    with pytest.raises(
        VerificationError, match="original: 400 records of the original were read, and 398 were counted"
    ):
        shoal.publish(policy_of(tmp_path, "data.parquet"), out=tmp_path / "out.csv", memory="2GB")


def test_a_release_that_splits_duplicates_counts_all_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(records(300, wards=250), tmp_path / "data.csv")
    policy = policy_of(tmp_path, "data.csv", algorithm="top-down")
    held = shoal.publish(policy, out=tmp_path / "held.csv")
    monkeypatch.setattr(budget, "_BY_ITSELF", 1)
    monkeypatch.setattr(budget, "TEXT_STREAMED", 1)
    streamed = shoal.publish(policy, out=tmp_path / "streamed.csv")
    assert streamed.paths["release"].read_bytes() == held.paths["release"].read_bytes()
    assert "not_done" not in streamed.release.evidence
