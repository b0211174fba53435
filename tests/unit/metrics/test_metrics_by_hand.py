"""Each measure worked out by hand on a small release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from types import EllipsisType

import numpy as np
import pytest

from shoal.hierarchies import Levels
from shoal.hierarchies.boundaries import boundary_caps
from shoal.hierarchies.hierarchy import Hierarchy, Label
from shoal.metrics import METRICS, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.table.recoding import Recoding
from support.builders import hierarchy_of

ZIP = hierarchy_of({"43": {"435": ["4351", "4352"], "436": ["4361"]}, "50": {"500": ["5001"]}})
"""Four values, height 3."""
SEX = hierarchy_of(["F", "M"])
UNEVEN = hierarchy_of({"America": ["USA", "Canada"], "Asia": {"East": ["China", "Japan"], "India": []}, "Pole": []})
"""Leaves at depths 2, 3, 2 and 1; height 3."""


def summary(
    hierarchies: Sequence[Hierarchy], classes: Mapping[tuple[Label, ...], int], records: int | None = None
) -> ReleaseSummary:
    """A release from its classes' labels and sizes; more records than released are suppressed."""
    nodes = [[h.by_label[label] for h, label in zip(hierarchies, each, strict=True)] for each in classes]
    sizes = np.array(list(classes.values()), dtype=np.int64)
    return ReleaseSummary(
        hierarchies=tuple(hierarchies),
        nodes=np.array(nodes, dtype=np.int32).reshape(len(classes), len(hierarchies)),
        sizes=sizes,
        records=int(sizes.sum()) if records is None else records,
    )


RELEASE = summary([ZIP, SEX], {("435", "*"): 3, ("4361", "F"): 1, ("50", "M"): 2}, records=8)
"""Six of eight records: three zips of two values, one as it was, two raised twice along a chain."""


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        # zip: NCP (2-1)/(4-1) three times, 0 for 4361 and for 50 (one value), two suppressed: (3/3 + 2)/8; sex: 5/8
        ("ncp", (3 / 8 + 5 / 8) / 2),
        ("loss", sqrt((1 + 3 / 8) * (1 + 5 / 8)) - 1),
        # zip: subtree heights 1, 0, 2 over 3; sex: 1, 0, 0 over 1; suppressed cells 1
        ("ntil", ((3 * 1 / 3 + 2 * 2 / 3 + 2) / 8 + (3 + 2) / 8) / 2),
        # levels raised 1, 0, 2 of 3 and 1, 0, 0 of 1; suppressed cells count as raised to the root
        ("distortion_ratio", ((3 * 1 + 2 * 2 + 2 * 3) + (3 * 1 + 2 * 1)) / (8 * 3 + 8 * 1)),
        ("precision", 1 - ((3 * 1 / 3 + 2 * 2 / 3 + 2) / 8 + (3 + 2) / 8) / 2),
        # zip: 1/4 three times; sex: 1/2 three times; suppressed cells 1
        ("wang_loss", ((3 / 4 + 2) / 8 + (3 / 2 + 2) / 8) / 2),
        ("discernibility", 9 + 1 + 4 + 2 * 8),
        ("average_class_size", 6 / 3),
        ("suppressed", 2),
        ("constraint_violations", 0),
    ],
)
def test_a_measure_follows_its_formula(metric: str, value: float) -> None:
    assert METRICS[metric].of(RELEASE) == pytest.approx(value, abs=1e-15)


def test_every_measure_is_worked_out_here() -> None:
    assert set(METRICS) == {
        "ncp",
        "loss",
        "ntil",
        "distortion_ratio",
        "precision",
        "wang_loss",
        "discernibility",
        "average_class_size",
        "suppressed",
        "constraint_violations",
    }


def test_ntil_counts_the_height_of_the_subtree_not_the_levels_raised() -> None:
    """Campan Def. 10: India raised to Asia, and Pole to the root, pay for the height of what they become."""
    release = summary([UNEVEN], {("Asia",): 1, ("America",): 1, ("Pole",): 1, ("*",): 1})
    assert METRICS["ntil"].of(release) == pytest.approx((2 / 3 + 1 / 3 + 0 + 1) / 4)


def test_distortion_counts_levels_from_the_root_in_an_uneven_tree() -> None:
    """America and Asia stand at level 2 of 3, East at 1; a shallow leaf that stays itself is not raised."""
    release = summary([UNEVEN], {("America",): 1, ("Asia",): 1, ("East",): 1, ("Pole",): 1})
    assert METRICS["distortion_ratio"].of(release) == pytest.approx((2 + 2 + 1 + 0) / (4 * 3))


@pytest.mark.parametrize("hierarchy", [ZIP, SEX, UNEVEN])
def test_all_roots_distort_fully_and_untouched_values_not_at_all(hierarchy: Hierarchy) -> None:
    untouched = summary([hierarchy], {(leaf,): 2 for leaf in hierarchy.labels[: hierarchy.n_leaves]})
    roots = summary([hierarchy], {("*",): 7})
    for name in ("ncp", "loss", "ntil", "distortion_ratio"):
        assert METRICS[name].of(untouched) == 0
        assert METRICS[name].of(roots) == pytest.approx(1)
    assert METRICS["precision"].of(untouched) == 1
    assert METRICS["precision"].of(roots) == pytest.approx(0)


