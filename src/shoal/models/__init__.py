"""Privacy models: one file a model, with its definition, citation and legal parameters on top."""

from __future__ import annotations

from shoal.models.alp_dif import AlpDif
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.base import Model, Strength
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.group_leakage import GroupLeakage
from shoal.models.k_anonymity import KAnonymity, least_size
from shoal.models.p_alpha_sensitive import PAlphaSensitive
from shoal.models.p_plus_alpha_sensitive import PPlusAlphaSensitive
from shoal.models.p_sensitive import PSensitive
from shoal.models.recursive_cl_diversity import RecursiveCLDiversity
from shoal.models.t_closeness import TCloseness

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (
        KAnonymity,
        PSensitive,
        PAlphaSensitive,
        PPlusAlphaSensitive,
        GroupLeakage,
        AlpDif,
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveCLDiversity,
        AlphaKAnonymity,
        TCloseness,
    )
}
"""Every model by its name in the policy."""

__all__ = [
    "MODELS",
    "AlpDif",
    "AlphaKAnonymity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "GroupLeakage",
    "KAnonymity",
    "Model",
    "PAlphaSensitive",
    "PPlusAlphaSensitive",
    "PSensitive",
    "RecursiveCLDiversity",
    "Strength",
    "TCloseness",
    "least_size",
]
