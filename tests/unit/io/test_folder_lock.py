"""The lock of a folder: one at a time, taken over from a process that is gone, refused where nobody can tell."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from shoal.errors import OutputError
from shoal.io import folder_lock
from shoal.io.folder_lock import LOCK, LockOwner, locked_folder, refuse_unreliable

ON_LINUX = pytest.mark.skipif(not LockOwner.this_process().machine, reason="the system does not tell its processes")


def hold(folder: Path, owner: LockOwner) -> Path:
    """A lock as some process left it."""
    (folder / LOCK).write_text(json.dumps(asdict(owner)))
    return folder / LOCK


def gone() -> LockOwner:
    """A process of this machine that has ended."""
    program = [sys.executable, "-c", "import os; print(os.getpid())"]
    pid = int(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    return replace(LockOwner.this_process(), pid=pid, started="1")


def test_a_lock_names_its_owner_and_goes_with_it(tmp_path: Path) -> None:
    with locked_folder(tmp_path) as lock:
        assert [path.name for path in tmp_path.iterdir() if path.name == LOCK] == [LOCK]
        assert json.loads(lock.path.read_text())["pid"] == os.getpid()
        lock.check()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_stays_empty_is_removed_again_and_only_by_who_created_it(tmp_path: Path) -> None:
    with locked_folder(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert not (tmp_path / "new").exists()
    with locked_folder(tmp_path / "new"):
        (tmp_path / "new" / "entry").touch()
    assert (tmp_path / "new").is_dir()


@pytest.mark.parametrize("links", [True, False])
def test_only_one_thread_at_a_time_has_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """Also on file systems without hard links."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    count, inside = tmp_path / "count", 0
    count.write_text("0")
    seen: list[int] = []

    def add() -> None:
        nonlocal inside
        for _ in range(5):
            with locked_folder(tmp_path / "folder"):
                inside += 1
                seen.append(inside)
                count.write_text(str(int(count.read_text()) + 1))
                inside -= 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count.read_text() == "20"
    assert set(seen) == {1}


def test_a_folder_in_use_is_waited_for_and_then_refused(tmp_path: Path) -> None:
    waits: list[str] = []
    with locked_folder(tmp_path) as lock:
        with (
            pytest.raises(OutputError) as caught,
            locked_folder(tmp_path, wait=0.1, waiting=lambda: waits.append("once")),
        ):
            pytest.fail("two have it")
        lock.check()
    assert caught.value.code == "folder-in-use"
    assert waits == ["once"]


@ON_LINUX
@pytest.mark.parametrize("change", [{}, {"pid": os.getpid(), "started": "1"}])
def test_the_lock_of_a_process_that_is_gone_is_taken_over(tmp_path: Path, change: dict[str, object]) -> None:
    """Also where its number belongs to another process by now."""
    hold(tmp_path, replace(gone(), **change))  # type: ignore[arg-type]
    with locked_folder(tmp_path, wait=0) as lock:
        lock.check()
    assert list(tmp_path.iterdir()) == []


@ON_LINUX
def test_a_killed_process_that_nobody_waited_for_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1)
    assert process.stdout is not None
    process.stdout.readline()
    started = folder_lock._state(process.pid)[1]
    owner = replace(LockOwner.this_process(), pid=process.pid, started=started)
    assert not owner.ended
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and still in the table of processes
    assert owner.ended
    process.communicate()
    assert owner.ended


@pytest.mark.parametrize("machine", ["", "another machine"])
def test_the_lock_of_another_machine_is_never_taken_over(tmp_path: Path, machine: str) -> None:
    lock = hold(tmp_path, replace(gone(), machine=machine, host="elsewhere"))
    with pytest.raises(OutputError) as caught, locked_folder(tmp_path, wait=0.05):
        pytest.fail("it was taken over")
    assert caught.value.code == "folder-in-use"
    assert "elsewhere" in str(caught.value)
    assert str(lock) in str(caught.value)
    lock.unlink()
    with locked_folder(tmp_path, wait=0):
        pass


@pytest.mark.parametrize("content", ["", "{}", "[1]", "null"])
def test_a_lock_that_names_nobody_is_never_taken_over(tmp_path: Path, content: str) -> None:
    (tmp_path / LOCK).write_text(content)
    with pytest.raises(OutputError) as caught, locked_folder(tmp_path, wait=0.05):
        pytest.fail("it was taken over")
    assert caught.value.code == "folder-in-use"
    assert (tmp_path / LOCK).read_text() == content


@ON_LINUX
def test_who_finds_the_lock_of_a_dead_process_replaced_leaves_it(tmp_path: Path) -> None:
    dead = gone()
    path = hold(tmp_path, LockOwner.this_process())
    assert folder_lock._discarded(path, dead)
    assert path.exists()


def test_where_a_file_can_be_created_twice_the_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def careless(path: Path, flags: int, mode: int = 0o777) -> int:
        return opened(path, flags & ~os.O_EXCL, mode)

    monkeypatch.setattr(os, "open", careless)
    with pytest.raises(OutputError) as caught, locked_folder(tmp_path):
        pytest.fail("it is locked")
    assert caught.value.code == "folder-not-lockable"


MOUNTS = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:30 / {root}/nfs rw - nfs server:/x rw,vers=3,addr=10.0.0.1
31 27 0:31 / {root}/nfs2 rw - nfs server:/x rw,vers=2,addr=10.0.0.1
32 27 0:32 / {root}/nfs4 rw - nfs4 server:/x rw,vers=4.2
33 27 0:33 / {root}/smb rw - cifs //server/x rw,vers=3.1.1
34 27 0:34 / {root}/with\\040blank rw - fuse.s3fs s3fs rw
35 27 0:35 / {root}/sshfs rw - fuse.sshfs user@host:/x rw
36 27 0:36 / {root}/gluster rw - fuse.glusterfs server:/x rw
37 35 0:37 / {root}/sshfs/disk rw - ext4 /dev/vdb rw
"""


@pytest.mark.parametrize(
    ("folder", "lockable"),
    [("", True), ("nfs", True), ("nfs2", False), ("nfs4", True), ("smb/x/y", True), ("with blank/new", False),
     ("sshfs", False), ("gluster", True), ("sshfs/disk/x", True), ("nfsx", True)],
)  # fmt: skip
def test_file_systems_that_guarantee_nothing_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, lockable: bool
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS.format(root=os.path.realpath(tmp_path)))
    monkeypatch.setattr(folder_lock, "_MOUNTS", mounts)
    if lockable:
        refuse_unreliable(tmp_path / folder)
        return
    with pytest.raises(OutputError) as caught:
        refuse_unreliable(tmp_path / folder)
    assert caught.value.code == "folder-not-lockable"
