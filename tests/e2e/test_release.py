"""A release as a steward makes it: what is written, what it must never carry, what must not matter."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from e2e.conftest import PATIENTS
from shoal.errors import InfeasibleError, OutputError, VerificationError
from support.cli import Cli, snapshot

LINES = PATIENTS.splitlines(keepends=True)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def change_policy(folder: Path, old: str, new: str) -> Path:
    text = (folder / "policy.yaml").read_text(encoding="utf-8")
    assert old in text
    (folder / "policy.yaml").write_text(text.replace(old, new), encoding="utf-8")
    return folder / "policy.yaml"


def timeless(evidence: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in evidence.items() if key not in {"seconds", "seconds_by_stage", "peak_memory_bytes"}
    }


def test_the_command_writes_a_verified_release_with_evidence_and_report(cli: Cli, clinic: Path) -> None:
    ran = cli("anonymize", clinic / "policy.yaml")
    assert ran.code == 0, ran.err
    assert "Verified: 12 of 12 records" in ran.out
    evidence = json.loads((clinic / "release.evidence.json").read_text(encoding="utf-8"))
    assert evidence["verified"] is True
    assert (evidence["records"], evidence["released"], evidence["suppressed"], evidence["classes"]) == (12, 12, 0, 2)
    assert evidence["levels"] == {"age": 3, "zipcode": 2, "country": 1}
    assert [model["reached"] for model in evidence["models"]] == [{"k": 4}, {"p": 2, "alpha": 2}]
    assert evidence["not_released"] == ["name"]
    assert evidence["algorithm"] == "optimal"
    page = (clinic / "release.report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    ran = cli(
        "verify", clinic / "release.csv", "--policy", clinic / "policy.yaml", "--original", clinic / "patients.csv"
    )
    assert ran.code == 0, ran.out


def test_rows_are_as_published_and_sorted_by_content(cli: Cli, clinic: Path) -> None:
    cli("anonymize", clinic / "policy.yaml")
    rows = rows_of(clinic / "release.csv")
    assert list(rows[0]) == ["age", "country", "zipcode", "condition", "condition_category", "ward"]
    assert {(row["age"], row["country"], row["zipcode"]) for row in rows} == {
        ("[20, 40)", "America", "142**"),
        ("[40, 60)", "Asia", "130**"),
    }
    assert {row["condition"]: row["condition_category"] for row in rows}["HIV"] == "Top Secret"
    assert [row["condition"] for row in rows if row["country"] == "Asia"] == [
        "Asthma",
        "Heart Disease",
        "Hepatitis",
        "Phthisis",
    ]
    cells = [[(not cell, cell) for cell in row.values()] for row in rows]  # missing ones are last
    assert cells == sorted(cells)


@pytest.mark.parametrize(("publish", "expected"), [("values", "HIV"), ("categories", "Top Secret")])
def test_what_is_published_of_a_secret_is_the_policy_s_choice(
    publish: str, expected: str, cli: Cli, clinic: Path
) -> None:
    policy = change_policy(clinic, "publish: both", f"publish: {publish}")
    assert cli("anonymize", policy).code == 0
    rows = rows_of(clinic / "release.csv")
    assert "condition_category" not in rows[0]
    assert sum(row["condition"] == expected for row in rows) == (2 if publish == "values" else 4)


def test_categories_are_the_default_where_only_p_plus_is_asked(cli: Cli, clinic: Path) -> None:
    policy = change_policy(clinic, "publish: both, ", "")
    assert cli("anonymize", policy).code == 0
    assert {row["condition"] for row in rows_of(clinic / "release.csv")} <= {
        "Top Secret",
        "Secret",
        "Less Secret",
        "Non Secret",
    }


def test_starred_records_keep_nothing(cli: Cli, clinic: Path) -> None:
    text = PATIENTS + "Mia,90,Japan,99999,HIV,Z\n"
    (clinic / "patients.csv").write_text(text, encoding="utf-8")
    policy = change_policy(clinic, "suppression: 0.05", "suppression: 0.1\nsuppressed: star")
    ran = cli("anonymize", policy)
    assert ran.code == 0, ran.err
    rows = rows_of(clinic / "release.csv")
    starred = [row for row in rows if row["zipcode"] == "*"]
    assert starred == [
        {"age": "*", "country": "*", "zipcode": "*", "condition": "", "condition_category": "", "ward": ""}
    ]
    assert len(rows) == 13
    ran = cli("verify", clinic / "release.csv", "--policy", policy, "--original", clinic / "patients.csv")
    assert ran.code == 0, ran.out


def test_a_suppressed_record_is_nowhere_in_what_is_written(cli: Cli, clinic: Path) -> None:
    text = PATIENTS + "Mia,90,Japan,99999,HIV,Zeta\n"
    (clinic / "patients.csv").write_text(text, encoding="utf-8")
    assert cli("anonymize", change_policy(clinic, "suppression: 0.05", "suppression: 0.1")).code == 0
    for name in ("release.csv", "release.evidence.json", "release.report.html"):
        content = (clinic / name).read_text(encoding="utf-8")
        for word in ("99999", "Zeta", "Mia", "Ann"):
            assert word not in content


def test_a_parquet_release_carries_no_dictionary_metadata_or_index(clinic: Path) -> None:
    frame = pd.read_csv(clinic / "patients.csv", dtype={"zipcode": str}).set_index("name", drop=False)
    frame["condition"] = frame["condition"].astype("category").cat.add_categories(["Never seen"])
    frame["ward"] = frame["ward"].astype("category").cat.add_categories(["Secret ward"])
    policy = shoal.Policy.load(clinic / "policy.yaml")
    shoal.anonymize(frame, policy).write(clinic / "release.parquet")
    raw = (clinic / "release.parquet").read_bytes()
    for word in (b"Never seen", b"Secret ward", b"Ann", b"pandas", b"patients"):
        assert word not in raw
    schema = pq.read_schema(clinic / "release.parquet")
    assert not schema.metadata
    assert "__index_level_0__" not in schema.names
    assert cli_free_verify(clinic / "release.parquet", policy, clinic / "patients.csv")


def cli_free_verify(release: Path, policy: shoal.Policy, original: Path) -> bool:
    return shoal.verify(release, policy, original=original).passed


def test_pandas_polars_arrow_and_files_give_the_same_release(clinic: Path) -> None:
    policy = shoal.Policy.load(clinic / "policy.yaml")
    text = {"zipcode": str}
    frames = [
        clinic / "patients.csv",
        pd.read_csv(clinic / "patients.csv", dtype=text),
        pd.read_csv(clinic / "patients.csv", dtype=str, keep_default_na=False),
        pd.read_csv(clinic / "patients.csv", dtype=text).astype({"age": float, "country": "category"}),
        pl.read_csv(clinic / "patients.csv", schema_overrides={"zipcode": pl.String}),
        pa.Table.from_pandas(pd.read_csv(clinic / "patients.csv", dtype=text)),
    ]
    releases = [shoal.anonymize(frame, policy) for frame in frames]
    assert isinstance(releases[1].data, pd.DataFrame)
    assert isinstance(releases[4].data, pl.DataFrame)
    assert isinstance(releases[0].data, pa.Table)
    written = [release.write(clinic / f"{i}.csv")["release"].read_bytes() for i, release in enumerate(releases)]
    assert set(written) == {written[0]}


def test_a_dataframe_comes_back_without_its_index(clinic: Path) -> None:
    frame = pd.read_csv(clinic / "patients.csv", dtype={"zipcode": str}).set_index("name")
    frame["name"] = frame.index
    released = shoal.anonymize(frame, shoal.Policy.load(clinic / "policy.yaml")).data
    assert list(released.index) == list(range(12))


@pytest.mark.slow
def test_row_order_index_locale_hash_seed_and_threads_change_no_byte(clinic: Path) -> None:
    first = None
    for seed, environment in enumerate(
        [
            {"LC_ALL": "C", "PYTHONHASHSEED": "1"},
            {"LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "2", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            {"LC_ALL": "de_DE.UTF-8", "PYTHONHASHSEED": "3", "NUMBA_DISABLE_JIT": "1"},
        ]
    ):
        header, *rows = LINES
        random.Random(seed).shuffle(rows)
        (clinic / "patients.csv").write_text("".join([header, *rows]), encoding="utf-8")
        command = [sys.executable, "-m", "shoal", "anonymize", str(clinic / "policy.yaml"), "--force"]
        subprocess.run(command, check=True, env={**os.environ, **environment}, capture_output=True)
        evidence = json.loads((clinic / "release.evidence.json").read_text(encoding="utf-8"))
        found = (clinic / "release.csv").read_bytes(), timeless(evidence)
        first = first or found
        assert found == first


def test_infeasible_is_an_answer_with_reason_and_remedy(cli: Cli, clinic: Path) -> None:
    policy = change_policy(clinic, "alpha: 2", "alpha: 3")
    before = snapshot(clinic)
    ran = cli("anonymize", policy)
    assert ran.code == 1
    assert ran.error == "infeasible"
    assert snapshot(clinic) == before
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(clinic / "patients.csv", shoal.Policy.load(policy))
    assert {relaxation.code for relaxation in caught.value.diagnosis.relaxations} == {
        "suppression", "parameters", "boundaries",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("130**,Asthma", "130**,Phthisis", "truthfulness"),
        ('"[40, 60)",Asia,130**,Asthma', '"[40, 45)",Asia,130**,Asthma', "k-anonymity"),
        (",Top Secret,", ",Non Secret,", "categories"),
        ('"[20, 40)",America', '"[20, 40)",*', "boundaries"),
    ],
)
def test_a_changed_cell_is_found(old: str, new: str, check: str, cli: Cli, clinic: Path) -> None:
    cli("anonymize", clinic / "policy.yaml")
    text = (clinic / "release.csv").read_text(encoding="utf-8")
    assert old in text
    (clinic / "release.csv").write_text(text.replace(old, new, 1), encoding="utf-8")
    ran = cli(
        "verify", clinic / "release.csv", "--policy", clinic / "policy.yaml", "--original", clinic / "patients.csv"
    )
    assert ran.code == 1
    assert f"FAIL  {check}" in ran.out
    assert "FAIL  hash" in ran.out


def test_added_and_dropped_rows_are_found(cli: Cli, clinic: Path) -> None:
    cli("anonymize", clinic / "policy.yaml")
    lines = (clinic / "release.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    policy = shoal.Policy.load(clinic / "policy.yaml")
    for changed in ([*lines, lines[1]], lines[:-1]):
        (clinic / "tampered.csv").write_text("".join(changed), encoding="utf-8")
        with pytest.raises(VerificationError):
            shoal.verify(clinic / "tampered.csv", policy, original=clinic / "patients.csv").raise_if_failed()


def test_nothing_is_overwritten_without_force(cli: Cli, clinic: Path) -> None:
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    before = snapshot(clinic)
    refused = cli("anonymize", clinic / "policy.yaml")
    assert (refused.code, refused.error) == (2, "output-blocked")
    assert snapshot(clinic) == before
    assert cli("anonymize", clinic / "policy.yaml", "--force").code == 0
    with pytest.raises(OutputError):
        shoal.anonymize(clinic / "patients.csv", clinic / "policy.yaml").write(clinic / "release.csv")


def test_json_output_is_the_evidence_and_the_paths(cli: Cli, clinic: Path) -> None:
    ran = cli("anonymize", clinic / "policy.yaml", "--json")
    result = json.loads(ran.out)
    assert result["verified"] is True
    assert Path(result["paths"]["release"]).is_file()
    assert (
        json.loads(cli("verify", clinic / "release.csv", "--policy", clinic / "policy.yaml", "--json").out)["passed"]
        is True
    )


def test_options_override_the_policy(cli: Cli, clinic: Path) -> None:
    (clinic / "other.csv").write_text(PATIENTS, encoding="utf-8")
    ran = cli(
        "anonymize",
        clinic / "policy.yaml",
        "--data",
        clinic / "other.csv",
        "--out",
        clinic / "o.csv",
        "--algorithm",
        "incognito",
    )
    assert ran.code == 0, ran.err
    evidence = json.loads((clinic / "o.evidence.json").read_text(encoding="utf-8"))
    assert evidence["algorithm"] == "incognito"
    assert not (clinic / "release.csv").exists()


def several_minimal_nodes(folder: Path) -> Path:
    change_policy(folder, "  - {model: p-plus-alpha-sensitive, p: 2, alpha: 2, sensitive: condition}\n", "")
    change_policy(folder, "suppression: 0.05", "suppression: 0.35")
    return change_policy(folder, "k: 4", "k: 2")


def test_the_lattice_command_lists_every_minimal_node(cli: Cli, clinic: Path) -> None:
    policy = several_minimal_nodes(clinic)
    ran = cli("lattice", policy, "--json")
    assert ran.code == 0, ran.err
    listing = json.loads(ran.out)
    nodes = listing["minimal_nodes"]
    assert len(nodes) > 1
    assert all(node["exposure"]["condition"].keys() == {"homogeneity", "similarity"} for node in nodes)
    losses = [node["measures"]["loss"] for node in nodes]
    assert losses == sorted(losses)
    assert "minimal nodes" in cli("lattice", policy).out


def test_a_named_minimal_node_is_released(cli: Cli, clinic: Path) -> None:
    policy = several_minimal_nodes(clinic)
    nodes = json.loads(cli("lattice", policy, "--json").out)["minimal_nodes"]
    wanted = nodes[-1]["levels"]
    change_policy(clinic, "algorithm: optimal", f"algorithm: {{name: incognito, node: {json.dumps(wanted)}}}")
    assert json.loads(cli("anonymize", policy, "--json").out)["levels"] == wanted
    change_policy(clinic, json.dumps(wanted), json.dumps({**wanted, "age": 0, "zipcode": 0}))
    ran = cli("anonymize", policy, "--force")
    assert (ran.code, ran.problems) == (2, ("not-a-minimal-node",))


def test_the_demo_runs_and_says_where_everything_lies(cli: Cli, tmp_path: Path) -> None:
    ran = cli("demo", "--out", tmp_path / "demo")
    assert ran.code == 0, ran.err
    assert "Verified" in ran.out
    for name in ("hospital-release.csv", "hospital-release.evidence.json", "hospital-release.report.html"):
        assert str(tmp_path / "demo" / name) in ran.out
        assert (tmp_path / "demo" / name).is_file()


def test_init_drafts_a_policy_that_runs(cli: Cli, clinic: Path) -> None:
    (clinic / "policy.yaml").unlink()
    ran = cli("init", clinic / "patients.csv")
    assert ran.code == 0, ran.err
    assert cli("init", clinic / "patients.csv").error == "output-blocked"
    assert shoal.Policy.load(clinic / "patients.yaml").columns["name"].role == "identifier"


def test_the_schema_is_json(cli: Cli) -> None:
    assert "columns" in json.loads(cli("schema").out)["properties"]


def slow_policy(folder: Path) -> Path:
    """A search that takes many seconds: ten quasi-identifiers and a model that allows no pruning."""
    names = [f"q{i}" for i in range(10)]
    drawn = random.Random(3)
    lines = [",".join([*names, "s"])]
    lines += [",".join(str(drawn.randrange(40)) for _ in names) + f",{drawn.choice('abc')}" for _ in range(3000)]
    (folder / "slow.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = "".join(f"  {name}: {{role: quasi, hierarchy: {{intervals: [2, 4, 8, 16]}}}}\n" for name in names[:7])
    policy = folder / "slow.yaml"
    policy.write_text(
        f"data: slow.csv\ncolumns:\n{columns}  s: {{role: sensitive}}\n"
        "privacy: [{model: alp-dif, limits: {a: {alp: 0.2, dif: 0.0}}, sensitive: s}]\noutput: slow-release.csv\n",
        encoding="utf-8",
    )
    return policy


@pytest.mark.slow
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_release(kill: signal.Signals, tmp_path: Path) -> None:
    policy = slow_policy(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", "anonymize", str(policy)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".shoal-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1)
    process.send_signal(kill)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if kill is signal.SIGINT else -signal.SIGKILL)
    assert not list(tmp_path.glob("slow-release*"))
    if kill is signal.SIGINT:
        assert "interrupted" in err
        assert not list(tmp_path.glob(".shoal-*"))


def test_policies_built_in_python_and_in_yaml_are_the_same(clinic: Path) -> None:
    loaded = shoal.Policy.load(clinic / "policy.yaml")
    built = shoal.Policy(**loaded.to_dict())
    assert (
        shoal.anonymize(clinic / "patients.csv", built).table == shoal.anonymize(clinic / "patients.csv", loaded).table
    )
