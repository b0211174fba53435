"""The examples are what they say: made by their scripts, run by their policies, told by notebooks that print it."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shoal
from support.cli import Cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
LEFT_BY_A_RUN = shutil.ignore_patterns("release.*", "draft.yaml", "__pycache__")

each_example = pytest.mark.parametrize("name", ["hospital", "survey", "school"])


def test_every_example_is_tested_and_in_the_readme() -> None:
    folders = {path.parent.name for path in EXAMPLES.glob("*/policy.yaml")}
    assert folders == {"hospital", "survey", "school"}
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (EXAMPLES / target).is_file(), target
    assert set(re.findall(r"\]\(([a-z]+)/notebook", README)) == folders


@each_example
def test_the_script_makes_the_data_byte_for_byte(name: str, tmp_path: Path) -> None:
    made = tmp_path / "made.csv"
    subprocess.run([sys.executable, EXAMPLES / name / "make_data.py", made], check=True, cwd=tmp_path)
    assert made.read_bytes() == (EXAMPLES / name / "data.csv").read_bytes()


@each_example
def test_every_record_is_another_person_and_much_is_awkward(name: str) -> None:
    policy = shoal.Policy.load(EXAMPLES / name / "policy.yaml")
    assert policy.data is not None
    with (EXAMPLES / name / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=policy.data.separator or ","))
    assert len({row[next(iter(row))] for row in rows}) == len(rows)
    assert f"{len(rows):,} " in README
    protected = [*policy.names("quasi"), *policy.names("sensitive")]
    assert any(row[column] in policy.data.missing for row in rows for column in protected)
    assert "," in "".join(row["note" if name == "hospital" else "remark"] for row in rows)  # so cells are quoted
    assert not {"note", "remark"} & set(policy.columns)


@each_example
def test_the_commands_of_the_readme_run(name: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=LEFT_BY_A_RUN)
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```sh\n(mkdir .*?)^```$", README, re.MULTILINE | re.DOTALL)
    first, *commands = [shlex.split(line) for line in block.replace("hospital", name).splitlines()]
    assert first == ["mkdir", "-p", "out"]
    (tmp_path / "out").mkdir()
    ran = {}
    for program, *arguments in commands:
        assert program == "shoal"
        ran[arguments[0]] = cli(*arguments)
        assert ran[arguments[0]].code == 0, ran[arguments[0]].err
    assert "\nVerified: " in ran["anonymize"].out
    assert "truthfulness: each of" in ran["verify"].out
    assert f"out/{name}.csv: the policy holds" in ran["verify"].out
    evidence = json.loads((tmp_path / "out" / f"{name}.evidence.json").read_text(encoding="utf-8"))
    assert evidence["verified"]
    assert ("utility" in evidence) == (name == "survey")


@each_example
def test_the_notebook_runs_and_prints_what_it_says(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=LEFT_BY_A_RUN)
    notebook = folder / "notebook.ipynb"
    kept = told(notebook)
    command = [sys.executable, EXAMPLES / "run.py", notebook]
    ran = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    again = told(notebook)
    assert list(again) == list(kept)
    for cell, outputs in kept.items():
        assert again[cell] == outputs, f"cell {cell!r} prints something else; `python examples/run.py` keeps it"
    assert {"release.csv", "release.evidence.json", "release.report.html"} <= {path.name for path in folder.iterdir()}


def told(path: Path) -> dict[str, list[str]]:
    """What each code cell of a notebook prints and shows, as text; figures that may differ are left out."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert sum(bool(cell["outputs"]) for cell in cells) >= 10
    return {cell["id"]: [text_of(output, cell["metadata"]) for output in cell["outputs"]] for cell in cells}


def text_of(output: dict[str, Any], metadata: dict[str, Any]) -> str:
    assert output["output_type"] in {"stream", "execute_result"}
    assert output.get("name", "stdout") == "stdout"  # no warnings
    text = "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])
    return re.sub(r"\d", "0", text) if "figures-may-differ" in metadata.get("tags", []) else text
