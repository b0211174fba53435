"""The folder of a registry: whole entries or none, and a clear word about everything that does not belong there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.attacks.registry.entry import Entry
from shoal.attacks.registry.folder import Registry
from shoal.errors import InputError, OutputError
from support.cli import snapshot
from support.release_cases import COLUMNS, entry_of, policy_of, table_of

ROWS = [("A", "*", "HIV"), ("A", "*", "flu"), ("B", "*", None)]


def entry(name: str = "2026-01-31-clinic", date: str = "2026-01-31", **others: Any) -> Entry:
    made = entry_of(policy_of(), table_of(list(COLUMNS), ROWS), name=name, date=date)
    return Entry(**{**vars(made), **others})


def add(folder: Path, *entries: Entry) -> None:
    for each in entries:
        with Registry.locked(folder) as registry, registry.adding(each):
            pass


def test_a_registry_that_is_not_there_yet_is_empty_and_the_first_entry_makes_it(tmp_path: Path) -> None:
    folder = tmp_path / "registry"
    assert Registry.open(folder).entries == ()
    assert not folder.exists()
    add(folder, entry())
    (found,) = Registry.open(folder).entries
    assert found.to_json() == entry().to_json()
    assert sorted(path.name for path in folder.iterdir()) == ["2026-01-31-clinic.json", "index.json"]
    (listed,) = json.loads((folder / "index.json").read_text())["entries"]
    assert listed == {**entry().identity, "records": 3}


def test_entries_come_in_the_order_of_their_days(tmp_path: Path) -> None:
    add(tmp_path, entry("b", "2026-02-01", release_sha256="b"), entry("a", "2026-03-01", release_sha256="a"),
        entry("c", "2026-01-01", release_sha256="c"))  # fmt: skip
    assert [each.name for each in Registry.open(tmp_path).entries] == ["c", "b", "a"]


def test_two_entries_of_one_release_are_one(tmp_path: Path) -> None:
    same = {"release_sha256": "f" * 64}
    add(tmp_path, entry("x", "2026-03-01", **same), entry("y", "2026-02-01", **same), entry("z", "2026-04-01"))
    assert [each.name for each in Registry.open(tmp_path).current] == ["y", "z"]


def test_what_is_replaced_is_remembered_and_no_longer_current(tmp_path: Path) -> None:
    add(tmp_path, entry("a", release_sha256="a"), entry("b", release_sha256="b", replaces=("a",)))
    registry = Registry.open(tmp_path)
    assert [each.name for each in registry.entries] == ["a", "b"]
    assert [each.name for each in registry.current] == ["b"]


def test_names_are_free_safe_and_found(tmp_path: Path) -> None:
    assert Registry.open(tmp_path).free_name("2026-01-31", "Ärzte & Co./x") == "2026-01-31-rzte-Co.-x"
    assert Registry.open(tmp_path).free_name("2026-01-31", "…") == "2026-01-31-release"
    add(tmp_path, entry("2026-01-31-clinic"))
    registry = Registry.open(tmp_path)
    assert registry.free_name("2026-01-31", "clinic") == "2026-01-31-clinic-2"
    assert registry.named(["2026-01-31-clinic"])[0].name == "2026-01-31-clinic"
    with pytest.raises(InputError, match="Did you mean '2026-01-31-clinic'"):
        registry.named(["2026-01-31-clinik"])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda raw: raw[: len(raw) // 2], "it is not JSON"),
        (lambda _: b"", "it is not JSON"),
        (lambda _: b"{}", "does not say that it is a shoal registry entry"),
        (lambda _: b"[1]", "does not say that it is a shoal registry entry"),
        (lambda raw: raw.replace(b'"version": 1', b'"version": 2'), "version 2"),
        (lambda raw: raw.replace(b'"HIV"', b'"gout"'), "damaged, or was edited"),
        (lambda raw: raw.replace(b"2026-01-31", b"2026-01-30"), "damaged, or was edited"),
        (lambda _: b"[" * 100_000, "it is not JSON"),
    ],
)
def test_a_damaged_entry_is_named_with_the_reason(tmp_path: Path, damage: Any, words: str) -> None:
    add(tmp_path, entry())
    file = tmp_path / "2026-01-31-clinic.json"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(InputError, match=r"2026-01-31-clinic\.json is not an entry of a registry") as caught:
        Registry.open(tmp_path)
    assert words in str(caught.value)


def resealed(change: Any) -> bytes:
    """An entry that was changed and sealed again: its digest is right, its content is not."""
    from shoal.attacks.registry.entry import _digest

    content = json.loads(entry().to_json())
    head = {key: content.pop(key) for key in ("format", "version", "sha256")}
    change(content)
    return json.dumps({**head, "sha256": _digest(content), **content}).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.pop("date"),
        lambda content: content.update(date="January"),
        lambda content: content.update(classes=7),
        lambda content: content["classes"].update(sizes=[]),
        lambda content: content["classes"].update(sizes=[9, 9]),
        lambda content: content["classes"]["quasi"]["home"].update(cells=[0, 7]),
        lambda content: content["classes"]["sensitive"]["illness"].update(starts=[0]),
        lambda content: content["classes"]["sensitive"]["illness"].update(codes=[0, 1, -1]),
        lambda content: content["classes"]["sensitive"]["illness"].update(counts=["a"]),
        lambda content: content["classes"].update(quasi={}),
    ],
)
def test_an_entry_whose_parts_do_not_fit_together_is_refused(tmp_path: Path, change: Any) -> None:
    (tmp_path / "x.json").write_bytes(resealed(change))
    with pytest.raises(InputError, match=r"x\.json is not an entry of a registry"):
        Registry.open(tmp_path)
    (tmp_path / "x.json").write_bytes(resealed(lambda _: None))
    assert len(Registry.open(tmp_path).entries) == 1


@pytest.mark.parametrize("foreign", ["notes.txt", "release.csv", "folder"])
def test_what_does_not_belong_there_is_named(tmp_path: Path, foreign: str) -> None:
    add(tmp_path, entry())
    (tmp_path / foreign).mkdir() if foreign == "folder" else (tmp_path / foreign).write_text("x")
    with pytest.raises(InputError, match=f"{foreign} is not an entry of a registry"):
        Registry.open(tmp_path)


def test_a_file_is_no_registry_and_a_damaged_index_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="a registry is a folder"):
        Registry.open(tmp_path / "file")
    add(tmp_path / "registry", entry())
    (tmp_path / "registry" / "index.json").write_text("{}")
    with pytest.raises(InputError, match="not the index of a registry"):
        Registry.open(tmp_path / "registry")


def test_an_entry_that_was_taken_away_is_missed(tmp_path: Path) -> None:
    add(tmp_path, entry("a", release_sha256="a"), entry("b", release_sha256="b"))
    (tmp_path / "a.json").unlink()
    with pytest.raises(InputError, match="lists a, but the file is missing"):
        Registry.open(tmp_path)


def test_what_a_killed_run_leaves_is_read_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """Hidden files, an entry that the index does not have yet, no index: the next entry brings it up to date."""
    add(tmp_path, entry("a", release_sha256="a"))
    (tmp_path / ".shoal-0123.json").write_bytes(b"{half")
    (tmp_path / "b.json").write_text(entry("b", release_sha256="b").to_json())
    assert [each.name for each in Registry.open(tmp_path).entries] == ["a", "b"]
    (tmp_path / "index.json").unlink()
    assert [each.name for each in Registry.open(tmp_path).entries] == ["a", "b"]
    add(tmp_path, entry("c", release_sha256="c"))
    listed = json.loads((tmp_path / "index.json").read_text())["entries"]
    assert [each["name"] for each in listed] == ["a", "b", "c"]


KILLED = f"""
import os, pathlib, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from support.release_cases import COLUMNS, entry_of, policy_of, table_of
from shoal.attacks.registry.folder import Registry
made = entry_of(policy_of(), table_of(list(COLUMNS), {ROWS!r}), name="b")
calls = 0
def dying(real, last):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == last:
            os._exit(9)
        return real(*args, **kwargs)
    return call
