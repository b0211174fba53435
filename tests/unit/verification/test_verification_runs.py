"""Runs of base intervals before the verifier: which are labels, what they hold, and when they break a boundary."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.runs import RunLabels
from shoal.verification.stated_policy import stated

Cells = list[str | None]
GRADES = ["7th", "8th", "9th", "10th", "11th", "12th"]
KINDS: dict[str, tuple[Any, Any]] = {
    "numbers": ({"intervals": [10, 20]}, {"step": 5}),
    "bounded": ({"intervals": {"widths": [10], "bounds": [18, 44]}}, {"step": 5}),
    "listed": ({"tree": {"young": ["20", "22", "27"], "old": ["31", "38"]}}, {"step": 5}),
    "dates": ({"dates": ["month", "year"]}, {"step": "1 month"}),
    "weeks": ({"dates": ["year"]}, {"step": "2 weeks"}),
    "order": ("flat", {"order": GRADES, "names": {"high school": ["9th", "12th"]}}),
    "tree": ({"tree": {"middle": GRADES[:2], "high": GRADES[2:]}}, {"order": "hierarchy"}),
}


def policy(kind: str, boundary: Any = None) -> Policy:
    hierarchy, form = KINDS[kind]
    column = {"role": "quasi", "hierarchy": hierarchy} | ({} if boundary is None else {"boundary": boundary})
    return Policy(
        columns={"q": column, "zip": {"role": "quasi", "hierarchy": {"mask": "right"}}},
        privacy=[{"model": "k-anonymity", "k": 1}],
        algorithm={"name": "mondrian", "ranges": {"q": form}},
    )


def table(cells: Cells) -> pa.Table:
    return pa.table({"q": pa.array(cells, pa.string()), "zip": pa.array(["11"] * len(cells), pa.string())})


def failing(released: Cells, original: Cells | None = None, kind: str = "numbers", boundary: Any = None) -> list[str]:
    ordered = sorted(released, key=lambda label: (label is None, label or ""))
    found = verify(table(ordered), policy(kind, boundary), None if original is None else table(original))
    return [check.name for check in found.failures]


@pytest.mark.parametrize(
    ("kind", "label", "value"),
    [
        ("numbers", "[20, 35)", "34.5"),
        ("numbers", "[15, 20)", "15"),
        ("numbers", "[20, 40)", "39"),  # a node as well
        ("numbers", "*", "3"),
        ("listed", "[20, 35)", "31"),
        ("dates", "2020-11..2021-02", "2021-02-28"),
        ("weeks", "2020-W13..2020-W16", "2020-04-19"),
        ("order", "8th..10th", "9th"),
        ("order", "high school", "12th"),
        ("tree", "8th..9th", "8th"),
    ],
)
def test_a_run_on_the_grid_is_a_label_that_holds_its_values(kind: str, label: str, value: str) -> None:
    assert failing([label], kind=kind) == []
    assert failing([label], [value], kind=kind) == []


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        ("numbers", "[21, 35)"),
        ("numbers", "[20, 34)"),
        ("numbers", "[20, 35]"),
        ("numbers", "[20.0, 35)"),
        ("numbers", "22<=34"),
        ("numbers", "[35, 20)"),
        ("listed", "[40, 45)"),  # no declared value lies in it
        ("dates", "2020-11-03..2021-02-01"),
        ("dates", "2020-11..2020-11"),
        ("dates", "2021-02..2020-11"),
        ("dates", "2020..2021"),
        ("weeks", "2020-W12..2020-W14"),  # base intervals of two weeks begin with W13
        ("weeks", "2020-W13"),
        ("order", "9th..12th"),  # it has a name
        ("order", "10th..8th"),
        ("order", "8th..13th"),
        ("order", "6th"),
        ("tree", "8th..8th"),
    ],
)
def test_a_label_with_an_end_that_is_not_on_the_grid_is_refused(kind: str, label: str) -> None:
    assert failing([label], kind=kind) == ["labels"]


@pytest.mark.parametrize(
    ("kind", "label", "value"),
    [
        ("numbers", "[20, 35)", "35"),
        ("numbers", "[20, 35)", "19.9"),
        ("dates", "2020-11..2021-02", "2021-03-01"),
        ("weeks", "2020-W13..2020-W16", "2020-04-20"),
        ("order", "8th..10th", "11th"),
        ("order", "high school", "8th"),
    ],
)
def test_a_value_outside_its_run_is_not_true(kind: str, label: str, value: str) -> None:
    assert failing([label], [value], kind=kind) == ["truthfulness"]


def test_a_missing_value_lies_in_no_run() -> None:
    assert failing(["[20, 35)"], [None]) == ["truthfulness"]
    assert failing([None, "[20, 35)"], [None, "22"]) == []


@pytest.mark.parametrize(
    ("kind", "boundary", "label", "value", "kept"),
    [
        ("numbers", 1, "[20, 25)", "22", True),
        ("numbers", 1, "[20, 35)", "22", False),
        ("numbers", 2, "[20, 35)", "22", True),
        ("numbers", 2, "[35, 45)", "38", False),
        ("numbers", 0, "[20, 25)", "22", False),
        ("numbers", ["[20, 30)", "[30, 40)"], "[25, 35)", "27", False),
        ("numbers", ["[20, 30)"], "[30, 45)", "31", True),
        ("bounded", 1, "[20, 25)", "22", True),
        ("bounded", 1, "[15, 20)", "18", False),  # it reaches below [18, 20)
        ("listed", ["young", "old"], "[20, 30)", "22", True),
        ("listed", ["young", "old"], "[25, 35)", "27", False),
        ("dates", 2, "2020-03..2020-07", "2020-03-01", True),
        ("dates", 2, "2020-11..2021-02", "2020-12-01", False),
        ("weeks", 1, "2020-W53..2021-W01", "2020-12-31", False),
        ("tree", ["middle", "high"], "9th..11th", "9th", True),
        ("tree", ["middle", "high"], "8th..9th", "8th", False),
    ],
)
def test_a_run_that_leaves_the_boundary_of_its_value_is_refused_with_and_without_the_original(
    kind: str, boundary: Any, label: str, value: str, kept: bool
) -> None:
    expected = [] if kept else ["boundaries"]
    assert failing([label], kind=kind, boundary=boundary) == expected
    assert failing([label], [value], kind=kind, boundary=boundary) == expected


def test_only_the_original_tells_whose_boundary_a_run_breaks() -> None:
    assert failing(["[20, 45)"], boundary=["[20, 30)"]) == []  # some 31 may be released as this
    assert failing(["[20, 45)"], ["31"], boundary=["[20, 30)"]) == []
    assert failing(["[20, 45)"], ["22"], boundary=["[20, 30)"]) == ["boundaries"]


def test_ends_that_nobody_has_are_no_fault_of_a_run() -> None:
    assert failing(["[20, 35)", "[20, 35)"], ["22", "31"]) == []


NUMBERS = [str(number) for number in range(18, 45)]
_POINTS = [f"{half / 2:g}" for half in range(20, 130)]
HALVES = dict(zip(range(20, 130), quasi_labels(stated(policy("numbers")))["q"].chains(_POINTS), strict=True))
BOUNDARIES: list[Any] = [None, 0, 1, 2, ["[20, 30)"], ["[20, 40)", "[20, 30)"], ["22", "[20, 30)"]]


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([*NUMBERS, None]), min_size=1, unique=True),
    st.lists(st.tuples(st.integers(3, 8), st.integers(0, 3)), min_size=1, unique=True),
    st.sampled_from(BOUNDARIES),
)
def test_a_value_lies_in_the_runs_that_hold_it_within_its_boundary(
    values: Cells, runs: list[tuple[int, int]], boundary: Any
) -> None:
    found = quasi_labels(stated(policy("numbers", boundary)))["q"]
    assert isinstance(found, RunLabels)
    labels = [f"[{5 * first}, {5 * (first + more + 1)})" for first, more in runs]
    for value in values:
        chain = found.chains([value])[0]
        if isinstance(boundary, int):
            chain = chain[: boundary + 1]
        elif boundary is not None:
            end = next((place for place, label in enumerate(chain) if label in boundary), len(chain))
            chain = chain[: end + 1]
        given_labels = set(found.with_ranges([value], [chain], labels)[0])
        held = {half for half, other in HALVES.items() if chain[-1] in other}
        for label, (first, more) in zip(labels, runs, strict=True):
            inside = set(range(10 * first, 10 * (first + more + 1)))
            right = value is not None and 2 * int(value) in inside and inside <= held
            assert (label in given_labels) == (right or label in chain)
