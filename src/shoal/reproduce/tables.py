"""The printed tables of the five papers by name, and the hierarchies of their experiments on Adult."""

from typing import Any

from shoal.reproduce.paper import Paper, PaperTable, read_yaml

__all__ = ["PaperTable"]

SUN, MAN, MAHESH, WANG, CAMPAN = (Paper(name) for name in ("sun", "man", "mahesh", "wang", "campan"))

SUN_1, SUN_2, SUN_5, SUN_6, SUN_7, SUN_8_LEFT, SUN_8_MIDDLE, SUN_8_RIGHT = SUN.tables.values()
SUN_COLUMNS = SUN_1.columns
SUN_QUASI = SUN_COLUMNS[:3]
SUN_4: dict[str, tuple[str, ...]] = {name: tuple(values) for name, values in SUN.content["groups"].items()}
"""Sun Table 4: categories of Health Condition, the most sensitive first (Category ID One … Four)."""
SUN_7_TOTALS = ("1", "2", "3")
SUN_7_CATEGORIES = SUN_4 | {"Less Secret": ("Heart Disease", "Asthma", "Obesity")}
"""Table 4 with the Obesity that Table 7 prints, in the category that its printed weight of 2/3 gives."""

MAN_1, MAN_3 = MAN.tables.values()
MAN_QUASI = MAN_1.columns[1:4]
MAN_2: dict[str, tuple[str, ...]] = {name: tuple(values) for name, values in MAN.content["groups"].items()}
"""Man Table 2: sensitive attribute grouping by Grouping ID, the most sensitive first."""
MAN_ALPHA: dict[str, float] = MAN.content["limits"]  # the limits of the worked example, by Grouping ID

MAHESH_1, MAHESH_2, MAHESH_T_STAR = MAHESH.tables.values()
MAHESH_COLUMNS = MAHESH_1.columns

WANG_1, WANG_2, WANG_3 = WANG.tables.values()
WANG_COLUMNS = WANG_1.columns
WANG_QUASI = WANG_COLUMNS[:3]

CAMPAN_1, CAMPAN_2, CAMPAN_3, CAMPAN_4 = CAMPAN.tables.values()
CAMPAN_COLUMNS = CAMPAN_2.columns
CAMPAN_QUASI = CAMPAN_COLUMNS[1:4]

TREES: dict[str, Any] = read_yaml("adult_hierarchies")
SUN_HIERARCHIES, WANG_HIERARCHIES, CAMPAN_HIERARCHIES = (TREES[name] for name in ("sun", "wang", "campan"))
CAMPAN_BOUNDARIES = {"age": 1, "native-country": 1}  # ages stay within their decade, countries within their region


def quasi_columns(hierarchies: dict[str, Any]) -> dict[str, Any]:
    """Columns of a policy with these hierarchies."""
    return {name: {"role": "quasi", "hierarchy": hierarchy} for name, hierarchy in hierarchies.items()}
