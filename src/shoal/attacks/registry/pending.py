"""A release that is being put in place: its entry is written first, so that a killed run cannot leave one unnoticed.

While all hidden files of the release are there, none of it is published, and the entry is dropped. Otherwise the
release is in place, or may be: it counts as published, and the next run that has the registry's lock completes it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from shoal.attacks.registry.entry import Entry, read_document
from shoal.errors import InputError
from shoal.io.staging import write_durably

PENDING = ".pending.json"
_FORMAT, _VERSION = "shoal pending release", 1


@dataclass(frozen=True, eq=False)
class PendingRelease:
    """An entry whose release is not in place yet, or just now."""

    entry: Entry
    hidden: tuple[Path, ...]
    """The files that will be renamed to the release, or right before it is committed where it is no file."""

    @property
    def may_be_published(self) -> bool:
        """Whether any of the release may be in place: not all of its hidden files are there."""
        return not self.hidden or not all(map(os.path.lexists, self.hidden))

    def write(self, registry: Path) -> None:
        """Write it to the folder of a registry."""
        names = {"name": self.entry.name, "hidden": [str(path.absolute()) for path in self.hidden]}
        content = {"format": _FORMAT, "version": _VERSION, **names, "entry": self.entry.to_json()}
        write_durably(registry / PENDING, (json.dumps(content, ensure_ascii=False) + "\n").encode())

    @staticmethod
    def read(registry: Path) -> PendingRelease | None:
        """The pending release of a registry, if there is one."""
        path = registry / PENDING
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            content = read_document(raw, _FORMAT, _VERSION)
            entry = Entry.from_json(content["entry"].encode(), str(content["name"]))
            return PendingRelease(entry, tuple(map(Path, content["hidden"])))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"{path} is not the entry of a pending release: {error}. Restore the file; delete it if its "
            raise InputError(f"{message}release was never given to anybody.", code="registry-pending-damaged") from None
