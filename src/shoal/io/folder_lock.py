"""A lock on a folder that several processes write to, perhaps from several machines.

The lock is a file that is created in one step, and only where there is none: local disks, NFS from version 3 on and SMB
guarantee that for all their machines, while locks of the kernel (``flock``) may hold on one machine only without a
word. Creating a file in the folder also makes a client of NFS read it anew, so that whoever has the lock sees what its
last owner wrote. Where nobody guarantees this, as on most file systems in user space, the folder is refused.

A process that is killed leaves its lock behind. On the same machine it is known to be gone by its number and the time
at which it started, and the lock is taken over. Of other machines nothing is known: the error says what to delete.
"""

from __future__ import annotations

import datetime
import errno
import json
import os
import platform
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from shoal.errors import OutputError
from shoal.formatting import duration

LOCK = ".lock"
WAIT_SECONDS = 600.0  # for a run that compares and writes a large release
_PAUSE = 0.02
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}  # what file systems without hard links say
_MOUNTS = Path("/proc/self/mountinfo")
_EXCLUSIVE_FUSE = {"fuseblk", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.gocryptfs", "fuse.encfs", "fuse.bindfs"}
"""File systems in user space that hand exclusive creation on to a disk or a server that guarantees it."""


@dataclass(frozen=True)
class LockOwner:
    """The process that has a lock."""

    host: str
    pid: int
    started: str  # when the process started, in the units of its system; empty where that is not known
    machine: str  # one start of one machine, as far as it sees the same processes; empty where that is not known
    since: str
    token: str

    @staticmethod
    def this_process() -> LockOwner:
        """This process, as the owner of a new lock."""
        now, pid = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), os.getpid()
        return LockOwner(platform.node(), pid, _state(pid)[1], _machine(), now, secrets.token_hex(16))

    @property
    def ended(self) -> bool:
        """Whether the process is known to have ended."""
        if not self.machine or self.machine != _machine():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # a process of somebody else
            pass
        state, started = _state(self.pid)
        return state in {"Z", "X"} or bool(started and started != self.started)


