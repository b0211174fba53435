"""Homogeneity, similarity, background knowledge and skewness: open releases are caught, closed ones are not flagged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import attack_oracle as oracle
from shoal.attacks.attack import AttackResult
from shoal.attacks.attackers.skewness import mean_belief
from shoal.attacks.chance.statistics import CHANCE, rare_dealings, smallest_tail
from shoal.reproduce.tables import SUN_4, SUN_5, SUN_6, SUN_QUASI, WANG_1, WANG_3, WANG_QUASI, PaperTable
from support.attack_cases import found, policy_of, table_of


def attacked(classes: Sequence[Sequence[str | None]], name: str, **options: Any) -> AttackResult:
    """An attack on a release given as the secrets of each class."""
    rows = [(f"c{place:03}", secret) for place, secrets in enumerate(classes) for secret in secrets]
    secret = {"role": "sensitive", **options.pop("secret", {})}
    policy = policy_of({"place": {"role": "quasi"}, "illness": secret}, **options.pop("policy", {}))
    return found(shoal.attack(table_of(["place", "illness"], rows), policy, **options), name)


def printed(
    table: PaperTable,
    quasi: Sequence[str],
    sensitive: str,
    categories: Mapping[str, Sequence[str]] | None = None,
    **policy: Any,
) -> shoal.AttackReport:
    """A paper's release as it stands."""
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in quasi}
    columns[sensitive] = {"role": "sensitive"}
    if categories:
        columns[sensitive] |= {"categories": {name: list(values) for name, values in categories.items()}}
    rows = [[record[name] for name in (*quasi, sensitive)] for record in table.records()]
    return shoal.attack(table_of([*quasi, sensitive], rows), policy_of(columns, **policy))


def test_sun_5_is_open_to_similarity_and_sun_6_is_not() -> None:
    open_to = found(printed(SUN_5, SUN_QUASI, "Health Condition", SUN_4), "similarity")
    assert open_to.leak
    assert (open_to.records, open_to.of, open_to.classes) == (8, 12, 2)
    assert open_to.details["by_category"] == {"Top Secret": 4, "Non Secret": 4}
    closed = found(printed(SUN_6, SUN_QUASI, "Health Condition", SUN_4), "similarity")
    assert (closed.leak, closed.records) == (False, 0)
    assert not found(printed(SUN_5, SUN_QUASI, "Health Condition", SUN_4), "homogeneity").leak


def test_wang_1_is_open_to_homogeneity_and_what_wang_3_protects_is_not() -> None:
    first = found(printed(WANG_1, WANG_QUASI, "Illness"), "homogeneity")
    assert first.leak
    assert (first.records, first.classes) == (4, 2)
    assert first.details["by_value"] == {"HIV": 2, "fever": 2}
    model = {"model": "alp-dif", "limits": {"HIV": {"alp": 0.5, "dif": 0}}, "sensitive": "Illness"}
    third = found(
        printed(WANG_3, WANG_QUASI, "Illness", privacy=[{"model": "k-anonymity", "k": 2}, model]), "homogeneity"
    )
    assert (third.leak, third.records, third.classes) == (False, 0, 0)
    assert third.details["records_unprotected"] == 2
    assert third.outcome == "nothing"
    whole = found(printed(WANG_3, WANG_QUASI, "Illness"), "homogeneity")
    assert (whole.leak, whole.records) == (True, 2)


def test_values_without_a_limit_are_protected_all_the_same_when_another_model_speaks_of_all() -> None:
    models = [
        {"model": "alp-dif", "limits": {"HIV": {"alp": 0.5, "dif": 0}}, "sensitive": "Illness"},
        {"model": "distinct-l-diversity", "l": 2, "sensitive": "Illness"},
    ]
    assert found(printed(WANG_3, WANG_QUASI, "Illness", privacy=models), "homogeneity").records == 2


def test_a_secret_that_everybody_shares_is_no_leak_of_the_classes() -> None:
    everybody = attacked([["flu"] * 3, ["flu"] * 4], "homogeneity")
    assert (everybody.records, everybody.baseline, everybody.leak) == (7, 1.0, False)
    assert everybody.outcome == "explained"
    categories = {"secret": {"categories": {"Grave": ["hiv", "cancer"], "Light": ["flu"]}}}
    alike = attacked([["hiv", "cancer"], ["cancer", "hiv"]], "similarity", **categories)
    assert (alike.records, alike.baseline, alike.leak) == (4, 1.0, False)


def test_similarity_without_categories_does_not_apply() -> None:
    estimate = attacked([["hiv", "cancer"]], "similarity")
    assert (estimate.status, estimate.records, estimate.leak) == ("not applicable", None, False)
    assert estimate.outcome == "no-categories"


def test_chance_is_told_beside_homogeneity() -> None:
    """Of four records in pairs, two secrets twice: in one dealing of three both pairs are alike."""
    estimate = attacked([["a", "a"], ["b", "b"]], "homogeneity")
    assert estimate.details["expected_by_chance"] == pytest.approx(4 / 3)


