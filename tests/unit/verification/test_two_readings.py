"""Hierarchies and canonical text are written twice, to make releases and to verify them; both must read alike."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.hierarchies import Dates, Flat, Intervals, Mask, OrderedValues, Tree, boundary_caps
from shoal.io import canonical_text
from shoal.policy import Policy
from shoal.verification.canonical_text import text_column
from shoal.verification.declared_labels import labels_of
from shoal.verification.stated_policy import stated

NUMBERS = st.one_of(st.integers(-50, 150).map(str), st.decimals(-20, 120, places=2).map(str))
CODES = st.text("0123456789", min_size=1, max_size=5)
DAYS = st.dates(datetime.date(1, 1, 1)).map(str)
MOMENTS = st.datetimes().map(lambda moment: moment.isoformat())
TREE = {"A": ["x", "y"], "B": {"C": ["z"], "D": ["v", "w"]}, "u": None}
UNITS = ["day", "month", "quarter", "half", "year", "decade", "century"]

KINDS = {
    "flat": ("flat", Flat(), CODES),
    "widths": ({"intervals": [5, 10, 20]}, Intervals(widths=(5, 10, 20)), NUMBERS),
    "decimals": ({"intervals": [0.1, 0.3]}, Intervals(widths=(0.1, 0.3)), NUMBERS),
    "bounds": (
        {"intervals": {"widths": [20], "origin": 7, "bounds": [-50, 150]}},
        Intervals(widths=(20,), origin=7, bounds=(-50, 150)),
        NUMBERS,
    ),
    "cuts": (
        {"intervals": [[float("-inf"), 0, 18, 65, float("inf")], [float("-inf"), 18, float("inf")]]},
        Intervals(cuts=((float("-inf"), 0, 18, 65, float("inf")), (float("-inf"), 18, float("inf")))),
        NUMBERS,
    ),
    "tree": ({"tree": TREE}, Tree(TREE), st.sampled_from("xyzvwu")),
    "named root": ({"tree": {"all": TREE}}, Tree({"all": TREE}), st.sampled_from("xyzvwu")),
    "placed missing": ({"tree": {"A": ["x", None], "B": ["y"]}}, Tree({"A": ["x", None], "B": ["y"]}), st.just("x")),
    "mask": ({"mask": "right"}, Mask(), CODES),
    "left mask": ({"mask": {"side": "left", "steps": [1, 3]}}, Mask(side="left", steps=(1, 3)), CODES),
    "days": ({"dates": UNITS}, Dates(units=UNITS), DAYS),
    "weeks": ({"dates": ["day", "week"]}, Dates(units=("day", "week")), DAYS),
    "times": ({"dates": ["hour", *UNITS]}, Dates(units=("hour", *UNITS)), MOMENTS),
    "written days": (
        {"dates": {"units": ["week"], "format": "%Y%m%d"}},
        Dates(units=("week",), format="%Y%m%d"),
        st.dates(datetime.date(1000, 1, 1)).map(lambda day: f"{day:%Y%m%d}"),
    ),
    "order": ({"order": list("abcdefg")}, OrderedValues(list("abcdefg")), st.sampled_from("abcdefg")),
    "sized order": (
        {"order": {"values": list("abcdefg"), "groups": [3]}},
        OrderedValues(list("abcdefg"), groups=(3,)),
        st.sampled_from("abcdefg"),
    ),
}


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_both_readings_give_every_value_the_same_labels(name, data):
    declared, source, values = KINDS[name]
    present = data.draw(st.lists(st.one_of(st.none(), values), min_size=1, max_size=8, unique=True))
    present = [value for value in present if value is not None] or [data.draw(values)]
    if data.draw(st.booleans()):
        present.append(None)
    built = source.build(present, [1] * len(present), "q")
    made = [
        tuple(built.hierarchy.labels[node] for node in built.hierarchy.levels[:, leaf]) for leaf in built.codes.tolist()
    ]
    columns = {"q": {"role": "quasi", "hierarchy": declared}}
    kind = labels_of(stated(Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 1}])), "q")
    assert kind.chains(present) == made
    for chain in made:
        assert all(label is None or kind.knows(label) for label in chain)
    for boundary in range(built.hierarchy.height):
        caps = boundary_caps(built.hierarchy, boundary, "q")
        assert [chain[boundary] for chain in made] == [
            built.hierarchy.labels[node] for node in np.take(caps, built.codes)
        ]
        released = list({label for chain in made for label in chain})
        low = {label for chain in made for label in chain[: boundary + 1]}
        assert all(kind.level(label, released) <= boundary for label in low)


MOMENT = datetime.datetime(2020, 3, 1, 14, 30, 0, 120000, datetime.UTC)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, -7]),
        pa.array([1.0, 0.1, -0.0, 1e300, float("nan"), None, float("inf")]),
        pa.array([0.1, 2.5, 3.0, 2.0**30, float("inf"), float("nan")], pa.float32()),
        pa.array([True, False, None]),
        pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("0.1234567")]),
        pa.array([datetime.date(2020, 3, 1), None]),
        pa.array([datetime.time(14, 30), datetime.time(1, 2, 3, 400000)]),
        pa.array([0, 1, 123_456_789, 86_399_999_999_999, 3_600_000_000_000, 120_000_000, None], pa.time64("ns")),
        pa.array([MOMENT.replace(tzinfo=None), datetime.datetime.combine(MOMENT.date(), datetime.time())]),
        pa.array([MOMENT], pa.timestamp("us", "Europe/Berlin")),
        pa.array([1_583_073_000_123_456_789], pa.int64()).cast(pa.timestamp("ns")),
        pa.array(["x", "", None, "007"]),
        pa.array(["x", None, "x"]).dictionary_encode(),
        pa.array(["x", None], pa.large_string()),
        pa.array([None, None]),
    ],
    ids=lambda column: str(column.type),
)
def test_both_readings_give_a_cell_the_same_text(column):
    mine = text_column(pa.chunked_array([column]), "q")
    assert mine.to_pylist() == canonical_text(column).to_pylist()
