"""A release is only made where its tag, version, changelog and citation agree."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from support.scripts import load_script

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_script(ROOT / "tools" / "check_release.py")


RELEASED = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-02-01\n\n- A thing.\n\n## [1.1.0] - 2025-12-01\n"


def checkout(
    folder: Path, *, version: str = "1.2.0", changelog: str = RELEASED, cited: str = "1.2.0", date: str = "2026-02-01"
) -> Path:
    (folder / "pyproject.toml").write_text(f'[project]\nname = "shoal"\nversion = "{version}"\n', encoding="utf-8")
    (folder / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    citation = f"cff-version: 1.2.0\nversion: {cited}\ndate-released: {date}\n"
    (folder / "CITATION.cff").write_text(citation, encoding="utf-8")
    return folder


@pytest.mark.parametrize("tag", [None, "v1.2.0"])
def test_a_release_whose_parts_agree_has_no_problems(tool: ModuleType, tmp_path: Path, tag: str | None) -> None:
    assert tool.problems(checkout(tmp_path), tag) == {}


@pytest.mark.parametrize("tag", ["1.2.0", "v1.2", "v1.2.0rc1", "v1.1.0"])
def test_a_tag_that_is_not_the_version_is_a_problem(tool: ModuleType, tmp_path: Path, tag: str) -> None:
    assert set(tool.problems(checkout(tmp_path), tag)) == {"tag"}


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("section", {"version": "1.3.0", "cited": "1.3.0"}),
        ("section", {"changelog": "# Changelog\n"}),
        ("date", {"changelog": RELEASED.replace("[1.2.0] - 2026-02-01", "[1.2.0]")}),
        ("unreleased", {"changelog": RELEASED.replace("## [Unreleased]\n", "## [Unreleased]\n\n- Another thing.\n")}),
        ("cited-version", {"cited": "1.1.0"}),
        ("cited-date", {"date": "2026-02-02"}),
    ],
)
def test_a_part_that_differs_is_a_problem(tool: ModuleType, tmp_path: Path, code: str, changed: dict[str, str]) -> None:
    assert set(tool.problems(checkout(tmp_path, **changed))) == {code}


def test_the_exit_code_says_whether_a_release_may_be_made(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(checkout(tmp_path))
    assert tool.main([folder, "--tag", "v1.2.0"]) == 0
    assert capsys.readouterr().err == ""
    assert tool.main([folder, "--tag", "v1.2.1"]) == 1
    assert "v1.2.1" in capsys.readouterr().err


def test_this_checkout_cites_its_own_version(tool: ModuleType) -> None:
    assert "cited-version" not in tool.problems(ROOT)
