"""Shoal turns a table about people into one that may be published, and proves it.

>>> import shoal
>>> policy = shoal.Policy.load("hospital.yaml")
>>> release = shoal.anonymize("patients.csv", policy)
>>> release.evidence["verified"]
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import errors
    from shoal.pipeline import Release, anonymize, publish
    from shoal.policy import Policy
    from shoal.verification import Verification, verify

_PUBLIC = {
    "Policy": "shoal.policy",
    "Release": "shoal.pipeline",
    "Verification": "shoal.verification",
    "anonymize": "shoal.pipeline",
    "publish": "shoal.pipeline",
    "verify": "shoal.verification",
}
"""Where each public name lives. Loaded when first used: `shoal --help` must not wait for NumPy and Arrow."""

__all__ = ["Policy", "Release", "Verification", "anonymize", "errors", "publish", "verify"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    if name in {"errors", "__version__"}:
        if name == "errors":
            return import_module("shoal.errors")
        from importlib.metadata import version  # noqa: PLC0415

        return version("shoal")
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
