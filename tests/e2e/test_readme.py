"""The README says what happens: its commands, its session and its policy run as they stand."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.conftest import PATIENTS
from shoal.cli.main import app
from support.cli import Cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as ``make demo`` leaves it: a virtual environment that has ``shoal``, and out/demo."""
    root = tmp_path_factory.mktemp("project")
    programs = root / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "shoal").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m shoal "$@"\n', encoding="utf-8")
    (programs / "shoal").chmod(0o755)
    (programs / "activate").write_text(f'PATH="{programs}:$PATH"\nexport PATH\n', encoding="utf-8")
    command = [sys.executable, "-m", "shoal", "demo", "--out", "out/demo"]
    subprocess.run(command, check=True, cwd=root, capture_output=True)
    return root


def test_the_commands_run_one_after_the_other_as_they_stand(demo: Path, tmp_path: Path) -> None:
    root = shutil.copytree(demo, tmp_path / "project")
    commands = [line for block in blocks("sh") for line in block.splitlines() if not line.startswith("make ")]
    assert "cd out/demo" in commands
    assert sum(line.startswith("shoal ") for line in commands) >= 4
    ran = subprocess.run(
        ["/bin/sh", "-e", "-c", "\n".join(commands)], check=False, cwd=root, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "Verified: 1141 of 1200 records" in ran.stdout
    assert "the policy holds" in ran.stdout
    assert {"draft.yaml", "second.csv", "second.evidence.json"} <= {path.name for path in (root / "out/demo").iterdir()}


def test_the_make_targets_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [line.split()[1] for block in blocks("sh") for line in block.splitlines() if line.startswith("make ")]
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert "shoal demo --out out/demo" in makefile


def test_the_python_session_runs_and_prints_what_it_says(demo: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(demo / "out" / "demo", tmp_path / "demo")
    (session,) = blocks("python")
    ran = subprocess.run([sys.executable, "-c", session], check=False, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    (promised,) = re.findall(r"# (<Release: .*>)", session)
    assert ran.stdout.splitlines()[0] == promised
    for name in ("release.csv", "release.evidence.json", "release.report.html"):
        assert (folder / name).is_file()


def test_the_policy_runs(cli: Cli, tmp_path: Path) -> None:
    (policy,) = blocks("yaml")
    (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
    (tmp_path / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    ran = cli("anonymize", tmp_path / "policy.yaml")
    assert ran.code == 0, ran.err
    assert (tmp_path / "release.csv").is_file()


def test_every_command_and_option_of_the_table_exists(cli: Cli) -> None:
    listed = re.findall(r"^\| `shoal ([a-z]+)([^`]*)` \|", README, re.MULTILINE)
    known = {command.callback.__name__ for command in app.registered_commands if command.callback is not None}
    assert {command for command, _ in listed} == known
    for command, rest in listed:
        shown = cli(command, "--help")
        assert shown.code == 0
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in shown.out


def test_files_that_are_linked_exist() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        path, _, anchor = target.partition("#")
        assert (ROOT / path).exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [heading.lower().replace(" ", "-") for heading in headings]
