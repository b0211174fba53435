"""An entry of a registry: one JSON file that says which release, by which policy, when, and its signature.

It carries the hash of its own content, so that a damaged file is told apart from one that says something else.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.attacks.registry.signature import Signature
from shoal.facts import Facts

ENTRY_FORMAT = "shoal registry entry"
VERSION = 1


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
    after: tuple[str, ...] = ()  # the entries, by their names, that had withdrawn this release before it came again

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
        content |= {"after": list(self.after)} if self.after else {}
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
            after = tuple(map(str, content.get("after", ())))
            return Entry(name, content["date"], release, policy, signature, replaces, after)
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
