"""Advice: it fits the policy, its edits make a right policy, and a run with them no longer leaks so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.attacks.verdict.verdict import Advice
from shoal.edits import apply_edits
from shoal.models import MODELS
from shoal.search import ALGORITHMS
from support.attack_cases import policy_of, table_of

K2 = {"model": "k-anonymity", "k": 2}
NAMES = ["age", "condition"]


def advice(table: pa.Table, policy: shoal.Policy, attack: str) -> tuple[shoal.Release, tuple[Advice, ...]]:
    """The release, which an attack must leak of, and what is advised against it."""
    release = shoal.anonymize(table, policy)
    leaking = {each.name for each in release.facts.attacks if each.leak}
    assert attack in leaking
    assert release.facts.verdict is not None
    return release, tuple(each for each in release.facts.verdict.advice if each.attack == attack)


def leaks_after(table: pa.Table, policy: shoal.Policy, change: Advice) -> set[str]:
    """The attacks that leak when a change is made."""
    changed = shoal.Policy.model_validate(apply_edits(policy.to_dict(), change.edits))
    assert changed != policy
    return {each.name for each in shoal.anonymize(table, changed).facts.attacks if each.leak}


def stops(table: pa.Table, policy: shoal.Policy, attack: str) -> list[str]:
    """The codes of what is advised against a leak, each of which is seen to stop it."""
    _, found = advice(table, policy, attack)
    for each in found:
        assert attack not in leaks_after(table, policy, each), each.code
    return [each.code for each in found]


def rows_of(*counted: tuple[Sequence[str], int]) -> list[list[str]]:
    return [list(row) for row, count in counted for _ in range(count)]


GROUPS = [("20", "a", 3), ("20", "b", 3), ("30", "a", 6), ("50", "c", 2), ("50", "a", 2)]
ILL = table_of(NAMES, rows_of(*(([age, ill], count) for age, ill, count in GROUPS)))
AGES = {"age": {"role": "quasi", "hierarchy": {"intervals": [10, 20, 40]}}, "condition": {"role": "sensitive"}}


def test_a_class_of_one_value_takes_a_model_with_two() -> None:
    policy = policy_of(AGES, privacy=[K2])
    assert stops(ILL, policy, "homogeneity") == ["add-model"]
    _, (change,) = advice(ILL, policy, "homogeneity")
    (edit,) = change.edits
    assert edit.path == ("privacy", 1)
    assert edit.value["sensitive"] == "condition"
    model = MODELS[edit.value["model"]]
    assert "homogeneity" in model.stops
    assert edit.value[model.parameters[0].name] == 2


def test_a_model_that_is_there_is_made_stricter_instead_of_added() -> None:
    asked = [K2, {"model": "p-sensitive", "p": 1, "sensitive": "condition"}]
    policy = policy_of(AGES, privacy=asked)
    assert stops(ILL, policy, "homogeneity") == ["strengthen-model"]


def test_values_that_can_be_ruled_out_take_more_of_them_and_classes_as_large() -> None:
    values = ["a", "b", "c", "d", "e", "f"]
    some = {"20": values[:2], "30": values[2:4], "50": values[4:], "60": values}
    table = table_of(NAMES, rows_of(*(([age, value], 5) for age in some for value in some[age])))
    asked = [K2, {"model": "p-sensitive", "p": 2, "sensitive": "condition"}]
    policy = policy_of(AGES, privacy=asked)
    assert stops(table, policy, "background") == ["strengthen-model"]
    _, (change,) = advice(table, policy, "background")
    assert [(edit.path, edit.value) for edit in change.edits] == [
        (("privacy", 1, "p"), 5),
        (("privacy", 0, "k"), 5),
    ]


def test_a_class_of_one_category_takes_a_model_on_categories() -> None:
    condition = {"role": "sensitive", "categories": {"bad": ["a", "b"], "good": ["c", "d"]}}
    counted = [(["20", "a"], 2), (["20", "b"], 2), (["50", "c"], 2), (["50", "a"], 2)]
    table = table_of(NAMES, rows_of(*counted))
    policy = policy_of(AGES | {"condition": condition}, privacy=[K2])
    assert stops(table, policy, "similarity") == ["add-model"]


BY_WARD = [("North", "a", 5), ("South", "b", 5), ("West", "c", 4)]
WARDS = table_of(
    ["age", "ward", "condition"],
    rows_of(*(([age, ward, ill], count) for age in ("20", "50") for ward, ill, count in BY_WARD)),
)
WITH_WARD = {**AGES, "ward": {"role": "insensitive"}}


@pytest.mark.parametrize("attack", ["homogeneity-insensitive", "columns"])
def test_a_column_that_does_it_is_left_out_or_made_a_quasi_identifier(attack: str) -> None:
    policy = policy_of(WITH_WARD, privacy=[{"model": "k-anonymity", "k": 3}])
    _, found = advice(WARDS, policy, attack)
    assert [each.code for each in found] == ["omit-columns", "make-quasi"]
    for each in found:
        assert each.columns == each.by == ("ward",)
        assert attack not in leaks_after(WARDS, policy, each)


def test_a_column_that_only_narrows_people_down_has_the_same_advice() -> None:
    policy = policy_of(WITH_WARD, privacy=[{"model": "k-anonymity", "k": 6}])
    verdict = shoal.anonymize(WARDS, policy).facts.verdict
    assert verdict is not None
    assert "narrowed" in {each.code for each in verdict.caveats}
    found = [each.code for each in verdict.advice if each.attack == "linkage-insensitive"]
    assert found == ["omit-columns", "make-quasi"]


def test_a_sensitive_column_that_gives_another_away_is_left_out_with_its_models() -> None:
    columns = {**AGES, "ward": {"role": "sensitive"}}
    asked = [K2, {"model": "p-sensitive", "p": 2, "sensitive": ["ward", "condition"]}]
    policy = policy_of(columns, privacy=asked)
    _, found = advice(WARDS, policy, "columns")
    for each in found:
        assert each.code == "omit-columns"
        assert each.columns in {("ward",), ("condition",)}
        assert "columns" not in leaks_after(WARDS, policy, each)
    assert found


def test_leaving_a_column_out_forgets_what_was_accepted_of_it() -> None:
    accept = [{"attack": "linkage-insensitive", "column": "ward", "reason": "x"}]
    policy = policy_of(WITH_WARD, privacy=[{"model": "k-anonymity", "k": 3}], accept=accept)
    _, found = advice(WARDS, policy, "homogeneity-insensitive")
    (omit,) = [each for each in found if each.code == "omit-columns"]
    changed = shoal.Policy.model_validate(apply_edits(policy.to_dict(), omit.edits))
    assert changed.accept == []
    assert "ward" not in changed.columns


def test_a_class_that_differs_from_the_whole_takes_a_model_of_the_distance() -> None:
    counted = [(["20", "a"], 40), (["20", "b"], 10), (["50", "a"], 10), (["50", "b"], 40)]
    table = table_of(NAMES, rows_of(*counted))
    assert stops(table, policy_of(AGES, privacy=[K2]), "skewness") == ["add-model"]


def test_numbers_close_together_take_bins() -> None:
    rows = [["20", str(1000 + each)] for each in range(4)] + [["50", str(1000 + 900 * each)] for each in range(8)]
    table = table_of(["age", "income"], rows)
    columns = {"age": AGES["age"], "income": {"role": "sensitive"}}
    policy = policy_of(columns, privacy=[K2])
    assert "widen-bins" in stops(table, policy, "proximity")


@pytest.mark.filterwarnings("ignore::shoal.errors.DisclosureWarning")
def test_the_ranges_of_the_range_method_take_one_range_per_group_or_another_algorithm() -> None:
    rows = [["1", str(age), "ab"[age % 2]] for age in (20, 23, 27, 31, 38, 40)]
    table = table_of(["zip", "age", "condition"], rows)
    columns = {"zip": {"role": "quasi"}, "age": {"role": "quasi", "hierarchy": {"intervals": [10, 40]}}}
    algorithm = {"name": "range", "group": {"zip": 0}, "ranges": ["age"]}
    policy = policy_of(columns | {"condition": {"role": "sensitive"}}, algorithm=algorithm)
    assert stops(table, policy, "inversion") == ["switch-option", "full-domain"]


@pytest.mark.parametrize("algorithm", [None, "optimal", {"name": "optimal", "seed": 3}])
def test_what_the_program_reveals_takes_concealment_however_the_algorithm_is_written(algorithm: object) -> None:
    rows = rows_of((["11", "HIV"], 2), (["12", "HIV"], 1), (["12", "Flu"], 1), (["21", "HIV"], 1), (["21", "Flu"], 1))
    columns = {"age": {"role": "quasi", "hierarchy": {"mask": "right"}}, "condition": {"role": "sensitive"}}
    limit = {"model": "alpha-k-anonymity", "alpha": {"HIV": 0.5}, "sensitive": "condition"}
    given = {} if algorithm is None else {"algorithm": algorithm}
    policy = policy_of(columns, privacy=[K2, limit], suppression=0.4, **given)
    _, (change,) = advice(table_of(NAMES, rows), policy, "informed")
    assert (change.code, change.option) == ("switch-option", "conceal")
    changed = shoal.Policy.model_validate(apply_edits(policy.to_dict(), change.edits)).to_dict()["algorithm"]
    assert changed == {"name": "optimal", **(algorithm if isinstance(algorithm, dict) else {}), "conceal": True}


def test_a_full_domain_algorithm_is_advised_to_local_ones_alone() -> None:
    for name, algorithm in ALGORITHMS.items():
        if algorithm.needs:
            continue
        policy = policy_of(WITH_WARD, privacy=[K2], algorithm={"name": name})
        verdict = shoal.anonymize(WARDS, policy).facts.verdict
        assert verdict is not None
        codes = {each.code for each in verdict.advice}
        assert algorithm.scope == "local" or "full-domain" not in codes


def test_every_edit_of_the_hospital_makes_a_right_policy(hospital: shoal.Policy) -> None:
    for algorithm in ("optimal", "mondrian", "top-down"):
        asked = hospital.changed(algorithm={"name": algorithm}, privacy=[{"model": "k-anonymity", "k": 3}])
        verdict = shoal.anonymize(policy=asked).facts.verdict
        assert verdict is not None
        assert verdict.advice
        for each in verdict.advice:
            changed = shoal.Policy.model_validate(apply_edits(asked.to_dict(), each.edits))
            assert not each.edits or changed != asked, each.code


@pytest.fixture(scope="module")
def hospital() -> shoal.Policy:
    from importlib import resources

    return shoal.Policy.load(str(resources.files("shoal.data") / "hospital.yaml"))


def test_an_attack_of_another_package_has_no_advice() -> None:
    from dataclasses import replace

    from shoal.attacks.attack import tried
    from shoal.attacks.verdict.advice import advice_for

    found: Any = replace(tried(records=1, of=2), name="third-party", sensitive="condition")
    assert advice_for(policy_of(AGES), [found]) == ()
