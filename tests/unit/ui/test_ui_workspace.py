"""The folder of a session."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.ui.server.workspace import Workspace, left_behind, read_json, safe_name, sole_user, write_json
from support.ui_desk import refused


@given(st.text(max_size=300))
def test_no_name_leads_out_of_the_folder(given_name: str) -> None:
    name = safe_name(given_name)
    assert Path("folder", name).parent == Path("folder")
    assert name not in {"", ".", ".."}
    assert not name.startswith((".", "-"))
    assert len(name.encode("utf-8", "surrogatepass")) < 500
    assert not set(name) & set('/\\\x00:*?"<>|')


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("patients.csv", "patients.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\patients.csv", "patients.csv"),
        ("...", "table"),
        ("-rf.csv", "table-rf.csv"),
        ("Pätienten 2024.xlsx", "Pätienten 2024.xlsx"),
    ],
)
def test_a_name_keeps_what_is_harmless(given_name: str, name: str) -> None:
    assert safe_name(given_name) == name


def test_a_long_name_keeps_its_suffix() -> None:
    assert safe_name("x" * 400 + ".parquet").endswith(".parquet")


def test_only_the_owner_may_read_a_session(tmp_path: Path) -> None:
    workspace = Workspace.of(tmp_path / "root", "secret")
    workspace.create()
    write_json(workspace.folder / "note.json", {"a": 1})
    for path in (workspace.folder, workspace.data, workspace.runs, workspace.folder / "note.json"):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077
    assert "secret" not in workspace.folder.name


def test_the_same_secret_finds_the_same_session_and_another_one_none(tmp_path: Path) -> None:
    Workspace.of(tmp_path, "one").create()
    assert Workspace.of(tmp_path, "one").folder.is_dir()
    assert not Workspace.of(tmp_path, "two").folder.is_dir()
    assert [each.folder for each in left_behind(tmp_path)] == [Workspace.of(tmp_path, "one").folder]


@pytest.mark.parametrize("number", ["", "..", "1", "001/..", "0001; ls", "００１", "999"])
def test_a_run_is_a_number_of_this_session(tmp_path: Path, number: str) -> None:
    workspace = Workspace.of(tmp_path, "one")
    workspace.create()
    (workspace.runs / "001").mkdir()
    assert workspace.run("001").is_dir()
    with refused("unknown-run"):
        workspace.run(number)


def test_a_note_is_whole_or_not_there(tmp_path: Path) -> None:
    write_json(tmp_path / "note", {"a": "ä"})
    assert read_json(tmp_path / "note") == {"a": "ä"}
    assert read_json(tmp_path / "other") == {}
    assert [path.name for path in tmp_path.iterdir()] == ["note"]


def test_one_server_at_a_time_holds_a_workspace(tmp_path: Path) -> None:
    with sole_user(tmp_path) as first:
        assert first
        with sole_user(tmp_path) as second:
            assert not second
    with sole_user(tmp_path) as again:
        assert again


def test_nothing_outlives_a_session(tmp_path: Path) -> None:
    workspace = Workspace.of(tmp_path, "one")
    workspace.create()
    (workspace.data / "x.csv").write_text("a\n1\n")
    workspace.delete()
    assert not list(tmp_path.iterdir())
