"""Ranges as positions on a line: the same answers as listing every value of every range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.pipeline.verify import verify
from shoal.policy import Policy
from shoal.verification import original_checks as columns
from shoal.verification.canonical_text import Coded
from shoal.verification.declared_labels import quasi_labels
from shoal.verification.matching import fitting_pairs as pairs
from shoal.verification.matching.fitting_pairs import Side, Trie, fitting
from shoal.verification.matching.label_sets import LabelSets, RangePositions
from shoal.verification.matching.match import Pairing, match
from shoal.verification.original_checks import released_as
from shoal.verification.ranges import RangeLabels
from shoal.verification.stated_policy import stated

Sets = list[tuple[int, ...]]


@st.composite
def spanned(draw: st.DrawFn) -> tuple[Sets, RangePositions]:
    """Sets with places, and labels in the right order: some are no ranges, some hold nothing."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    length, n_sets, n_labels = (draw(st.integers(1, most)) for most in (12, 8, 12))
    low = random.integers(0, length, n_labels)
    high = np.minimum(low + random.integers(0, length, n_labels), length - 1)
    plain = random.random(n_labels) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    spans = RangePositions(
        np.where(random.random(n_sets) < 0.8, random.integers(0, length, n_sets), -1),
        np.where(plain, 1, low),
        np.where(plain, 0, high),
    )
    order = spans.order()
    spans = RangePositions(spans.at, spans.low[order], spans.high[order])
    listed = [
        tuple(label for label in range(n_labels) if spans.low[label] > spans.high[label] and random.random() < 0.5)
        for _ in range(n_sets)
    ]
    return listed, spans


def with_ranges_listed(listed: Sets, spans: RangePositions) -> Sets:
    """Every set with the ranges over its place among its labels."""
    return [
        tuple(sorted({*labels, *np.flatnonzero((spans.low <= at) & (at <= spans.high)).tolist()}))
        for labels, at in zip(listed, spans.at, strict=True)
    ]


@given(spanned())
def test_a_set_has_the_ranges_over_its_place(drawn: tuple[Sets, RangePositions]) -> None:
    listed, spans = drawn
    sets, labels = (each.ravel() for each in np.indices((len(listed), len(spans.low))))
    expected = with_ranges_listed(listed, spans)
    assert LabelSets.of(listed, len(spans.low), spans).has(sets, labels).tolist() == [
        label in expected[each] for each, label in zip(sets.tolist(), labels.tolist(), strict=True)
    ]
    assert spans.pairs == sum(map(len, expected)) - sum(map(len, listed))


@given(spanned(), st.data())
def test_the_shares_are_those_of_the_listed_sets(drawn: tuple[Sets, RangePositions], data: st.DataObject) -> None:
    listed, spans = drawn
    sets = np.array(data.draw(st.lists(st.integers(0, len(listed) - 1), max_size=9)), dtype=np.int64)
    labels = np.array(data.draw(st.lists(st.integers(0, len(spans.low) - 1), max_size=9)), dtype=np.int64)
    found = LabelSets.of(listed, len(spans.low), spans).shares(sets, labels)
    expected = LabelSets.of(with_ranges_listed(listed, spans), len(spans.low)).shares(sets, labels)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other)


@given(spanned(), st.booleans())
def test_the_ranges_over_a_place_are_found_tried_or_looked_up(drawn: tuple[Sets, RangePositions], lookup: bool) -> None:
    listed, spans = drawn
    n_sets, n_labels = len(listed), len(spans.low)
    left, right = Side([np.arange(n_sets)]), Side([np.arange(n_labels)])
    under = LabelSets.of(listed, len(spans.low), spans)
    under.__dict__["usual_size"] = 0 if lookup else n_labels
    found = [
        pair
        for one, other in fitting([under], Trie(left), Trie(right))
        for pair in zip(one.tolist(), other.tolist(), strict=True)
    ]
    expected = {(each, label) for each, labels in enumerate(with_ranges_listed(listed, spans)) for label in labels}
    assert sorted(found) == sorted(expected)


@settings(max_examples=60)
@given(spanned(), spanned(), st.data())
def test_a_matching_is_as_large_as_with_the_sets_written_out(
    one: tuple[Sets, RangePositions], other: tuple[Sets, RangePositions], data: st.DataObject
) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_released, n_original = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 30))
    short, full = [], []
    for listed, spans in (one, other):
        codes = random.integers(0, len(spans.low), n_released), random.integers(0, len(listed), n_original)
        short.append(Pairing(*codes, len(spans.low), listed, spans))
        full.append(Pairing(*codes, len(spans.low), with_ranges_listed(listed, spans)))
    assert match(short).unmatched == match(full).unmatched
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_PAIRS_AT_A_TIME", 1)
        assert match(short).unmatched == match(full).unmatched


