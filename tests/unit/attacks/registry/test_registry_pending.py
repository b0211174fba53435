"""What a run leaves behind that was killed while it put its release in place, and releases that come again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.attacks.registry.entry import Entry
from shoal.attacks.registry.folder import Registry
from shoal.attacks.registry.pending import PENDING, PendingRelease
from shoal.errors import InputError, OutputError
from support.release_cases import COLUMNS, entry_of, policy_of, table_of

ROWS = [("A", "*", "HIV"), ("A", "*", "flu"), ("B", "*", None)]


def entry(name: str, **others: Any) -> Entry:
    made = entry_of(policy_of(), table_of(list(COLUMNS), ROWS), name=name)
    return Entry(**{**vars(made), "release_sha256": name, **others})


def add(folder: Path, *entries: Entry) -> None:
    for each in entries:
        with Registry.locked(folder) as registry, registry.adding(each):
            pass


def names(folder: Path) -> list[str]:
    return [each.name for each in Registry.open(folder).entries]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    add(tmp_path / "registry", entry("a"))
    return tmp_path / "registry"


def test_a_release_that_was_not_put_in_place_yet_is_forgotten_with_its_hidden_files(
    folder: Path, tmp_path: Path
) -> None:
    hidden = tmp_path / ".shoal-1.csv"
    hidden.write_text("rows")
    PendingRelease(entry("b"), (hidden,)).write(folder)
    assert names(folder) == ["a"]
    with Registry.locked(folder) as registry:
        assert [each.name for each in registry.entries] == ["a"]
        assert registry.completed == ()
    assert not hidden.exists()
    assert not (folder / PENDING).exists()


@pytest.mark.parametrize("still_there", [0, 1])
def test_a_release_that_may_be_in_place_counts_and_its_entry_is_completed(
    folder: Path, tmp_path: Path, still_there: int
) -> None:
    """Also where only one of two linked tables was put in place."""
    hidden = [tmp_path / ".shoal-1.csv", tmp_path / ".shoal-2.csv"]
    for path in hidden[:still_there]:
        path.write_text("rows")
    PendingRelease(entry("b"), tuple(hidden)).write(folder)
    assert names(folder) == ["a", "b"]  # readers need no lock for it
    assert (folder / PENDING).exists()
    with Registry.locked(folder) as registry:
        assert registry.completed == ("b",)
    assert not (folder / PENDING).exists()
    assert (folder / "b.json").exists()
    with Registry.locked(folder) as registry:
        assert registry.completed == ()
        assert [each.name for each in registry.entries] == ["a", "b"]


def test_completing_an_entry_does_not_hide_that_another_is_missing(folder: Path) -> None:
    PendingRelease(entry("b"), ()).write(folder)
    (folder / "a.json").unlink()
    for _ in range(2):
        with pytest.raises(InputError) as caught, Registry.locked(folder):
            pytest.fail("it is locked")
        assert caught.value.code == "registry-entry-missing"


def test_a_release_of_which_nobody_can_tell_stays_pending_and_counts(folder: Path) -> None:
    with (
        pytest.raises(OutputError),
        Registry.locked(folder) as registry,
        registry.adding(entry("b"), [folder / ".shoal-gone"]),
    ):
        raise OutputError("the connection broke", code="not-committed")
    assert names(folder) == ["a", "b"]


def test_a_damaged_pending_entry_is_named(folder: Path) -> None:
    (folder / PENDING).write_text("{}")
    with pytest.raises(InputError) as caught:
        Registry.open(folder)
    assert caught.value.code == "registry-pending-damaged"


def test_a_lock_that_was_taken_away_stops_the_run_before_its_release_appears(folder: Path) -> None:
    with Registry.locked(folder) as registry:
        (folder / ".lock").unlink()
        with pytest.raises(OutputError) as caught, registry.adding(entry("b")):
            pytest.fail("the release is put in place")
    assert caught.value.code == "lock-lost"
    assert names(folder) == ["a"]


def current(folder: Path) -> list[str]:
    return [each.name for each in Registry.open(folder).current]


def test_a_withdrawn_release_that_comes_again_counts_again_until_it_is_withdrawn_again(folder: Path) -> None:
    add(folder, entry("b", replaces=("a",)))
    assert current(folder) == ["b"]
    assert Registry.open(folder).remembered("a", ()) is None
    add(folder, entry("a-2", release_sha256="a"))
    assert current(folder) == ["a-2", "b"]
    add(folder, entry("c", replaces=("a",)))
    assert current(folder) == ["b", "c"]
    add(folder, entry("a-3", release_sha256="a"))
    assert current(folder) == ["a-3", "b", "c"]


def test_the_same_release_twice_is_one_entry_unless_it_withdraws_another(folder: Path) -> None:
    add(folder, entry("b", replaces=("a",)))
    registry = Registry.open(folder)
    first, second = registry.named(["a", "b"])
    assert registry.remembered("b", ()) is second
    assert registry.remembered("b", (first,)) is second
    add(folder, entry("a-2", release_sha256="a"))
    registry = Registry.open(folder)
    assert registry.remembered("b", registry.named(["a-2"])) is None


def test_a_release_that_replaces_itself_counts(folder: Path) -> None:
    add(folder, entry("a-2", release_sha256="a", replaces=("a",)))
    assert current(folder) == ["a-2"]


def test_an_entry_that_says_nothing_new_reads_as_before() -> None:
    assert '"after"' not in entry("a").to_json()
    again = entry("a", after=("b",))
    assert Entry.from_json(again.to_json().encode(), "a").after == ("b",)
