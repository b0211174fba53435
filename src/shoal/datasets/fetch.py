"""Files from an address into the user's cache: whole, with the right checksum, or not at all."""

from __future__ import annotations

import hashlib
import os
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from shoal.errors import DataError, OutputError
from shoal.io import Staged

_SECONDS = 60
"""How long a connection may be silent."""


@dataclass(frozen=True)
class Remote:
    """A file at an address."""

    name: str
    size: int
    sha256: str


def cache_folder() -> Path:
    """Where Shoal keeps what it fetched for a user: below XDG_CACHE_HOME, LOCALAPPDATA on Windows, or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return (Path(base) if base else Path.home() / ".cache") / "shoal" / "datasets"


def fetch(address: str, files: Sequence[Remote], folder: Path) -> None:
    """Fetch some files into a folder; all of them appear there or none does."""
    contents = [_content(address, file) for file in files]
    paths = [folder / file.name for file in files]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Staged(paths, force=True) as stage:
            for path, content in zip(paths, contents, strict=True):
                stage.path(path).write_bytes(content)
            stage.commit()
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}.") from None


def _content(address: str, file: Remote) -> bytes:
    url = f"{address}{file.name}"
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 - the addresses are this package's own
            content: bytes = answer.read(file.size + 1)
    except (OSError, HTTPException) as error:
        raise DataError(
            f"{url} cannot be reached: {getattr(error, 'reason', None) or error}. "
            "Fetch it elsewhere, and name the folder that it is in."
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise DataError(
            f"{url} is not the file that is known as {file.name}: its SHA-256 is {found} and should be {file.sha256}. "
            "Nothing was kept of it."
        )
    return content
