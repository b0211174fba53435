"""Every page of the documentation does what it says: all its code blocks are run, and what they print is compared."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pydantic
import pytest

from shoal import Policy
from shoal.policy.model_specs import build_model
from shoal.policy.yaml_text import load_yaml
from shoal.search import ALGORITHMS
from support.cli import Cli
from support.pages import DOCS, ROOT, Block, blocks, commands, matches, pages, rewrite, updated

pytestmark = pytest.mark.slow

RUN = {"python", "output", "console", "yaml", "csv", "sh", "text", "toml"}
DIRECTIVES = {"{toctree}", "{eval-rst}", "{include}", "{shoal-codes}", "{shoal-help}", "{shoal-declared}"}
SHELL = {"cat", "head", "ls", "mkdir", "cp", "wc", "diff", "python"}
"""Programs besides shoal that a page may call; they are run as written."""
SET_UP = (
    r"python3? -m venv \.venv",
    r"\. \.venv/bin/activate",
    r"\.venv\\Scripts\\activate",
    r'pip install "?[^"\s]*?(?:\[(?P<extras>[a-z,]+)\])?"?',
    r"make (?P<target>[a-z]+)",
    r"git clone \S+",
    r"cd \S+",
    r"python benchmarks/(?P<benchmark>[a-z_]+)\.py",
)
"""The forms of commands that set a machine up: they are not run, but what they name must exist."""
NAMES = [page.relative_to(DOCS).as_posix() for page in pages()]


class Reader:
    """Somebody who follows one page from top to bottom in an empty folder."""

    def __init__(
        self, cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *, update: bool
    ) -> None:
        self.cli, self.monkeypatch, self.capfd, self.update = cli, monkeypatch, capfd, update
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""

    def follow(self, block: Block) -> None:
        """Do what a block says."""
        if block.language in DIRECTIVES:
            return
        assert block.language in RUN, f"{block.location}: a block of {block.language or 'no language'}; mark it as text"
        if block.saved_as is not None:
            Path(block.saved_as).parent.mkdir(parents=True, exist_ok=True)
            Path(block.saved_as).write_text(block.text, encoding="utf-8")
        assert block.language != "csv" or block.saved_as, f"{block.location}: the sentence before names no file"
        getattr(self, f"_{block.language}")(block)

    def _python(self, block: Block) -> None:
        self.capfd.readouterr()
        source = "\n" * (block.line - 1) + block.text
        exec(compile(source, block.location, "exec", dont_inherit=True), self.names)  # pages stand alone
        self.printed = self.capfd.readouterr().out

    def _output(self, block: Block) -> None:
        self._compare(block, block.text, "the block before")

    def _compare(self, block: Block, expected: str, what: str) -> None:
        if self.update and not matches(expected, self.printed):
            new = updated(expected, self.printed)
            rewrite(block, expected, new)
            expected = new
        assert matches(expected, self.printed), f"{block.location}: {what} prints\n{self.printed}"

    def _console(self, block: Block) -> None:
        todo = commands(block)
        for at, command in enumerate(todo):
            code, self.printed = self._shell(command.text)
            if command.output.strip():
                self._compare(block, command.output, command.text)
            followed = at + 1 < len(todo) and todo[at + 1].text == "echo $?"
            assert code == 0 or followed, f"{block.location}: {command.text} ends with {code}\n{self.printed}"
            self.code = code

    def _shell(self, text: str) -> tuple[int, str]:
        if text == "echo $?":
            return 0, f"{self.code}\n"
        program, *arguments = shlex.split(text)
        if program == "shoal":
            ran = self.cli(*arguments)
            return ran.code, ran.out + ran.err
        if program == "cd":
            self.monkeypatch.chdir(arguments[0])
            return 0, ""
        assert program in SHELL, f"{program} is not a command that pages may call"
        done = subprocess.run(["/bin/sh", "-c", text], check=False, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def _yaml(self, block: Block) -> None:
        content, problems = load_yaml(block.text, block.location)
        assert not problems, f"{block.location}: {problems}"
        if block.saved_as and "columns" not in content:
            return  # not a policy, such as a tree
        if "columns" in content and "privacy" in content:
            Policy.model_validate(content)
            return
        unknown = set(content) - set(Policy.model_fields)
        assert not unknown, f"{block.location}: {sorted(unknown)} are not keys of a policy; mark the block as text"
        fields: dict[str, Any] = {key: (Policy.model_fields[key].annotation, ...) for key in content}
        part: Any = pydantic.create_model("Part", **fields).model_validate(content)
        for model in getattr(part, "privacy", ()):
            problems = build_model(model, "secret" if model.model != "k-anonymity" else None).parameter_problems()
            assert not problems, f"{block.location}: {problems}"
        if "algorithm" in content:
            options = part.algorithm.model_fields_set - {"name", "seed"}
            assert options <= ALGORITHMS[part.algorithm.name].option_names, f"{block.location}: {options}"

    def _sh(self, block: Block) -> None:
        for line in block.text.splitlines():
            command = line.split("  #")[0].strip()
            found = next(filter(None, (re.fullmatch(form, command) for form in SET_UP)), None)
            assert found, f"{block.location}: {command} does not look like setting up a machine; use a console block"
            named = found.groupdict()
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert set((named.get("extras") or "").split(",")) - {""} <= set(extras), f"{block.location}: {command}"
            makefile = (ROOT / "Makefile").read_text()
            assert not named.get("target") or re.search(rf"^{named['target']}:", makefile, re.MULTILINE), command
            assert not named.get("benchmark") or (ROOT / f"benchmarks/{named['benchmark']}.py").is_file(), command

    def _csv(self, block: Block) -> None:
        """Only saved."""

    def _toml(self, block: Block) -> None:
        tomllib.loads(block.text)

    def _text(self, block: Block) -> None:
        """Only read."""


@pytest.mark.parametrize("name", NAMES)
def test_a_page_does_what_it_says(
    name: str,
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    update_golden: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(os.environ, "COLUMNS", raising=False)
    reader = Reader(cli, monkeypatch, capfd, update=update_golden)
    for block in blocks(DOCS / name):
        reader.follow(block)
