"""Every model with pseudonyms and relative dates, by every algorithm that can promise it: the verifier passes each."""

from __future__ import annotations

import datetime
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import Policy
from shoal.errors import InfeasibleError
from shoal.models import MODELS
from shoal.search import ALGORITHMS

CATEGORIES = {"grave": ["HIV", "cancer"], "light": ["flu", "cold"]}
SPECS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 3},
    "p-sensitive": {"p": 2},
    "p-alpha-sensitive": {"p": 2, "alpha": 1},
    "p-plus-alpha-sensitive": {"p": 2, "alpha": 1},
    "group-leakage": {"p": 2, "alpha": {"grave": 0.9}},
    "alp-dif": {"limits": {"HIV": {"alp": 0.8, "dif": 0.4}}},
    "distinct-l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 1.5},
    "recursive-cl-diversity": {"c": 3, "l": 2},
    "alpha-k-anonymity": {"alpha": 0.9},
    "t-closeness": {"t": 0.4, "distance": "equal"},
    "k-e": {"k": 2, "e": 1, "sensitive": "days"},
    "epsilon-m": {"epsilon": 1, "m": 2, "sensitive": "days"},
}
FULL_DOMAIN = [name for name, algorithm in ALGORITHMS.items() if algorithm.scope == "full-domain"]


def events(seed: int) -> pa.Table:
    random, rows = Random(seed), []
    for person in range(40):
        day, sex = datetime.date(2024, 1, 1) + datetime.timedelta(days=random.randrange(50)), random.choice("FM")
        for _ in range(random.choice([1, 1, 2, 3])):
            illness = random.choice(["HIV", "cancer", "flu", "cold"])
            left = day + datetime.timedelta(days=random.randrange(12))
            rows.append((f"p{person}", sex, random.choice("abc"), str(day), str(left), illness))
            day += datetime.timedelta(days=random.randrange(1, 40))
    return pa.table(
        dict(zip(("id", "sex", "ward", "day", "days", "illness"), map(list, zip(*rows, strict=True)), strict=True))
    )


def policy_of(model: str, algorithm: str, suppressed: str) -> Policy:
    spec = {"model": model, **SPECS[model]}
    if MODELS[model].reads_sensitive():
        spec = {"sensitive": "illness", **spec}
    columns = {
        "id": {"role": "pseudonym"},
        "sex": {"role": "quasi"},
        "ward": {"role": "quasi", "hierarchy": {"tree": {"surgery": ["a", "b"], "medicine": ["c"]}}},
        "day": {"role": "quasi", "relative": "first", "hierarchy": {"intervals": [30, 60]}},
        "days": {"role": "sensitive", "relative": "day"},
        "illness": {"role": "sensitive", "categories": CATEGORIES, "publish": "values"},
    }
    content = {"columns": columns, "person": "id", "privacy": [{"model": "k-anonymity", "k": 2}, spec]}
    return Policy.model_validate({**content, "algorithm": algorithm, "suppression": 0.3, "suppressed": suppressed})


def test_every_model_is_here() -> None:
    assert set(SPECS) >= set(MODELS)


@pytest.mark.parametrize("algorithm", FULL_DOMAIN)
@pytest.mark.parametrize("model", SPECS)
def test_linked_releases_pass_the_verifier(model: str, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PSEUDONYM_KEY", "k" * 32)
    released = 0
    for seed, suppressed in ((1, "drop"), (2, "star"), (3, "drop")):
        try:
            release = shoal.anonymize(events(seed), policy_of(model, algorithm, suppressed))
        except InfeasibleError:
            continue
        released += 1
        assert release.facts.verified
        assert all(each.holds for each in release.facts.models)
        assert shoal.verify(release.table, release.policy, original=events(seed)).passed
    assert released