def test_ruling_out_values_makes_small_classes_certain_one_by_one() -> None:
    classes = [["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"], ["a", "b", "c", "d", "e"]]
    estimate = attacked(classes, "background", ruled_out=3)
    assert estimate.details["by_values_ruled_out"] == {1: 2, 2: 5, 3: 9}
    assert (estimate.records, estimate.classes, estimate.certain) == (9, 3, 9)
    assert (estimate.outcome, estimate.leak) == ("explained", False)  # classes so small have no more values by chance
    assert not attacked(classes[3:], "background", ruled_out=3).leak
    assert attacked(classes[3:], "background", ruled_out=4).records == 5


def test_classes_with_few_of_many_values_are_open_to_who_rules_values_out() -> None:
    classes = [["a", "b"] * 5, ["c", "d"] * 5, ["e", "f"] * 5, ["a", "b", "c", "d", "e", "f"] * 2]
    estimate = attacked(classes, "background", ruled_out=3)
    assert (estimate.leak, estimate.records, estimate.certain, estimate.baseline) == (True, 30, 30, 0.0)
    assert estimate.p_value is not None
    assert estimate.p_value <= 0.01


def test_ruling_out_one_of_two_values_needs_no_release() -> None:
    estimate = attacked([["yes", "no"], ["no", "yes", "yes"]], "background", ruled_out=1)
    assert (estimate.records, estimate.baseline, estimate.leak) == (5, 1.0, False)


secrets = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=6), min_size=1, max_size=6
)


@given(secrets, st.integers(1, 4))
def test_certain_records_are_as_counted_class_by_class(classes: list[list[str | None]], ruled_out: int) -> None:
    report = {name: attacked(classes, name, ruled_out=ruled_out) for name in ("homogeneity", "background")}
    classes = [[secret for secret in each if secret is not None] for each in classes]
    if not any(classes):
        assert {each.outcome for each in report.values()} == {"nothing-known"}
        return
    assert report["homogeneity"].records == oracle.certain_records(classes, 0)
    together = [[secret for each in classes for secret in each]]
    added = {
        m: oracle.certain_records(classes, m) - oracle.certain_records(together, m) for m in range(1, ruled_out + 1)
    }
    background = report["background"]
    leaking = [m for m, p_value in background.details["p_values"].items() if p_value <= CHANCE]
    assert background.leak == bool(leaking)
    worst = max(m for m in leaking or added if added[m] == max(added[each] for each in leaking or added))
    assert background.details["values_ruled_out"] == worst
    assert (background.certain, report["homogeneity"].certain) == (
        added[worst],
        oracle.certain_records(classes, 0) - oracle.certain_records(together, 0),
    )
    for name, m in (("homogeneity", 0), ("background", worst)):
        assert report[name].records == oracle.certain_records(classes, m)
        assert report[name].baseline == pytest.approx(oracle.certain_records(together, m) / len(together[0]))


def test_a_class_in_which_a_rare_value_gathers_is_skewed() -> None:
    classes = [["hiv"] * 9 + ["flu"], *([["flu"] * 9 + ["cold"]] * 20), ["hiv"] + ["flu"] * 9]
    estimate = attacked(classes, "skewness")
    assert estimate.leak
    assert (estimate.records, estimate.classes) == (9, 1)
    worst = estimate.details["largest_gains"][0]
    assert (worst["value"], worst["records"], worst["of"], worst["posterior"]) == ("hiv", 9, 10, 0.9)
    assert worst["class"] == {"place": "c000"}
    assert worst["gain"] == pytest.approx(0.9 - 10 / 220, abs=1e-6)
    assert worst["ratio"] == pytest.approx(0.9 / (10 / 220), abs=1e-4)
    assert (estimate.rate, estimate.baseline) == (9 / 220, 0.0)
    assert estimate.p_value is not None
    assert estimate.p_value == pytest.approx(2 * 22 * 3 * float(oracle.tail(9, 10, 10, 220)))


@pytest.mark.parametrize("seed", range(8))
def test_secrets_dealt_at_random_are_not_skewed_however_small_the_classes(seed: int) -> None:
    """Classes of four in which one of ten values stands out by chance: gains of 40 points and more, and no leak."""
    values = np.random.default_rng(seed).integers(0, 10, size=(200, 4))
    classes = [[str(value) for value in each] for each in values]
    estimate = attacked(classes, "skewness")
    assert (estimate.leak, estimate.records) == (False, 0)
    assert estimate.details["mean_belief"] == pytest.approx(estimate.details["mean_belief_by_chance"], abs=0.02)
    assert estimate.details["mean_belief"] > 2 * estimate.details["without_release"]


def test_classes_that_all_differ_a_little_are_skewed_though_no_cell_stands_out() -> None:
    """Each half of the table has a value of its own that is more frequent; no class of eight alone proves anything."""
    random = np.random.default_rng(2)
    near, far = [0.36, 0.16, 0.16, 0.16, 0.16], [0.16, 0.36, 0.16, 0.16, 0.16]
    classes = [[str(value) for value in random.choice(5, 8, p=near if n < 60 else far)] for n in range(120)]
    estimate = attacked(classes, "skewness")
    assert estimate.details["cells_beyond_chance"] == 0
    assert estimate.leak
    beyond = estimate.details["mean_belief"] - estimate.details["mean_belief_by_chance"]
    assert estimate.records == round(beyond * 960)


