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
    from shoal import datasets, errors
    from shoal.attacks.risk.risk import Risk
    from shoal.pipeline import Release, anonymize, publish
    from shoal.pipeline.apply.apply import Applied, apply
    from shoal.pipeline.attack import AttackReport, attack
    from shoal.pipeline.compare.compare import compare
    from shoal.pipeline.compare.result import Comparison
    from shoal.pipeline.risk import risk
    from shoal.pipeline.verify import verify
    from shoal.policy import Policy
    from shoal.verification import Verification

_PUBLIC = {
    "Applied": "shoal.pipeline.apply.apply",
    "AttackReport": "shoal.pipeline.attack",
    "Comparison": "shoal.pipeline.compare.result",
    "Policy": "shoal.policy",
    "Release": "shoal.pipeline",
    "Risk": "shoal.attacks.risk.risk",
    "Verification": "shoal.verification",
    "anonymize": "shoal.pipeline",
    "apply": "shoal.pipeline.apply.apply",
    "attack": "shoal.pipeline.attack",
    "compare": "shoal.pipeline.compare.compare",
    "publish": "shoal.pipeline",
    "risk": "shoal.pipeline.risk",
    "verify": "shoal.pipeline.verify",
}
"""Where each public name lives. Loaded when first used: `shoal --help` must not wait for NumPy and Arrow."""

__all__ = [
    "Applied",
    "AttackReport",
    "Comparison",
    "Policy",
    "Release",
    "Risk",
    "Verification",
    "anonymize",
    "apply",
    "attack",
    "compare",
    "datasets",
    "errors",
    "publish",
    "risk",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    if name in {"datasets", "errors", "__version__"}:
        if name != "__version__":
            return import_module(f"shoal.{name}")
        from importlib.metadata import version  # noqa: PLC0415

        return version("shoal")
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
