"""The files of the page, as the package brings them."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from shoal.errors import InputError

KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".html": "text/html"}


def asset(name: str) -> tuple[bytes, str]:
    """A file of the page and its media type, by its name; `InputError` for one that the package does not have."""
    suffix = Path(name).suffix
    known = {path.name: path for path in resources.files("shoal.ui.static").iterdir()}
    if name not in known or suffix not in KINDS:
        raise InputError(f"There is no file {name!r}.", code="no-such-file")
    return known[name].read_bytes(), KINDS[suffix]


def page(name: str) -> str:
    """A page as text."""
    return asset(name)[0].decode()