def _state(pid: int) -> tuple[str, str]:
    """The state of a process and when it started; empty where the system does not say."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "", ""
    fields = text.rpartition(")")[2].split()  # the name of a program may have blanks and brackets
    return (fields[0], fields[19]) if len(fields) > 19 else ("", "")


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


@dataclass(frozen=True)
class FolderLock:
    """A lock that this process has."""

    path: Path
    owner: LockOwner

    def check(self) -> None:
        """Raise `OutputError` where the lock was taken away: somebody else may be writing."""
        if _owner_of(self.path) != self.owner:
            message = (
                f"{self.path} was deleted or replaced while this run needed it. Nothing was written; run it again."
            )
            raise OutputError(message, code="lock-lost")


@contextmanager
def locked_folder(
    folder: Path, *, wait: float = WAIT_SECONDS, waiting: Callable[[], None] = lambda: None
) -> Iterator[FolderLock]:
    """Have a folder to oneself; it is created where it is not there, and removed again where it stays empty.

    ``waiting`` is called once where another process has it. Raises `OutputError` after ``wait`` seconds, and at once
    where the folder cannot be locked.
    """
    refuse_unreliable(folder)
    owner = LockOwner.this_process()
    lock, aside = FolderLock(folder / LOCK, owner), folder / f"{LOCK}-{owner.token}"
    created = False
    try:
        try:
            created = _prepare(folder, aside, owner)
            _acquire(lock, aside, wait, waiting)
        except OSError as error:
            message = f"The folder {folder} cannot be locked: {error.strerror or error}."
            raise OutputError(message, code="folder-not-lockable") from None
        yield lock
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        if _owner_of(lock.path) == owner:
            lock.path.unlink(missing_ok=True)
        if created:
            with suppress(OSError):  # it has entries, or another run waits for it
                folder.rmdir()


def _prepare(folder: Path, aside: Path, owner: LockOwner) -> bool:
    """Write what the lock will say beside it; whether the folder had to be created."""
    created = False
    while True:
        try:
            with suppress(FileExistsError):
                folder.mkdir()
                created = True
        except OSError as error:
            message = f"The folder {folder} cannot be created: {error.strerror or error}."
            raise OutputError(message, code="folder-not-created") from None
        with suppress(FileNotFoundError):  # another run has just removed the folder that it had created
            _create(aside, owner)
            return created


def _create(path: Path, owner: LockOwner) -> None:
    """Create a file that names an owner; `FileExistsError` where it is there."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    try:
        os.write(handle, json.dumps(asdict(owner)).encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def _acquire(lock: FolderLock, aside: Path, wait: float, waiting: Callable[[], None]) -> None:
    end, told = time.monotonic() + wait, False
    while not _taken(lock, aside):
        other = _owner_of(lock.path)
        if isinstance(other, LockOwner) and other.ended and _discarded(lock.path, other):
            continue
        if not told:
            waiting()
            told = True
        if time.monotonic() >= end:
            raise _in_use(lock.path, other, wait)
        time.sleep(_PAUSE)
    lock.check()
    with suppress(FileExistsError):
        _create(lock.path, lock.owner)
        message = (
            f"{lock.path.parent} lies where the same file can be created twice, so runs cannot wait for each other."
        )
        raise OutputError(f"{message} {_ELSEWHERE}", code="folder-not-lockable")


def _taken(lock: FolderLock, aside: Path) -> bool:
    """Create the lock with its content, if nobody else has it."""
    try:
        os.link(aside, lock.path)
    except FileExistsError:
        return _owner_of(lock.path) == lock.owner  # a network that lost the answer, and asked again
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        try:
            _create(lock.path, lock.owner)
        except FileExistsError:
            return False
    return True


def _owner_of(path: Path) -> LockOwner | str | None:
    """Who has a lock; None for no lock, and text for one that names nobody."""
    try:
        text = path.read_text(encoding="utf-8")
        return LockOwner(**json.loads(text))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        return "unknown"


def _discarded(path: Path, owner: LockOwner) -> bool:
    """Delete the lock of a process that has ended, unless another process has done so; whether it is gone.

    All who may do this are on one machine, so that a lock of its kernel on the very file lets in one after the other.
    """
    try:
        import fcntl  # noqa: PLC0415  not on Windows, where no process is known to have ended

        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    except (OSError, ImportError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if _owner_of(path) == owner:
            path.unlink(missing_ok=True)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def _in_use(path: Path, owner: LockOwner | str | None, wait: float) -> OutputError:
    who = "another run"
    if isinstance(owner, LockOwner):
        who = f"process {owner.pid} on {owner.host or 'another machine'} since {owner.since}"
    return OutputError(
        f"{path.parent} is in use by {who}, and was not free within {duration(wait)}. Try again later; if that run no "
        f"longer exists, delete {path}.",
        code="folder-in-use",
    )


_ELSEWHERE = "Use a folder on a local disk, NFS (version 3 or later) or SMB."


def refuse_unreliable(folder: Path) -> None:
    """Raise `OutputError` for a folder on a file system on which two machines may create the same file at once."""
    kind, options = _file_system(folder)
    version = re.search(r"(?:^|,)(?:nfs)?vers=(\d+)", options)
    too_old = kind == "nfs" and version is not None and int(version[1]) < 3
    if too_old or (kind.startswith("fuse") and kind not in _EXCLUSIVE_FUSE):
        message = f"{folder} is on a file system ({kind}) that may let two machines create the same file at once."
        raise OutputError(f"{message} {_ELSEWHERE}", code="folder-not-lockable")


def _file_system(folder: Path) -> tuple[str, str]:
    """Kind and options of the file system of a folder; nothing where the system does not list them."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return "", ""
    real, found = Path(os.path.realpath(folder)), (-1, "", "")
    for line in lines:
        mount, _, rest = line.partition(" - ")
        point = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), mount.split()[4]))
        kind, _, options = rest.split(" ", 2)
        if real.is_relative_to(point) and len(point.parts) >= found[0]:
            found = len(point.parts), kind, options
    return found[1:]
