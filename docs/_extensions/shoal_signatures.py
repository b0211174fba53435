"""Signatures that readers can read: a policy by its keys, results without the constructor that nobody calls."""

from __future__ import annotations

import dataclasses
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sphinx.application import Sphinx


def _shown(name: str, field: FieldInfo) -> str:
    if field.is_required():
        return name
    return f"{name}={'...' if field.default_factory is not None else repr(field.default)}"


def shorten(
    _app: Sphinx, what: str, _name: str, thing: Any, _options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """The signature of a class as its reader needs it; all others as they are."""
    if what == "class" and isinstance(thing, type) and issubclass(thing, BaseModel):
        keys = ", ".join(_shown(name, field) for name, field in thing.model_fields.items())
        return f"(*, {keys})", returns
    if what == "class" and dataclasses.is_dataclass(thing):
        return "", returns
    return signature, returns


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen to autodoc."""
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
