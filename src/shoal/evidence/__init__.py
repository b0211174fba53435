"""The evidence: what was asked, what holds, what was lost - facts first, as JSON that other programs read.

Reproducible byte for byte apart from `VOLATILE`. It holds counts and labels of what is released; never a value of a
suppressed record, of an identifier, or of a row. `Evidence` is its schema.
"""

from shoal.evidence.classes import describe_exposure, describe_sizes
from shoal.evidence.columns import describe_columns
from shoal.evidence.machine import peak_memory_bytes, reset_peak_memory, versions
from shoal.evidence.measures import measure
from shoal.evidence.models import describe_models
from shoal.evidence.policy import describe_policy
from shoal.evidence.schema import EVIDENCE_VERSION, Evidence, evidence_problems, evidence_schema
from shoal.evidence.text import VOLATILE, seal, sealed, to_json, without_volatile

__all__ = [
    "EVIDENCE_VERSION",
    "VOLATILE",
    "Evidence",
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
