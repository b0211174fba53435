"""Rows of ``*`` are suppressed records, released ones of the most general class, or some of each."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import shoal
from shoal.attacks.released_classes import rows_of_release
from shoal.errors import InfeasibleError
from shoal.policy import Policy

VALUES = ("a", "b", "c")
Row = tuple[str, ...]


def policy(boundary: tuple[str, ...], suppression: float, *, secret: bool = False, k: int = 2) -> Policy:
    columns: dict[str, Any] = {"q": {"role": "quasi", "hierarchy": "flat"}}
    if boundary:
        columns["q"]["boundary"] = list(boundary)
    if secret:
        columns["s"] = {"role": "sensitive"}
    privacy = [{"model": "k-anonymity", "k": k}]
    return Policy(columns=columns, privacy=privacy, suppression=suppression, suppressed="star")


def table(rows: list[tuple[str | None, ...]], *, secret: bool) -> pa.Table:
    names = ["q", "s"] if secret else ["q"]
    ordered = sorted(rows, key=lambda row: [(cell is None, cell or "") for cell in row])
    return pa.table({name: pa.array([row[j] for row in ordered], pa.string()) for j, name in enumerate(names)})


def may_become(original: tuple[str | None, ...], released: tuple[str | None, ...], boundary: tuple[str, ...]) -> bool:
    same = original[1:] == released[1:]
    return same and (released[0] == original[0] or (released[0] == "*" and original[0] not in boundary))


def some_reading_holds(
    released: list[tuple[str | None, ...]],
    original: list[tuple[str | None, ...]],
    boundary: tuple[str, ...],
    suppression: float,
) -> bool:
    """By the definition: some of the rows of ``*`` are left out, and every other row has an original of its own."""
    alike = ("*", *[None] * (len(released[0]) - 1))
    stars = released.count(alike)
    for suppressed in range(min(stars, math.floor(suppression * len(original))) + 1):
        rows = [row for row in released if row != alike] + [alike] * (stars - suppressed)
        large = bool(rows) and min(Counter(row[0] for row in rows).values()) >= 2
        if large and len(released) == len(original):
            for people in permutations(original, len(rows)):
                if all(may_become(person, row, boundary) for person, row in zip(people, rows, strict=True)):
                    return True
    return False


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, ...]:
    secret = draw(st.booleans())
    size = draw(st.integers(2, 5))
    secrets = st.sampled_from([None, "x"]) if secret else st.nothing()
    original = [
        (draw(st.sampled_from(VALUES)), *([draw(secrets)] if secret else []))
        for _ in range(size)
    ]  # fmt: skip
    released = [
        draw(st.sampled_from([row, ("*", *row[1:]), ("*", *[None] * (len(row) - 1))])) for row in original
    ]  # fmt: skip
    boundary = tuple(draw(st.lists(st.sampled_from(VALUES), unique=True, max_size=2)))
    return original, released, boundary, draw(st.sampled_from([0.0, 0.2, 0.4, 0.5])), secret


@given(cases())
@example(([("a",), ("b",), ("c",)], [("*",)] * 3, ("a",), 0.5, False))
@example(([("a", None), ("b", None), ("c", None)], [("*", None)] * 3, ("a",), 0.5, True))
def test_a_release_holds_exactly_if_it_holds_under_some_reading(case):
    original, released, boundary, suppression, secret = case
    asked = policy(boundary, suppression, secret=secret)
    found = shoal.verify(table(released, secret=secret), asked, table(original, secret=secret))
    assert found.passed == some_reading_holds(released, original, boundary, suppression), str(found)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "greedy-clustering"])
def test_a_class_of_roots_beside_a_suppressed_record_is_released(algorithm, tmp_path):
    data = table([("a",), ("b",), ("c",)], secret=False)
    asked = policy(("a",), 0.5).changed(algorithm=algorithm)
    release = shoal.anonymize(data, asked)
    assert (release.evidence["released"], release.evidence["suppressed"]) == (2, 1)
    release.write(tmp_path / "release.csv")
    found = shoal.verify(tmp_path / "release.csv", asked, data)
    assert found.passed
    assert (found.records, found.suppressed) == (2, 1)


@given(
    st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from([None, "x", "y"])), min_size=2, max_size=8),
    st.lists(st.sampled_from(VALUES), unique=True, max_size=2),
    st.sampled_from([0.2, 0.5]),
    st.booleans(),
)
@example(rows=[("a", None), ("b", "x")], boundary=[], suppression=0.5, secret=True)
def test_attackers_and_verifier_read_the_same_records(rows, boundary, suppression, secret):
    if secret and all(each is None for _, each in rows):
        return  # a column without any value is refused
    data = table([row if secret else row[:1] for row in rows], secret=secret)
    present = {value for value, _ in rows}
    asked = policy(tuple(value for value in boundary if value in present), suppression, secret=secret)
    try:
        release = shoal.anonymize(data, asked)
    except InfeasibleError:
        return
    released = release.evidence["released"]
    for original in (None, data):  # the run says how many are suppressed, and both readers follow it
        found = shoal.verify(release.data, asked, original, suppressed=release.evidence["suppressed"])
        assert found.passed
        assert found.records == released
    read = rows_of_release(release.data, asked, suppressed=release.evidence["suppressed"])
    assert int(read.weights.sum()) == released
    found = shoal.verify(release.data, asked)  # knowing nothing, both take the same reading
    if found.records:
        read = rows_of_release(release.data, asked, suppressed=found.suppressed)
        assert int(read.weights.sum()) == found.records


def test_rows_that_are_more_than_may_be_suppressed_are_records_to_both_readers():
    rows: list[Any] = [("*", None)] * 3 + [("a", "x")] * 2
    asked, released = policy((), 0.4, secret=True), table(rows, secret=True)
    found = shoal.verify(released, asked)
    assert found.passed
    assert (found.records, found.suppressed) == (5, 0)
    assert int(rows_of_release(released, asked).weights.sum()) == 5
