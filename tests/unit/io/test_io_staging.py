from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shoal.errors import OutputError
from shoal.io import Staged, check_outputs

NAMES = ("release.csv", "release.evidence.json", "release.report.html")


@pytest.fixture
def outputs(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "out"
    folder.mkdir()
    return [folder / name for name in NAMES]


def fill(stage: Staged, outputs: list[Path], text: str) -> None:
    for output in outputs:
        stage.path(output).write_text(text)


def publish(outputs: list[Path], *, force: bool = False, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Write every output as "new", let something happen, and commit."""
    with Staged(outputs, force=force) as stage:
        fill(stage, outputs, "new")
        meanwhile()
        stage.commit()


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def old(outputs: list[Path]) -> dict[str, str]:
    for output in outputs:
        output.write_text("old")
    return contents(outputs[0].parent)


def test_outputs_appear_together_on_commit(outputs: list[Path]) -> None:
    with Staged(outputs) as stage:
        fill(stage, outputs, "new")
        assert not any(output.exists() for output in outputs)
        stage.commit()
    assert contents(outputs[0].parent) == dict.fromkeys(NAMES, "new")


def test_a_hidden_file_lies_in_its_folder_with_its_suffix_for_its_owner_only(outputs: list[Path]) -> None:
    with Staged(outputs) as stage:
        for output in outputs:
            hidden = stage.path(output)
            assert hidden.parent == output.parent
            assert hidden.name.startswith(".")
            assert output.stem not in hidden.name
            assert hidden.suffix == output.suffix
            assert stat.S_IMODE(hidden.stat().st_mode) == 0o600


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_an_output_has_the_permissions_of_any_new_file(outputs: list[Path], mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        with Staged(outputs) as stage:
            fill(stage, outputs, "new")
            stage.commit()
    finally:
        os.umask(before)
    assert {stat.S_IMODE(output.stat().st_mode) for output in outputs} == {mode}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_without_commit_everything_is_as_it_was(outputs: list[Path], error: type[BaseException], force: bool) -> None:
    before = old(outputs) if force else {}

    def stop() -> None:
        raise error

    with pytest.raises(error):
        publish(outputs, force=force, meanwhile=stop)
    assert contents(outputs[0].parent) == before


def test_leaving_without_commit_and_without_error_writes_nothing(outputs: list[Path]) -> None:
    with Staged(outputs) as stage:
        fill(stage, outputs, "new")
    assert contents(outputs[0].parent) == {}


def test_existing_outputs_are_named_before_any_work(outputs: list[Path]) -> None:
    outputs[0].write_text("old")
    outputs[2].write_text("old")
    with pytest.raises(OutputError) as caught, Staged(outputs):
        pytest.fail("work began")
    assert str(outputs[0]) in str(caught.value)
    assert str(outputs[1]) not in str(caught.value)
    assert str(outputs[2]) in str(caught.value)
    assert "replace with --force (force=True in Python)" in str(caught.value)
    assert contents(outputs[0].parent) == {NAMES[0]: "old", NAMES[2]: "old"}


def test_force_replaces_what_is_there(outputs: list[Path]) -> None:
    old(outputs)
    with Staged(outputs, force=True) as stage:
        fill(stage, outputs, "new")
        assert contents(outputs[0].parent).items() >= dict.fromkeys(NAMES, "old").items()
        stage.commit()
    assert contents(outputs[0].parent) == dict.fromkeys(NAMES, "new")


def test_an_output_that_appears_during_the_work_is_not_overwritten(outputs: list[Path]) -> None:
    with pytest.raises(OutputError) as caught:
        publish(outputs, meanwhile=lambda: outputs[1].write_text("someone else's"))
    assert caught.value.code == "output-exists"
    assert contents(outputs[0].parent) == {NAMES[1]: "someone else's"}


class Died(BaseException):
    """The process ends here: nothing more is written or renamed."""


@contextmanager
def dying_at(monkeypatch: pytest.MonkeyPatch, rename: int) -> Iterator[None]:
    """From the given rename on, nothing can be renamed or removed any more, as after a kill."""
    calls = 0
    replace = os.replace

    def maybe(source: Path, target: Path) -> None:
        nonlocal calls
        calls += 1
        if calls >= rename:
            raise Died
        replace(source, target)

    def never(*_: object, **__: object) -> None:
        if calls >= rename:
            raise Died

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", maybe)
        patch.setattr(os, "unlink", never)
        patch.setattr(Path, "unlink", never)
        yield


@pytest.mark.parametrize("rename", range(1, 7))
def test_killed_between_renames_no_release_lies_beside_evidence_of_another(
    outputs: list[Path], monkeypatch: pytest.MonkeyPatch, rename: int
) -> None:
    old(outputs)
    with pytest.raises(Died), dying_at(monkeypatch, rename):
        publish(outputs, force=True)
    visible = {name: text for name, text in contents(outputs[0].parent).items() if not name.startswith(".")}
    if rename == 1:
        assert visible == dict.fromkeys(NAMES, "old")
    else:
        assert NAMES[0] not in visible


@pytest.mark.parametrize("rename", range(1, 4))
def test_killed_between_renames_a_first_release_never_lies_alone(
    outputs: list[Path], monkeypatch: pytest.MonkeyPatch, rename: int
) -> None:
    with pytest.raises(Died), dying_at(monkeypatch, rename):
        publish(outputs)
    assert not outputs[0].exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize(("force", "rename"), [*((False, n) for n in (1, 2, 3)), *((True, n) for n in range(1, 7))])
def test_a_rename_that_fails_is_undone(
    outputs: list[Path], monkeypatch: pytest.MonkeyPatch, error: BaseException, force: bool, rename: int
) -> None:
    before = old(outputs) if force else {}
    calls = 0
    replace = os.replace

    def fail_once(source: Path, target: Path) -> None:
        nonlocal calls
        calls += 1
        if calls == rename:
            raise error
        replace(source, target)

    expected = OutputError if isinstance(error, OSError) else KeyboardInterrupt
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_once)
        with pytest.raises(expected):
            publish(outputs, force=force)
    assert calls >= rename
    assert contents(outputs[0].parent) == before


def test_an_old_file_that_cannot_be_brought_back_is_named_where_it_is_kept(
    outputs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    old(outputs)
    calls = 0
    replace = os.replace

    def fail_from_the_fourth(source: Path, target: Path) -> None:
        nonlocal calls
        calls += 1
        if calls >= 4:
            raise OSError(5, "Input/output error")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_from_the_fourth)
        with pytest.raises(OutputError, match=r"kept as .*\.shoal-") as caught:
            publish(outputs, force=True)
    kept = Path(str(caught.value).rsplit("kept as ", 1)[1].rstrip("."))
    assert kept.read_text() == "old"


def test_bytes_are_on_the_disk_before_their_names(outputs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        events.append("sync")
        fsync(handle)

    def renamed(source: Path, target: Path) -> None:
        events.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    publish(outputs)
    assert events == ["sync", "sync", "sync", NAMES[1], NAMES[2], NAMES[0], "sync"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=r"folder .*none for release\.csv does not exist"),
        Staged([tmp_path / "none" / "release.csv"]),
    ):
        pytest.fail("work began")


def test_a_missing_folder_of_several_outputs_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught:
        check_outputs([tmp_path / "none" / name for name in NAMES])
    assert str(caught.value) == f"The folder {tmp_path / 'none'} for {NAMES[0]} does not exist. Create it first."


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="is a file"):
        check_outputs([tmp_path / "file" / "release.csv"])
    with pytest.raises(OutputError, match=r"cannot be written|is a file|does not exist"):
        check_outputs([tmp_path / "file" / "deeper" / "release.csv"])


def test_a_folder_in_place_of_an_output_is_named_even_with_force(tmp_path: Path) -> None:
    (tmp_path / "release.csv").mkdir()
    with pytest.raises(OutputError, match=r"release\.csv is a folder"):
        check_outputs([tmp_path / "release.csv"], force=True)


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # a superuser may write everywhere, so it is acted
    with pytest.raises(OutputError, match="not writable"):
        check_outputs([tmp_path / "release.csv"])


def test_a_folder_that_turns_out_unwritable_leaves_nothing_behind(
    outputs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open
    calls = 0

    def fail_third(path: Path, flags: int, mode: int = 0o777) -> int:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, mode)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail_third)
        with pytest.raises(OutputError, match=r"report\.html cannot be written: Permission denied"), Staged(outputs):
            pytest.fail("work began")
    assert contents(outputs[0].parent) == {}


def test_an_output_must_not_be_an_input_by_any_name(tmp_path: Path) -> None:
    data = tmp_path / "patients.csv"
    data.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(data)
    (tmp_path / "hard.csv").hardlink_to(data)
    (tmp_path / "sub").mkdir()
    for name in ("patients.csv", "link.csv", "hard.csv", "sub/../patients.csv"):
        with pytest.raises(OutputError, match="is an input as well"):
            check_outputs([tmp_path / name], [data], force=True)
    with pytest.raises(OutputError, match="is an input as well"), Staged([data], inputs=[data], force=True):
        pytest.fail("work began")
    check_outputs([tmp_path / "release.csv"], [data])


def test_two_outputs_need_two_names(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    with pytest.raises(OutputError, match="named for two outputs"):
        check_outputs([tmp_path / "a.csv", tmp_path / "sub" / ".." / "a.csv"])


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "there.csv").write_text("x")
    with pytest.raises(OutputError) as caught:
        check_outputs([tmp_path / "there.csv", tmp_path / "folder", tmp_path / "none" / "x"])
    for part in ("there.csv exists already", "folder is a folder", "none for x does not exist"):
        assert part in str(caught.value)


def test_a_link_to_nothing_exists_too(tmp_path: Path) -> None:
    (tmp_path / "release.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="exists already"):
        check_outputs([tmp_path / "release.csv"])
