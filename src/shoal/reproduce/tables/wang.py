"""The tables of Wang, Xu & Qu 2011, typed in by hand; spelling as printed, slips included."""

from __future__ import annotations

from shoal.reproduce.tables.printed import PaperTable

WANG_QUASI = ("Age", "Education", "Sex")
WANG_COLUMNS = (*WANG_QUASI, "Illness")

WANG_1 = PaperTable(
    "Wang Table I: 2-anonymity",
    WANG_COLUMNS,
    (
        ("(40, 50]", "Dr.", "M", "HIV"),
        ("(40, 50]", "Dr.", "M", "HIV"),
        ("[30, 40]", "Master", "M", "cancer"),
        ("[30, 40]", "Master", "M", "cold"),
        ("[20, 30)", "Secondary education", "F", "fever"),
        ("[20, 30)", "Secondary education", "F", "fever"),
    ),
)

WANG_2 = PaperTable(
    "Wang Table II: 2-sensitive",
    WANG_COLUMNS,
    (
        ("(20, 50]", "*", "person", "HIV"),
        ("(20, 50]", "*", "person", "HIV"),
        ("(20, 50]", "*", "person", "cancer"),
        ("(20, 50]", "*", "person", "cold"),
        ("(20, 50]", "*", "person", "fever"),
        ("(20, 50]", "*", "person", "fever"),
    ),
)

WANG_3 = PaperTable(
    "Wang Table III: a release table",
    WANG_COLUMNS,
    (
        ("(40, 50]", "tertiary education", "M", "HIV"),
        ("(40, 50]", "tertiary education", "M", "HIV"),
        ("(40, 50]", "tertiary education", "M", "CANCER"),
        ("(40, 50]", "tertiary education", "M", "COLD"),
        ("[20, 30)", "secondary education", "F", "FEVER"),
        ("[20, 30)", "secondary education", "F", "FEVER"),
    ),
)
