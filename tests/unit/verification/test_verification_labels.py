"""What each kind of label contains, and which labels a declaration can give."""

from __future__ import annotations

import math

import pytest

from shoal.policy import Policy
from shoal.verification.declared_labels import labels_of
from shoal.verification.stated_policy import stated


@pytest.fixture
def labels():
    def labels(hierarchy, **column):
        columns = {"q": {"role": "quasi", "hierarchy": hierarchy, **column}}
        return labels_of(stated(Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 1}])), "q")

    return labels


def chain(kind, value):
    return kind.chains([value])[0]


CHAINS = [
    ("flat", "x", ("x", "*")),
    ("flat", None, (None, "*")),
    ({"intervals": [5, 10]}, "39", ("39", "[35, 40)", "[30, 40)", "*")),
    ({"intervals": [5, 10]}, "39.0", ("39", "[35, 40)", "[30, 40)", "*")),
    ({"intervals": [5, 10]}, "-1", ("-1", "[-5, 0)", "[-10, 0)", "*")),
    ({"intervals": [0.1, 0.3]}, "0.3", ("0.3", "[0.3, 0.4)", "[0.3, 0.6)", "*")),
    ({"intervals": {"widths": [10], "origin": 5}}, "14", ("14", "[5, 15)", "*")),
    ({"intervals": {"widths": [20], "bounds": [18, 65]}}, "64", ("64", "[60, 65]", "*")),
    ({"intervals": {"widths": [20], "bounds": [18, 65]}}, "19", ("19", "[18, 20)", "*")),
    ({"intervals": {"widths": [20], "bounds": [18, 65]}}, "17", ()),
    ({"intervals": [5, 10]}, "old", ()),
    ({"intervals": [5, 10]}, None, (None, None, None, "*")),
    ({"intervals": {"cuts": [[-math.inf, 18, 65, math.inf]]}}, "3", ("3", "(-inf, 18)", "*")),
    ({"intervals": {"cuts": [[-math.inf, 18, 65, math.inf]]}}, "65", ("65", "[65, inf)", "*")),
    ({"intervals": {"cuts": [[0, 18, 65], [0, 65]]}}, "65", ()),
    ({"tree": {"A": ["x", "y"], "B": {"C": ["z"]}}}, "x", ("x", "x", "A", "*")),
    ({"tree": {"A": ["x", "y"], "B": {"C": ["z"]}}}, "z", ("z", "C", "B", "*")),
    ({"tree": {"All": {"A": ["x", "y"], "B": [1]}}}, "1", ("1", "B", "All")),
    ({"tree": {"All": {"A": ["x"], "B": [1]}}}, None, (None, None, "All")),
    ({"tree": {"A": ["x", None], "B": [1]}}, None, (None, "A", "*")),
    ({"tree": {"A": ["x"]}}, "q", ()),
    ("mask", "14248", ("14248", "1424*", "142**", "14***", "1****", "*")),
    ({"mask": "left"}, "abc", ("abc", "*bc", "**c", "*")),
    ({"mask": {"steps": [2]}}, "14248", ("14248", "142**", "*")),
    ({"mask": {"alphabet": "digits"}}, "1a", ()),
    ("mask", "1*", ()),
    ({"dates": ["month", "quarter", "half", "year", "decade", "century"]}, "2020-05-17",
     ("2020-05-17", "2020-05", "2020-Q2", "2020-H1", "2020", "2020s", "2000-2099", "*")),
    ({"dates": ["hour", "day", "week"]}, "2021-01-03T14:30:00",
     ("2021-01-03T14:30:00", "2021-01-03T14", "2021-01-03", "2020-W53", "*")),
    ({"dates": ["hour", "month"]}, "2020-05-17", ("2020-05-17", "2020-05-17", "2020-05", "*")),
    ({"dates": {"units": ["month", "year"], "format": "%d.%m.%Y"}}, "17.05.2020",
     ("2020-05-17", "2020-05", "2020", "*")),
    ({"dates": {"units": ["month", "year"], "format": "%Y"}}, "2020", ("2020", "2020", "2020", "*")),
    ({"dates": ["month"]}, "yesterday", ()),
    ({"order": ["low", "mid", "high"]}, "low", ("low", "low..mid", "*")),
    ({"order": ["low", "mid", "high"]}, "high", ("high", "high", "*")),
    ({"order": {"values": [1, 2, 3, 4, 5, 6, 7], "groups": [3, 6]}}, "5", ("5", "4..6", "1..6", "*")),
]  # fmt: skip