@given(spanned())
def test_a_narrowed_line_tells_the_same(drawn: tuple[Sets, RangePositions]) -> None:
    listed, spans = drawn
    narrow = RangePositions(spans.at * 100, spans.low * 100, spans.high * 100)  # -100 is no place either
    narrow = RangePositions(np.where(spans.at < 0, -1, narrow.at), narrow.low, narrow.high).narrowed()
    assert with_ranges_listed(listed, narrow) == with_ranges_listed(listed, spans)
    assert narrow.high.max(initial=0) <= 2 * len(spans.low)


# --- from labels ----------------------------------------------------------------------------------------------------

NUMBERS = [str(number) for number in range(18, 45)]
BOUNDARIES: list[Any] = [None, 0, 1, 2, ["[20, 25)"], ["[20, 30)", "[20, 25)", "[35, 40)"], ["22", "[20, 30)"]]


def policy(boundary: Any = None, hierarchy: Any = None) -> Policy:
    return Policy(
        columns={
            "age": {"role": "quasi", "hierarchy": hierarchy or {"intervals": [5, 10]}, "boundary": boundary},
            "sex": {"role": "quasi"},
        },
        privacy=[{"model": "k-anonymity", "k": 1}],
        algorithm={"name": "mondrian", "ranges": ["age"]},
    )


def table(rows: list[tuple[str | None, str]]) -> pa.Table:
    return pa.table(
        {
            name: pa.array(column, pa.string())
            for name, column in zip(("age", "sex"), zip(*rows, strict=True), strict=True)
        }
    )


@st.composite
def releases(draw: st.DrawFn) -> tuple[pa.Table, pa.Table]:
    """An original, and a release in ranges that may or may not be true and within the boundaries."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, slip = draw(st.integers(1, 30)), draw(st.sampled_from([0.0, 0.1]))
    original, released = [], []
    for _ in range(size):
        value, sex = int(random.integers(18, 45)), str(random.choice(["f", "m"]))
        low, high = value - int(random.integers(0, 4)), value + int(random.integers(0, 4))
        low += int(random.random() < slip) * 5
        original.append((None if random.random() < 0.1 else str(value), sex))
        label = None if original[-1][0] is None else str(low) if low >= high else f"{low}<={high}"
        released.append((label if random.random() < 0.9 else "*", sex))
    return table(released), table(original)


@settings(max_examples=150)
@given(releases(), st.sampled_from(BOUNDARIES))
def test_the_verdict_is_the_same_whether_ranges_are_listed_or_on_a_line(
    drawn: tuple[pa.Table, pa.Table], boundary: Any
) -> None:
    asked = policy(boundary)
    verdicts = []
    for listed in (10**9, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(columns, "_LISTED", listed)
            checks = verify(*drawn[:1], asked, drawn[1]).checks
            verdicts.append([(check.name, check.passed, check.facts) for check in checks])
    assert verdicts[0] == verdicts[1]


def test_a_range_that_is_right_for_values_of_different_boundaries_is_listed() -> None:
    """A tree need not follow the numbers: 21 lies between 20 and 22, yet under another group and another boundary."""
    tree = {"tree": {"all": {"even": ["20", "22"], "odd": ["21"]}, "rest": ["99"]}}
    kind = quasi_labels(stated(policy(["even", "all"], tree)))["age"]
    assert isinstance(kind, RangeLabels)
    values = ["20", "21", "22"]
    chains = [("20", "even"), ("21", "odd", "all"), ("22", "even")]
    assert kind.positions(values, chains, ["20<=22"]) is None
    found = released_as(Coded(["20<=22"], np.array([0])), Coded(values, np.arange(3)), kind, chains)
    assert found.spans is None
    assert found.under == [(0,), (0,), (0,)]


def test_values_of_different_boundaries_stand_apart_on_the_line() -> None:
    kind = quasi_labels(stated(policy(2)))["age"]
    assert isinstance(kind, RangeLabels)
    values = ["22", "27", "31", None]
    chains = [chain[:3] for chain in kind.chains(values)]
    spans = kind.positions(values, chains, ["22<=27", "27<=31", "31<=38", "22"])
    assert spans is not None
    over = [(spans.low <= at) & (at <= spans.high) for at in spans.at]
    assert [each.tolist() for each in over] == [
        [True, False, False, False], [True, False, False, False], [False, False, True, False], [False] * 4
    ]  # fmt: skip


def test_many_wide_ranges_are_verified_without_being_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RangeLabels, "with_ranges", None)  # would list millions of pairs
    random = np.random.default_rng(0)
    values = random.permutation(2_000)
    low = np.maximum(values - random.integers(0, 500, 2_000), 0)
    high = np.minimum(values + 1 + random.integers(0, 500, 2_000), 1_999)
    original = table([(str(value), "f") for value in values])
    labels = sorted(f"{a}<={b}" for a, b in zip(low, high, strict=True))
    assert verify(table([(label, "f") for label in labels]), policy(), original).passed
    labels[:3] = ["0<=1"] * 3  # there are only two such values
    tampered = verify(table([(label, "f") for label in sorted(labels)]), policy(), original)
    assert [check.name for check in tampered.failures] == ["truthfulness"]
