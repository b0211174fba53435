"""The measures on the papers' printed tables, each figure worked out by hand beside it.

The papers' drawings of their hierarchies are lost; the trees here are the smallest that have the printed labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from shoal.hierarchies.boundaries import boundary_caps
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics import METRICS, ReleaseSummary
from shoal.metrics.constraint_violations import count_violations
from shoal.reproduce.tables import (
    CAMPAN_1,
    CAMPAN_2,
    CAMPAN_3,
    CAMPAN_4,
    CAMPAN_QUASI,
    SUN_1,
    SUN_5,
    SUN_7,
    SUN_8_MIDDLE,
    SUN_8_RIGHT,
    SUN_QUASI,
    WANG_2,
    WANG_QUASI,
    PaperTable,
)
from shoal.table.recoding import Recoding
from support.builders import Tree, hierarchy_of

CAMPAN: dict[str, dict[str, Tree]] = {
    "Marital-Status": {"Mar.-Status": ["Married", "Single", "Divorced"]},
    "Gender": {"Person": ["Male", "Female"]},
    "Age": {"20-59": {"30-39": ["30", "32", "36", "37"], "40-49": ["41", "43", "45"]}},
}
"""Heights 1, 1 and 2."""
SUN: dict[str, Tree] = {
    "Age": {
        "<40": {"<30": ["25", "26", "27", "28"], "3*": ["33", "35", "36", "37"]},
        ">40": ["41", "42", "45", "48"],
    },
    "Country": {"America": ["USA", "Canada"], "Asia": ["China", "Japan", "India"]},
    "Zip Code": {
        "1****": {
            "14***": {"142**": {"1420*": ["14204", "14205", "14207"], "1424*": ["14242", "14246", "14248", "14249"]}},
            "13***": {"130**": {"1305*": ["13053"], "1306*": ["13062", "13064"], "1307*": ["13074"]}},
        }
    },
}
"""Heights 3, 2 and 5, the root * included; >40 stands at level 2 like <40, the zip codes are masked digit by digit."""


def rooted(tree: Mapping[str, Tree]) -> Hierarchy:
    """A hierarchy whose root is the one label outermost, as the papers name it."""
    ((label, under),) = tree.items()
    plain = hierarchy_of(under)
    return Hierarchy((*plain.labels[:-1], label), plain.parents, plain.first, plain.last, plain.levels, plain.spans)


def recoded(table: PaperTable, hierarchies: Sequence[Hierarchy], quasi: Sequence[str]) -> Recoding:
    labels = [tuple(record[name] for name in quasi) for record in table.records()]
    kinds = list(dict.fromkeys(labels))
    nodes = [[h.by_label[label] for h, label in zip(hierarchies, kind, strict=True)] for kind in kinds]
    rows = np.array([kinds.index(each) for each in labels], dtype=np.int32)
    return Recoding(tuple(quasi), tuple(hierarchies), rows, np.array(nodes, dtype=np.int32))


def measured(name: str, recoding: Recoding) -> float:
    summary = ReleaseSummary(recoding.hierarchies, recoding.nodes, recoding.sizes, recoding.n_rows)
    return METRICS[name].of(summary)


CAMPAN_TREES = [rooted(CAMPAN[name]) for name in CAMPAN_QUASI]
SUN_TREES = [hierarchy_of(SUN[name]) for name in SUN_QUASI]


def violations(table: PaperTable) -> int:
    """Cells beyond their boundary, against Campan's Table 1, with decades as the boundary of Age."""
    original = {record["Record"]: record for record in CAMPAN_1.records()}
    codes = [
        np.array([h.by_label[original[record["Record"]][name]] for record in table.records()], dtype=np.int32)
        for h, name in zip(CAMPAN_TREES, CAMPAN_QUASI, strict=True)
    ]
    caps = [
        boundary_caps(h, ["30-39", "40-49"] if name == "Age" else None, name)
        for h, name in zip(CAMPAN_TREES, CAMPAN_QUASI, strict=True)
    ]
    return count_violations(recoded(table, CAMPAN_TREES, CAMPAN_QUASI), codes, caps)


