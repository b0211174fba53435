"""Households and weights of streamed records: what is sorted on disk is what a table in memory says."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from oracles import survey_oracle as oracle
from shoal.encode.survey import SurveyCheck, Weights
from shoal.io.survey import whole_households
from shoal.io.write import write_table


@given(
    homes=st.lists(st.sampled_from(["", "a", "b", "B", "é", "𝄞"]), max_size=30).map(sorted),
    cuts=st.lists(st.integers(0, 30), max_size=6).map(sorted),
)
def test_no_household_is_cut_in_two(homes: list[str], cuts: list[int]) -> None:
    whole = pa.table({"household": pa.array(homes, pa.string()), "part": np.arange(len(homes))})
    ends = [0, *cuts, len(homes)]
    tables = [whole.slice(start, max(end - start, 0)) for start, end in pairwise(ends)]
    found = list(whole_households(tables))
    assert np.concatenate([each.part for each in found] or [np.zeros(0)]).tolist() == list(range(len(homes)))
    groups = [
        [homes[part] for part in each.part[each.household == code]] for each in found for code in set(each.household)
    ]
    assert sorted(group[0] for group in groups) == sorted(set(homes))
    assert all(len(set(group)) == 1 for group in groups)


@given(
    weights=st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=30),
    seed=st.integers(0, 99),
    groups=st.integers(1, 4),
)
def test_sums_of_weights_are_the_same_in_any_order(weights: list[float], seed: int, groups: int) -> None:
    owner = np.arange(len(weights)) % groups
    found = Weights.of(pa.array(weights)).sums(owner, groups)
    order = np.random.default_rng(seed).permutation(len(weights))
    again = Weights.of(pa.array(np.array(weights)[order])).sums(owner[order], groups)
    assert found.tolist() == again.tolist()
    expected = [
        sum(weight for weight, each in zip(weights, owner, strict=True) if each == group) for group in range(groups)
    ]
    assert found.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9)


CELLS = st.sampled_from([None, "1", "2.5", "0", "-1", "nan", "inf", "1e12", "1_0", "ten", "0.001"])


@given(cells=st.lists(CELLS, min_size=1, max_size=12), cut=st.integers(0, 12))
def test_what_is_wrong_with_two_parts_is_what_is_wrong_with_both(cells: list[str | None], cut: int) -> None:
    def found(*parts: list[str | None], together: bool) -> SurveyCheck:
        checks = [SurveyCheck({"weight": "w", "household": "w"}) for _ in parts]
        for check, part in zip(checks, parts, strict=True):
            check.add(pa.table({"w": pa.array(part, pa.string())}))
        for other in checks[1:] if together else ():
            checks[0].add_check(other)
        return checks[0]

    whole, parts = found(cells, together=False), found(cells[:cut], cells[cut:], together=True)
    assert vars(whole) | {"total": 0} == vars(parts) | {"total": 0}
    assert whole.total == pytest.approx(parts.total)
    good = {"1", "2.5", "0.001"}
    assert whole.bad_records == sum(cell not in good for cell in cells)
    assert whole.bad == sorted({cell for cell in cells if cell is not None} - good)[:3]


POLICY: dict[str, Any] = {
    "data": "data.csv",
    "columns": {
        "hh": {"role": "identifier"},
        "w": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
        "region": {"role": "quasi"},
        "job": {"role": "sensitive", "same": {"a": ["A "]}},
        "note": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 3}],
    "suppression": 0.2,
    "household": "hh",
    "weight": "w",
    "output": "release.csv",
}


def people(seed: int, count: int = 300) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [
        {
            "hh": f"H{draw.randrange(count // 3)}", "w": round(1 + 90 * draw.random(), 2), "age": draw.randint(20, 60),
            "region": draw.choice("NSEW"), "job": draw.choice(["a", "b", "A "]), "note": draw.choice(["x", "y", None]),
        }
        for _ in range(count)
    ]  # fmt: skip


def policy_in(folder: Path, algorithm: str) -> shoal.Policy:
    paths = {key: str(folder / POLICY[key]) for key in ("data", "output")}
    return shoal.Policy.model_validate(POLICY | paths | {"algorithm": algorithm})


@pytest.mark.parametrize("algorithm", ["optimal", "top-down", "mondrian", "greedy-clustering"])
@pytest.mark.parametrize("seed", range(3))
def test_the_figures_of_a_stream_are_those_of_its_records(tmp_path: Path, algorithm: str, seed: int) -> None:
    rows = people(seed)
    write_table(pa.Table.from_pylist(rows), tmp_path / "data.csv")
    policy = policy_in(tmp_path, algorithm)
    held = shoal.publish(policy).release
    found = shoal.publish(policy, memory="600MB", force=True).release
    assert found.evidence["survey"] == held.evidence["survey"]
    before = found.evidence["survey"]["before"]
    if found.evidence["suppressed"] == 0:
        risks = oracle.class_risks([(row["age"], row["region"]) for row in rows], [row["w"] for row in rows])
        homes = oracle.household_risks([row["hh"] for row in rows], risks)
        assert before["individual"]["expected_reidentifications"] == pytest.approx(sum(risks), abs=1e-5)
        assert before["households"]["expected_households_found"] == pytest.approx(sum(homes.values()), abs=1e-5)
        assert before["households"]["highest"] == pytest.approx(max(homes.values()), abs=1e-5)


def test_the_order_of_a_stream_changes_no_digit(tmp_path: Path) -> None:
    rows, found = people(7), []
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        write_table(pa.Table.from_pylist(rows), tmp_path / "data.csv")
        policy = policy_in(tmp_path, "greedy-clustering")
        found.append(shoal.publish(policy, memory="600MB", force=True).release.evidence["survey"])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("algorithm", ["optimal", "greedy-clustering"])
def test_people_with_several_records_have_the_same_figures_in_a_stream(tmp_path: Path, algorithm: str) -> None:
    rows = [row | {"pid": f"P{place // 2}"} for place, row in enumerate(people(5))]
    write_table(pa.Table.from_pylist(rows), tmp_path / "data.csv")
    columns = POLICY["columns"] | {"pid": {"role": "identifier"}}
    policy = policy_in(tmp_path, algorithm).changed(columns=columns, person="pid", household="pid")
    held = shoal.publish(policy).release
    found = shoal.publish(policy, memory="600MB", force=True).release
    assert found.evidence["survey"] == held.evidence["survey"]
    assert 1 < held.evidence["survey"]["after"]["households"]["largest"] <= 2
