"""The README is true: its commands and its Python session run as written, and what it links to exists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_commands_run_one_after_the_other_as_written(demo: Path, tmp_path: Path) -> None:
    root = shutil.copytree(demo, tmp_path / "project")
    commands = [line for block in blocks("sh") for line in block.splitlines() if not line.startswith("make ")]
    assert "cd out/demo" in commands
    assert any(line.startswith("shoal anonymize ") for line in commands)
    ran = subprocess.run(
        ["/bin/sh", "-e", "-c", "\n".join(commands)], check=False, cwd=root, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    written = {path.name for path in (root / "out/demo").iterdir()}
    assert {"second.csv", "second.evidence.json", "second.report.html"} <= written
    evidence = json.loads((root / "out/demo/second.evidence.json").read_text(encoding="utf-8"))
    assert evidence["verified"]
    assert (evidence["records"], evidence["released"]) == (1200, 1141)


def test_the_make_targets_exist() -> None:
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


def test_files_that_are_linked_exist() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert "docs/howto/visits.md" in targets
    for target in targets:
        path, _, anchor = target.partition("#")
        assert (ROOT / path).exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [heading.lower().replace(" ", "-") for heading in headings], target


def test_it_fits_two_screens() -> None:
    assert len(README.splitlines()) <= 90
