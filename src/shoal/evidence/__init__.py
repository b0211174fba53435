"""The evidence: what was asked, what holds, what was lost - facts first, as JSON that other programs read."""

from shoal.evidence.describe import (
    class_sizes,
    describe_columns,
    describe_exposure,
    describe_models,
    describe_policy,
    describe_sizes,
    measure,
)
from shoal.evidence.evidence import (
    EVIDENCE_VERSION,
    VOLATILE,
    BoundFacts,
    Evidence,
    evidence_problems,
    evidence_schema,
    seal,
    sealed,
    to_json,
    without_volatile,
)
from shoal.evidence.machine import peak_memory_bytes, reset_peak_memory, versions

__all__ = [
    "EVIDENCE_VERSION",
    "VOLATILE",
    "BoundFacts",
    "Evidence",
    "class_sizes",
    "describe_columns",
    "describe_exposure",
    "describe_models",
    "describe_policy",
    "describe_sizes",
    "evidence_problems",
    "evidence_schema",
    "measure",
    "peak_memory_bytes",
    "reset_peak_memory",
    "seal",
    "sealed",
    "to_json",
    "versions",
    "without_volatile",
]
