from __future__ import annotations

from typing import Any

import pytest
from hierarchy_checks import built, leaves, refused, rows

from shoal.hierarchies import Mask


def test_a_code_is_masked_from_the_right_one_character_a_level() -> None:
    result = built(Mask(), ["14248", "14206"])
    assert rows(result)["14248"] == ["1424*", "142**", "14***", "1****", "*"]
    assert result.hierarchy.height == 5
    assert leaves(result) == ["14206", "14248"]


def test_a_code_is_masked_from_the_left() -> None:
    assert rows(built(Mask(side="left"), ["123", "423"])) == {"123": ["*23", "**3", "*"], "423": ["*23", "**3", "*"]}


def test_shorter_values_are_masked_as_far_as_they_are_long() -> None:
    assert rows(built(Mask(), ["1234", "12", "1", "", None])) == {
        "": ["", "", "", "*"],
        "1": ["1", "1", "1", "*"],
        "12": ["1*", "**", "**", "*"],
        "1234": ["123*", "12**", "1***", "*"],
        None: [None, None, None, "*"],
    }


def test_steps_keep_some_levels_and_the_root() -> None:
    assert rows(built(Mask(steps=(1, 3, 5)), ["14248"])) == {"14248": ["1424*", "14***", "*"]}
    assert rows(built(Mask(steps=(2, 9)), ["14248"])) == {"14248": ["142**", "*"]}
    assert rows(built(Mask(steps=()), ["14248"])) == {"14248": ["*"]}


def test_with_an_alphabet_a_mask_covers_all_that_it_could_stand_for() -> None:
    present = built(Mask(), ["14248", "14206", None]).hierarchy
    assert present.spans[present.by_label["142**"]] == 2
    assert present.spans[present.root] == 3
    whole = built(Mask(alphabet="digits"), ["14248", "14206", None]).hierarchy
    assert whole.spans[whole.by_label["142**"]] == 100
    assert whole.spans[whole.by_label["14248"]] == whole.spans[whole.by_label[None]] == 1
    assert whole.spans[whole.root] == 100_001
    mixed = built(Mask(alphabet="aab"), ["aa", "bbb"]).hierarchy
    assert mixed.spans[mixed.root] == 4 + 8
    assert mixed.spans[mixed.by_label["**"]] == 4


def test_values_off_the_alphabet_are_listed() -> None:
    refused(
        Mask(alphabet="digits"),
        ["123", "12a", "٣"],
        "values-not-in-alphabet",
        "12 records",
        "'12a' (7 records)",
        counts=[1, 7, 5],
    )
    refused(Mask(alphabet="letters"), ["abC", "1"], "values-not-in-alphabet", "'1'")
    built(Mask(alphabet="alphanumeric"), ["aZ9"])
    refused(Mask(alphabet="XY"), ["XX", "Z"], "values-not-in-alphabet", "'Z'", "'XY'")


def test_a_value_that_holds_a_star_is_refused() -> None:
    refused(Mask(), ["12*", "123"], "values-contain-mask", "'12*' (1 record)")
    refused(Mask(), ["*"], "values-contain-mask")


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ({"side": "rihgt"}, "unknown-side"),
        ({"alphabet": ""}, "alphabet"),
        ({"alphabet": "ab*"}, "alphabet"),
        ({"steps": (3, 1)}, "mask-steps"),
        ({"steps": (0, 1)}, "mask-steps"),
        ({"steps": (1, 1)}, "mask-steps"),
        ({"steps": (1.5,)}, "mask-steps"),
        ({"steps": (True,)}, "mask-steps"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(declared: dict[str, Any], code: str) -> None:
    refused(Mask(**declared), ["123"], code)


def test_a_domain_beyond_counting_is_refused() -> None:
    refused(Mask(alphabet="letters"), ["a" * 400], "alphabet-too-large")
    built(Mask(), ["a" * 400])
