"""The rules of the verdict: a table by hand, what accepting does, and that no leak ever improves a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks.attack import AttackResult, not_applicable, not_tried, tried
from shoal.attacks.battery import ATTACKS
from shoal.attacks.verdict.rules import UNNAMED, decide
from shoal.attacks.verdict.verdict import DECISIONS, Verdict, worse

COLUMNS = {
    "age": {"role": "quasi"},
    "ward": {"role": "insensitive"},
    "bed": {"role": "insensitive"},
    "condition": {"role": "sensitive"},
}


def policy(*accept: dict[str, Any]) -> shoal.Policy:
    return shoal.Policy.model_validate(
        {"columns": COLUMNS, "privacy": [{"model": "k-anonymity", "k": 2}], "accept": list(accept)}
    )


def accepted(attack: str, column: str | None = None) -> dict[str, Any]:
    return {"attack": attack, "reason": f"{attack} is fine"} | ({} if column is None else {"column": column})


def result(name: str, sensitive: str | None = None, **facts: Any) -> AttackResult:
    return replace(tried(**{"records": 3, "of": 10, **facts}), name=name, sensitive=sensitive)


CLEAN = result("similarity", "condition", records=0)
BELIEFS = result("skewness", "condition")
CERTAIN = result("homogeneity", "condition", certain=3)
LINKED = result("linkage", certain=0)
BY_WARD = result("linkage-insensitive", columns=["ward"], certain=2)
BY_BOTH = result("linkage-insensitive", columns=["ward", "bed"], certain=2)
NARROWED = result("linkage-insensitive", columns=["ward"], leak=False)
RULED_OUT = result("background", "condition", certain=3)
EXPLAINED = result("background", "condition", leak=False)
UNTRIED = replace(not_tried("needs-original"), name="linkage")
NO_EARLIER = replace(not_tried("no-earlier-release"), name="composition")
NOT_APPLICABLE = replace(not_applicable("not-range-method"), name="inversion")


@pytest.mark.parametrize(
    ("attacks", "accept", "decision", "reasons", "caveats"),
    [
        ([CLEAN], [], "publish", [], []),
        ([CLEAN, NO_EARLIER, NOT_APPLICABLE], [], "publish", [], []),
        ([CLEAN, EXPLAINED], [], "publish", [], []),
        ([], [], "publish-with-caveats", [], ["not-attacked"]),
        ([CLEAN, UNTRIED], [], "publish-with-caveats", [], ["not-tried"]),
        ([CLEAN, BELIEFS], [], "publish-with-caveats", [], ["leak"]),
        ([CLEAN, RULED_OUT], [], "publish-with-caveats", [], ["leak"]),
        ([CLEAN, NARROWED], [], "publish-with-caveats", [], ["narrowed"]),
        ([CERTAIN], [], "do-not-publish", ["certain"], []),
        ([LINKED], [], "do-not-publish", ["promise-broken"], []),
        ([BY_WARD, BELIEFS], [], "do-not-publish", ["certain"], ["leak"]),
        ([BY_WARD], [accepted("linkage-insensitive", "ward")], "publish-with-caveats", [], ["accepted"]),
        ([BY_WARD], [accepted("linkage-insensitive", "bed")], "do-not-publish", ["certain"], []),
        ([BY_WARD], [accepted("linkage-insensitive")], "publish-with-caveats", [], ["accepted"]),
        ([BY_WARD], [accepted("linkage", "ward")], "do-not-publish", ["certain"], []),
        ([BY_BOTH], [accepted("linkage-insensitive", "ward")], "do-not-publish", ["certain"], []),
        ([NARROWED], [accepted("linkage-insensitive", "ward")], "publish-with-caveats", [], ["accepted"]),
        ([CERTAIN], [accepted("homogeneity", "condition")], "publish-with-caveats", [], ["accepted"]),
        ([LINKED], [accepted("linkage", "condition")], "do-not-publish", ["promise-broken"], []),
        ([LINKED], [accepted("linkage")], "publish-with-caveats", [], ["accepted"]),
    ],
)
def test_the_table_of_rules(
    attacks: list[AttackResult],
    accept: list[dict[str, Any]],
    decision: str,
    reasons: list[str],
    caveats: list[str],
) -> None:
    verdict = decide(policy(*accept), attacks)
    assert verdict.decision == decision
    assert [each.code for each in verdict.reasons] == reasons
    assert [each.code for each in verdict.caveats] == caveats
    assert verdict.models_hold is True


def test_two_entries_cover_a_leak_by_two_columns() -> None:
    both = policy(accepted("linkage-insensitive", "ward"), accepted("linkage-insensitive", "bed"))
    verdict = decide(both, [BY_BOTH])
    assert verdict.decision == "publish-with-caveats"
    assert [dict(each.leak)["columns"] for each in verdict.accepted] == [["ward", "bed"]]
    assert verdict.accepted[0].reasons == ("linkage-insensitive is fine",)


def test_a_failed_check_is_never_published() -> None:
    verdict = decide(policy(), [CLEAN], failed=["k-anonymity"])
    assert (verdict.decision, verdict.models_hold) == ("do-not-publish", False)
    assert verdict.reasons[0].failed == ("k-anonymity",)
    order = decide(policy(), [CLEAN], failed=["order"])
    assert (order.decision, order.models_hold) == ("do-not-publish", True)
    assert decide(policy(), [CLEAN], failed=[UNNAMED]).models_hold is None


def test_what_is_not_known_of_models_warnings_and_what_was_not_done_are_caveats() -> None:
    verdict = decide(
        policy(), [CLEAN], models_judged=False, warnings=[{"code": "several-records-per-person"}], not_done=["utility"]
    )
    assert (verdict.decision, verdict.models_hold) == ("publish-with-caveats", None)
    assert [(each.code, each.what) for each in verdict.caveats] == [
        ("models-not-judged", None),
        ("warning", "several-records-per-person"),
        ("not-done", "utility"),
    ]


def test_counts_and_the_worst_leak() -> None:
    attacks = [CLEAN, BELIEFS, replace(CERTAIN, records=1), UNTRIED, RULED_OUT]
    verdict = decide(policy(), attacks)
    assert (verdict.tried, verdict.leaking) == (4, 3)
    assert verdict.worst is not None
    assert (verdict.worst.attack, verdict.worst.records, verdict.worst.of) == ("homogeneity", 1, 10)
    open_first = decide(policy(accepted("homogeneity")), attacks).worst
    assert open_first is not None
    assert open_first.attack in {"skewness", "background"}
    assert decide(policy(), [CLEAN]).worst is None


def test_an_entry_that_matches_nothing_is_named_unless_its_attack_was_not_tried() -> None:
    entries = (accepted("skewness"), accepted("homogeneity", "ward"), accepted("linkage"))
    verdict = decide(policy(*entries), [BELIEFS, CERTAIN, UNTRIED])
    assert [(each.attack, each.column) for each in verdict.unused_accepts] == [("homogeneity", "ward")]
    assert decide(policy(*entries), []).unused_accepts == ()


# --- properties -------------------------------------------------------------------------------------------------------

RESULTS = st.builds(
    lambda name, sensitive, leak, certain, columns, records: result(
        name, sensitive, leak=leak, certain=certain, columns=columns or None, records=records
    ),
    st.sampled_from(sorted(ATTACKS)),
    st.sampled_from([None, "condition"]),
    st.booleans(),
    st.sampled_from([None, 0, 2]),
    st.lists(st.sampled_from(["ward", "bed"]), unique=True),
    st.integers(0, 10),
)
ACCEPTED = st.lists(
    st.tuples(st.sampled_from(sorted(ATTACKS)), st.sampled_from([None, "ward", "bed", "condition"])),
    unique=True,
    max_size=4,
)


def rank(verdict: Verdict) -> int:
    return DECISIONS.index(verdict.decision)


@settings(max_examples=60, deadline=None)
@given(st.lists(RESULTS, min_size=1, max_size=5), RESULTS, ACCEPTED)
def test_another_leak_never_improves_a_verdict(
    attacks: list[AttackResult], more: AttackResult, accept: list[tuple[str, str | None]]
) -> None:
    asked = policy(*(accepted(*each) for each in accept))
    leaking = replace(more, leak=True, outcome="leak")
    assert rank(decide(asked, [*attacks, leaking])) >= rank(decide(asked, attacks))
    assert rank(decide(asked, [*attacks, leaking])) >= 1


@settings(max_examples=60, deadline=None)
@given(st.lists(RESULTS, min_size=1, max_size=5), ACCEPTED, st.data())
def test_accepting_more_never_worsens_a_verdict_and_hides_nothing(
    attacks: list[AttackResult], accept: list[tuple[str, str | None]], data: st.DataObject
) -> None:
    fewer = data.draw(st.lists(st.sampled_from(accept), unique=True)) if accept else []
    few, many = (decide(policy(*(accepted(*each) for each in some)), attacks) for some in (fewer, accept))
    assert rank(many) <= rank(few)
    assert (many.tried, many.leaking) == (few.tried, few.leaking)
    named = [each.leak for each in (*many.reasons, *many.caveats) if each.leak is not None]
    leaks = [each for each in attacks if each.leak]
    assert len([each for each in named if each is not None]) >= len(leaks)


def test_decisions_are_ordered() -> None:
    assert worse("do-not-publish", "publish-with-caveats")
    assert worse("publish-with-caveats", "publish")
    assert not worse("publish", "publish")
