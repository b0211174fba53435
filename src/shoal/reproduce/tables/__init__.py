"""The printed tables of the five papers, typed in by hand once: the golden tests read them from here too."""

from shoal.reproduce.tables.campan import (
    CAMPAN_1,
    CAMPAN_2,
    CAMPAN_3,
    CAMPAN_4,
    CAMPAN_COLUMNS,
    CAMPAN_QUASI,
)
from shoal.reproduce.tables.mahesh import (
    MAHESH_1,
    MAHESH_2,
    MAHESH_COLUMNS,
    MAHESH_T_STAR,
)
from shoal.reproduce.tables.man import (
    MAN_1,
    MAN_2,
    MAN_3,
    MAN_ALPHA,
    MAN_QUASI,
)
from shoal.reproduce.tables.printed import PaperTable
from shoal.reproduce.tables.sun import (
    SUN_1,
    SUN_2,
    SUN_4,
    SUN_5,
    SUN_6,
    SUN_7,
    SUN_7_CATEGORIES,
    SUN_7_TOTALS,
    SUN_8_LEFT,
    SUN_8_MIDDLE,
    SUN_8_RIGHT,
    SUN_COLUMNS,
    SUN_QUASI,
)
from shoal.reproduce.tables.wang import (
    WANG_1,
    WANG_2,
    WANG_3,
    WANG_COLUMNS,
    WANG_QUASI,
)

__all__ = [
    "CAMPAN_1",
    "CAMPAN_2",
    "CAMPAN_3",
    "CAMPAN_4",
    "CAMPAN_COLUMNS",
    "CAMPAN_QUASI",
    "MAHESH_1",
    "MAHESH_2",
    "MAHESH_COLUMNS",
    "MAHESH_T_STAR",
    "MAN_1",
    "MAN_2",
    "MAN_3",
    "MAN_ALPHA",
    "MAN_QUASI",
    "SUN_1",
    "SUN_2",
    "SUN_4",
    "SUN_5",
    "SUN_6",
    "SUN_7",
    "SUN_7_CATEGORIES",
    "SUN_7_TOTALS",
    "SUN_8_LEFT",
    "SUN_8_MIDDLE",
    "SUN_8_RIGHT",
    "SUN_COLUMNS",
    "SUN_QUASI",
    "WANG_1",
    "WANG_2",
    "WANG_3",
    "WANG_COLUMNS",
    "WANG_QUASI",
    "PaperTable",
]