def test_levels_that_repeat_the_root_do_not_make_it_cheaper() -> None:
    rows = [["a", "x", "*", "*"], ["b", "x", "*", "*"], ["c", "y", "*", "*"]]
    repeated = Levels(rows).build(["a", "b", "c"], [1, 1, 1], "q").hierarchy
    assert METRICS["distortion_ratio"].of(summary([repeated], {("*",): 3})) == 1
    assert METRICS["precision"].of(summary([repeated], {("*",): 3})) == 0
    assert METRICS["distortion_ratio"].of(summary([repeated], {("x",): 2, ("y",): 1})) == pytest.approx(1 / 2)


def test_suns_ratio_is_of_sums_where_wangs_precision_is_a_mean_of_ratios() -> None:
    release = summary([ZIP, SEX], {("4351", "*"): 1})
    assert METRICS["distortion_ratio"].of(release) == pytest.approx(1 / 4)
    assert METRICS["precision"].of(release) == pytest.approx(1 - 1 / 2)


def test_wangs_loss_of_the_root_stays_below_one() -> None:
    """(9) divides by the domain itself: the root of four values loses 3/4, a suppressed cell 1."""
    assert METRICS["wang_loss"].of(summary([ZIP], {("*",): 4})) == pytest.approx(3 / 4)
    assert METRICS["wang_loss"].of(summary([ZIP], {("*",): 2}, records=4)) == pytest.approx((2 * 3 / 4 + 2) / 4)


def test_the_geometric_loss_prefers_giving_up_one_column_to_blurring_all_alike() -> None:
    even = hierarchy_of({"abc": ["a", "b", "c"], "de": ["d", "e"]})
    alike = summary([even, even], {("abc", "abc"): 4})
    given_up = summary([even, even], {("*", "a"): 2, ("*", "b"): 2})
    assert METRICS["ncp"].of(alike) == METRICS["ncp"].of(given_up) == pytest.approx(1 / 2)
    assert METRICS["loss"].of(alike) == pytest.approx(1 / 2)
    assert METRICS["loss"].of(given_up) == pytest.approx(sqrt(2) - 1)


def test_a_column_of_one_value_costs_nothing_unless_suppressed() -> None:
    single = hierarchy_of(["only"])
    chain = summary([single], {("only",): 3})
    assert all(METRICS[name].of(chain) == 0 for name in ("ncp", "loss", "ntil", "distortion_ratio", "wang_loss"))
    assert METRICS["ncp"].of(summary([single], {("only",): 1}, records=2)) == pytest.approx(0.5)


def test_a_release_of_nothing_has_no_classes_to_average() -> None:
    nothing = summary([SEX], {}, records=4)
    assert METRICS["average_class_size"].of(nothing) == 0
    assert METRICS["suppressed"].of(nothing) == 4
    assert METRICS["discernibility"].of(nothing) == 16
    assert METRICS["ntil"].of(nothing) == 1
    assert METRICS["precision"].of(nothing) == 0


def recoding(hierarchy: Hierarchy, labels: Sequence[Label | EllipsisType]) -> Recoding:
    """Each row released as a label, or suppressed (...)."""
    kinds = [label for label in dict.fromkeys(labels) if not isinstance(label, EllipsisType)]
    nodes = np.array([[hierarchy.by_label[label]] for label in kinds], dtype=np.int32)
    rows = np.array([-1 if isinstance(label, EllipsisType) else kinds.index(label) for label in labels], dtype=np.int32)
    return Recoding(("q",), (hierarchy,), rows, nodes)


def violations(
    hierarchy: Hierarchy, boundary: list[str], leaves: Sequence[Label], labels: Sequence[Label | EllipsisType]
) -> int:
    caps = boundary_caps(hierarchy, boundary, "q")
    codes = np.array([hierarchy.by_label[leaf] for leaf in leaves], dtype=np.int32)
    return count_violations(recoding(hierarchy, labels), [codes], [caps])


def test_cells_beyond_their_boundary_are_counted() -> None:
    leaves = ["China", "India", "USA", "Pole", "Japan"]
    assert violations(UNEVEN, ["Asia", "America"], leaves, ["*", "*", "America", "*", "*"]) == 3
    assert violations(UNEVEN, ["Asia", "America"], leaves, ["Asia", "Asia", "USA", "*", "East"]) == 0


def test_suppressed_cells_violate_nothing() -> None:
    assert violations(UNEVEN, ["Asia"], ["China", "China"], [..., "*"]) == 1


def test_the_lowest_boundary_on_a_path_counts() -> None:
    leaves = ["China", "India"]
    assert violations(UNEVEN, ["East", "Asia"], leaves, ["Asia", "Asia"]) == 1


def test_a_further_name_for_the_same_values_is_beyond_the_boundary_too() -> None:
    """5001, 500 and 50 cover the same one value; a boundary at 500 does not allow 50."""
    assert violations(ZIP, ["500"], ["5001"], ["50"]) == 1
    assert violations(ZIP, ["500"], ["5001"], ["500"]) == 0
    assert violations(ZIP, ["500"], ["5001"], ["5001"]) == 0
