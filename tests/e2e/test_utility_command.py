"""The task of a policy on the command line, in the evidence and on the page."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli, snapshot

pytestmark = pytest.mark.slow

POLICY = """data: people.csv
columns:
  age:    {role: quasi, hierarchy: {intervals: [5, 20]}}
  job:    {role: quasi, hierarchy: {tree: {low: [a, b], high: [c, d]}}}
  income: {role: sensitive}
privacy: [{model: k-anonymity, k: 4}]
algorithm: mondrian
utility:
  target: income
  test: 0.25
  seed: 7
  queries: [{age: [30, 39], job: low}, {income: high}]
output: release.csv
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    drawn = random.Random(1)
    rows = [(drawn.randint(20, 59), drawn.choice("abcd")) for _ in range(160)]
    lines = [f"{age},{job},{'high' if (job in 'cd') == (age >= 40) else 'low'}\n" for age, job in rows]
    (tmp_path / "people.csv").write_text("age,job,income\n" + "".join(lines), encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def evidence(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "release.evidence.json").read_text(encoding="utf-8"))
    return found


def test_evidence_and_page_say_what_the_release_is_worth(cli: Cli, people: Path) -> None:
    assert cli("anonymize", people / "policy.yaml").code == 0
    found = evidence(people)
    assert found["utility"]["model"]["target"] == "income"
    assert found["utility"]["queries"]["listed"][1]["relative_error"] == 0, "a sensitive column is released as it is"
    assert found["seconds_by_stage"]["utility"] > 0
    page = (people / "release.report.html").read_text(encoding="utf-8")
    assert "Utility for the task" in page
    assert "Gradient-boosted trees" in page
    assert cli("verify", people / "release.csv", "--policy", people / "policy.yaml").code == 0


def test_the_command_measures_the_same_and_writes_nothing(cli: Cli, people: Path) -> None:
    assert cli("anonymize", people / "policy.yaml").code == 0
    before = snapshot(people)
    ran = cli("utility", people / "policy.yaml", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out) == evidence(people)["utility"]
    assert snapshot(people) == before
    shown = cli("utility", people / "policy.yaml")
    assert "gradient-boosting" in shown.out
    assert "2 count queries" in shown.out
    assert '{age: ["30", "39"], job: "low"}' in shown.out


def test_options_stand_in_for_the_key(cli: Cli, people: Path) -> None:
    text = POLICY[: POLICY.index("utility:")] + "output: release.csv\n"
    (people / "policy.yaml").write_text(text, encoding="utf-8")
    ran = cli("utility", people / "policy.yaml")
    assert ran.code == 2
    assert "--target" in ran.err
    found = json.loads(cli("utility", people / "policy.yaml", "--queries", 20, "--json").out)
    assert found.keys() == {"queries"}
    assert found["queries"]["count"] == 20
    found = json.loads(cli("utility", people / "policy.yaml", "--target", "job", "--json").out)
    assert found["model"]["target"] == "job"
    assert cli("utility", people / "policy.yaml", "--target", "jb").code == 2


def test_a_task_that_cannot_be_leaves_nothing_on_disk(cli: Cli, people: Path) -> None:
    policy = people / "policy.yaml"
    policy.write_text(POLICY.replace("job: low", "job: lowest"), encoding="utf-8")
    before = snapshot(people)
    ran = cli("anonymize", policy)
    assert ran.code == 2
    assert "utility.queries[0].job: " in ran.err
    assert "'lowest'" in ran.err
    assert snapshot(people) == before


def test_threads_hash_seed_and_row_order_change_no_figure(people: Path) -> None:
    found = []
    for threads, seed in (("1", "1"), ("2", "2")):
        header, *lines = (people / "people.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        random.Random(seed).shuffle(lines)
        (people / "people.csv").write_text("".join([header, *lines]), encoding="utf-8")
        command = [sys.executable, "-m", "shoal", "utility", str(people / "policy.yaml"), "--json"]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "PYTHONHASHSEED": seed,
        }
        found.append(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    assert found[0] == found[1]
