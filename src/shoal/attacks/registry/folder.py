"""The folder of a registry: one file per entry, and an index that shows when one is missing.

A run compares its release with the entries and adds its own under a lock, as one step. The entry is written as pending
before the release is put in place; afterwards the entry comes into being whole, by a rename, and the index after it.
What a killed run leaves behind is a lock, a pending entry, or an entry that the index does not have yet: readers count
a pending release unless it is certain that none of it was published, and the next run with the lock brings everything
up to date. An entry that the index has and the folder lacks is an error: somebody removed it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from shoal.attacks.registry.entry import Entry, read_document
from shoal.attacks.registry.pending import PENDING, PendingRelease
from shoal.errors import InputError, OutputError, ShoalError, did_you_mean
from shoal.formatting import listing
from shoal.io.folder_lock import WAIT_SECONDS, FolderLock, locked_folder
from shoal.io.staging import MAY_BE_COMMITTED, remove_leftovers, write_durably

VERSION = 1
INDEX, FORMAT = "index.json", "shoal registry"

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_order = attrgetter("date", "name")


@dataclass(frozen=True)
class Registry:
    """What was published before, oldest first."""

    path: Path
    entries: tuple[Entry, ...]
    completed: tuple[str, ...] = ()  # the entries of killed runs that were completed when the lock was taken
    lock: FolderLock | None = None  # what lets this process add entries

    @staticmethod
    def open(path: str | Path) -> Registry:
        """Read a registry; a folder that is not there yet, or is empty, has no entries.

        Raises `InputError` for anything in it that is no entry, that is damaged, or that has gone.
        """
        folder = Path(path)
        try:
            if not folder.exists():
                return Registry(folder, ())
            if not folder.is_dir():
                raise InputError(f"{folder} is a file; a registry is a folder.", code="registry-is-file")
            # in this order, a run that adds an entry meanwhile changes nothing but whether it is seen
            listed = _listed(folder / INDEX)
            pending = PendingRelease.read(folder)
            files = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
            entries = [_read(each) for each in files if each.name != INDEX]
        except OSError as error:
            message = f"The registry {folder} cannot be read: {error.strerror or error}."
            raise InputError(message, code="registry-unreadable") from None
        names = {entry.name for entry in entries}
        if gone := [name for name in listed if name not in names]:
            raise InputError(
                f"The registry {folder} lists {listing(gone)}, but the file is missing. Restore it, or delete {INDEX} "
                "if the release was never given to anybody.",
                code="registry-entry-missing",
            )
        if pending is not None and pending.entry.name not in names and pending.may_be_published:
            entries.append(pending.entry)
        return Registry(folder, tuple(sorted(entries, key=_order)))

    @staticmethod
    @contextmanager
    def locked(
        path: str | Path, *, wait: float = WAIT_SECONDS, waiting: Callable[[], None] = lambda: None
    ) -> Iterator[Registry]:
        """A registry that nobody else changes meanwhile, with what killed runs left behind put in order.

        ``waiting`` is called once where another run has it; after ``wait`` seconds that is an `OutputError`.
        """
        folder = Path(path)
        with locked_folder(folder, wait=wait, waiting=waiting) as lock:
            completed = _recover(folder)
            yield replace(Registry.open(folder), completed=completed, lock=lock)

    def is_withdrawn(self, entry: Entry) -> bool:
        """Whether a later entry has replaced an entry; not one that it came again after."""
        return any(
            entry.release_sha256 in each.replaces and each.name not in (*entry.after, entry.name)
            for each in self.entries
        )

    @property
    def current(self) -> tuple[Entry, ...]:
        """The entries that no other has replaced; the first of several of one release."""
        first = dict[str, Entry]()
        for entry in self.entries:
            if not self.is_withdrawn(entry):
                first.setdefault(entry.release_sha256, entry)
        return tuple(first.values())

    def of_release(self, digest: str) -> Entry | None:
        """The entry of a release by its hash, one that is not withdrawn where there is any."""
        found = [entry for entry in (*self.current, *self.entries) if entry.release_sha256 == digest]
        return found[0] if found else None

    def named(self, names: Sequence[str]) -> tuple[Entry, ...]:
        """The entries of some names; `InputError` for a name that there is not."""
        by_name = {entry.name: entry for entry in self.entries}
        for name in names:
            if name not in by_name:
                message = f"The registry {self.path} has no entry {name!r}. {did_you_mean(name, by_name)}"
                raise InputError(message, code="registry-no-entry")
        return tuple(by_name[name] for name in names)

    def free_name(self, date: str, stem: str) -> str:
        """A name for a new entry: the date and the name of the release, numbered where that is taken."""
        base = f"{date}-{_UNSAFE.sub('-', stem).strip('.-') or 'release'}"
        taken = {entry.name for entry in self.entries}
        names = (base if number == 1 else f"{base}-{number}" for number in itertools.count(1))
        return next(name for name in names if name not in taken and not (self.path / f"{name}.json").exists())

    def remembered(self, digest: str, replaces: Sequence[Entry]) -> Entry | None:
        """The entry that already says all of a release and what it replaces; None where a new one is needed."""
        known = next((entry for entry in self.current if entry.release_sha256 == digest), None)
        return None if any(not self.is_withdrawn(entry) for entry in replaces) else known

    @contextmanager
    def adding(self, entry: Entry, hidden: Sequence[Path] = ()) -> Iterator[Path]:
        """Add an entry while its release is put in place; it is taken back when that fails.

        ``hidden`` are the files of the release under the names that they have until then.
        """
        assert self.lock is not None, "entries are added under the lock"
        self.lock.check()
        again = tuple(each.name for each in self.entries if entry.release_sha256 in each.replaces)
        entry = replace(entry, after=again)
        try:
            with _registry_errors(self.path):
                PendingRelease(entry, tuple(hidden)).write(self.path)
            yield self.path / f"{entry.name}.json"
        except BaseException as error:
            if not (isinstance(error, ShoalError) and error.code == MAY_BE_COMMITTED):
                (self.path / PENDING).unlink(missing_ok=True)
            raise
        try:
            _complete(self.path, entry, [*self.entries, entry])
        except OSError as error:
            raise OutputError(
                f"The release is in place and counts as published, but its entry in {self.path} is not complete: "
                f"{error.strerror or error}. The next run with this registry completes it.",
                code="registry-not-completed",
            ) from None


def _complete(folder: Path, entry: Entry, entries: Sequence[Entry]) -> None:
    """Turn a pending entry into an entry, and list all entries."""
    write_durably(folder / f"{entry.name}.json", entry.to_json().encode())
    listed = [{**each.identity, "records": each.records} for each in sorted(entries, key=_order)]
    content = {"format": FORMAT, "version": VERSION, "entries": listed}
    write_durably(folder / INDEX, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
    (folder / PENDING).unlink(missing_ok=True)


def _recover(folder: Path) -> tuple[str, ...]:
    """Put in order what a killed run left behind; the names of the entries that were completed."""
    with _registry_errors(folder):
        remove_leftovers(folder)
        pending = PendingRelease.read(folder)
        if pending is None:
            return ()
        if pending.may_be_published:
            there = (folder / f"{pending.entry.name}.json").exists()
            _complete(folder, pending.entry, Registry.open(folder).entries)
            return () if there else (pending.entry.name,)
        for path in pending.hidden:
            path.unlink(missing_ok=True)
        (folder / PENDING).unlink(missing_ok=True)
        return ()


@contextmanager
def _registry_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"The registry {folder} cannot be written: {error.strerror or error}."
        raise OutputError(message, code="registry-not-written") from None


def _read(file: Path) -> Entry:
    if file.is_dir() or file.suffix != ".json":
        message = f"{file} is not an entry of a registry, and nothing else belongs there. Move it away."
        raise InputError(message, code="registry-stray-file")
    try:
        return Entry.from_json(file.read_bytes(), file.stem)
    except ValueError as error:
        message = f"{file} is not an entry of a registry: {error}. Restore the file, or move it away."
        raise InputError(message, code="registry-entry-damaged") from None


def _listed(index: Path) -> list[str]:
    """The names that the index has; none where there is no index."""
    try:
        return [str(each["name"]) for each in read_document(index.read_bytes(), FORMAT, VERSION)["entries"]]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{index} is not the index of a registry: {error}. Restore the file, or delete it: it is written again "
            "from the entries.",
            code="registry-index-damaged",
        ) from None
