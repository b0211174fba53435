"""The policy as the evidence shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.policy import Policy

_PLACES = frozenset({"path", "sheet"})
"""The keys of ``data`` that name the input."""


def describe_policy(policy: Policy) -> dict[str, Any]:
    """The policy without what names the input, the output or a folder: the evidence may travel with the release."""
    content = policy.to_dict()
    for key in ("output", "registry"):
        content.pop(key, None)
    if isinstance(content.get("data"), dict):
        content["data"] = {key: value for key, value in content["data"].items() if key not in _PLACES}
    if isinstance(content.get("engine"), dict):
        content["engine"].pop("settings", None)  # they name machines and may hold keys to them
    for column in content.get("columns", {}).values():
        declared = column.get("hierarchy")
        if isinstance(declared, dict):
            if isinstance(declared.get("tree"), str):
                declared["tree"] = Path(declared["tree"]).name
            if isinstance(declared.get("levels"), dict):
                declared["levels"]["path"] = Path(declared["levels"]["path"]).name
    return content
