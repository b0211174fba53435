"""Whether two labels of different releases can stand for one value: never denied where some value lies under both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attacks.released_labels import may_overlap, overlapping_labels
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.labels import Labels
from shoal.verification.stated_policy import stated
from support.attack_cases import policy_of

HIERARCHIES: dict[str, tuple[list[Any], list[str]]] = {
    "numbers": (
        [{"intervals": [5, 10]}, {"intervals": [4, 20]}, {"intervals": {"widths": [10], "bounds": [0, 35]}}],
        [str(number) for number in range(0, 33, 3)],
    ),
    "codes": (
        [{"mask": "right"}, {"mask": {"side": "right", "steps": [2]}}, {"mask": "left"}],
        ["1201", "1202", "1301", "3201"],
    ),
    "words": (
        [{"tree": {"A": ["a", "b"], "B": ["c"]}}, {"tree": {"U": ["a", "c"], "V": ["b"]}}, "flat"],
        ["a", "b", "c"],
    ),
    "dates": (
        [{"dates": ["month", "year"]}, {"dates": ["quarter", "decade"]}],
        ["2020-01-05", "2020-05-05", "2031-01-01"],
    ),
}
KINDS = [(name, one, other) for name, (kinds, _) in HIERARCHIES.items() for one in kinds for other in kinds]


def labels_of(hierarchy: Any) -> Labels:
    return quasi_labels(
        stated(policy_of({"q": {"role": "quasi", "hierarchy": hierarchy}, "s": {"role": "sensitive"}}))
    )["q"]


@pytest.mark.parametrize(("name", "one", "other"), KINDS)
def test_labels_that_share_a_value_are_never_held_apart(name: str, one: Any, other: Any) -> None:
    values: Sequence[str | None] = [*HIERARCHIES[name][1], None]
    first, second = labels_of(one), labels_of(other)
    here = {label for chain in first.chains(values) for label in chain}
    there = {label for chain in second.chains(values) for label in chain}
    for left, right in zip(first.chains(values), second.chains(values), strict=True):
        for label in left:
            for beside in right:
                assert may_overlap(first, label, sorted(here, key=str), second, beside, sorted(there, key=str))


@pytest.mark.parametrize(
    ("hierarchy", "label", "other"),
    [
        ({"intervals": [5, 10]}, "[0, 5)", "[5, 10)"),
        ({"intervals": [5, 10]}, "[0, 10)", "12"),
        ({"mask": "right"}, "12**", "13**"),
        ({"mask": "right"}, "12**", "120*" + "*"),
        ({"tree": {"A": ["a", "b"], "B": ["c"]}}, "A", "B"),
        ({"tree": {"A": ["a", "b"], "B": ["c"]}}, "A", "c"),
        ("flat", "a", "b"),
        ({"tree": {"A": ["a", "b"], "B": ["c"]}}, None, "A"),
    ],
)
def test_labels_that_share_no_value_are_held_apart(hierarchy: Any, label: str | None, other: str) -> None:
    kind = labels_of(hierarchy)
    assert not may_overlap(kind, label, [label], kind, other, [other])
    assert not may_overlap(kind, other, [other], kind, label, [label])


def test_ranges_are_compared_by_their_ends() -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10]}}, "s": {"role": "sensitive"}}
    ranged = quasi_labels(stated(policy_of(columns, algorithm={"name": "mondrian", "ranges": ["age"]})))["age"]
    plain = labels_of({"intervals": [10]})
    shown = ["20<=22", "25"]
    assert may_overlap(ranged, "20<=22", shown, plain, "[20, 30)", ["[20, 30)"])
    assert may_overlap(ranged, "20<=22", shown, ranged, "22<=30", ["22<=30"])
    assert not may_overlap(ranged, "20<=22", shown, ranged, "23<=30", ["23<=30"])
    assert not may_overlap(ranged, "20<=22", shown, plain, "[30, 40)", ["[30, 40)"])
    assert may_overlap(plain, "21", ["21"], ranged, "20<=22", shown)


@pytest.mark.parametrize(("name", "one", "other"), KINDS)
def test_the_cover_lists_exactly_the_pairs_that_overlap(name: str, one: Any, other: Any) -> None:
    values: Sequence[str | None] = [*HIERARCHIES[name][1], None]
    kinds = [labels_of(one), labels_of(other)]
    shown = [sorted({label for chain in kind.chains(values) for label in chain}, key=str) for kind in kinds]
    assert_as_pair_by_pair(kinds[0], shown[0], kinds[1], shown[1])


@given(st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6), st.sets(st.integers(0, 30), max_size=4))
def test_the_cover_of_ranges_lists_exactly_the_pairs_that_overlap(
    pairs: set[tuple[int, int]], numbers: set[int]
) -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"intervals": [10]}}, "s": {"role": "sensitive"}}
    ranged = quasi_labels(stated(policy_of(columns, algorithm={"name": "mondrian", "ranges": ["age"]})))["age"]
    shown: list[str | None] = [*(f"{low}<={high}" for low, high in sorted(pairs) if low < high), "*", None]
    plain: list[str | None] = [*map(str, sorted(numbers)), "[0, 10)", "[20, 30)"]
    assert_as_pair_by_pair(ranged, shown, labels_of({"intervals": [10]}), plain)
    assert_as_pair_by_pair(labels_of({"intervals": [10]}), plain, ranged, shown)
    assert_as_pair_by_pair(ranged, shown, ranged, [*shown, *map(str, sorted(numbers))])


def assert_as_pair_by_pair(one: Labels, labels: Sequence[Any], other: Labels, beside: Sequence[Any]) -> None:
    cover = overlapping_labels(one, labels, other, beside)
    for place, label in enumerate(labels):
        listed = cover.others[cover.starts[place] : cover.starts[place + 1]].tolist()
        assert listed == [j for j, each in enumerate(beside) if may_overlap(one, label, labels, other, each, beside)]
