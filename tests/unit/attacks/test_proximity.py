"""The proximity attack: who is exposed, what the baseline explains, and what chance would do."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.attacks.attackers.proximity import _Line
from support.builders import view_of


def attacked(classes: dict[str, list[Any]], **column: Any) -> Any:
    """The attack on a release with these numbers in its classes."""
    rows = [(name, value) for name, values in classes.items() for value in values]
    policy = shoal.Policy(
        columns={"q": {"role": "quasi"}, "s": {"role": "sensitive", **column}},
        privacy=[{"model": "k-anonymity", "k": 2}],
    )
    table = pa.table({"q": [name for name, _ in rows], "s": pa.array([value for _, value in rows], pa.string())})
    (found,) = [each for each in shoal.attack(table, policy).attacks if each.name == "proximity"]
    return found


WIDE = [str(value) for value in range(0, 2000, 100)]


def test_a_class_of_near_numbers_is_open_and_a_wide_one_is_not() -> None:
    found = attacked({"a": WIDE, "b": ["300", "310", "3.2e2"]})
    assert (found.outcome, found.records, found.of, found.classes, found.leak) == ("leak", 3, 23, 1, True)
    assert (found.certain, found.p_value <= 0.05) == (0, True)
    worst = found.details["narrowest"]
    assert (worst["class"], worst["records"], worst["from"], worst["to"]) == ({"q": "b"}, 3, "300", "3.2e2")
    assert found.baseline == 0
    assert attacked({"a": WIDE, "b": ["300", "900"]}).outcome == "nothing"


@pytest.mark.parametrize(("highest", "records"), [("385", 3), ("385.001", 0)])
def test_narrow_is_at_most_a_twentieth_of_the_usual_range(highest: str, records: int) -> None:
    found = attacked({"a": WIDE, "b": ["300", "300", highest]})  # the usual range goes from 100 to 1800: 85 is 5%
    assert found.records == records


def test_one_very_large_number_does_not_make_the_others_alike() -> None:
    assert attacked({"a": [*WIDE, "1000000000"], "b": ["0", "1000"]}).outcome == "nothing"


def test_a_missing_value_hides_nobody_and_is_not_attacked() -> None:
    found = attacked({"a": WIDE, "b": ["300", "310", None], "c": [None, None]})
    assert (found.records, found.of) == (2, 22)


def test_where_everybody_has_the_same_number_the_classes_reveal_nothing() -> None:
    found = attacked({"a": ["5", "5"], "b": ["5.0", "5"]})
    assert (found.outcome, found.baseline, found.leak) == ("explained", 1.0, False)


def test_texts_and_categories_are_not_attacked() -> None:
    assert attacked({"a": ["x", "1"], "b": ["2", "3"]}).outcome == "not-numbers"
    by_category = attacked({"a": ["low", "high"]}, categories={"low": ["1"], "high": ["2"]}, publish="categories")
    assert by_category.status == "not applicable"


def test_bins_count_from_end_to_end_and_without_an_end_are_never_narrow() -> None:
    narrow = [f"[{low}, {low + 10})" for low in range(0, 1000, 10)]
    assert attacked({"a": narrow, "b": ["[50, 60)", "[60, 70)"]}, bins=10).records == 2
    assert attacked({"a": ["(-inf, 5)", "[5, inf)"], "b": ["(-inf, 5)"] * 2}, bins=[5]).outcome == "nothing"
    points = [0, 1, 1000]
    wide = ["(-inf, 0)", "[0, 1)", "[1, 1000)", "[1000, inf)"] * 10
    assert attacked({"a": wide, "b": ["[0, 1)"] * 2, "c": ["(-inf, 0)"] * 2}, bins=points).records == 2


def test_what_chance_would_do_is_what_dealing_at_random_does() -> None:
    draw = random.Random(1)
    classes = [[str(draw.choice([1, 2, 3, 4, 5, 6, 20, 21, 22, 50])) for _ in range(n)] for n in (2, 3, 3, 4, 2, 5)]
    line = _Line.of(view_of(classes))
    assert line is not None
    values, rounds, figures = [int(value) for each in classes for value in each], 4000, []
    for _ in range(rounds):
        draw.shuffle(values)
        dealt = iter(values)
        hands = [[next(dealt) for _ in each] for each in classes]
        figures.append(sum(len(hand) for hand in hands if max(hand) - min(hand) <= 2))
    reach = line.reach(Fraction(2))
    chances = line.chances(reach)
    assert (line.known * chances).sum() == pytest.approx(sum(figures) / rounds, abs=0.15)
    for records in (2, 5, 8):
        told = [line.p_value(records, reach, chances, seed) for seed in range(12)]
        assert sum(told) / 12 == pytest.approx(sum(each >= records for each in figures) / rounds, abs=0.06)


def test_narrow_classes_that_chance_explains_are_told_and_no_leak() -> None:
    """Numbers dealt in pairs at random: some lie close together whoever has them."""
    draw = random.Random(3)
    numbers = [str(draw.randrange(0, 1000)) for _ in range(400)]
    found = attacked({f"c{n:03}": numbers[2 * n : 2 * n + 2] for n in range(200)})
    assert found.records > 10
    assert (found.outcome, found.leak) == ("explained", False)
    assert found.p_value > 0.05


def test_a_class_of_one_number_is_certain() -> None:
    assert attacked({"a": WIDE, "b": ["300", "300", "300"]}).certain == 3
    assert attacked({"a": ["5", "5"], "b": ["5", "5"]}).certain == 0
