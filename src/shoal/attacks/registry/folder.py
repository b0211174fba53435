"""The folder of a registry: one file per entry, and an index that shows when one is missing.

An entry comes into being whole, by a rename, and the index after it. What a killed run leaves behind is at worst an
entry that the index does not have yet, or no index: both are read as if nothing had happened, and the next entry brings
the index up to date. An entry that the index has and the folder lacks is an error: somebody removed it.

An entry is one JSON file: which release, by which policy, when, and its signature. It carries the hash of its own
content, so that a damaged file is told apart from one that says something else.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from shoal.attacks.registry.signature import Signature
from shoal.errors import InputError, OutputError, did_you_mean
from shoal.facts import Facts
from shoal.formatting import listing
from shoal.io import Staged

ENTRY_FORMAT = "shoal registry entry"
VERSION = 1
INDEX, FORMAT = "index.json", "shoal registry"


@dataclass(frozen=True, eq=False)
class ReleaseIdentity(Facts):
    """What identifies a release: no path, and nothing of its classes."""

    name: str
    """How the owner names it; the name of its file without the suffix."""
    date: str
    """The day of the release, as an ISO date: no time of day."""
    release_sha256: str


@dataclass(frozen=True, eq=False)
class Entry:
    """One release that was published."""

    name: str
    date: str
    release_sha256: str
    policy_sha256: str
    signature: Signature
    replaces: tuple[str, ...] = ()  # the releases, by their hashes, that were withdrawn for this one

    @property
    def records(self) -> int:
        """Records released."""
        return int(self.signature.sizes.sum())

    @property
    def identity(self) -> ReleaseIdentity:
        """What identifies the release."""
        return ReleaseIdentity(self.name, self.date, self.release_sha256)

    def to_json(self) -> str:
        """The entry as it is written to disk."""
        content = {**self.identity, "policy_sha256": self.policy_sha256, "replaces": list(self.replaces),
                   "records": self.records, "classes": self.signature.to_dict()}  # fmt: skip
        head = {"format": ENTRY_FORMAT, "version": VERSION, "sha256": _digest(content)}
        return json.dumps({**head, **content}, ensure_ascii=False, allow_nan=False) + "\n"

    @staticmethod
    def from_json(raw: bytes, name: str) -> Entry:
        """Read an entry back; `ValueError` that says why for what is none."""
        content = read_document(raw, ENTRY_FORMAT, VERSION)
        claimed = content.pop("sha256", None)
        if claimed != _digest({key: value for key, value in content.items() if key not in {"format", "version"}}):
            raise ValueError("its content is not what was written: it is damaged, or was edited")
        try:
            datetime.date.fromisoformat(content["date"])
            release, policy = str(content["release_sha256"]), str(content["policy_sha256"])
            signature, replaces = Signature.from_dict(content["classes"]), tuple(map(str, content["replaces"]))
            return Entry(name, content["date"], release, policy, signature, replaces)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it lacks or mistakes {error}") from None


def read_document(raw: bytes, kind: str, version: int) -> dict[str, Any]:
    """The content of a JSON file of a kind; `ValueError` that says why for anything else."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(content, dict) or content.get("format") != kind:
        raise ValueError(f"it does not say that it is a {kind}")
    if content.get("version") != version:
        raise ValueError(f"it is of version {content.get('version')!r}, and this Shoal reads version {version}")
    return content


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_order = attrgetter("date", "name")


@dataclass(frozen=True)
class Registry:
    """What was published before, oldest first."""

    path: Path
    entries: tuple[Entry, ...]

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
            files = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
            entries = [_read(each) for each in files if each.name != INDEX]
            listed = _listed(folder / INDEX) if (folder / INDEX).exists() else []
        except OSError as error:
            message = f"The registry {folder} cannot be read: {error.strerror or error}."
            raise InputError(message, code="registry-unreadable") from None
        gone = [name for name in listed if name not in {entry.name for entry in entries}]
        if gone:
            raise InputError(
                f"The registry {folder} lists {listing(gone)}, but the file is missing. Restore it, or delete {INDEX} "
                "if the release was never given to anybody.",
                code="registry-entry-missing",
            )
        distinct = {entry.release_sha256: entry for entry in sorted(entries, key=_order, reverse=True)}
        return Registry(folder, tuple(sorted(distinct.values(), key=_order)))

    @property
    def current(self) -> tuple[Entry, ...]:
        """The entries that no other has replaced."""
        replaced = {digest for entry in self.entries for digest in entry.replaces}
        return tuple(entry for entry in self.entries if entry.release_sha256 not in replaced)

    def of_release(self, digest: str) -> Entry | None:
        """The entry of a release by its hash."""
        return next((entry for entry in self.entries if entry.release_sha256 == digest), None)

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
        names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken and not (self.path / f"{name}.json").exists())

    @contextmanager
    def adding(self, entry: Entry) -> Iterator[Path]:
        """Add an entry; it is removed again when what is done meanwhile fails."""
        file, index = self.path / f"{entry.name}.json", self.path / INDEX
        before = index.read_bytes() if index.is_file() else None
        listed = [{**each.identity, "records": each.records} for each in sorted((*self.entries, entry), key=_order)]
        content = {"format": FORMAT, "version": VERSION, "entries": listed}
        created, written = not self.path.is_dir(), False
        if created:
            try:
                self.path.mkdir()
            except OSError as error:
                message = f"The registry {self.path} cannot be created: {error.strerror or error}."
                raise OutputError(message, code="registry-not-created") from None
        try:
            with Staged([index, file], force=True) as stage:
                _write(stage.path(file), entry.to_json().encode())
                _write(stage.path(index), (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
                stage.commit()
            written = True
            yield file
        except BaseException:
            if written:
                file.unlink(missing_ok=True)
                index.unlink(missing_ok=True)
                if before is not None:
                    _write(index, before)
            if created:
                with suppress(OSError):
                    self.path.rmdir()
            raise


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
    """The names that the index has."""
    try:
        return [str(each["name"]) for each in read_document(index.read_bytes(), FORMAT, VERSION)["entries"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{index} is not the index of a registry: {error}. Restore the file, or delete it: it is written again "
            "from the entries.",
            code="registry-index-damaged",
        ) from None


def _write(path: Path, raw: bytes) -> None:
    try:
        path.write_bytes(raw)
    except OSError as error:
        message = f"{path.parent} cannot be written: {error.strerror or error}."
        raise OutputError(message, code="registry-not-written") from None
