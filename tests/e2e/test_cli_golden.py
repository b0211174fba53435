"""What the command line prints, word by word: the one place where its wording is pinned."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli.main import app
from support.cli import Cli
from support.golden_files import check_golden

RUNS = {
    "demo": ["demo --out . --force"],
    "init": ["init hospital.csv --out draft.yaml"],
    "verify": ["verify hospital-release.csv --policy hospital.yaml --original hospital.csv --fail-on similarity>0"],
    "attack": ["attack hospital-release.csv --policy hospital.yaml --original hospital.csv --fail-on background>0"],
    "risk": ["risk hospital.csv --policy hospital.yaml --max-columns 2"],
    "why": ["why hospital.yaml --row 7"],
    "lattice": ["lattice hospital.yaml"],
    "compare": ["compare hospital.yaml --algorithms optimal,mondrian --k 5,1000 --out grid"],
    "utility": ["utility hospital.yaml --queries 50"],
    "apply": [
        "anonymize hospital.yaml --out first.csv --recoding --registry releases --as-of 2026-01-31",
        "apply first.recoding.json --data hospital.csv --out second.csv --registry releases --as-of 2026-02-28",
    ],
    "reproduce": ["reproduce man --out papers"],
    "errors": [
        "anonymize hospital.yaml",
        "anonymize nowhere.yaml",
        "anonymize hospital.yaml --algorithm optiml --out x.csv",
        "anonymize hospital.yaml --out x.txt",
        "init hospital.csv --out draft.txt",
        "init .",
        "why hospital.yaml",
        "why hospital.yaml --where age",
        "attack hospital-release.csv --policy hospital.yaml --fail-on similarity",
        "attack hospital-release.csv --policy hospital.yaml --earlier hospital-release.csv",
        "utility hospital.yaml",
        "anonymize hospital.yaml --table people --out x.csv",
        "ui --host 0.0.0.0",
    ],
}


@pytest.mark.parametrize("name", RUNS)
def test_a_standard_run_prints_what_its_golden_file_says(
    name: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    assert cli("demo", "--out", ".").code == 0
    printed = []
    for command in RUNS[name]:
        ran = cli(*shlex.split(command))
        printed.append(f"$ shoal {command}\n{ran.out}{ran.err}exit code {ran.code}\n")
    if name == "init":
        printed.append(Path("draft.yaml").read_text(encoding="utf-8"))
    text = re.sub(r"\(\d+\.\d+ s\)| in \d+ s\.|(?<=  )\d+\.\d\d$", "<time>", "\n".join(printed), flags=re.MULTILINE)
    check_golden(f"cli/{name}.txt", text, update=update_golden)


def test_the_help_texts_are_those_of_the_golden_file(update_golden: bool) -> None:
    names = [command.callback.__name__ for command in app.registered_commands if command.callback is not None]
    texts = []
    for arguments in (["--help"], *([name, "--help"] for name in names)):
        ran = CliRunner().invoke(app, arguments, prog_name="shoal", env={"COLUMNS": "100"})
        texts.append(f"$ shoal {' '.join(arguments)}\n{ran.output}")
    check_golden("cli/help.txt", "\n".join(texts), update=update_golden)
