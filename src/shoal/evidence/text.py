"""The evidence as text: how it is written, which of its facts differ from run to run, and its seal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

VOLATILE = ("seconds", "seconds_by_stage", "peak_memory_bytes")
"""The facts that two runs on the same input may tell differently; all others are the same, byte for byte."""
_SEAL = "evidence_sha256"


def to_json(evidence: Mapping[str, Any]) -> str:
    """The evidence as it is written to disk."""
    return json.dumps(evidence, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def without_volatile(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same whenever the same input is anonymized again."""
    return {key: value for key, value in evidence.items() if key not in VOLATILE}


def seal(evidence: Mapping[str, Any]) -> str:
    """SHA-256 of the evidence without its seal and its volatile facts, as JSON with sorted keys.

    It shows that a fact was changed by somebody who did not care to seal it again. It is no signature.
    """
    facts = {key: value for key, value in without_volatile(evidence).items() if key != _SEAL}
    plain = json.loads(to_json(facts))  # keys as JSON writes them: a missing value is the text null there
    canonical = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def sealed(evidence: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The evidence with some facts changed and its seal renewed."""
    content = {**evidence, **changes}
    content[_SEAL] = None  # keeps its place among the keys
    return {**content, _SEAL: seal(content)}
