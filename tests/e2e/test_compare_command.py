"""``shoal compare`` as a person uses it: a grid, its files, a run that is stopped and goes on."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import shoal
from e2e.conftest import POLICY
from shoal.errors import InputError
from support.cli import Cli, snapshot

pytestmark = pytest.mark.slow

ALGORITHMS = "optimal,mondrian"


@pytest.fixture
def trial(clinic: Path) -> Path:
    """Forty-eight patients in place of twelve, so that k may vary."""
    header, *lines = (clinic / "patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    drawn = random.Random(5)
    cells = [line.rstrip("\n").split(",") for line in lines for _ in range(4)]
    for row in cells:
        row[1] = str(int(row[1]) + drawn.randrange(-4, 5))
        row[4] = drawn.choice(["HIV", "Cancer", "Hepatitis", "Asthma", "Flu", "Indigestion"])
    text = "".join([header, *(",".join(row) + "\n" for row in cells)])
    (clinic / "patients.csv").write_text(text, encoding="utf-8")
    return clinic


def compare(cli: Cli, folder: Path, *more: object) -> Any:
    return cli("compare", folder / "policy.yaml", "--algorithms", ALGORITHMS, "--out", folder / "grid", *more)


def comparison(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "grid" / "comparison.json").read_text(encoding="utf-8"))
    return found


def test_a_grid_gives_a_table_a_page_and_a_policy_for_every_point(cli: Cli, trial: Path) -> None:
    ran = compare(cli, trial, "--k", "2,4", "--metric", "ncp")
    assert ran.code == 0, ran.err
    assert ran.err.startswith("4 points: 2 algorithms × k 2, 4.")
    assert "--releases" in ran.err
    names = ["optimal-k2", "optimal-k4", "mondrian-k2", "mondrian-k4"]
    found = comparison(trial)
    assert [point["name"] for point in found["points"]] == names
    for point in found["points"]:
        assert point["verified"] is True
        assert point["risk"]["highest"] == pytest.approx(1 / point["class_sizes"]["smallest"])
        assert point["risk"]["average"] == pytest.approx(point["classes"] / point["released"])
        assert point["seconds"] > 0
        assert point["exposure"]["condition"].keys() == {"homogeneity", "similarity"}
        assert point["name"] in ran.out
    with (trial / "grid" / "comparison.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == names
    assert [row["frontier"] == "True" for row in rows] == [name in found["frontier"] for name in names]
    assert {row["k"] for row in rows} == {"2", "4"}
    assert {path.name for path in (trial / "grid" / "points").iterdir()} == {
        f"{name}{suffix}" for name in names for suffix in (".yaml", ".result.json")
    }


def test_data_in_several_files_is_compared_and_computed_again_where_one_of_them_changes(cli: Cli, trial: Path) -> None:
    header, *lines = (trial / "patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (trial / "parts").mkdir()
    for place in range(2):
        (trial / "parts" / f"{place}.csv").write_text(header + "".join(lines[place::2]), encoding="utf-8")
    asked = ("--k", "2", "--data", trial / "parts")
    ran = compare(cli, trial, *asked)
    assert ran.code == 0, ran.err
    assert all(point["verified"] for point in comparison(trial)["points"])
    assert "2 already finished" in compare(cli, trial, *asked).err
    (trial / "parts" / "1.csv").write_text(header + "".join(lines[3::2]), encoding="utf-8")
    assert "already finished" not in compare(cli, trial, *asked).err


def test_a_point_s_policy_makes_the_same_release(cli: Cli, trial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trial)
    ran = cli("compare", "policy.yaml", "--algorithms", "mondrian,top-down", "--k", "3", "--set", "suppression=0,0.2",
              "--out", "sub/grid")  # fmt: skip
    assert ran.code == 0, ran.err
    points = json.loads(Path("sub/grid/comparison.json").read_text(encoding="utf-8"))["points"]
    assert len(points) == 4
    monkeypatch.chdir("/")
    for point in points:
        evidence = json.loads(cli("anonymize", trial / f"sub/grid/points/{point['name']}.yaml", "--json").out)
        for key in ("measures", "classes", "suppressed", "class_sizes", "exposure", "models", "policy_sha256"):
            assert evidence[key] == point[key], key


def test_the_frontier_on_the_terminal_is_that_of_the_file(cli: Cli, trial: Path) -> None:
    ran = compare(cli, trial, "--k", "2..6..2", "--risk", "highest")
    marked = [line.split()[1] for line in ran.out.splitlines() if line.startswith("* ")]
    assert sorted(marked) == sorted(comparison(trial)["frontier"])
    best = min(comparison(trial)["points"], key=lambda point: point["measures"]["loss"])
    assert comparison(trial)["frontier"][0] == best["name"]
    assert comparison(trial)["risk"] == "highest"


def test_of_a_measure_where_more_is_better_the_frontier_begins_with_most(cli: Cli, trial: Path) -> None:
    assert compare(cli, trial, "--k", "2..6..2", "--metric", "precision").code == 0
    best = max(comparison(trial)["points"], key=lambda point: point["measures"]["precision"])
    assert comparison(trial)["frontier"][0] == best["name"]


def test_json_is_the_comparison_and_nothing_else(cli: Cli, trial: Path) -> None:
    printed = json.loads(compare(cli, trial, "--k", "2", "--json").out)
    paths = printed.pop("paths")
    assert printed == comparison(trial)
    assert all(Path(path).is_file() for path in paths.values())


def test_a_second_run_computes_only_what_changed(cli: Cli, trial: Path) -> None:
    compare(cli, trial, "--k", "2,4")
    before = snapshot(trial / "grid")
    ran = compare(cli, trial, "--k", "2,4")
    assert "4 already finished" in ran.err
    assert snapshot(trial / "grid") == before
    ran = compare(cli, trial, "--k", "2,4,5")
    assert "6 points" in ran.err
    assert "4 already finished" in ran.err
    after = snapshot(trial / "grid")
    assert all(after[name] == before[name] for name in before if name.startswith("points/"))


@pytest.mark.parametrize("changed", ["data", "policy", "hierarchy"])
def test_a_change_of_data_policy_or_hierarchy_is_computed_again(changed: str, cli: Cli, trial: Path) -> None:
    tree = "{America: [USA, Canada], Asia: [China, Japan, India]}"
    (trial / "country.yaml").write_text(tree, encoding="utf-8")
    policy = trial / "policy.yaml"
    policy.write_text(POLICY.replace(f"{{tree: {tree}}}", "{tree: country.yaml}"), encoding="utf-8")
    compare(cli, trial, "--k", "2")
    if changed == "data":
        with (trial / "patients.csv").open("a", encoding="utf-8") as file:
            file.write("Zoe,33,USA,14242,Flu,A\n")
    elif changed == "policy":
        policy.write_text(policy.read_text(encoding="utf-8").replace("[5, 10, 20]", "[5, 20]"), encoding="utf-8")
    else:
        (trial / "country.yaml").write_text(tree.replace("America", "Americas").replace("\n", ""), encoding="utf-8")
        policy.write_text(
            policy.read_text(encoding="utf-8").replace("boundary: [America,", "boundary: [Americas,"), encoding="utf-8"
        )
    ran = compare(cli, trial, "--k", "2")
    assert ran.code == 0, ran.err
    assert "already finished" not in ran.err
    assert comparison(trial)["points"][0]["records"] == (49 if changed == "data" else 48)


def test_only_the_hierarchy_file_changed_is_computed_again_too(cli: Cli, trial: Path) -> None:
    policy = trial / "policy.yaml"
    levels = [f"{age};{age // 10 * 10}s;*\n" for age in range(15, 60)]
    (trial / "age.csv").write_text("".join(levels), encoding="utf-8")
    policy.write_text(POLICY.replace("{intervals: [5, 10, 20]}", "{levels: age.csv}"), encoding="utf-8")
    compare(cli, trial, "--k", "2")
    (trial / "age.csv").write_text("".join(levels).replace("20s", "twenties"), encoding="utf-8")
    ran = compare(cli, trial, "--k", "2")
    assert ran.code == 0, ran.err
    assert "already finished" not in ran.err


def test_a_point_that_cannot_be_reached_is_a_row_with_its_reason(cli: Cli, trial: Path) -> None:
    ran = compare(cli, trial, "--k", "2,40", "--set", "suppression=0")
    assert ran.code == 0, ran.err
    by_name = {point["name"]: point for point in comparison(trial)["points"]}
    lost = by_name["optimal-k40-suppression0"]
    assert (lost["status"], lost["verified"]) == ("infeasible", False)
    assert "k-anonymity fails" in lost["reason"]
    edits = lost["diagnosis"]["relaxations"][0]["edits"]
    assert [(edit["path"], edit["value"]) for edit in edits] == [(["privacy", 0, "k"], 16)]
    assert "16" in lost["nearest_relaxation"]
    assert "measures" not in lost
    assert by_name["optimal-k2-suppression0"]["verified"]
    assert "optimal-k40-suppression0, mondrian-k40-suppression0: infeasible." in ran.out
    page = (trial / "grid" / "comparison.html").read_text(encoding="utf-8")
    assert "No release: " in page


def test_a_point_that_contradicts_itself_is_a_row_and_does_not_run(cli: Cli, trial: Path) -> None:
    ran = compare(cli, trial, "--k", "2,4", "--p", "3")
    assert ran.code == 0, ran.err
    assert "2 impossible" in ran.err
    statuses = [point["status"] for point in comparison(trial)["points"]]
    assert statuses == ["contradictory", "verified"] * 2


def test_when_no_point_has_a_release_the_exit_code_says_so(cli: Cli, trial: Path) -> None:
    ran = compare(cli, trial, "--k", "40", "--set", "suppression=0")
    assert ran.code == 1
    assert comparison(trial)["frontier"] == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--k", "5..2"], "bad-values"),
        (["--k", "two"], "bad-values"),
        (["--k", "2.5"], "bad-value"),
        (["--k", "0"], "bad-value"),
        (["--t", "0.1"], "unknown-parameter"),
        (["--set", "k-anonymity.q=1"], "unknown-parameter"),
        (["--set", "nothing"], "bad-setting"),
        (["--metric", "nccp"], "unknown-measure"),
        (["--risk", "great"], "unknown-risk"),
        (["--k", "2", "--p", "9"], "more-than-class-size"),
        (["--data", "nowhere.csv"], "not-readable"),
    ],
)
def test_a_grid_that_cannot_be_is_told_and_nothing_is_written(
    options: list[str], code: str, cli: Cli, trial: Path
) -> None:
    before = snapshot(trial)
    ran = compare(cli, trial, *options)
    assert ran.code == 2
    assert code in (ran.problems or (ran.error,))
    assert "Traceback" not in ran.err
    assert snapshot(trial) == before


def test_bad_data_leaves_nothing_on_disk(cli: Cli, trial: Path) -> None:
    (trial / "patients.csv").write_text("name,age\nAnn,27\n", encoding="utf-8")
    before = snapshot(trial)
    ran = compare(cli, trial, "--k", "2")
    assert ran.code == 2
    assert set(ran.problems) == {"unknown-column"}
    assert snapshot(trial) == before


def test_nothing_that_a_person_wrote_is_overwritten_without_force(cli: Cli, trial: Path) -> None:
    (trial / "grid").mkdir()
    (trial / "grid" / "comparison.csv").write_text("my own\n", encoding="utf-8")
    before = snapshot(trial)
    assert compare(cli, trial, "--k", "2").code == 2
    assert snapshot(trial) == before
    assert compare(cli, trial, "--k", "2", "--force").code == 0
    edited = trial / "grid" / "points" / "optimal-k2.yaml"
    edited.write_text("# mine\n" + edited.read_text(encoding="utf-8"), encoding="utf-8")
    before = snapshot(trial)
    ran = compare(cli, trial, "--k", "2")
    assert ran.code == 2
    assert ran.error == "output-exists"
    assert "optimal-k2.yaml" in ran.err
    assert snapshot(trial) == before
    assert compare(cli, trial, "--k", "2", "--force").code == 0
    assert "# mine" not in edited.read_text(encoding="utf-8")


def test_an_input_is_never_overwritten_even_with_force(cli: Cli, trial: Path) -> None:
    shutil.copy(trial / "patients.csv", trial / "comparison.csv")
    before = snapshot(trial)
    ran = cli("compare", trial / "policy.yaml", "--algorithms", "optimal", "--out", trial,
              "--data", trial / "comparison.csv", "--force")  # fmt: skip
    assert ran.code == 2
    assert ran.error == "output-blocked"
    assert snapshot(trial) == before


def test_releases_are_written_where_asked_and_verify(cli: Cli, trial: Path) -> None:
    assert compare(cli, trial, "--k", "2").code == 0
    ran = compare(cli, trial, "--k", "2", "--releases")
    assert ran.code == 0, ran.err
    points = trial / "grid" / "points"
    for name in ("optimal-k2", "mondrian-k2"):
        checked = cli("verify", points / f"{name}.csv", "--policy", points / f"{name}.yaml",
                      "--original", trial / "patients.csv")  # fmt: skip
        assert checked.code == 0, checked.out
    assert "2 already finished" in compare(cli, trial, "--k", "2", "--releases").err
    (points / "optimal-k2.csv").unlink()
    (points / "optimal-k2.evidence.json").unlink()
    (points / "optimal-k2.report.html").unlink()
    assert "1 already finished" in compare(cli, trial, "--k", "2", "--releases").err
    assert (points / "optimal-k2.csv").is_file()


def test_a_release_that_was_damaged_is_not_taken_for_finished(cli: Cli, trial: Path) -> None:
    assert compare(cli, trial, "--k", "2", "--releases").code == 0
    path = trial / "grid" / "points" / "optimal-k2.csv"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    ran = compare(cli, trial, "--k", "2", "--releases")
    assert ran.code == 2
    assert "optimal-k2.csv" in ran.err
    assert path.read_bytes() == whole[:-20]
    assert compare(cli, trial, "--k", "2", "--releases", "--force").code == 0
    assert path.read_bytes() == whole


def test_other_data_is_named_in_the_policies_of_the_points(cli: Cli, trial: Path) -> None:
    (trial / "other").mkdir()
    (trial / "patients.csv").rename(trial / "other" / "table.csv")
    assert compare(cli, trial, "--k", "2", "--data", trial / "other" / "table.csv").code == 0
    assert cli("anonymize", trial / "grid" / "points" / "optimal-k2.yaml").code == 0


def test_the_folder_lies_beside_the_policy_when_none_is_named(cli: Cli, trial: Path) -> None:
    assert cli("compare", trial / "policy.yaml", "--algorithms", "optimal").code == 0
    assert (trial / "policy-comparison" / "points" / "optimal.yaml").is_file()


def test_in_python_a_frame_is_compared_too(trial: Path) -> None:
    frame = pd.read_csv(trial / "patients.csv", dtype={"zipcode": str})
    policy = shoal.Policy.load(trial / "policy.yaml")
    found = shoal.compare(policy, ["optimal", "mondrian"], data=frame, k=range(2, 5, 2), metric="ncp", out=trial / "py")
    assert repr(found).startswith("<Comparison: 4 points, 4 verified, ")
    again = shoal.compare(policy, ALGORITHMS, data=frame, k=[2, 4], metric="ncp", out=trial / "py")
    assert [dict(point) for point in again.points] == [dict(point) for point in found.points], "taken from the folder"
    with pytest.raises(InputError, match="policy"):
        shoal.compare(
            {"columns": {"age": {"role": "quasi"}}, "privacy": [{"model": "k-anonymity", "k": 2}]},
            "optimal", data=frame, risk="homogeneity", out=trial / "no",
        )  # fmt: skip


def slow_grid(folder: Path) -> list[str]:
    """Points of about a second each."""
    drawn = random.Random(3)
    names = [f"q{place}" for place in range(8)]
    lines = [",".join(str(drawn.randrange(30)) for _ in names) for _ in range(1500)]
    (folder / "slow.csv").write_text("\n".join([",".join(names), *lines]) + "\n", encoding="utf-8")
    columns = "".join(f"  {name}: {{role: quasi, hierarchy: {{intervals: [2, 4, 8, 16]}}}}\n" for name in names)
    text = f"data: slow.csv\ncolumns:\n{columns}privacy: [{{model: k-anonymity, k: 2}}]\n"
    (folder / "slow.yaml").write_text(text, encoding="utf-8")
    return [sys.executable, "-m", "shoal", "compare", str(folder / "slow.yaml"), "--algorithms", "top-down",
            "--k", "2..7", "--out", str(folder / "grid")]  # fmt: skip


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_keeps_its_points_and_goes_on(stop: signal.Signals, tmp_path: Path) -> None:
    command = slow_grid(tmp_path)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    results = tmp_path / "grid" / "points"
    deadline = time.monotonic() + 120
    while len(list(results.glob("*.result.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(stop)
    _, err = process.communicate(timeout=60)
    kept = {path.name: path.stat().st_mtime_ns for path in results.glob("*.result.json")}
    assert 2 <= len(kept) < 6
    assert not (tmp_path / "grid" / "comparison.json").exists()
    if stop is signal.SIGINT:
        assert process.returncode == 130
        assert f"{len(kept)} of 6 points" in err
        assert not list(results.glob(".shoal-*"))
    again = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "7"}
    )
    assert f"{len(kept)} already finished" in again.stderr
    assert {name: (results / name).stat().st_mtime_ns for name in kept} == kept
    assert len(comparison(tmp_path)["points"]) == 6
