"""What the server takes from a browser at all, before anything is done with it.

What a policy may name is a problem that the page shows (`confined`). What is refused here would lead out of
the session's folder, or could not be answered again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from shoal.errors import InputError

_FILES = ("levels", "path", "registry", "tree")
"""Keys under which a policy names files, when a text stands there."""
_LARGEST = 5_000_000
"""Values in a document with its aliases written out, at most."""


def accepted_policy(document: Any) -> Any:
    """A document that may be written as the policy of a session; where its data lies is read from elsewhere."""
    if not isinstance(document, Mapping):
        raise InputError("the policy must be a mapping of keys to values.")
    if _size(document, {}) > _LARGEST:
        raise InputError(f"the policy holds more than {_LARGEST:,} values when its aliases are written out.")
    accept({key: each for key, each in document.items() if key != "data"})
    accept(document.get("data"), files=())
    return document


def accept(value: Any, files: Iterable[str] = _FILES) -> None:
    """Refuse what names a file outside the session's folder, half a character, and numbers that JSON does not have."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            accept(key)
            if key in files and isinstance(each, str) and _leads_out(each):
                raise InputError(f"{key}: {each!r} lies outside the session. Import the file on the page instead.")
            accept(each, files)
    elif isinstance(value, (list, tuple)):
        for each in value:
            accept(each, files)
    elif isinstance(value, str):
        value.encode()  # raises for half a character, which would break every later answer
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{value} is no number that a policy can hold.")


def _leads_out(text: str) -> bool:
    parts = {*PurePosixPath(text).parts, *PureWindowsPath(text).parts}
    return text.startswith(("/", "\\", "~")) or ":" in text or "\x00" in text or ".." in parts


def _size(value: Any, known: dict[int, int]) -> int:
    """How many values a document holds when every alias is written out; each is looked at once."""
    if not isinstance(value, (Mapping, list, tuple)):
        return 1
    if id(value) not in known:
        parts: Iterable[Any] = value.values() if isinstance(value, Mapping) else value
        known[id(value)] = 1 + sum(_size(each, known) for each in parts)
    return known[id(value)]
