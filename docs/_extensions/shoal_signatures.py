"""Signatures that readers can read: a policy by its keys, results without the constructor that nobody calls.

Attributes are described by the comment on their line, as in ``classes: int  # in the release``; Sphinx itself reads
comments that begin with ``#:`` only.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sphinx.application import Sphinx
from sphinx.pycode import parser

_COMMENT = re.compile(r"^(?:\s*#: ?|# (?!noqa|type:|fmt:|pragma))(.*)\r?\n?$")
"""A comment after an attribute; lines of comments before one are indented and do not describe it."""


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
    """Listen to autodoc, and read comments."""
    parser.comment_re = _COMMENT
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
