"""Ranges ``L<=M`` before the verifier: which are labels, what they hold, and when they break a boundary."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.verification import Verification
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.ranges import RangeLabels
from shoal.verification.stated_policy import stated

Cells = list[str | None]
HIERARCHIES: dict[str, Any] = {
    "intervals": {"intervals": [5, 10]},
    "bounded": {"intervals": {"widths": [5, 10], "bounds": [18, 44]}},
    "tree": {"tree": {"young": ["20", "22", "27"], "old": {"middle": ["31", "38"], "late": ["41"]}}},
    "mask": {"mask": "right"},
    "flat": "flat",
}
LOCAL: dict[str, Any] = {
    "mondrian": {"name": "mondrian", "ranges": ["age"]},
    "top-down": {"name": "top-down", "ranges": ["age"]},
    "greedy-clustering": {"name": "greedy-clustering", "ranges": ["age"]},
    "faithful": {"name": "greedy-clustering", "faithful": True, "ranges": ["age"]},
}
"""The local recodings, which release the tight range of each class."""
LOOK_ALIKE = {"tree": {"20<=29": ["20", "29", "50"], "70": ["60", "65"]}}


def policy(kind: str = "intervals", boundary: Any = None, algorithm: Any = None, **keys: Any) -> Policy:
    column: dict[str, Any] = {"role": "quasi", "hierarchy": HIERARCHIES.get(kind, LOOK_ALIKE)}
    if boundary is not None:
        column["boundary"] = boundary
    return Policy(
        columns={"age": column, "zip": {"role": "quasi", "hierarchy": {"mask": "right"}}},
        privacy=[{"model": "k-anonymity", "k": 1}],
        algorithm=algorithm or {"name": "range", "group": {"zip": 1}, "ranges": ["age"]},
        **keys,
    )


def table(ages: Cells) -> pa.Table:
    return pa.table({"age": pa.array(ages, pa.string()), "zip": pa.array(["11"] * len(ages), pa.string())})


def verified(released: Cells, original: Cells | None, **keys: Any) -> Verification:
    ordered = sorted(released, key=lambda label: (label is None, label or ""))
    return verify(table(ordered), policy(**keys), None if original is None else table(original))


def failing(released: Cells, original: Cells | None = None, **keys: Any) -> list[str]:
    """The checks that fail, but for that of the ends: here they are often values that no record has."""
    found = [check.name for check in verified(released, original, **keys).failures]
    return [name for name in found if name != "range-ends"]


def labels(kind: str) -> RangeLabels:
    found = quasi_labels(stated(policy(kind)))["age"]
    assert isinstance(found, RangeLabels)
    return found


@pytest.mark.parametrize("algorithm", LOCAL.values(), ids=LOCAL)
@pytest.mark.parametrize("kind", HIERARCHIES)
def test_the_tight_ranges_of_a_local_recoding_are_accepted_alone_and_beside_the_original(
    kind: str, algorithm: Any
) -> None:
    original: Cells = ["20", "22", "22", "31", "38", "41", None, None]
    released: Cells = ["20<=31", "20<=31", "22", "20<=31", "38<=41", "38<=41", None, "*"]
    assert failing(released, kind=kind, algorithm=algorithm) == []
    assert failing(released, original, kind=kind, algorithm=algorithm) == []


@pytest.mark.parametrize("algorithm", LOCAL.values(), ids=LOCAL)
def test_a_range_narrower_than_the_values_of_its_class_is_not_true(algorithm: Any) -> None:
    original: Cells = ["22", "25", "30"]
    assert failing(["22<=30"] * 3, original, algorithm=algorithm) == []
    for tampered in ("23<=30", "22<=29", "23<=29"):
        assert failing([tampered] * 3, original, algorithm=algorithm) == ["truthfulness"]
    assert failing(["25"] * 3, original, algorithm=algorithm) == ["truthfulness"]


@pytest.mark.parametrize("algorithm", LOCAL.values(), ids=LOCAL)
@pytest.mark.parametrize("boundary", [2, ["[20, 30)", "[30, 40)"]])
def test_a_range_beyond_the_boundary_of_a_value_fails(algorithm: Any, boundary: Any) -> None:
    original: Cells = ["22", "29", "31"]
    assert failing(["22<=29", "22<=29", "31"], original, algorithm=algorithm, boundary=boundary) == []
    for tampered in ("22<=31", "19<=29"):
        released: Cells = [tampered, tampered, "31"]
        assert failing(released, original, algorithm=algorithm, boundary=boundary) == ["boundaries"]
        assert failing(released, algorithm=algorithm, boundary=2) == ["boundaries"]


@pytest.mark.parametrize("name", ["mondrian", "top-down", "greedy-clustering"])
def test_a_local_recoding_releases_ranges_only_in_the_columns_that_the_policy_names(name: str) -> None:
    for ranges in ({}, {"ranges": []}, {"ranges": ["zip"]}):
        assert failing(["20<=31"], algorithm={"name": name, **ranges}) == ["labels"]
        assert failing(["20<=31"], ["22"], algorithm={"name": name, **ranges}) == ["labels", "truthfulness"]


@pytest.mark.parametrize("algorithm", LOCAL.values(), ids=LOCAL)
def test_a_missing_value_of_a_class_is_in_no_range_but_under_the_node(algorithm: Any) -> None:
    assert failing(["*", "*"], ["22", None], algorithm=algorithm) == []
    assert failing(["22<=30", "22<=30", "22<=30"], ["22", "30", None], algorithm=algorithm) == ["truthfulness"]


def test_classes_are_told_apart_by_their_ranges() -> None:
    asked = policy(algorithm=LOCAL["mondrian"]).changed(privacy=[{"model": "k-anonymity", "k": 2}])
    overlapping = table(["20<=31", "20<=31", "22<=38", "22<=38"])
    assert verify(overlapping, asked).passed
    assert verify(overlapping, asked).classes == 2
    assert [check.name for check in verify(table(["20<=31", "20<=31", "22<=38"]), asked).failures] == ["k-anonymity"]


@pytest.mark.parametrize("kind", HIERARCHIES)
def test_a_release_in_ranges_is_accepted_alone_and_beside_its_original(kind: str) -> None:
    released: Cells = ["20<=31", "20<=31", "22<=38", "31<=41", "31<=41", None]
    assert failing(released, kind=kind) == []
    assert failing(released, ["20", "22", "31", "38", "41", None], kind=kind) == []


def test_a_range_that_leaves_its_original_out_is_not_true() -> None:
    result = verified(["20<=31", "38<=41"], ["22", "31"], kind="tree")
    failure = result.failures[0]
    assert failure.name == "truthfulness"
    assert "age='38<=41'" in failure.message


def test_both_ends_are_in_a_range() -> None:
    assert failing(["20<=31", "20<=31"], ["20", "31"]) == []
    assert failing(["20<=31"], ["19"]) == failing(["20<=31"], ["32"]) == ["truthfulness"]


def test_two_records_do_not_stand_for_one_original() -> None:
    assert failing(["20<=22", "22<=27"], ["22", "38"]) == ["truthfulness"]


def test_a_missing_value_lies_in_no_range() -> None:
    assert failing(["20<=31"], [None]) == ["truthfulness"]
    assert failing([None], [None]) == []


@pytest.mark.parametrize("label", ["31<=20", "20<=20", "20<=", "<=20", "20<31", "20<=x", "20<=31<=38", "[20, 25)<=31"])
@pytest.mark.parametrize("kind", ["intervals", "tree", "mask"])
def test_only_two_ascending_values_make_a_range(label: str, kind: str) -> None:
    if kind == "mask" and label == "20<31":
        assert labels(kind).knows(label)  # a mask takes any text without * for a value
    else:
        assert not labels(kind).knows(label)
        assert "labels" in failing([label], kind=kind)


def test_the_ends_are_values_of_the_hierarchy() -> None:
    assert labels("tree").knows("20<=38")
    assert not labels("tree").knows("20<=39")
    assert labels("look-alike").knows("60<=65")
    assert not labels("look-alike").knows("60<=70")  # 70 is a group
    assert not labels("intervals").knows("20<=31.0")  # a released number is canonical text
    assert labels("bounded").knows("18<=44")
    assert not labels("bounded").knows("18<=45")


def test_other_labels_are_as_before() -> None:
    kind = labels("intervals")
    assert kind.knows("[20, 25)")
    assert kind.knows("*")
    assert not kind.knows("[21, 25)")
    assert failing(["[20, 25)", "20<=31"], ["22", "31"]) == []
    assert kind.level("[20, 30)", []) == 2


def test_ranges_are_labels_only_where_the_policy_asks_for_them() -> None:
    elsewhere = {"name": "range", "group": {"age": 1}, "ranges": ["zip"]}
    assert failing(["20<=31"], algorithm="optimal") == ["labels"]
    assert failing(["20<=31"], ["22"], algorithm=elsewhere) == ["labels", "truthfulness"]


def test_a_listed_label_that_looks_like_a_range_is_what_the_tree_says() -> None:
    kind = labels("look-alike")
    assert kind.knows("20<=29")
    assert kind.range_of("20<=29") is None
    assert kind.with_ranges(["50"], kind.chains(["50"]), ["20<=29"]) == kind.chains(["50"])


@pytest.mark.parametrize(
    ("boundary", "label", "value", "alone"),
    [
        (1, "20<=24", "22", True),
        (1, "20<=26", "22", False),
        (2, "20<=26", "22", True),
        (2, "20<=31", "22", False),
        (["[20, 25)"], "20<=24", "22", True),
        (["[20, 25)"], "26<=38", "31", True),  # its values have no boundary
        (["[20, 30)", "[30, 40)"], "22<=38", "31", False),
        (["[20, 25)", "[25, 30)"], "22<=27", "22", False),
        (["22", "25"], "22<=25", "24", True),  # only its ends have boundaries
    ],
)
def test_a_range_that_leaves_the_boundary_of_its_value_is_refused_with_and_without_the_original(
    boundary: Any, label: str, value: str, alone: bool
) -> None:
    expected = [] if alone else ["boundaries"]
    assert failing([label], boundary=boundary) == expected
    assert failing([label], [value], boundary=boundary) == expected


def test_only_the_original_tells_whose_boundary_a_range_breaks() -> None:
    keys: dict[str, Any] = {"boundary": ["[20, 25)"]}
    assert failing(["22<=38"], **keys) == []  # some 31 may be released as this
    assert failing(["22<=38"], ["31"], **keys) == []
    assert failing(["22<=38"], ["22"], **keys) == ["boundaries"]


@pytest.mark.parametrize("kind", ["flat", "mask"])
def test_where_the_policy_does_not_list_values_only_the_original_tells(kind: str) -> None:
    keys: dict[str, Any] = {"kind": kind, "boundary": ["22"]}
    assert failing(["22<=38"], **keys) == []
    assert failing(["22<=38"], ["22"], **keys) == ["boundaries"]


def test_boundaries_of_listed_values_cap_their_ranges() -> None:
    keys: dict[str, Any] = {"kind": "tree", "boundary": ["young", "old"]}
    assert failing(["20<=27", "31<=41"], ["22", "38"], **keys) == []
    assert failing(["27<=31"], ["27"], **keys) == failing(["27<=31"], **keys) == ["boundaries"]


def test_an_end_that_no_record_has_is_invented() -> None:
    found = verified(["20<=99", "20<=99", "31<=38", "31<=38"], ["20", "31", "31", "38"])
    (failure,) = found.failures
    assert failure.name == "range-ends"
    assert failure.message == "2 cells hold ranges with an end that no record of the original has (age: '20<=99')"
    assert failure.facts == {"cells": 2, "labels": {"age": ["20<=99"]}}
    assert verified(["20<=99", "20<=99"], None).passed  # without the original nobody can tell
    assert verified(["20<=31", "20<=31", "31<=38", "31<=38"], ["020", "31.0", "31", "38"]).passed


NUMBERS = [str(number) for number in range(18, 45)]
BOUNDARIES: list[Any] = [None, 0, 1, 2, ["[20, 25)"], ["[20, 30)", "[20, 25)", "[35, 40)"], ["22", "[20, 30)"]]


@given(
    st.lists(st.sampled_from([*NUMBERS, None]), min_size=1, unique=True),
    st.lists(st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS)).filter(lambda ends: ends[0] < ends[1])),
    st.sampled_from(BOUNDARIES),
    st.sampled_from(["intervals", "bounded"]),
)
def test_a_value_lies_in_the_ranges_that_hold_it_within_its_boundary(
    values: Cells, ends: list[tuple[str, str]], boundary: Any, kind: str
) -> None:
    if kind == "bounded" and isinstance(boundary, list):
        boundary = [label for label in boundary if label.startswith("[2")] or None
    asked = policy(kind, boundary)
    found = labels(kind)
    ranges = [f"{low}<={high}" for low, high in ends]
    for value in values:
        chain = found.chains([value])[0]
        if isinstance(boundary, int):
            chain = chain[: boundary + 1]
        elif boundary is not None:
            end = next((place for place, label in enumerate(chain) if label in boundary), len(chain))
            chain = chain[: end + 1]
        given_labels = set(found.with_ranges([value], [chain], ranges)[0])
        under_cap = {number for number in NUMBERS if chain[-1] in found.chains([number])[0]}
        for label, (low, high) in zip(ranges, ends, strict=True):
            right = value is not None and int(low) <= int(value) <= int(high) and {low, high} <= under_cap
            assert (label in given_labels) == right
            if right:
                above = quasi_labels(stated(asked))["age"]
                assert not (isinstance(boundary, int) and above.level(label, ranges) > boundary)
                assert not (isinstance(boundary, list) and above.covered(label, boundary))


@given(
    st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS)).filter(lambda ends: ends[0] < ends[1]),
    st.sampled_from([boundary for boundary in BOUNDARIES if isinstance(boundary, list)]),
)
def test_a_range_is_above_all_boundaries_when_it_suits_no_number_in_it(ends: tuple[str, str], boundary: Cells) -> None:
    found = labels("intervals")
    low, high = (set(chain) for chain in found.chains(list(ends)))
    tenths = [f"{number / 10:g}" for number in range(int(ends[0]) * 10, int(ends[1]) * 10 + 1)]
    caps = [next((each for each in chain if each in boundary), "*") for chain in found.chains(tenths)]
    assert found.covered("<=".join(ends), boundary) == (not any(cap in low & high for cap in caps))