@pytest.mark.parametrize(("table", "count"), [(CAMPAN_2, 0), (CAMPAN_3, 6), (CAMPAN_4, 0)])
def test_only_campans_second_table_goes_beyond_the_decades(table: PaperTable, count: int) -> None:
    """MM2 releases the six records of its last two classes as 20-59; MM1 and MM3 keep to decades."""
    assert violations(table) == count


@pytest.mark.parametrize(
    ("table", "value"),
    [
        (CAMPAN_2, (6 * 1 + 3 * 1 + 9 * 1 / 2) / 27),  # 6 Mar.-Status, 3 Person, 9 decades
        (CAMPAN_3, (3 * 1 + 3 * 1 + 3 * 1 / 2 + 6 * 1) / 27),  # 3 Mar.-Status, 3 Person, 3 decades, 6 at 20-59
        (CAMPAN_4, (6 * 1 + 9 * 1 + 9 * 1 / 2) / 27),  # 6 Mar.-Status, 9 Person, 9 decades
    ],
)
def test_campans_tables_lose_what_definition_11_says(table: PaperTable, value: float) -> None:
    assert measured("ntil", recoded(table, CAMPAN_TREES, CAMPAN_QUASI)) == pytest.approx(value)


@pytest.mark.parametrize("table", [CAMPAN_2, CAMPAN_3, CAMPAN_4])
def test_campans_tables_have_three_classes_of_three(table: PaperTable) -> None:
    recoding = recoded(table, CAMPAN_TREES, CAMPAN_QUASI)
    assert measured("discernibility", recoding) == 27
    assert measured("average_class_size", recoding) == 3
    assert measured("suppressed", recoding) == 0


@pytest.mark.parametrize(
    ("table", "raised"),
    [
        (SUN_1, 0),
        # ages 8 x 1 (<30, 3*) and 4 x 2 (>40); countries 12 x 1; zip codes 12 x 2
        (SUN_5, 8 * 1 + 4 * 2 + 12 * 1 + 12 * 2),
        # ages 12 x 2; countries 12 x 1; zip codes 8 x 2 (142**, 130**) and 4 x 3 (14***)
        (SUN_7, 12 * 2 + 12 * 1 + 8 * 2 + 4 * 3),
    ],
)
def test_suns_distortion_ratio_is_levels_raised_over_levels_there_are(table: PaperTable, raised: int) -> None:
    assert measured("distortion_ratio", recoded(table, SUN_TREES, SUN_QUASI)) == pytest.approx(
        raised / (12 * (3 + 2 + 5))
    )


@pytest.mark.parametrize("measure", ["ncp", "loss", "ntil", "distortion_ratio"])
def test_local_recoding_spares_half_of_suns_eighth_table(measure: str) -> None:
    """Records 1 and 2 keep 4351, records 3 and 4 become 435*, the root: half of all cells."""
    zips = [rooted({"435*": ["4351", "4352"]})]
    assert measured(measure, recoded(SUN_8_MIDDLE, zips, ["Zipcode"])) == 0
    assert measured(measure, recoded(SUN_8_RIGHT, zips, ["Zipcode"])) == pytest.approx(1 / 2)
    assert measured("discernibility", recoded(SUN_8_RIGHT, zips, ["Zipcode"])) == 8


def test_wangs_second_table_has_no_precision_left() -> None:
    """Every cell of Table II is the root of its hierarchy, so (11) gives 0; its one class holds all six records."""
    trees = [
        rooted({"(20, 50]": ["[20, 30)", "[30, 40]", "(40, 50]"]}),
        hierarchy_of({"tertiary education": ["Dr.", "Master"], "Secondary education": []}),
        rooted({"person": ["M", "F"]}),
    ]
    recoding = recoded(WANG_2, trees, WANG_QUASI)
    assert measured("precision", recoding) == 0
    assert measured("distortion_ratio", recoding) == 1
    assert measured("wang_loss", recoding) == pytest.approx((2 / 3 + 2 / 3 + 1 / 2) / 3)
    assert measured("discernibility", recoding) == 36
