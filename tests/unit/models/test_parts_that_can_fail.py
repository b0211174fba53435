"""Whether a part of a class can fail a model, against every choice of its secrets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    GroupLeakage,
    Model,
    PAlphaSensitive,
    PPlusAlphaSensitive,
    PSensitive,
)
from support.builders import domain_of, view_of

VALUES = ["HIV", "cancer", "flu", "cold"]
CATEGORIES = {"Grave": ["HIV", "cancer"], "Light": ["flu"], "None": ["cold"]}
MODELS: list[Model] = [
    PSensitive(2, sensitive="illness"),
    PSensitive(3, sensitive="illness"),
    DistinctLDiversity(2, sensitive="illness"),
    AlphaKAnonymity(0.5, sensitive="illness"),
    AlphaKAnonymity({"HIV": 0.4}, sensitive="illness"),
    PAlphaSensitive(2, alpha=1, sensitive="illness"),
    PPlusAlphaSensitive(2, alpha=1.5, sensitive="illness"),
    GroupLeakage(2, alpha={"Grave": 0.5, "Light": 0.75}, sensitive="illness"),
]


@given(st.lists(st.sampled_from(VALUES), min_size=1, max_size=6), st.integers(1, 6), st.sampled_from(MODELS))
def test_a_part_can_fail_exactly_if_some_choice_of_secrets_does(secrets: list[str], size: int, model: Model) -> None:
    size = min(size, len(secrets))
    domain = domain_of(VALUES, column="illness", categories=CATEGORIES)
    parts = {tuple(sorted(part)) for part in combinations(secrets, size)}
    expected = any(not model.holds(view_of([part], domain))[0] for part in parts)
    told = model.part_could_fail(view_of([secrets], domain), np.zeros(1, dtype=np.int64), np.array([size]))
    assert bool(told[0]) is expected


def test_a_part_can_always_fail_a_model_that_is_not_about_counts() -> None:
    view = view_of([["HIV", "flu", "cold"]], domain_of(VALUES, column="illness"))
    model = EntropyLDiversity(1.1, sensitive="illness")
    assert model.part_could_fail(view, np.zeros(1, dtype=np.int64), np.array([3])).all()