@pytest.mark.parametrize(("hierarchy", "value", "expected"), CHAINS)
def test_the_chain_of_a_value_runs_from_itself_to_the_root(labels, hierarchy, value, expected):
    kind = labels(hierarchy)
    assert chain(kind, value) == expected
    for level, label in enumerate(expected):
        assert label is None or kind.knows(label)
        assert kind.level(label, expected) <= level


def test_shorter_texts_are_masked_as_far_as_they_are_long(labels):
    kind = labels("mask")
    assert kind.chains(["1234", "12", "1", None]) == [
        ("1234", "123*", "12**", "1***", "*"),
        ("12", "1*", "**", "**", "*"),
        ("1", "1", "1", "1", "*"),
        (None, None, None, None, "*"),
    ]


@pytest.mark.parametrize(
    ("hierarchy", "stranger"),
    [
        ({"intervals": [5, 10]}, "[35, 45)"),
        ({"intervals": [5, 10]}, "[30, 45)"),
        ({"intervals": [5, 10]}, "[36, 41)"),
        ({"intervals": [5, 10]}, "39.0"),
        ({"intervals": [5, 10]}, "America"),
        ({"intervals": {"widths": [20], "bounds": [18, 65]}}, "[60, 80)"),
        ({"intervals": {"widths": [20], "bounds": [18, 65]}}, "70"),
        ({"intervals": {"cuts": [[0, 18, 65]]}}, "[0, 65)"),
        ({"tree": {"A": ["x"]}}, "y"),
        ({"tree": {"All": {"A": ["x"]}}}, "*"),
        ("mask", "1*2"),
        ("mask", "*12"),
        ({"mask": "left"}, "12*"),
        ({"mask": {"steps": [2]}}, "1424*"),
        ({"mask": {"alphabet": "digits"}}, "x*"),
        ({"dates": ["month"]}, "2020"),
        ({"dates": ["month"]}, "2020-13"),
        ({"dates": ["week"]}, "2021-W53"),
        ({"dates": ["quarter"]}, "2020-Q5"),
        ({"dates": ["century"]}, "2000-2199"),
        ({"order": ["low", "mid", "high"]}, "mid..high"),
    ],
)
def test_a_label_that_no_value_can_become_is_strange(labels, hierarchy, stranger):
    assert not labels(hierarchy).knows(stranger)


@pytest.mark.parametrize(
    ("hierarchy", "label", "boundary", "covered"),
    [
        ({"intervals": [5, 10]}, "[30, 40)", ["[30, 35)", "[35, 40)"], True),
        ({"intervals": [5, 10]}, "[30, 40)", ["[30, 35)"], False),
        ({"intervals": [5, 10]}, "[30, 35)", ["[30, 40)"], False),
        ({"intervals": {"widths": [10, 20], "bounds": [0, 25]}}, "*", ["[0, 10)", "[10, 20)", "[20, 25]"], True),
        ({"intervals": {"widths": [10, 20], "bounds": [0, 25]}}, "*", ["[0, 20)"], False),
        ({"intervals": {"cuts": [[-math.inf, 18, math.inf]]}}, "*", ["(-inf, 18)", "[18, inf)"], True),
        ({"intervals": [10]}, "*", ["[0, 10)"], False),
        ({"tree": {"A": ["x", "y"], "B": ["z"]}}, "*", ["A", "B"], True),
        ({"tree": {"A": ["x", "y"], "B": ["z"]}}, "*", ["A"], False),
        ({"tree": {"A": ["x", "y"], "B": ["z"]}}, "A", ["A"], False),
        ({"tree": {"A": ["x", "y"], "B": ["z"]}}, "A", ["x", "y"], True),
        ({"mask": {"alphabet": "01"}}, "1**", ["10*", "11*"], True),
        ({"mask": {"alphabet": "01"}}, "1**", ["10*", "110"], False),
        ("mask", "1*", [f"1{digit}" for digit in range(10)], False),
        ({"dates": ["month", "quarter", "year"]}, "2020-Q1", ["2020-01", "2020-02", "2020-03"], True),
        (
            {"dates": ["month", "quarter", "year"]},
            "2020",
            ["2020-Q1", "2020-Q2", "2020-Q3", "2020-10", "2020-11"],
            False,
        ),
        ({"dates": ["year", "decade"]}, "9990s", [f"999{digit}" for digit in range(10)], True),
        ({"dates": ["day", "week"]}, "2020-W09", ["2020-02-24"], False),
        ({"dates": ["month"]}, "*", ["2020-01"], False),
        ("flat", "*", ["x"], False),
    ],
)
def test_a_label_is_above_the_boundary_when_everything_under_it_has_a_lower_one(
    labels, hierarchy, label, boundary, covered
):
    assert labels(hierarchy).covered(label, boundary) is covered
