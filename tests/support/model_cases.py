"""One sensitive column with everything a model can ask of it, random classes of it, and samples of every model."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from shoal.models import (
    KE,
    AlpDif,
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    EpsilonM,
    GroupLeakage,
    KAnonymity,
    Model,
    PAlphaSensitive,
    PPlusAlphaSensitive,
    PSensitive,
    RecursiveCLDiversity,
    TCloseness,
)
from shoal.table.classes import ClassView
from support.builders import Classes, Tree, domain_of, view_of, with_unknown

COLUMN = "condition"
TREE: Tree = {
    "infection": {"chronic": ["HIV", "Phthisis"], "Flu": []},
    "other": {"grave": {"organ": ["Cancer", "Asthma"]}, "unsaid": [None, "Never"]},
}
"""Uneven on purpose: the leaves lie at depths 2, 3 and 4."""
VALUES = ("HIV", "Phthisis", "Flu", "Cancer", "Asthma", None, "Never")
"""The leaves of the tree; ``Never`` is declared and never occurs."""
CATEGORIES = {
    "Top Secret": ("HIV", "Cancer"),
    "Secret": ("Phthisis",),
    "Less Secret": ("Asthma", None),
    "Non Secret": ("Flu", "Never"),
}
NUMBERS: dict[str | None, str] = {
    "HIV": "0.3", "Phthisis": "0.1", "Flu": "12.5", "Cancer": "-2", "Asthma": "3", "Never": "3e-1",
}  # fmt: skip
"""The number that each value stands for, to models on numbers: HIV and Never for the same one."""
DOMAIN = domain_of(VALUES, column=COLUMN, ordered=True, categories=CATEGORIES, tree=TREE, numbers=NUMBERS)
assert DOMAIN.values == VALUES

SHARES = (0.1, 0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.75, 0.9, 1)


READINGS = st.sampled_from([frozenset[str | None](), frozenset({None}), frozenset({None, "HIV"})])
"""Values that are unknown: none at all (``unknown_counts``), the missing one, and one more that a policy lists."""


def view(classes: Classes, unknown: frozenset[str | None] = frozenset()) -> ClassView:
    """What a model sees of classes of the column."""
    return view_of(classes, with_unknown(DOMAIN, unknown))


def classes(*, min_classes: int = 0, max_classes: int = 4) -> st.SearchStrategy[list[list[str | None]]]:
    """Random classes, the missing value included; small, so that limits are often met exactly."""
    few = st.lists(st.sampled_from(VALUES[:-1]), min_size=1, max_size=7)
    skewed = st.lists(st.sampled_from(VALUES[:2]), min_size=1, max_size=7)
    return st.lists(few | skewed, min_size=min_classes, max_size=max_classes)


def _limits(least: int = 1) -> st.SearchStrategy[dict[str | None, float]]:
    return st.dictionaries(st.sampled_from(VALUES), st.sampled_from(SHARES), min_size=least, max_size=3)


def _group_limits(limits: Sequence[float]) -> dict[str, float]:
    return dict(zip(CATEGORIES, sorted(limits), strict=False))


_small = st.integers(1, 4)
_weight = st.sampled_from([0, 1 / 3, 0.5, 2 / 3, 1, 1.5, 2, 3])
_groups = st.lists(st.sampled_from(SHARES), min_size=1, max_size=4).map(_group_limits)
_alp_dif = st.dictionaries(
    st.sampled_from(VALUES),
    st.fixed_dictionaries({"alp": st.sampled_from((0, *SHARES)), "dif": st.sampled_from((0, *SHARES))}),
    min_size=1,
    max_size=3,
)

RANDOM: dict[str, st.SearchStrategy[Model]] = {
    "k-anonymity": st.builds(KAnonymity, _small),
    "p-sensitive": st.builds(PSensitive, _small, sensitive=st.just(COLUMN)),
    "p-alpha-sensitive": st.builds(PAlphaSensitive, _small, alpha=_weight, sensitive=st.just(COLUMN)),
    "p-plus-alpha-sensitive": st.builds(PPlusAlphaSensitive, _small, alpha=_weight, sensitive=st.just(COLUMN)),
    "group-leakage": st.builds(GroupLeakage, _small, alpha=_groups, sensitive=st.just(COLUMN)),
    "alp-dif": st.builds(AlpDif, _alp_dif, sensitive=st.just(COLUMN)),
    "distinct-l-diversity": st.builds(DistinctLDiversity, _small, sensitive=st.just(COLUMN)),
    "entropy-l-diversity": st.builds(
        EntropyLDiversity, st.sampled_from([1, 1.5, 2, 2.5, 3, 4]), sensitive=st.just(COLUMN)
    ),
    "recursive-cl-diversity": st.builds(
        RecursiveCLDiversity, _small, c=st.sampled_from([0.5, 2 / 3, 1, 1.5, 2, 3]), sensitive=st.just(COLUMN)
    ),
    "alpha-k-anonymity": st.builds(AlphaKAnonymity, st.sampled_from(SHARES) | _limits(), sensitive=st.just(COLUMN)),
    "t-closeness": st.builds(
        TCloseness,
        st.sampled_from((0, *SHARES)),
        distance=st.sampled_from(["equal", "ordered", "hierarchical"]),
        sensitive=st.just(COLUMN),
    ),
    "k-e": st.builds(KE, _small, e=st.sampled_from([0, 0.1, 0.2, 0.3, 2.1, 12.2, 14.5]), sensitive=st.just(COLUMN)),
    "epsilon-m": st.builds(
        EpsilonM,
        st.sampled_from([0, 0.1, 0.2, 2 / 3, 1, 2.3, 12.2]),
        _small,
        relative=st.booleans(),
        sensitive=st.just(COLUMN),
    ),
}
"""A random model of every name, legal for the column."""

SAMPLES: tuple[Model, ...] = (
    KAnonymity(3),
    PSensitive(3, sensitive=COLUMN),
    PAlphaSensitive(3, alpha=2, sensitive=COLUMN),
    PPlusAlphaSensitive(3, alpha=2, sensitive=COLUMN),
    GroupLeakage(2, alpha={"Top Secret": 0.3, "Secret": 0.5}, sensitive=COLUMN),
    AlpDif({"HIV": {"alp": 0.3, "dif": 0.1}, None: {"alp": 0.5, "dif": 0.2}}, sensitive=COLUMN),
    DistinctLDiversity(3, sensitive=COLUMN),
    EntropyLDiversity(2.5, sensitive=COLUMN),
    RecursiveCLDiversity(2, c=1.5, sensitive=COLUMN),
    AlphaKAnonymity(0.3, sensitive=COLUMN),
    AlphaKAnonymity({"HIV": 0.3, None: 0.25}, sensitive=COLUMN),
    TCloseness(0.1, sensitive=COLUMN),
    TCloseness(0.1, distance="ordered", sensitive=COLUMN),
    TCloseness(0.1, distance="hierarchical", sensitive=COLUMN),
    KE(3, e=10, sensitive=COLUMN),
    EpsilonM(0.2, 3, sensitive=COLUMN),
    EpsilonM(0.7, 3, relative=True, sensitive=COLUMN),
)
"""At least one model of every name, strict enough that `MIXED` has classes that fail each of them."""

MIXED: Classes = (
    ("HIV", "HIV", "HIV", "Flu"),
    ("Flu", "Asthma", None, "Phthisis", "Cancer", "Flu", "HIV", None),
    ("HIV", "HIV"),
    ("Flu", "Flu", "Asthma", "Asthma", "Phthisis", "Phthisis", "Cancer", "Cancer", "HIV", None),
    (None,),
    ("Flu", "HIV"),
)