for folder in sys.argv[1:]:
    moment, last = pathlib.Path(folder).name.split("-")
    if os.fork() == 0:
        holder = pathlib.Path if moment == "replace" else os
        setattr(holder, moment, dying(getattr(holder, moment), int(last)))
        with Registry.locked(folder) as registry, registry.adding(made):
            pass
        os._exit(0)
    os.wait()
"""
"""Adds an entry to each folder in a process of its own, which dies at the n-th rename or flush."""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_run_killed_at_any_moment_leaves_whole_entries_only(tmp_path: Path) -> None:
    folders = [tmp_path / f"{moment}-{last}" for moment in ("replace", "fsync") for last in range(1, 9)]
    for folder in folders:
        add(folder, entry("a", release_sha256="a"))
    program = [sys.executable, "-W", "ignore", "-c", KILLED, *map(str, folders)]
    ran = subprocess.run(program, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found = set()
    for folder in folders:
        names = [each.name for each in Registry.open(folder).entries]
        found.add(tuple(names))
        assert names in (["a"], ["a", "b"])
        add(folder, entry("c", release_sha256="c"))
        assert [each.name for each in Registry.open(folder).entries] == [*names, "c"]
    assert len(found) == 2  # some died before, some after


def test_an_entry_is_taken_back_when_what_it_was_for_fails(tmp_path: Path) -> None:
    folder = tmp_path / "registry"
    with pytest.raises(RuntimeError), Registry.locked(folder) as registry, registry.adding(entry("a")):
        raise RuntimeError
    assert not folder.exists()
    add(folder, entry("a", release_sha256="a"))
    before = snapshot(folder)
    with (
        pytest.raises(KeyboardInterrupt),
        Registry.locked(folder) as registry,
        registry.adding(entry("b", release_sha256="b")),
    ):
        raise KeyboardInterrupt
    assert snapshot(folder) == before


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError) as caught, Registry.locked(tmp_path):
            pytest.fail("it is locked")
    finally:
        tmp_path.chmod(0o700)
    assert caught.value.code == "folder-not-lockable"


def test_a_registry_is_made_in_a_folder_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught, Registry.locked(tmp_path / "no" / "where"):
        pytest.fail("it is locked")
    assert caught.value.code == "folder-not-created"
    assert snapshot(tmp_path) == {}
