"""`shoal anonymize --memory`, and data in several files, on the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from support.cli import Cli, snapshot


def test_a_limited_run_writes_the_same_release(clinic: Path, cli: Cli) -> None:
    assert cli("anonymize", clinic / "policy.yaml", "--out", clinic / "held.csv").code == 0
    ran = cli("anonymize", clinic / "policy.yaml", "--out", clinic / "streamed.csv", "--memory", "2GB")
    assert (ran.code, ran.err) == (0, "")
    assert "Verified: 12 of 12 records" in ran.out
    assert (clinic / "streamed.csv").read_bytes() == (clinic / "held.csv").read_bytes()
    assert cli("verify", clinic / "streamed.csv", "--policy", clinic / "policy.yaml", "--original",
               clinic / "patients.csv").code == 0  # fmt: skip


def test_no_amount_of_memory_is_a_mistake_that_changes_nothing(clinic: Path, cli: Cli) -> None:
    before = snapshot(clinic)
    for wrong, code in (("plenty", "not-a-size"), ("20MB", "too-little-memory")):
        ran = cli("anonymize", clinic / "policy.yaml", "--memory", wrong)
        assert (ran.code, ran.error) == (2, code)
    assert snapshot(clinic) == before


def test_a_folder_of_packed_files_is_one_table(clinic: Path, cli: Cli) -> None:
    header, *lines = (clinic / "patients.csv").read_text().splitlines(keepends=True)
    (clinic / "parts").mkdir()
    for place in range(3):
        text = header + "".join(lines[place::3])
        (clinic / "parts" / f"{place}.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert cli("anonymize", clinic / "policy.yaml").code == 0
    many = cli("anonymize", clinic / "policy.yaml", "--data", clinic / "parts", "--out", clinic / "many.csv", "--json")
    assert many.code == 0
    assert json.loads(many.out)["records"] == 12
    assert (clinic / "many.csv").read_bytes() == (clinic / "release.csv").read_bytes()
    listed = cli("anonymize", clinic / "policy.yaml", "--data", clinic / "parts" / "*.csv.gz", "--out",
                 clinic / "listed.csv")  # fmt: skip
    assert listed.code == 0
    risk = cli("risk", clinic / "parts", "--policy", clinic / "policy.yaml", "--json")
    assert risk.code == 0


def test_a_release_never_replaces_one_of_its_parts(clinic: Path, cli: Cli) -> None:
    (clinic / "parts").mkdir()
    (clinic / "patients.csv").rename(clinic / "parts" / "a.csv")
    before = snapshot(clinic)
    ran = cli("anonymize", clinic / "policy.yaml", "--data", clinic / "parts", "--out", clinic / "parts" / "a.csv",
              "--force")  # fmt: skip
    assert ran.code == 2
    assert "is an input as well" in ran.err
    assert snapshot(clinic) == before


def test_a_release_does_not_become_data(clinic: Path, cli: Cli) -> None:
    (clinic / "parts").mkdir()
    (clinic / "patients.csv").rename(clinic / "parts" / "a.csv")
    before = snapshot(clinic)
    for data in (clinic / "parts", clinic / "parts" / "*.csv"):
        ran = cli("anonymize", clinic / "policy.yaml", "--data", data, "--out", clinic / "parts" / "out.csv")
        assert ran.code == 2
        assert "would be read as data" in ran.err
    assert snapshot(clinic) == before


def test_a_column_that_no_file_has_is_named_with_the_nearest(clinic: Path, cli: Cli) -> None:
    policy = (clinic / "policy.yaml").read_text().replace("  ward: ", "  wart: ")
    (clinic / "policy.yaml").write_text(policy)
    ran = cli("anonymize", clinic / "policy.yaml", "--memory", "1GB")
    assert ran.code == 2
    assert "columns.wart" in ran.err
    assert "ward" in ran.err
