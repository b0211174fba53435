"""The hash by which a file is known again."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, without holding it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