def test_differences_of_a_large_table_that_do_not_matter_are_no_leak() -> None:
    """52.9% against 52.2%: far beyond chance in forty thousand records, and nothing that anybody could use."""
    classes = [["a"] * 10_600 + ["b"] * 9_400, ["a"] * 10_300 + ["b"] * 9_700]
    estimate = attacked(classes, "skewness")
    assert (estimate.leak, estimate.records, estimate.details["beyond_chance"]) == (False, 0, True)
    doubled = [["a"] * 20 + ["b"] * 9_980, ["a"] * 20 + ["b"] * 99_980]
    assert attacked(doubled, "skewness").details["by_value"]["a"]["records"] == 20


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=3).filter(
    lambda classes: sum(map(len, classes)) <= 6))  # fmt: skip
def test_the_mean_belief_and_its_baseline_are_those_of_all_dealings(classes: list[list[str]]) -> None:
    estimate = attacked(classes, "skewness")
    assert estimate.details["mean_belief"] == pytest.approx(float(oracle.mean_belief(classes)))
    assert estimate.details["mean_belief_by_chance"] == pytest.approx(float(oracle.mean_belief_if_dealt(classes)))


@pytest.mark.parametrize(
    "classes",
    [
        [["a", "a", "a"], ["b", "b"], ["c", "c"]],
        [["a", "b", "a"], ["b", "a"], ["c", "c"]],
        [["a", "b"], ["b", "c", "a"]],
    ],
)
def test_p_values_are_those_of_all_dealings(classes: list[list[str]]) -> None:
    """Of seven records every dealing can be made."""
    records, sizes = [secret for each in classes for secret in each], [len(each) for each in classes]

    def p_value(figure: Callable[[list[list[str]]], Any]) -> float:
        hands = [oracle.hands(dealt, sizes) for dealt in set(permutations(records))]
        return sum(figure(each) >= figure(classes) for each in hands) / len(hands)

    beliefs, ruled_out = [], []
    for seed in range(12):
        skewed, found_out = (attacked(classes, name, seed=seed, ruled_out=1) for name in ("skewness", "background"))
        beliefs.append(skewed.details["p_values"]["mean_belief"])
        ruled_out.append(found_out.p_value)
    assert np.mean(beliefs) == pytest.approx(p_value(oracle.mean_belief), abs=0.06)
    exact = p_value(lambda each: oracle.certain_records(each, 1))
    assert np.mean(ruled_out) == pytest.approx(exact, abs=0.06)


@given(secrets, st.booleans())
def test_the_mean_belief_of_hands_is_counted_in_either_way(classes: list[list[str | None]], many: bool) -> None:
    sizes = np.array([len(each) for each in classes])
    codes = np.array([["a", "b", "c", "d", None].index(secret) for each in classes for secret in each])
    belief = mean_belief(np.stack([codes, codes]), sizes, 1000 if many else 5)
    named = [[str(secret) for secret in each] for each in classes]
    assert belief == pytest.approx([float(oracle.mean_belief(named))] * 2)


@given(
    st.integers(1, 60).flatmap(
        lambda total: st.tuples(st.just(total), st.integers(1, total), st.integers(1, total), st.floats(1e-9, 0.3))
    )
)
def test_rare_dealings_are_those_of_the_exact_tail(case: tuple[int, int, int, float]) -> None:
    total, drawn, marked, limit = case
    for found_there in range(max(0, drawn + marked - total), min(drawn, marked) + 1):
        exact = oracle.tail(found_there, drawn, marked, total)
        figures = [np.array([number], dtype=np.int64) for number in (found_there, drawn, marked)]
        told = bool(rare_dealings(*figures, total, limit)[0])
        if abs(float(exact) - limit) > 1e-9:
            assert told == (float(exact) <= limit and found_there > drawn * marked / total)


@given(st.integers(2, 40), st.data())
def test_the_smallest_tail_is_that_of_the_rarest_cell(total: int, data: st.DataObject) -> None:
    cells = []
    for _ in range(data.draw(st.integers(1, 6))):
        drawn, marked = data.draw(st.integers(1, total)), data.draw(st.integers(1, total))
        cells.append((data.draw(st.integers(max(0, drawn + marked - total), min(drawn, marked))), drawn, marked))
    above = [oracle.tail(*cell, total) for cell in cells if cell[0] * total > cell[1] * cell[2]]
    told = smallest_tail(*np.array(cells, dtype=np.int64).T, total)
    assert told == pytest.approx(float(min(above, default=1)), rel=1e-9)


def test_the_tail_of_a_large_table_keeps_its_digits() -> None:
    """A million records: 60 of 500 with a value of 5 %, which 25 would have on average."""
    figures = [np.array([number], dtype=np.int64) for number in (60, 500, 50_000)]
    exact = float(oracle.tail(60, 500, 50_000, 1_000_000))
    assert rare_dealings(*figures, 1_000_000, exact * 1.000001)[0]
    assert not rare_dealings(*figures, 1_000_000, exact * 0.999999)[0]
