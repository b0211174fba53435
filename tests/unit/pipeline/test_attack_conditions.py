"""Conditions of ``--fail-on``: read strictly, held against records or shares, never kept by looking away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.attacks.attack import AttackResult, tried
from shoal.attacks.battery import ATTACKS
from shoal.errors import InputError
from shoal.pipeline.registry_options import exceeded, read_condition


def estimate(**changes: Any) -> AttackResult:
    found = tried(records=8, of=100, rate=0.08, baseline=0.0, leak=True)
    return replace(found, **{"name": "similarity", "sensitive": "illness"} | changes)


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("similarity>0", True),
        ("similarity>7", True),
        ("similarity>8", False),
        (" similarity > 7 ", True),
        ("similarity>7.9%", True),
        ("similarity>8%", False),
        ("similarity>100 %", False),
    ],
)
def test_a_condition_is_exceeded_by_more_records_than_it_allows(text: str, fails: bool) -> None:
    told = exceeded([read_condition(text)], [estimate(), estimate(records=0), estimate(name="linkage")])
    assert [each["records"] for each in told] == ([8] if fails else [])
    if fails:
        assert told[0]["condition"] == text.strip()


@pytest.mark.parametrize("text", ["similarity", "similarity>", ">3", "similarity>-1", "similarity>=3", "similarity>x"])
def test_what_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_condition(text)
    assert caught.value.code == "condition-unreadable"


def test_an_unknown_attack_is_refused_with_all_names() -> None:
    with pytest.raises(InputError) as caught:
        read_condition("similarty>0")
    assert caught.value.code == "condition-unknown-attack"
    assert all(name in str(caught.value) for name in ATTACKS)


def test_half_records_and_more_than_everybody_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_condition("similarity>0.5")
    assert caught.value.code == "condition-not-whole"
    with pytest.raises(InputError) as caught:
        read_condition("similarity>101%")
    assert caught.value.code == "condition-over-100"


def test_an_attack_that_was_not_tried_keeps_no_condition() -> None:
    condition = read_condition("linkage>0")
    untried = estimate(name="linkage", status="not tried", records=None, of=None, outcome="needs-original")
    for results in ([untried], []):
        with pytest.raises(InputError) as caught:
            exceeded([condition], results)
        assert caught.value.code == "condition-not-tried"


def test_records_that_the_baseline_explains_exceed_nothing() -> None:
    explained = estimate(records=100, leak=False)
    assert exceeded([read_condition("similarity>0")], [explained]) == []
    assert exceeded([read_condition("similarity>0%")], [explained]) == []


def test_an_attack_that_does_not_apply_exposes_nobody() -> None:
    nothing = estimate(status="not applicable", records=None, of=None)
    assert exceeded([read_condition("similarity>0")], [nothing]) == []
